"""A first look at a seed, for the person who adds it: what is there, before the daemon has visited it.

::

    the seed      title, links within reach, feeds it names, addresses that look like lists
    robots.txt    whether it may be read; sitemaps
    first feed    how many pages a day are new, by its dates; without one by those of the seed

At most three requests, under the crawler's terms. Nothing is recorded but what the hosts are owed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from incremental.base.scope import read_scope
from incremental.base.texts import Text, named
from incremental.base.times import DAY
from incremental.base.urls import canonical_key
from incremental.decide.address_forms import form_of
from incremental.decide.hubs import HubScorer, score_targets
from incremental.decide.links import targets
from incremental.decide.url_dates import date_in_url
from incremental.fetch.status import FetchStatus, Response
from incremental.parse import Page, PageKind
from incremental.sandbox import Body, Read, Reading, Unread
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from incremental.visit.once import answers, fetch_once, problem_of
from incremental.visit.visit import Fetch
from store import Store
from store.values import SeenLink, SiteRow

MAX_LISTS = 8
# Of one form; a site's articles may look like lists before any was read.
MAX_OF_FORM = 3
MAX_FEEDS = 5
# Fewer dates say nothing of a rate.
MIN_DATES = 3
RATE_DAYS = 30.0
# How a host without HTTPS answers; robots.txt is asked for first.
_NO_TLS = (FetchStatus.TLS_FAILED, FetchStatus.CONNECT_FAILED, FetchStatus.ROBOTS_UNREACHABLE)


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What a seed shows."""

    url: str
    """After redirects."""
    problem: str = ""
    """Why it could not be read; for people."""
    kind: str = ""
    title: str = ""
    feeds: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    """Addresses that look like lists, the likeliest first."""
    links: int = 0
    """Pages within reach that it links to."""
    is_shell: bool = False
    """Its scripts draw it, and it carries no list."""
    new_pages_per_day: float | None = None
    """By the dates of the feed or of the links; None = too few are dated."""
    requests_per_day: float = 0.0
    """The most that will be made."""
    without_tls: bool = False
    """It answers without HTTPS only, and is watched so, as its address was typed without a scheme."""


def first_look(  # noqa: PLR0913 - what reads and judges, by name
    store: Store,
    settings: Settings,
    row: SiteRow,
    *,
    fetch: Fetch,
    read: Read,
    scorer: HubScorer,
    now: float,
    any_scheme: bool = False,
) -> FirstLook:
    """Fetch a site's seed and its first feed, and return what they show.

    *any_scheme*: the address was typed without one, so a site without HTTPS is watched without it.
    """
    asked = row.requests_per_day
    look = FirstLook(
        row.seed_url,
        requests_per_day=settings.revisit.requests_per_day if asked is None else asked,
    )
    response = fetch_once(store, settings, row.seed_url, fetch, now=now)
    reading = _read(response, read)
    look = replace(
        look, url=response.url, sitemaps=HostGate(store, settings).sitemaps(row.seed_url)
    )
    if isinstance(reading, str):
        plain = _without_tls(store, settings, row, response, fetch=fetch, now=now)
        if plain and any_scheme:
            store.write.replace_seed(row.id, canonical_key(plain), plain, now=now)
            row = replace(row, seed_url=plain)
            seen = first_look(store, settings, row, fetch=fetch, read=read, scorer=scorer, now=now)
            return replace(seen, without_tls=True)
        if plain:
            reading = Text("verdict.only_http", problem=reading, url=plain)
        return replace(look, problem=reading)
    page, behind = reading.page, reading.behind
    if behind is not None and behind.links:
        page = replace(page, links=behind.links)
    found = targets(page.links, read_scope(row), own=canonical_key(row.seed_url))
    feeds = page.feed_urls[:MAX_FEEDS]
    dates = _dates(page, found)
    if feeds and page.kind is not PageKind.FEED:
        feed = _read(fetch_once(store, settings, feeds[0], fetch, now=now), read)
        if not isinstance(feed, str) and feed.page.kind is PageKind.FEED:
            dates = _dates(feed.page, ()) or dates
    return replace(
        look,
        kind=page.kind.value,
        title=page.title,
        feeds=feeds,
        lists=_lists(found, scorer, settings.hubs.threshold) if page.kind is PageKind.HTML else (),
        links=len(found),
        is_shell=behind is not None and not behind.links,
        new_pages_per_day=daily_rate(dates, now),
    )


def _without_tls(  # noqa: PLR0913 - what asks, by name
    store: Store, settings: Settings, row: SiteRow, failed: Response, *, fetch: Fetch, now: float
) -> str:
    """Return the address without HTTPS, if the seed answers there alone; else empty."""
    plain = row.seed_url.replace("https://", "http://", 1)
    if failed.status not in _NO_TLS or plain == row.seed_url:
        return ""
    return plain if answers(store, settings, plain, fetch, now=now) else ""


def _read(response: Response, read: Read) -> Reading | str:
    """Return a parsed answer, or why there is none."""
    if response.status is not FetchStatus.FETCHED:
        return problem_of(response)
    kind = response.headers.get("content-type", "")
    reading = read(Body(response.url, response.body, content_type=kind, behind=True))
    if isinstance(reading, Unread):
        return reading.detail or named("fetch", reading.status)
    if reading.page.kind is PageKind.OTHER:
        return reading.page.problem or "not a page of links"
    return reading


def _dates(page: Page, found: Sequence[SeenLink]) -> list[float]:
    dated = [link.published_at for link in page.links]
    named = [date_in_url(link.url) for link in found]
    return [at for at in (*dated, *named) if at is not None]


def _lists(found: Sequence[SeenLink], scorer: HubScorer, threshold: float) -> tuple[str, ...]:
    scores = score_targets(found, scorer)
    chosen: list[str] = []
    of_form: dict[str, int] = {}
    for link in sorted(found, key=lambda one: -scores[one.canonical_key]):
        form = form_of(link.url)
        if scores[link.canonical_key] >= threshold and of_form.get(form, 0) < MAX_OF_FORM:
            of_form[form] = of_form.get(form, 0) + 1
            chosen.append(link.url)
    return tuple(chosen[:MAX_LISTS])


def daily_rate(dates: Sequence[float], now: float) -> float | None:
    """Return how many pages a day the *dates* (unix seconds) tell of, of the last month if they suffice."""
    past = sorted(at for at in dates if at <= now + DAY)
    lately = [at for at in past if at > now - RATE_DAYS * DAY]
    counted = lately if len(lately) >= MIN_DATES else past
    if len(counted) < MIN_DATES:
        return None
    return len(counted) / max((now - counted[0]) / DAY, 1.0)
