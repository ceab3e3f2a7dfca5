"""The jobs of urlwatch: one YAML document each. Read from the parser's events; nothing is ever built.

A loader would make values of what it reads: aliases that double at each line, integers of a million digits.
Here only the texts on the first level of a document count, so the cost is that of the file's length. An
alias is nothing: the addresses of jobs differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from hubwatch_errors import HubwatchError

# Of one file. A list of 20,000 jobs has two to three million.
MAX_BYTES = 5_000_000
_PYTHON = "tag:yaml.org,2002:python/"
_NOTHING = frozenset(("", "~", "null", "Null", "NULL"))


class JobsError(HubwatchError):
    """The text is no YAML, or more of it than is read."""


def read_jobs(text: str) -> Iterator[dict[str, str]]:
    """Yield the texts of each document by key; one that is no mapping is empty.

    Raises:
        JobsError: where the text is no YAML, after what stands before it.
    """
    if len(text) > MAX_BYTES:
        raise JobsError(f"more than {MAX_BYTES} characters")
    try:
        # libyaml where there is one: ten times as quick.
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
        raise JobsError(" ".join(str(error).split())[:200]) from None


class _Document:
    """What is known of a document while its events come."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._depth = 0
        self._is_mapping = False
        self._key: str | None = None
        self._at_key = True

    def take(self, event: Any) -> None:  # noqa: ANN401 - an event of yaml, which has no common type
        """Take one event."""
        if (getattr(event, "tag", None) or "").startswith(_PYTHON):
            raise JobsError("it names an object of Python, which no list of jobs does")
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
        """Take a whole node: on the first level of a mapping they are keys and values in turn."""
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
