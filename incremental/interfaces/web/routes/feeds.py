"""Feeds of all new pages, of sites, topics, tags and saved searches, and the page that lists them."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.base.lookup import check_tag
from incremental.base.texts import Words
from incremental.interfaces.filters import Filters, from_json
from incremental.interfaces.web.context import ConditionalRoute, unless_known, web_of
from incremental.interfaces.web.feeds import Entry, Feed, atom, json_feed
from incremental.interfaces.web.reading import gained, merged, paragraphs
from incremental.interfaces.web.routes.forms import base_of
from incremental.interfaces.web.routes.news import search_filters
from incremental.interfaces.web.views import page, query, words_of
from store import Store
from store.answers import AnnouncedPage, NewQuery
from store.crawl.backfills import BackfillEvent
from store.enums import TopicVerdict
from store.topics.values import TopicRow
from store.values import SiteRow

router = APIRouter(include_in_schema=False, route_class=ConditionalRoute)
_ENTRIES = 100
# The backfill feed is longer: a site may gain hundreds of pages at once.
_OLDER = 1_000
_FORMATS: dict[str, tuple[Callable[[Feed], bytes], str]] = {
    "atom": (atom, "application/atom+xml; charset=utf-8"),
    "json": (json_feed, "application/feed+json; charset=utf-8"),
}
Format = Annotated[str, Path(pattern="^(atom|json)$")]


@dataclass(frozen=True, slots=True)
class _Named:
    """A feed: its path without extension, and its filters."""

    path: str
    title: str
    filters: Filters


@router.get("/feeds")
def feeds_page(request: Request, store: Store) -> Response:
    """Show the list of feeds."""
    words = words_of(request)
    feeds = [*_all(store, request), _Named("/feeds/backfill", words("backfill.feed"), Filters())]
    for one in web_of(request).settings.enabled.on:
        feeds += [
            _Named(path, words.maybe(one.name, text), Filters()) for path, text in one.feeds.items()
        ]
    return page(request, "feeds.html", {"feeds": feeds})


@router.get("/feeds/new.{form}")
def new_feed(request: Request, form: Format) -> Response:
    """Return the feed of all new pages."""
    return _feed(request, _Named("/feeds/new", words_of(request)("feeds.all"), Filters()), form)


@router.get("/feeds/site/{site_id}.{form}")
def site_feed(request: Request, site: SiteRow, form: Format) -> Response:
    """Return the feed of a site."""
    return _feed(request, _of_site(site), form)


@router.get("/feeds/topic/{topic_id}.{form}")
def topic_feed(request: Request, topic: TopicRow, form: Format) -> Response:
    """Return the feed of a topic's relevant pages."""
    return _feed(request, _of_topic(topic), form)


@router.get("/feeds/tag/{tag}.{form}")
def tag_feed(request: Request, store: Store, tag: str, form: Format) -> Response:
    """Return the feed of the sites and topics with a tag."""
    check_tag(store, tag)
    return _feed(request, _of_tag(tag), form)


@router.get("/feeds/search/{name}.{form}")
def search_feed(request: Request, name: str, form: Format) -> Response:
    """Return the feed of a saved search."""
    return _feed(request, _of_search(name, search_filters(request, name)), form)


def _of_site(site: SiteRow) -> _Named:
    return _Named(f"/feeds/site/{site.id}", site.name, Filters(site=site.id))


def _of_topic(topic: TopicRow) -> _Named:
    relevant = Filters(topic=topic.id, verdict=TopicVerdict.RELEVANT)
    return _Named(f"/feeds/topic/{topic.id}", topic.name, relevant)


def _of_tag(tag: str) -> _Named:
    return _Named(f"/feeds/tag/{quote(tag, safe='')}", tag, Filters(tag=tag))


def _of_search(name: str, filters: Filters) -> _Named:
    # Without "unread" or "starred": entries would come and go, but a feed announces each page once.
    return _Named(f"/feeds/search/{quote(name, safe='')}", name, replace(filters, show=""))


def _all(store: Store, request: Request) -> Iterator[_Named]:
    yield _Named("/feeds/new", words_of(request)("feeds.all"), Filters())
    yield from map(_of_site, store.read.sites())
    yield from map(_of_topic, store.topics.topics())
    yield from (_of_tag(tag.name) for tag in store.tags.tags())
    for search in store.answers.searches():
        # Searches saved elsewhere may be invalid here.
        with contextlib.suppress(InputError):
            yield _of_search(search.name, from_json(search.query))


def _feed(request: Request, named: _Named, form: str) -> Response:
    web, base = web_of(request), base_of(request)
    with web.store() as store:
        asked = named.filters.query(web.now(), limit=_ENTRIES)
        rows = store.answers.new(asked).rows
        events = gained(store, named.filters, web.now())
        shown = merged(rows, events)[:_ENTRIES]
        entries = [_announced(row, words_of(request), base) for row in shown]
        if _is_full(request):
            entries = [_with_text(store, *one) for one in zip(entries, shown, strict=True)]
    return answer(request, form, named.path, named.title, entries, home=_home(named.filters))


def _is_full(request: Request) -> bool:
    return request.query_params.get("full") == "1"


def answer(
    request: Request, form: str, path: str, title: str, entries: list[Entry], *, home: str = "/"
) -> Response:
    """Return a feed with its *entries*, whose page is *home*."""
    write, kind = _FORMATS[form]
    base, full = base_of(request), "?full=1" if _is_full(request) else ""
    feed = Feed(
        id=_urn(base + path),
        title=f"{title} · Hubwatch",
        home=base + home,
        address=f"{base}{path}.{form}{full}",
        entries=entries,
        updated_at=max((one.found_at for one in entries), default=0.0),
    )
    return unless_known(request, Response(write(feed), media_type=kind))


def _announced(row: AnnouncedPage | BackfillEvent, words: Words, base: str) -> Entry:
    """Return the entry of a new page or of a whole backfill."""
    if isinstance(row, AnnouncedPage):
        return feed_entry(row)
    headline = words("backfill.added", n=row.pages, folder=row.folder)
    one = row.pages == 1
    return Entry(
        id=entry_id("backfill", row.id, row.found_at),
        url=row.url if one else f"{base}/backfills/{row.id}",
        title=(row.title or row.url) if one else headline,
        site=row.site,
        found_at=row.found_at,
        summary=headline,
    )


def _with_text(store: Store, entry: Entry, row: AnnouncedPage | BackfillEvent) -> Entry:
    if not isinstance(row, AnnouncedPage) or (text := store.answers.text(row.page_id)) is None:
        return entry
    return replace(entry, content=tuple(paragraphs(text.text, row.name)))


@router.get("/feeds/backfill.{form}")
def backfill_feed(request: Request, store: Store, form: Format) -> Response:
    """Return the feed of backfilled pages, an entry for each page."""
    rows = store.backfills.pages(NewQuery(limit=_OLDER))
    entries = [feed_entry(row) for row in rows]
    return answer(request, form, "/feeds/backfill", words_of(request)("backfill.feed"), entries)


def _home(filters: Filters) -> str:
    return query("/", **filters.values())


def _urn(address: str) -> str:
    """Return a stable id for a URL (RFC 9562, UUID version 5)."""
    return uuid5(NAMESPACE_URL, address).urn


def entry_id(kind: str, number: int, at: float) -> str:
    """Return the id of an entry: of what it is in the store, so that it stays when an address changes."""
    # With the time, as another store numbers its pages alike.
    return _urn(f"hubwatch:{kind}:{number}:{at:.3f}")


def feed_entry(row: AnnouncedPage) -> Entry:
    """Return the entry of a page."""
    tags = tuple(mark.topic for mark in row.topics if mark.verdict == TopicVerdict.RELEVANT)
    return Entry(
        id=entry_id("page", row.page_id, row.found_at),
        url=row.url,
        title=row.name,
        site=row.site,
        found_at=row.found_at,
        published_at=row.published_at,
        summary=row.excerpt or row.anchor,
        language=row.language,
        tags=tags,
    )
