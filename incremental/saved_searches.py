"""Saved searches: named filters of announced pages, as URLs, commands and the store keep them."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import Any

import msgspec

from incremental.errors import InputError
from incremental.times import moment
from store.answers import NewQuery
from store.enums import TopicVerdict

SHOWN = ("unread", "starred")


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters; empty and None do not narrow."""

    q: str = ""
    """Words; see :func:`store.words.read_query`."""
    site: int | None = None
    topic: int | None = None
    verdict: str = ""
    language: str = ""
    since: str = ""
    """A span back from now (``3h``, ``1w``) or a date."""
    show: str = ""
    """One of :data:`SHOWN`; empty = all."""
    tag: str = ""

    def values(self) -> dict[str, Any]:
        """Return the filters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def narrows(self) -> bool:
        """Whether any filter is set."""
        return any(self.values().values())

    def query(self, now: float, **more: Any) -> NewQuery:  # noqa: ANN401 - fields of NewQuery
        """Return the query for the store.

        Raises:
            InputError: *since* is neither a span nor a date.
        """
        return replace(self._asked(now), **more)

    def _asked(self, now: float) -> NewQuery:
        return NewQuery(
            text=self.q,
            sites=None if self.site is None else (self.site,),
            topic=self.topic,
            verdict=self.verdict or None,
            tag=self.tag or None,
            hidden_verdict=TopicVerdict.IRRELEVANT if self.topic and not self.verdict else None,
            language=self.language or None,
            since=moment(self.since, now) if self.since else None,
            read=False if self.show == "unread" else None,
            starred=True if self.show == "starred" else None,
        )


def to_json(filters: Filters) -> str:
    """Return the JSON of a saved search."""
    kept = {name: value for name, value in filters.values().items() if value}
    return json.dumps(kept, ensure_ascii=False)


def from_json(text: str) -> Filters:
    """Return the filters of a saved search.

    Raises:
        InputError: not a valid saved search.
    """
    try:
        found = msgspec.json.decode(text)
        return msgspec.convert(found, Filters, strict=False)
    except (msgspec.ValidationError, msgspec.DecodeError) as error:
        raise InputError("saved search", text[:100], str(error)) from None
