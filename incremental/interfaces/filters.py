"""Filters of announced pages, defined once for commands, API, web page, feeds and saved searches."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

import msgspec

from incremental.base.errors import InputError
from incremental.base.lookup import check_tag, site_numbered, topic_numbered
from incremental.base.times import moment
from store import Store
from store.answers import NewQuery
from store.enums import TopicVerdict

SHOWN = ("unread", "starred")
VERDICTS = tuple(one.value for one in TopicVerdict)
_MOST_CHARS: Final = 300
_MOST_DIGITS: Final = 19


class About(NamedTuple):
    """What interfaces say of a filter, and its bounds."""

    help: str
    most_chars: int | None = None
    least: float | None = None
    most: float | None = None
    one_of: tuple[str, ...] = ()
    """The values that it may have."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Filters; empty and None do not narrow."""

    q: Annotated[str, About("Words in title or text.", 300)] = ""
    """See :func:`store.search.words.read_query`."""
    site: Annotated[int | None, About("Site id.", least=1, most=2**62)] = None
    topic: Annotated[int | None, About("Topic id.", least=1, most=2**62)] = None
    verdict: Annotated[str, About("Of the topic, or of any.", one_of=VERDICTS)] = ""
    language: Annotated[str, About("Only this language, such as zh.", 20)] = ""
    since: Annotated[str, About("A span (90m, 3h, 1d, 2w) or a date.", 40)] = ""
    show: Annotated[str, About("Default: all.", one_of=SHOWN)] = ""
    tag: Annotated[str, About("Only pages of the sites and topics with this tag.", 40)] = ""
    until: Annotated[str, About("Found before: a span or a date.", 40)] = ""
    min_score: Annotated[float | None, About("At least this score.", least=0, most=1)] = None

    def values(self) -> dict[str, Any]:
        """Return the filters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def narrows(self) -> bool:
        """Whether any filter is set."""
        return any(self.values().values())

    def query(self, now: float, **more: Any) -> NewQuery:  # noqa: ANN401 - fields of NewQuery
        """Return the query for the store.

        Raises:
            InputError: *since* or *until* is neither a span nor a date.
        """
        asked = NewQuery(
            text=self.q,
            sites=None if self.site is None else (self.site,),
            topic=self.topic,
            verdict=self.verdict or None,
            tag=self.tag or None,
            hidden_verdict=TopicVerdict.IRRELEVANT if self.topic and not self.verdict else None,
            language=self.language or None,
            since=_time("since", self.since, now),
            until=_time("until", self.until, now),
            min_score=self.min_score,
            read=False if self.show == "unread" else None,
            starred=True if self.show == "starred" else None,
        )
        return replace(asked, **more)


def known(store: Store, filters: Filters) -> Filters:
    """Return *filters*, or raise :class:`NotFoundError` for a site, topic or tag that is not there."""
    if filters.site is not None:
        site_numbered(store, filters.site)
    if filters.topic is not None:
        topic_numbered(store, filters.topic)
    if filters.tag:
        check_tag(store, filters.tag)
    return filters


def _time(field: str, text: str, now: float) -> float | None:
    try:
        return moment(text, now) if text else None
    except InputError as error:
        raise InputError(field, text, error.way_out) from None


HINTS: Final = get_type_hints(Filters, include_extras=True)
"""Type and :class:`About` of each filter, by name."""


def lenient(given: Mapping[str, str]) -> Filters:
    """Return the filters of a query string or form of the page; values that cannot be used are ignored."""
    said: dict[str, Any] = {name: given.get(name, "")[:_MOST_CHARS].strip() for name in HINTS}
    said |= {name: number(said[name]) for name in ("site", "topic")}
    said["show"] = said["show"] if said["show"] in SHOWN else ""
    return Filters(**said | {"min_score": None})


def number(text: str) -> int | None:
    """Return a row's id or cursor; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS else None


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
