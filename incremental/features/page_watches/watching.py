"""Watching pages for changes of their text: adding, changing, pausing, removing.

::

    a URL                the page itself, of a watched site or of one that is known for it alone
    a URL with ``*``     what is known of a watched site now, and what is found later

A watch belongs to the first site whose scope contains it.

Each pattern remembers in the store up to which page id it was compared, so that none is missed if the
process dies, and no page is compared twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from incremental.base.errors import InputError, NotFoundError
from incremental.base.readable_urls import site_name
from incremental.base.scope import compile_pattern, read_scope, trap
from incremental.base.tagging import checked_words
from incremental.base.texts import Text
from incremental.base.times import DAY, MINUTE, span_seconds
from incremental.base.urls import canonical_key
from incremental.crawl.part import Part
from incremental.interfaces.results.schema import by_name, dated
from incremental.settings.seeds import check_address, usable_seed
from store import Store
from store.enums import WatchState
from store.page_watches import WatchRow, WatchStanding
from store.values import SeenLink, VisitRecord

if TYPE_CHECKING:
    from incremental.settings import Settings

MAX_WATCHES = 1_000
MAX_RECEIVERS = 50
SHORTEST_MINUTES, LONGEST_DAYS = 1.0, 365.0
_BATCH = 2_000
_SHOWN = (
    *("id", "pattern", "site_id", "state", "every_minutes", "channels", "include", "exclude"),
    *("added_at", "pages", "gone", "checked_at", "changed_at", "next_at"),
)


def watch_page(  # noqa: PLR0913 - what a user wants of a watch
    store: Store,
    settings: Settings,
    text: str,
    *,
    now: float,
    every: str = "",
    channels: Sequence[str] = (),
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
) -> tuple[WatchRow, int]:
    """Watch a page or a pattern, or change its watch; return it with the number of pages it took in.

    *every* is a span such as ``6h``; empty = as often as the page's changes make worthwhile. No *channels* =
    every one that is not narrowed to a topic or a search.

    Raises:
        InputError: a value cannot be used; nothing was changed.
    """
    url = usable_seed(text)
    known = store.page_watches.watch_of(url)
    if known is None and len(store.page_watches.watches()) >= MAX_WATCHES:
        raise InputError("watches", MAX_WATCHES, Text("input.at_most", n=MAX_WATCHES))
    seconds = span(every)
    _check_receivers(store, settings, channels)
    include, exclude = checked_words(include, "include"), checked_words(exclude, "exclude")
    check_address(url, settings.fetch)
    if (why := trap(url)) is not None and "*" not in url:
        raise InputError("url", url, Text("input.trap", why=why))
    with store.write.together():
        site_id = _site_of(store, url, now=now) if known is None else known.site_id
        watch_id = store.page_watches.put(
            *(site_id, url),
            now=now,
            every_seconds=seconds,
            receivers=tuple(channels),
            include=include,
            exclude=exclude,
        )
        watch = found_watch(store, watch_id)
        if watch.is_pattern:
            return watch, take_in(store, watch, now=now)
        link = SeenLink(canonical_key=canonical_key(url), url=url)
        page_id = store.write.add_pages(site_id, [link], now=now)[link.canonical_key]
        return watch, store.page_watches.take_in(watch, [page_id], 0, now=now)


def span(text: str) -> float | None:
    """Return the seconds between two checks, typed as ``30m``, ``6h`` or ``2d``; None for nothing.

    Raises:
        InputError: not a span of time, or too short or long.
    """
    if not text.strip():
        return None
    seconds = span_seconds(text)
    if seconds is None:
        raise InputError("span", text[:40], Text("input.time_span"))
    if not SHORTEST_MINUTES * MINUTE <= seconds <= LONGEST_DAYS * DAY:
        way_out = Text("page_watches.watch_interval", minutes=SHORTEST_MINUTES, days=LONGEST_DAYS)
        raise InputError("span", text[:40], way_out)
    return seconds


def _check_receivers(store: Store, settings: Settings, names: Sequence[str]) -> None:
    if len(names) > MAX_RECEIVERS:
        raise InputError("channel", len(names), Text("input.at_most", n=MAX_RECEIVERS))
    known = receivers(store, settings)
    for name in names:
        if name not in known:
            raise InputError("channel", name[:100], Text("page_watches.no_channel"))


def receivers(store: Store, settings: Settings) -> list[str]:
    """Return the names to which changes can be sent."""
    return [
        name for found in settings.enabled.asked("receivers", store, settings) for name in found
    ]


def _site_of(store: Store, url: str, *, now: float) -> int:
    """Return the site that a watch belongs to; a page of none gets a site without hubs."""
    for row in store.read.sites():
        if read_scope(row).holds(url):
            return row.id
    if "*" in url:
        raise InputError("pattern", url, Text("page_watches.pattern_outside"))
    # It is known for the watched page alone: without a hub nothing else of it is visited.
    return store.write.add_site(url, site_name(url), now=now)


def found_watch(store: Store, watch_id: int) -> WatchRow:
    """Return a watch by its id, or raise :class:`NotFoundError`."""
    watch = store.page_watches.watch(watch_id)
    if watch is None:
        raise NotFoundError(Text("page_watches.no_watch_id", id=watch_id))
    return watch


def named_watch(store: Store, text: str) -> WatchRow:
    """Return a watch by its URL, pattern or id, or raise :class:`NotFoundError`."""
    if text.isascii() and text.isdecimal():
        return found_watch(store, int(text[:18]))
    watch = store.page_watches.watch_of(usable_seed(text))
    if watch is None:
        raise NotFoundError(Text("page_watches.no_watch", url=text[:200]))
    return watch


def pause_watch(store: Store, watch: WatchRow, *, paused: bool, now: float) -> None:
    """Pause or resume a watch."""
    state = WatchState.PAUSED if paused else WatchState.ACTIVE
    store.page_watches.set_state(watch.id, state, now=now)


def senders(store: Store) -> dict[int, WatchRow]:
    """Return the watches by id, for those who send their changes."""
    return {one.id: one for one in store.page_watches.watches()}


def watch_result(watch: WatchRow, standing: WatchStanding) -> dict[str, Any]:
    """Return a watch with what became of it, for JSON; no interval = as often as worthwhile."""
    facts = by_name(watch) | by_name(standing)
    every = watch.every_seconds
    facts |= {
        "every_minutes": None if every is None else every / MINUTE,
        "channels": watch.receivers,
        "next_at": standing.next_at or None,
    }
    return dated({name: facts[name] for name in _SHOWN})


def take_in(store: Store, watch: WatchRow, *, now: float) -> int:
    """Let a pattern take in what it was not compared with yet; return how many pages are new to it."""
    pattern, taken, after = compile_pattern(watch.pattern), 0, watch.taken_to
    while pages := store.page_watches.pages_after(watch.site_id, after, limit=_BATCH):
        after = pages[-1][0]
        matching = [page for page, url in pages if pattern.search(url)]
        taken += store.page_watches.take_in(watch, matching, after, now=now)
    return taken


class PatternWatches:
    """The patterns of all sites. Used by the crawler's thread only."""

    def __init__(self, store: Store, part: Part) -> None:
        self._store = store
        self._part = part
        self._by_site: dict[int, list[int]] = {}

    def load(self, now: float) -> None:
        """Read the patterns: at start, and after another process changed them."""
        self._by_site = {}
        for watch in self._store.page_watches.watches():
            if watch.is_pattern and self._part.has(watch.site_id):
                self._by_site.setdefault(watch.site_id, []).append(watch.id)
                take_in(self._store, watch, now=now)

    def after(self, record: VisitRecord, now: float) -> None:
        """Let the patterns of a site take in what its visit found."""
        if not (record.links or record.more_pages or record.moved_to):
            return
        for watch_id in self._by_site.get(record.site_id, ()):
            watch = self._store.page_watches.watch(watch_id)
            if watch is not None:
                take_in(self._store, watch, now=now)
