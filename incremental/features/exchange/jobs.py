"""urlwatch jobs: one YAML document each, read from parser events without building values.

Only texts on the first level of a document count, and the list ``tags`` there, joined by commas. Aliases
are ignored: jobs have different addresses.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from incremental.features.exchange.entry import ListError

# Per file. A list of 20,000 jobs has two to three million.
MAX_BYTES = 5_000_000
_PYTHON = "tag:yaml.org,2002:python/"
_LISTED = "tags"
_NOTHING = frozenset(("", "~", "null", "Null", "NULL"))


def read_jobs(text: str) -> Iterator[dict[str, str]]:
    """Yield the texts of each document by key; empty for documents that are no mapping.

    Raises:
        ListError: at the first invalid YAML, after the documents before it.
    """
    if len(text) > MAX_BYTES:
        raise ListError(f"more than {MAX_BYTES} characters")
    try:
        # A loader would build what it reads: aliases that double with each line, integers of a million
        # digits. Events cost as much as the file is long. libyaml, where available, is ten times as fast.
        events = yaml.parse(text, Loader=getattr(yaml, "CLoader", yaml.Loader))
        document: _Document | None = None
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                document = _Document()
            elif isinstance(event, yaml.DocumentEndEvent) and document is not None:
                yield document.texts
            elif document is not None:
                document.take(event)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ListError(" ".join(str(error).split())[:200]) from None


class _Document:
    """A document while its events arrive."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._depth = 0
        self._is_mapping = False
        self._key: str | None = None
        self._at_key = True

    def take(self, event: Any) -> None:  # noqa: ANN401 - an event of yaml, which has no common type
        """Handle an event."""
        if (getattr(event, "tag", None) or "").startswith(_PYTHON):
            raise ListError("it contains a Python object, as no list of jobs does")
        if isinstance(event, yaml.CollectionStartEvent):
            self._is_mapping = self._is_mapping or (
                self._depth == 0 and isinstance(event, yaml.MappingStartEvent)
            )
            self._depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            self._depth -= 1
            self._node(None)
        else:
            self._node(_text_of(event))

    def _node(self, text: str | None) -> None:
        """Handle a complete node: on the first level of a mapping, keys and values alternate."""
        listed = self._depth == 2 and self._key == _LISTED and not self._at_key  # noqa: PLR2004 - in a list of the first level
        if listed and text is not None:
            before = self.texts.get(_LISTED)
            self.texts[_LISTED] = text if before is None else f"{before},{text}"
        if self._depth != 1 or not self._is_mapping:
            return
        if self._at_key:
            self._key = text
        elif self._key is not None and text is not None:
            self.texts[self._key] = text
        self._at_key = not self._at_key


def _text_of(event: Any) -> str | None:  # noqa: ANN401 - as above
    if not isinstance(event, yaml.ScalarEvent):
        return None
    is_plain = bool(event.implicit and event.implicit[0])
    return None if is_plain and event.value in _NOTHING else str(event.value)
