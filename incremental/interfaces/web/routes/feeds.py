"""Feeds of all new pages, of sites, topics, tags and saved searches, and the page that lists them."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from fastapi import APIRouter, Path, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.base.lookup import check_tag
from incremental.base.texts import Words
from incremental.interfaces.filters import Filters, from_json
from incremental.interfaces.web.context import StoreRoute, Web, unless_known
from incremental.interfaces.web.feeds import Entry, Feed, atom, json_feed
from incremental.interfaces.web.reading import gained, merged, paragraphs
from incremental.interfaces.web.routes.news import search_named
from incremental.interfaces.web.views import base_of, page, query, words_of
from store import Store
from store.answers import AnnouncedPage, NewQuery, SavedSearchRow, StoredText
from store.crawl.backfills import BackfillEvent
from store.enums import TopicVerdict
from store.topics.values import TopicRow
from store.values import SiteRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
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
    filters: Filters = field(default_factory=Filters)


@router.get("/feeds")
def feeds_page(request: Request, web: Web, store: Store) -> Response:
    """Show the list of feeds."""
    words = words_of(request)
    feeds = [_Named("/feeds/new", words("feeds.all"))]
    feeds += [_of_site(site) for site in store.read.sites()]
    feeds += [_of_topic(topic) for topic in store.topics.topics()]
    feeds += [_of_tag(tag.name) for tag in store.tags.tags()]
    for search in store.answers.searches():
        # Searches saved elsewhere may be invalid here.
        with contextlib.suppress(InputError):
            feeds.append(_of_search(search))
    feeds.append(_Named("/feeds/backfill", words("backfill.feed")))
    for one in web.settings.enabled.on:
        feeds += [_Named(path, words.maybe(one.name, text)) for path, text in one.feeds.items()]
    return page(request, "feeds.html", {"feeds": feeds})


def _of_site(site: SiteRow) -> _Named:
    return _Named(f"/feeds/site/{site.id}", site.name, Filters(site=site.id))


def _of_topic(topic: TopicRow) -> _Named:
    relevant = Filters(topic=topic.id, verdict=TopicVerdict.RELEVANT)
    return _Named(f"/feeds/topic/{topic.id}", topic.name, relevant)


def _of_tag(name: str) -> _Named:
    return _Named(f"/feeds/tag/{quote(name, safe='')}", name, Filters(tag=name))


def _of_search(search: SavedSearchRow) -> _Named:
    # Without "unread" or "starred": entries would come and go, but a feed announces each page once.
    filters = replace(from_json(search.query), show="")
    return _Named(f"/feeds/search/{quote(search.name, safe='')}", search.name, filters)


@router.get("/feeds/new.{form}")
def new_feed(request: Request, web: Web, store: Store, form: Format) -> Response:
    """Return the feed of all new pages."""
    return _new_pages(
        request, web, store, form, _Named("/feeds/new", words_of(request)("feeds.all"))
    )


@router.get("/feeds/site/{site_id}.{form}")
def site_feed(request: Request, web: Web, store: Store, site: SiteRow, form: Format) -> Response:
    """Return the feed of a site's new pages."""
    return _new_pages(request, web, store, form, _of_site(site))


@router.get("/feeds/topic/{topic_id}.{form}")
def topic_feed(request: Request, web: Web, store: Store, topic: TopicRow, form: Format) -> Response:
    """Return the feed of pages that are relevant to a topic."""
    return _new_pages(request, web, store, form, _of_topic(topic))


@router.get("/feeds/tag/{tag:path}.{form}")
def tag_feed(request: Request, web: Web, store: Store, tag: str, form: Format) -> Response:
    """Return the feed of a tag's new pages."""
    check_tag(store, tag)
    return _new_pages(request, web, store, form, _of_tag(tag))


@router.get("/feeds/search/{name:path}.{form}")
def search_feed(request: Request, web: Web, store: Store, name: str, form: Format) -> Response:
    """Return the feed of a saved search."""
    return _new_pages(request, web, store, form, _of_search(search_named(store, name)))


def _new_pages(request: Request, web: Web, store: Store, form: str, named: _Named) -> Response:
    """Return a feed of new pages."""
    words, base = words_of(request), base_of(request)
    rows = store.answers.new(named.filters.query(web.now(), limit=_ENTRIES)).rows
    shown = merged(rows, gained(store, named.filters, web.now()))[:_ENTRIES]
    text = store.answers.text if _is_full(request) else lambda _: None
    entries = [
        _event_entry(row, words, base)
        if isinstance(row, BackfillEvent)
        else feed_entry(row, text(row.page_id))
        for row in shown
    ]
    home = query("/", **named.filters.values())
    return answer(request, form, named.path, named.title, entries, home=home)


def _is_full(request: Request) -> bool:
    return request.query_params.get("full") == "1"


def answer(
    request: Request, form: str, path: str, title: str, entries: list[Entry], *, home: str = "/"
) -> Response:
    """Return a feed with its *entries*, whose page is *home*."""
    write, kind = _FORMATS[form]
    base, full = base_of(request), "?full=1" if _is_full(request) else ""
    feed = Feed(
        id=uuid5(NAMESPACE_URL, base + path).urn,
        title=f"{title} · Hubwatch",
        home=base + home,
        address=f"{base}{path}.{form}{full}",
        entries=entries,
        updated_at=max((one.found_at for one in entries), default=0.0),
    )
    return unless_known(request, Response(write(feed), media_type=kind))


def _event_entry(event: BackfillEvent, words: Words, base: str) -> Entry:
    """Return the entry of a whole backfill."""
    headline = words("backfill.added", n=event.pages, folder=event.folder)
    one = event.pages == 1
    return Entry(
        id=entry_id("backfill", event.id, event.found_at),
        url=event.url if one else f"{base}/backfills/{event.id}",
        title=(event.title or event.url) if one else headline,
        site=event.site,
        found_at=event.found_at,
        summary=headline,
    )


@router.get("/feeds/backfill.{form}")
def backfill_feed(request: Request, store: Store, form: Format) -> Response:
    """Return the feed of backfilled pages, an entry for each page."""
    rows = store.backfills.pages(NewQuery(limit=_OLDER))
    entries = [feed_entry(row) for row in rows]
    return answer(request, form, "/feeds/backfill", words_of(request)("backfill.feed"), entries)


def entry_id(kind: str, number: int, at: float) -> str:
    """Return the id of an entry: of what it is in the store, so that it stays when an address changes."""
    # With the time, as another store numbers its pages alike.
    return uuid5(NAMESPACE_URL, f"hubwatch:{kind}:{number}:{at:.3f}").urn


def feed_entry(row: AnnouncedPage, text: StoredText | None = None) -> Entry:
    """Return the entry of a page, with its whole *text* if that is given."""
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
        content=tuple(paragraphs(text.text, row.name)) if text else (),
    )
