"""Lists of pages in a JSON value, recognised by their shape and not by the site. Pure.

A list of objects is one of pages if most of its objects have an address and a title, and either dates or
titles as long as headlines; a menu has neither. An object may wrap the one that counts (``node``,
``attributes``, ``fields``), and its address may be a whole URL, a path, or a slug below a folder.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from incremental.parse.dates import EARLIEST, LATEST, parse_date
from incremental.parse.page import Link
from incremental.parse.references import Resolver
from incremental.parse.text import plain

MIN_ITEMS = 3
# Tag paths of links from JSON begin with it; those from HTML begin with a tag.
JSON_PLACE = "json/"
MOST_LINKS = 2_000
_MOST_NODES = 200_000
_MOST_DEPTH = 40
_MOST_LISTS = 50
# Objects of a list that must have an address and a title.
_SHARE = 0.6
_DATED_SHARE = 0.5
_MOST_TITLE_CHARS = 500
_MOST_CONTEXT_CHARS = 300
# Mean length of headlines; that of menu entries is below. A Chinese character counts as three.
_HEADLINE_CHARS = 22.0
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")

# Names of fields in lower case without separators, the most telling first.
_ADDRESS = """
    url link href permalink canonicalurl weburl pageurl articleurl detailurl linkurl publicurl fullurl
    shareurl externalurl newsurl absoluteurl relativeurl htmlurl uri path urlpath webpath pagepath pathname
    relativepath route loc target
"""
_SLUG = "slug urlslug slugurl seoname alias urlkey handle pageslug urlalias currentslug seourl friendlyurl"
_NUMBER = "id articleid newsid postid itemid contentid docid nid pk uuid infoid"
_TITLE = """
    title headline name heading articletitle newstitle posttitle maintitle pagetitle label subject
    displayname doctitle infotitle displaytitle shorttitle
"""
_DATE = """
    publishedat publishedon publisheddate publishdate publicationdate datepublished pubdate published
    publishtime publishedtime firstpublishedat firstpublicationdate releasedate releasetime releasedat
    postdate postedat posted date datetime displaydate newsdate articledate issuedate createdat created
    createdate createtime creationdate datecreated addtime inputtime ctime showtime time timestamp sortdate
    startdate updatedat updated lastmodified modified modifiedat updatetime
"""
_CONTEXT = "summary excerpt description teaser abstract lead intro subtitle dek standfirst digest"
_RANKS: dict[str, dict[str, int]] = {
    kind: {name: place for place, name in enumerate(names.split())}
    for kind, names in (
        ("address", _ADDRESS),
        ("slug", _SLUG),
        ("number", _NUMBER),
        ("title", _TITLE),
        ("date", _DATE),
        ("context", _CONTEXT),
    )
}
_WRAPPERS = frozenset(
    {
        *("node", "attributes", "fields", "source", "item", "data", "content", "entry"),
        *("article", "post", "document", "hit"),
    }
)
_SEPARATORS = re.compile(r"[^a-z0-9]")
_PATH = re.compile(r"(?:https?://|//)?[^\s<>\"']{1,2000}")
_SLUG_VALUE = re.compile(r"[\w%][\w%.~-]{0,250}(?:/[\w%.~-]{1,250}){0,6}")
_MEDIA = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|ico|mp[34]|m3u8|webm|css|js|woff2?)(?:$|[?#])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class JsonList:
    """A list of pages in a value."""

    place: str
    """Keys that lead to it: ``props.pageProps.posts``; numbers of list entries as ``*``."""
    links: tuple[Link, ...]
    dated: int
    """Links with a date."""
    by_slug: bool
    """Its entries have slugs alone, so that their folder must be known."""

    @property
    def worth(self) -> float:
        """How much it looks like news: more links, dates, longer titles."""
        return (
            len(self.links) * (1.0 + 2.0 * self.dated / len(self.links)) * _mean_title(self.links)
        )


def find_lists(
    value: object, base_url: str, *, folder: str = "", least: int = MIN_ITEMS
) -> list[JsonList]:
    """Return the lists of pages in *value*, the best first.

    Addresses are relative to *base_url*, slugs below *folder* (``/news``). *least*: entries that a list
    must have; a known one may be short.
    """
    resolver = Resolver(base_url)
    found = (
        _as_list(place, entries, resolver, folder, least=least) for place, entries in _arrays(value)
    )
    lists = [one for one in found if one is not None]
    return sorted(lists, key=lambda one: -one.worth)[:_MOST_LISTS]


def links_of(lists: Sequence[JsonList]) -> tuple[Link, ...]:
    """Return the links of all *lists*, each page once, in their order."""
    kept: dict[str, Link] = {}
    for link in (link for one in lists for link in one.links):
        kept.setdefault(link.url, link)
    return tuple(list(kept.values())[:MOST_LINKS])


def _arrays(value: object) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the arrays of objects in *value* with their places, and objects of objects as such."""
    left = _MOST_NODES
    waiting: list[tuple[str, object, int]] = [("", value, 0)]
    while waiting and left > 0:
        place, one, depth = waiting.pop()
        left -= 1
        if depth > _MOST_DEPTH:
            continue
        if isinstance(one, list):
            objects = [entry for entry in one[:MOST_LINKS] if isinstance(entry, dict)]
            if objects:
                yield place, objects
            waiting += [(f"{place}.*".lstrip("."), entry, depth + 1) for entry in one[:MOST_LINKS]]
        elif isinstance(one, dict):
            values = list(one.values())
            # Stores keyed by id: {"12": {...}, "13": {...}}
            if len(values) >= MIN_ITEMS and all(isinstance(entry, dict) for entry in values):
                yield f"{place}.*".lstrip("."), values[:MOST_LINKS]
            for key, entry in reversed(one.items()):
                if isinstance(entry, dict | list):
                    waiting.append((f"{place}.{str(key)[:60]}".lstrip("."), entry, depth + 1))


def _as_list(
    place: str, entries: Sequence[Mapping[str, Any]], resolver: Resolver, folder: str, *, least: int
) -> JsonList | None:
    if len(entries) < least:
        return None
    links: list[Link] = []
    items = [item for entry in entries if (item := _item(entry)) is not None]
    path = f"{JSON_PLACE}{place}"[:500]
    for link, by_slug in items:
        target = resolver.resolve(f"{folder.rstrip('/')}/{link.url}" if by_slug else link.url)
        if target is not None and not _MEDIA.search(target):
            links.append(replace(link, url=target, tag_path=path))
    distinct = len({link.url for link in links})
    if distinct < max(least, _SHARE * len(entries)):
        return None
    dated = sum(link.published_at is not None for link in links)
    if dated < _DATED_SHARE * len(links) and _mean_title(links) < _HEADLINE_CHARS:
        return None
    return JsonList(place, tuple(links), dated, all(by_slug for _, by_slug in items))


def _mean_title(links: Sequence[Link]) -> float:
    chars = sum(len(link.anchor) + 2 * len(_WIDE.findall(link.anchor)) for link in links)
    return min(chars / len(links), 3 * _HEADLINE_CHARS)


def _item(entry: object) -> tuple[Link, bool] | None:
    """Return a link with its address as written, and whether that is a slug; None = no address or title."""
    if not isinstance(entry, Mapping):
        return None
    whole = dict(entry)
    for key, inner in entry.items():
        if _name(key) in _WRAPPERS and isinstance(inner, Mapping):
            whole = {**inner, **{k: v for k, v in entry.items() if k != key}}
            break
    named: dict[str, dict[int, Any]] = {kind: {} for kind in _RANKS}
    for key, value in whole.items():
        name = _name(key)
        for kind, ranks in _RANKS.items():
            if name in ranks:
                named[kind].setdefault(ranks[name], value)
    title = _first(named["title"], _text)
    if title is None:
        return None
    address, by_slug = _first(named["address"], _address), False
    if address is None:
        by_slug = True
        address = _first(named["slug"], _slug) or _first(named["number"], _number)
    if address is None:
        return None
    link = Link(
        url=address,
        anchor=plain(title, _MOST_TITLE_CHARS),
        context=plain(_first(named["context"], _text) or "", _MOST_CONTEXT_CHARS),
        published_at=_first(named["date"], _moment),
    )
    return link, by_slug


def _name(key: object) -> str:
    return _SEPARATORS.sub("", str(key)[:80].lower())


def _first(values: Mapping[int, Any], read: Any) -> Any:  # noqa: ANN401 - a reader and what it returns
    found = (read(values[rank]) for rank in sorted(values))
    return next((one for one in found if one is not None), None)


def _text(value: object) -> str | None:
    if isinstance(value, Mapping):
        # {"rendered": "..."} of WordPress, {"en": "..."} of translated sites
        value = next((one for one in value.values() if isinstance(one, str) and one.strip()), None)
    return value if isinstance(value, str) and value.strip() else None


def _address(value: object) -> str | None:
    if isinstance(value, Mapping):
        value = next(
            (value[key] for key in ("current", "url", "href", "path") if key in value), None
        )
    if not isinstance(value, str) or not _PATH.fullmatch(value.strip()):
        return None
    text = value.strip()
    # A bare word is a slug or a name, and no address that could be resolved.
    return text if "/" in text and not _MEDIA.search(text) else None


def _slug(value: object) -> str | None:
    if isinstance(value, Mapping):
        value = value.get("current")  # Sanity
    if not isinstance(value, str):
        return None
    text = value.strip().strip("/")
    return text if _SLUG_VALUE.fullmatch(text) else None


def _number(value: object) -> str | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int) and 0 < value < 10**18:
        return str(value)
    return value if isinstance(value, str) and re.fullmatch(r"[\w-]{1,64}", value) else None


def _moment(value: object) -> float | None:
    """Return a date as text or as seconds or milliseconds since 1970."""
    if isinstance(value, bool):
        return None
    if isinstance(value, Mapping):
        value = next(
            (value[key] for key in ("iso", "date", "$date", "value") if key in value), None
        )
    if isinstance(value, str):
        return parse_date(value, needs_day=True)
    if not isinstance(value, int | float):
        return None
    seconds = value / 1000 if value > LATEST else float(value)
    return seconds if EARLIEST <= seconds < LATEST else None
