"""The job that asks sites for their icons, one at a time, and what it decides."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from incremental.base.lookup import cached_body
from incremental.base.times import DAY, HOUR, MINUTE
from incremental.base.urls import canonical_key
from incremental.crawl.sites import watch
from incremental.daemon.at_work import AtWork
from incremental.fetch.status import Request, Response
from incremental.sandbox import Body, Read, Reading
from incremental.visit.once import fetch_once
from store import Store
from store.icons import Icon
from store.values import SiteRow

MOST_BYTES = 65_536
_REQUEST_SECONDS = 15.0
_AGAIN_SECONDS = 30 * DAY
# After a failure, four times as long after each further one.
_FIRST_WAIT_SECONDS = HOUR
_NEXT_SECONDS, _IDLE_SECONDS = 10.0, MINUTE
# SVG is left out: it is a document that may hold scripts.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
)


def icon_asker(work: AtWork) -> IconAsker:
    """Return the job."""
    return IconAsker(work, ThreadPoolExecutor(1, thread_name_prefix="icons"))


def requests(store: Store, site: int) -> int:
    """Return how many requests a site's budget has to pay for."""
    return store.icons.unpaid(site)


def media_type(content: bytes) -> str:
    """Return the type of a picture by its first bytes; empty = it is none that is shown."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _SIGNATURES if content.startswith(start)), "")


def wait_seconds(failures: int) -> float:
    """Return how long to wait after so many *failures* in a row; 0 = the icon came."""
    waits = _FIRST_WAIT_SECONDS * 4.0 ** min(failures - 1, 10)
    return min(waits, _AGAIN_SECONDS) if failures else _AGAIN_SECONDS


def icon_addresses(store: Store, row: SiteRow, read: Read) -> list[str]:
    """Return where a site's icon may be: what its stored seed or home page names, then ``/favicon.ico``."""
    named, home = list[str](), row.seed_url
    for url in dict.fromkeys((row.seed_url, urljoin(row.seed_url, "/"))):
        for page in store.read.find_page(url, canonical_key(url)):
            body = cached_body(store, page)
            reading = None if body is None else read(Body(page["url"], body))
            if isinstance(reading, Reading):
                named += reading.page.icon_urls
                home = reading.page.home_url or home
    shown = (url for url in named if not urlsplit(url).path.lower().endswith(".svg"))
    return list(dict.fromkeys((*shown, urljoin(home, "/favicon.ico"))))


class IconAsker:
    """Asks for the icon of one site after another, in a thread of its own."""

    def __init__(self, work: AtWork, executor: Executor) -> None:
        self._work = work
        self._executor = executor
        self._asking: Future[None] | None = None

    def step(self, now: float) -> float:
        """Begin to ask for the icon that has been due longest; return when to call again."""
        if self._asking is not None and not self._asking.done():
            return now + _NEXT_SECONDS
        asked, self._asking = self._asking, None
        if asked is not None:
            # Raises what happened to it.
            asked.result()
        store = self._work.store
        due = store.icons.due(now)
        row = None if due is None else store.read.site(due[0])
        if due is None or row is None:
            return now + _IDLE_SECONDS
        open_at = watch(row, self._work.settings).open_at(now)
        if open_at > now:
            store.icons.put_off(row.id, min(open_at, now + DAY))
        else:
            self._asking = self._executor.submit(self._ask, row, due[1], now)
        return now + _NEXT_SECONDS

    def _ask(self, row: SiteRow, failures: int, now: float) -> None:
        made = 0

        def fetch(request: Request) -> Response:
            nonlocal made
            bounded = replace(request, seconds=_REQUEST_SECONDS, most_bytes=MOST_BYTES)
            response = self._work.fetch(bounded)
            made += 1 + len(response.redirects)
            return response

        with self._work.store.in_this_thread() as store:
            addresses = icon_addresses(store, row, self._work.read)
            # After a failure the next one: what a page names may be missing, or be no picture.
            url = addresses[failures % len(addresses)]
            response = fetch_once(store, self._work.settings, url, fetch, now=now)
            if response.location is not None:
                url = response.location
                response = fetch_once(store, self._work.settings, url, fetch, now=now)
            kind = media_type(response.body)
            failures = 0 if kind else failures + 1
            store.icons.put(
                row.id,
                Icon(kind, response.body) if kind else None,
                due_at=now + wait_seconds(failures),
                failures=failures,
                requests=made,
            )
