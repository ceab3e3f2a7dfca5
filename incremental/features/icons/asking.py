"""The job that asks sites for their icons, one at a time."""

from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from incremental.base.lookup import cached_bodies
from incremental.base.times import DAY, MINUTE
from incremental.crawl.sites import watch
from incremental.daemon.at_work import AtWork
from incremental.features.icons.deciding import media_type, wait_seconds
from incremental.fetch.status import Request, Response
from incremental.sandbox import Body, Read, Reading
from incremental.visit.once import fetch_once
from store import Store
from store.values import SiteRow

MOST_BYTES = 65_536
_REQUEST_SECONDS = 15.0
# Two requests, should the first lead on, and a pause.
_RESERVED_SECONDS = 2 * _REQUEST_SECONDS + 10.0
_NEXT_SECONDS = 10.0
_LATER_SECONDS = 10 * MINUTE


def requests(store: Store, site: int) -> int:
    """Return how many requests a site's budget has to pay for."""
    return store.icons.unpaid(site)


def icon_addresses(store: Store, row: SiteRow, read: Read) -> list[str]:
    """Return where a site's icon may be: what its stored seed or home page names, then ``/favicon.ico``."""
    named, home = list[str](), row.seed_url
    for url in dict.fromkeys((row.seed_url, urljoin(row.seed_url, "/"))):
        for at, body in cached_bodies(store, url):
            reading = read(Body(at, body))
            if isinstance(reading, Reading):
                named += reading.page.icon_urls
                home = reading.page.home_url or home
    shown = (url for url in named if not urlsplit(url).path.lower().endswith(".svg"))
    return list(dict.fromkeys((*shown, urljoin(home, "/favicon.ico"))))


class IconAsker:
    """Asks for the icon of one site after another, in a thread of its own."""

    def __init__(self, work: AtWork, executor: Executor | None = None) -> None:
        self._work = work
        self._executor = executor or ThreadPoolExecutor(1, thread_name_prefix="icons")
        self._asking: Future[None] | None = None

    def step(self, now: float) -> float:
        """Begin to ask for the icon that has been due longest; return when to call again."""
        if self._asking is not None and not self._asking.done():
            return now + _NEXT_SECONDS
        asked, self._asking = self._asking, None
        if asked is not None:
            # Raises what happened to it.
            asked.result()
        icons = self._work.store.icons
        due = icons.due(now)
        for row in self._work.store.read.sites_by_id(list(due)):
            open_at = watch(row, self._work.settings).open_at(now)
            if open_at > now:
                icons.put(row.id, due_at=min(open_at, now + DAY), failures=due[row.id])
            elif self._work.gate.reserve(row.seed_url, _RESERVED_SECONDS, now):
                self._asking = self._executor.submit(self._ask, row, due[row.id], now)
            else:
                # Its turn comes again; a host that rests for hours must not hold up the other sites.
                icons.put(row.id, due_at=now + _LATER_SECONDS, failures=due[row.id])
        return now + (_NEXT_SECONDS if due else MINUTE)

    def _ask(self, row: SiteRow, failures: int, now: float) -> None:
        answers = list[Response]()

        def fetch(request: Request) -> Response:
            bounded = replace(request, seconds=_REQUEST_SECONDS, most_bytes=MOST_BYTES)
            answers.append(self._work.fetch(bounded))
            return answers[-1]

        with self._work.store.in_this_thread() as store:
            addresses = icon_addresses(store, row, self._work.read)
            # After a failure the next one: what a page names may be missing, or be no picture.
            url, settings = addresses[failures % len(addresses)], self._work.settings
            response = fetch_once(store, settings, url, fetch, now=now)
            if response.location is not None:
                response = fetch_once(store, settings, response.location, fetch, now=now)
            content = response.body if media_type(response.body) else b""
            failures = 0 if content else failures + 1
            made = sum(1 + len(one.redirects) for one in answers)
            due_at = now + wait_seconds(failures)
            # It may have been removed meanwhile.
            if store.read.site(row.id) is not None:
                store.icons.put(row.id, content, due_at=due_at, failures=failures, made=made)
