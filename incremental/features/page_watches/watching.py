"""Watching pages for changes of their text: adding, changing, pausing, removing.

A watch belongs to the first site whose scope contains its page; a page of none gets a site of its own.
"""

from collections.abc import Sequence

from incremental.base.errors import InputError, NotFoundError
from incremental.base.readable_urls import site_name
from incremental.base.scope import read_scope, trap
from incremental.base.tagging import checked_words
from incremental.base.texts import Text
from incremental.base.times import DAY, MINUTE, span_seconds
from incremental.base.urls import canonical_key
from incremental.settings import Settings
from incremental.settings.seeds import check_address, usable_seed
from store import Store
from store.enums import WatchState
from store.page_watches import WatchRow
from store.values import SeenLink

MAX_WATCHES = 1_000
SHORTEST_MINUTES, LONGEST_DAYS = 1.0, 365.0


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
) -> WatchRow:
    """Watch a page, or change its watch; return it.

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
    if (why := trap(url)) is not None:
        raise InputError("url", url, Text("input.trap", why=why))
    with store.write.together():
        site_id = _site_of(store, url, now=now) if known is None else known.site_id
        link = SeenLink(canonical_key=canonical_key(url), url=url)
        page_id = store.write.add_pages(site_id, [link], now=now)[link.canonical_key]
        watch_id = store.page_watches.put(
            *(site_id, page_id, url),
            now=now,
            every_seconds=seconds,
            receivers=[*dict.fromkeys(channels)],
            include=include,
            exclude=exclude,
        )
        return found_watch(store, watch_id)


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
    # It is known for the watched page alone: without a hub nothing else of it is visited.
    return store.write.add_site(url, site_name(url), now=now)


def found_watch(store: Store, watch_id: int) -> WatchRow:
    """Return a watch by its id, or raise :class:`NotFoundError`."""
    watch = store.page_watches.watch(watch_id)
    if watch is None:
        raise NotFoundError(Text("page_watches.no_watch_id", id=watch_id))
    return watch


def named_watch(store: Store, text: str) -> WatchRow:
    """Return a watch by its URL or id, or raise :class:`NotFoundError`."""
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
