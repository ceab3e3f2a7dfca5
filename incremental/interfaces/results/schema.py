"""Results, described once for the command line, the API, the web page, feeds, messages and Python programs.

A result is a dataclass. FastAPI reads the schema of the API from it, ``--json`` prints it, templates and
programs read its fields. Times are aware datetimes in UTC, printed as ISO 8601. Text is not escaped.

::

    row of the store -> result_of(Kind, row) -> Kind -> print_json, FastAPI, templates
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from functools import cache, partial
from typing import Any, TypeVar, get_type_hints

from incremental.base.plain_text import clean
from store.answers.announced import AnnouncedPage, TopicMark, moment_of
from store.watched_changes import WatchedChangeRow

Kind = TypeVar("Kind")
Row = dict[str, Any]
"""What is shown as it is recorded, by field."""


def utc(at: float | datetime | None) -> str | None:
    """Return a time as ISO 8601, UTC."""
    moment = _moment(at)
    return moment.isoformat().replace("+00:00", "Z") if moment is not None else None


def when(at: float | datetime | None) -> str:
    """Return a time in the local zone, to the minute; a dash for None."""
    moment = _moment(at)
    if moment is None or moment.timestamp() <= 0:
        return "-"
    return moment.astimezone().strftime("%Y-%m-%d %H:%M")


def _moment(at: float | datetime | None) -> datetime | None:
    return at if isinstance(at, datetime) else moment_of(at)


def dated(row: Any, **more: Any) -> Row:  # noqa: ANN401 - a mapping, or any dataclass of the store or the daemon
    """Return what is recorded by field, with *more*; its times as datetimes, None = never."""
    values = dict(row) if isinstance(row, Mapping) else by_name(row)
    for name, value in values.items():
        if name in {"at", "since"} or name.endswith("_at"):
            values[name] = _moment(value or None)
    return values | more


def by_name(row: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return the fields of a dataclass by name, as they are."""
    return {field.name: getattr(row, field.name) for field in fields(row)}


def to_json(result: object, indent: int | None = None) -> str:
    """Return results, and what holds them, as JSON."""
    return json.dumps(result, ensure_ascii=False, indent=indent, default=_spread)


def _spread(value: Any) -> object:  # noqa: ANN401 - what JSON has no form for
    if isinstance(value, datetime):
        return utc(value)
    if is_dataclass(value):
        return by_name(value)
    raise TypeError(f"no JSON for {type(value)}")


def plain(result: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return results as plain JSON values."""
    return json.loads(to_json(result))


def result_of(kind: type[Kind], row: object, /, **more: Any) -> Kind:  # noqa: ANN401 - fields of *kind*
    """Return a result with the fields of *row*, an object or a mapping, and *more*; seconds become times."""
    read = row.__getitem__ if isinstance(row, Mapping) else partial(getattr, row)
    described: Any = kind
    times = _times(described)
    values = {name: more[name] if name in more else read(name) for name in times}
    return kind(**{name: _moment(v) if times[name] else v for name, v in values.items()})


@cache
def _times(kind: Any) -> dict[str, bool]:  # noqa: ANN401 - a dataclass
    """Return the fields of a result, and whether each is a time."""
    return {
        name: hint in (datetime, datetime | None) for name, hint in get_type_hints(kind).items()
    }


@dataclass(frozen=True, slots=True)
class PageTopic:
    """A topic's score of a page."""

    topic_id: int
    topic: str
    score: float
    verdict: str
    fetched: bool
    """False = guessed from the link; the page was not fetched."""
    terms: list[tuple[str, float]]
    """What explains the score; of a guess, the example that the link is like."""


@dataclass(frozen=True, slots=True)
class Page:
    """An announced page."""

    cursor: int
    """Continues a list after this page."""
    id: int
    url: str
    title: str
    """The text of the link if the page was not fetched."""
    anchor: str
    site: str
    site_id: int
    found_at: datetime
    published_at: datetime | None
    hub_id: int | None
    hub_url: str | None
    """The first hub that showed it."""
    language: str | None
    state: str
    read_at: datetime | None
    starred_at: datetime | None
    topics: list[PageTopic]
    cluster: int | None
    """Shared by near-duplicates."""
    copies: int
    """Other pages in its cluster."""
    excerpt: str
    event: int | None
    """Its backfill; null = announced alone."""


@dataclass(frozen=True, slots=True)
class PageWithText(Page):
    """An announced page with its stored main text."""

    text: str
    """Untrusted; empty if none is stored."""


@dataclass(frozen=True, slots=True)
class NewPages:
    """New pages, and the cursor to continue from."""

    pages: list[Page]
    cursor: int | None
    more: bool
    """Whether there are more now."""


@dataclass(frozen=True, slots=True)
class PageChange:
    """A change of a page and its cause."""

    id: int
    at: datetime
    kind: str
    detail: str
    hub_url: str | None
    """The hub that showed it (added), or the page itself."""
    body_before: str | None
    body_after: str | None
    """MD5s of bodies; the page cache may have pruned them."""


@dataclass(frozen=True, slots=True)
class SiteVisit:
    """One fetch of a page of a watched site."""

    id: int
    at: datetime
    status: str
    http_code: int | None
    body_bytes: int
    elapsed_seconds: float
    links: int
    new_pages: int
    detail: str
    url: str
    site: str


def page_topic(mark: TopicMark) -> PageTopic:
    """Return a topic's score of a page."""
    return result_of(
        PageTopic, mark, terms=[(term, weight) for term, weight in json.loads(mark.terms)]
    )


def page_result(page: AnnouncedPage) -> Page:
    """Return an announced page."""
    topics = [page_topic(mark) for mark in page.topics]
    return result_of(Page, page, id=page.page_id, title=clean(page.name), topics=topics)


def page_with_text(page: AnnouncedPage, text: str) -> PageWithText:
    """Return an announced page with its main text."""
    return PageWithText(**by_name(page_result(page)), text=text)


def page_json(page: AnnouncedPage) -> dict[str, Any]:
    """Return an announced page as plain JSON values."""
    return plain(page_result(page))  # type: ignore[no-any-return]  # an object


@dataclass(frozen=True, slots=True)
class TextChange:
    """A change of a watched page; its lines are untrusted: escape them."""

    id: int
    at: datetime
    page_id: int
    watch_id: int | None
    """null = its watch was removed."""
    url: str
    title: str
    site: str
    site_id: int
    removed: list[str]
    added: list[str]
    lines: list[str]
    """Both in order, each with `-` or `+`; shortened."""
    words_removed: int
    words_added: int


def change_result(change: WatchedChangeRow) -> TextChange:
    """Return a change."""
    return result_of(
        TextChange,
        change,
        title=clean(change.name),
        removed=[line for sign, line in change.lines if sign == "-"],
        added=[line for sign, line in change.lines if sign == "+"],
        lines=[f"{sign} {line}" for sign, line in change.lines],
    )
