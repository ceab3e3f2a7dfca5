"""Ids of streams and items, and the queries that they stand for. Pure but for looking up names."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from incremental.base.errors import InputError, NotFoundError
from store import Store
from store.answers import NewQuery
from store.enums import TopicVerdict
from store.values import SiteRow

ITEM = "tag:google.com,2005:reader/item/"
STATE, LABEL, FEED = "user/-/state/com.google/", "user/-/label/", "feed/"
READING_LIST, READ, STARRED = (f"{STATE}{name}" for name in ("reading-list", "read", "starred"))
FRESH = f"{STATE}fresh"
# What apps set beside "read"; it says nothing more.
KEPT_UNREAD, UNREAD = f"{STATE}kept-unread", f"{STATE}unread"
MOST_ITEMS = 1_000
MOST_IDS = 10_000
_HEX_DIGITS = 16
_LARGEST = 2**63 - 1
_USER = re.compile(r"^user/[^/]+/")
_FEW = 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A part of a stream as a request names it; texts as sent."""

    stream: str
    include: str = ""
    """``it``: only items with this state."""
    exclude: str = ""
    """``xt``: only items without it."""
    since: str = ""
    """``ot``: found since, unix seconds."""
    until: str = ""
    """``nt``: found before."""
    count: str = ""
    order: str = ""
    """``o`` = oldest first."""
    after: str = ""
    """``c``: where the last part ended."""

    @classmethod
    def of(cls, fields: Mapping[str, str], stream: str) -> Asked:
        """Take it from the fields of a request."""
        names = ("it", "xt", "ot", "nt", "n", "r", "c")
        return cls(stream, *(fields.get(name, "") for name in names))


def stream_id(text: str) -> str:
    """Return the id of a stream with a dash in place of the user's name."""
    return _USER.sub("user/-/", text.strip())


def item_id(cursor: int) -> str:
    """Return the long form of an item's id."""
    return f"{ITEM}{cursor:016x}"


def item_cursor(text: str) -> int:
    """Read an item's id: long form, its 16 hexadecimal digits, or decimal.

    Raises:
        InputError: none of these.
    """
    short = text.strip().removeprefix(ITEM)
    is_hex = short != text.strip() or (len(short) == _HEX_DIGITS and short.startswith("0"))
    try:
        number = int(short, 16 if is_hex else 10)
    except ValueError:
        number = -1
    if not 0 <= number <= _LARGEST:
        raise InputError("i", text[:80], f"must be an item like {item_id(1)}, or its number")
    return number


def query_of(store: Store, asked: Asked, *, most: int) -> NewQuery:
    """Return the query of a part of a stream.

    Raises:
        NotFoundError: no such site, folder or topic.
        InputError: a number is none.
    """
    query = _stream(store, stream_id(asked.stream))
    query = _with_state(query, stream_id(asked.include), wanted=True)
    query = _with_state(query, stream_id(asked.exclude), wanted=False)
    # "ot=0" and the like stand for no bound.
    since, until = _number("ot", asked.since), _number("nt", asked.until)
    return replace(
        query,
        since=since or None,
        until=until or None,
        after=int(_number("c", asked.after)) or None,
        limit=min(max(int(_number("n", asked.count) or _FEW), 1), most),
        order="oldest" if asked.order == "o" else "newest",
    )


def _stream(store: Store, stream: str) -> NewQuery:
    if stream.startswith(FEED):
        return NewQuery(sites=(_site(store, stream.removeprefix(FEED)).id,))
    if stream.startswith(LABEL):
        return _labelled(store, stream.removeprefix(LABEL))
    if stream in ("", READING_LIST):
        return NewQuery()
    if stream in (READ, STARRED, UNREAD, KEPT_UNREAD):
        return _with_state(NewQuery(), stream, wanted=True)
    raise NotFoundError(f"there is no stream {stream[:100]!r}")


def _labelled(store: Store, name: str) -> NewQuery:
    """Return the query of a folder, or else of a topic's relevant pages."""
    sites = tuple(site for site, names in store.tags.of_sites().items() if name in names)
    if sites:
        return NewQuery(sites=sites)
    topic = store.topics.topic(name)
    if topic is None:
        raise NotFoundError(f"no folder and no topic is called {name[:100]!r}")
    return NewQuery(topic=topic.id, verdict=TopicVerdict.RELEVANT)


def _site(store: Store, name: str) -> SiteRow:
    """Return a site by its number, or by its seed."""
    number = int(name) if name.isdecimal() and len(name) < 19 else None  # noqa: PLR2004 - 64 bits
    row = store.read.site_by_seed(name) if number is None else store.read.site(number)
    if row is None:
        raise NotFoundError(f"there is no subscription {name[:100]!r}")
    return row


def _with_state(query: NewQuery, state: str, *, wanted: bool) -> NewQuery:
    if state == STARRED:
        return replace(query, starred=wanted)
    if state in (READ, UNREAD, KEPT_UNREAD):
        return replace(query, read=wanted == (state == READ))
    return query


def _number(name: str, text: str) -> float:
    if not text.strip():
        return 0.0
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= _LARGEST:
        raise InputError(name, text[:80], "must be a number")
    return number


@dataclass(frozen=True, slots=True)
class Marks:
    """What a request changes; None = unchanged."""

    read: bool | None = None
    starred: bool | None = None


def marks_of(added: Sequence[str], removed: Sequence[str]) -> Marks:
    """Return the marks that ``edit-tag`` sets; labels and states that nobody keeps here change nothing."""
    adds, removes = {stream_id(one) for one in added}, {stream_id(one) for one in removed}
    read = starred = None
    if READ in removes or adds & {KEPT_UNREAD, UNREAD}:
        read = False
    if READ in adds:
        read = True
    if STARRED in adds | removes:
        starred = STARRED in adds
    return Marks(read, starred)
