"""A few browsers for many threads, and the requests of their pages.

Each page is drawn in a fresh context: no cookies, no storage, nothing of the page before. A browser is
started when a page needs it, ends after a while without one, and is replaced after so many pages.
"""

import logging
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from queue import Empty
from threading import Lock
from urllib.parse import urlsplit

import msgspec

from incremental.base.children import ChildProcess, Excess, ProcessPool, family_bytes, frame
from incremental.base.clock import Clock
from incremental.fetch.headers import cache_seconds
from incremental.fetch.robots import RobotsPolicy
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings.sections import BrowserSettings
from incremental.visit.rendering.frames import (
    Answer,
    Closed,
    Drawn,
    FromWorker,
    Order,
    Ready,
    Ruling,
    Wanted,
    from_worker,
    is_own,
    ruling_of,
)
from incremental.visit.ways.parts import PartFetcher, Parts
from incremental.visit.ways.visiting import Rendered

PROGRAM = "incremental.visit.rendering.worker"
_START_SECONDS = 60.0
# Of the time for a page: to draw it, to hand it over; the rest is for closing it.
_DRAWING_SHARE, _HANDING_SHARE = 0.8, 0.1
_MEGABYTE = 1_000_000


class BrowserProcess(ChildProcess):
    """A running browser."""

    def __init__(self, executable: str, settings: BrowserSettings) -> None:
        """Start it; it is ready a second or two later.

        Raises:
            OSError: the system does not allow another process.
        """
        self._settings = settings
        self.pages = 0
        """Pages drawn so far."""
        self._ready = False
        # Root's Chromium has no sandbox of its own.
        safe = "sandbox" if settings.sandbox and os.geteuid() else "bare"
        # A browser that is killed removes nothing of its own.
        self._folder = tempfile.TemporaryDirectory(prefix="hubwatch-", ignore_cleanup_errors=True)
        super().__init__(
            PROGRAM,
            (executable, safe, self._folder.name),
            memory=family_bytes,
            environment={"TMPDIR": self._folder.name},
            kept=("PLAYWRIGHT_BROWSERS_PATH",),
        )

    def draw(self, url: str, agent: str, answer: Callable[[Wanted], Answer]) -> Drawn:
        """Draw the page at *url*, whose requests *answer* answers.

        After a problem of the process, or a page that did not close, it is dead.
        """
        if not self._ready:
            started = self._exchange(None, _START_SECONDS, answer)
            if not isinstance(started, Ready) or started.problem:
                self.close()
                detail = getattr(started, "problem", "") or "it ended"
                return Drawn(problem=f"the browser did not start: {detail}")
            self._ready = True
        self.pages += 1
        seconds = self._settings.page_seconds
        order = Order(url, seconds * _DRAWING_SHARE, seconds * _HANDING_SHARE, agent)
        most = order.seconds + order.handing_seconds
        drawn = self._exchange(order, most, answer)
        if isinstance(drawn, Drawn):
            end = self._exchange(None, seconds - most, lambda one: Answer(one.number))
            if not isinstance(end, Closed):
                self.close()
            return drawn
        self.close()
        problem, too_slow = "the browser crashed", self.excess is Excess.TIME
        if too_slow:
            problem = f"drawing it took more than {seconds:g} s"
        elif self.excess is Excess.MEMORY:
            problem = f"drawing it took more than {self._settings.memory_mb} MB of memory"
        return Drawn(problem=problem, too_slow=too_slow)

    def close(self) -> None:
        """End it, and remove its folder."""
        super().close()
        self._folder.cleanup()

    def _exchange(
        self, order: Order | None, seconds: float, answer: Callable[[Wanted], Answer]
    ) -> FromWorker | None:
        """Send *order* and answer requests until it ends; None = the process ended."""
        with self.bounded(seconds, self._settings.memory_mb * _MEGABYTE):
            if order is not None:
                self.send(frame(order))
            while (content := self.receive()) is not None:
                try:
                    got = from_worker(content)
                except msgspec.DecodeError:
                    return None
                if not isinstance(got, Wanted):
                    return got
                self.send(frame(answer(got)))
        return None


logger = logging.getLogger("hubwatch.rendering")

# A browser keeps some memory of each page; then it is replaced by a new one.
PAGES_EACH = 50
# A browser takes a few hundred megabytes while it waits.
IDLE_SECONDS = 120.0
MOST_REDIRECTS = 3
# Of the time for a page, from its first request: what takes longer is not waited for, and the rest is drawn.
_ASKING_SHARE = 0.6
_ERRORS = frozenset({FetchStatus.GONE, FetchStatus.BLOCKED, FetchStatus.HTTP_ERROR})
_MOST_SCRIPT_BYTES = 48_000_000
_PASSED_ON = ("content-type", "cache-control")


class BrowserPool(ProcessPool[BrowserProcess]):
    """Draws pages. Thread-safe."""

    def __init__(  # noqa: PLR0913 - what drawing depends on
        self,
        executable: str,
        settings: BrowserSettings,
        *,
        own: PartFetcher,
        others: PartFetcher,
        agent: str,
        clock: Clock,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        """Draw with the Chromium at *executable*, which ends after *idle_seconds* without a page.

        Requests to the page's own site go through *own*, those to *others* through a fetcher that is allowed
        public addresses only.
        """
        self._settings = settings
        self._own, self._others, self._agent, self._clock = own, others, agent, clock
        self._scripts = ScriptMemory(clock)
        super().__init__(
            settings.pages,
            lambda: BrowserProcess(executable, settings),
            lambda one: one.pages >= PAGES_EACH,
            idle_seconds=idle_seconds,
        )

    def render(self, url: str, rules: RobotsPolicy | None) -> Rendered:
        """Draw the page at *url*, whose origin has these *rules*."""
        try:
            with self.lent(2 * self._settings.page_seconds) as process:
                if process is not None:
                    return self._render(process, url, rules)
        except Empty:
            busy = "the browser is busy with other pages"
            return Rendered(Response(url, FetchStatus.PARSE_TIMED_OUT, detail=busy))
        except OSError as error:
            why = f"no browser could start: {error}"
            return Rendered(Response(url, FetchStatus.PARSE_FAILED, detail=why))
        return Rendered(Response(url, FetchStatus.PARSE_FAILED, detail="Hubwatch is stopping"))

    def _render(self, process: BrowserProcess, url: str, rules: RobotsPolicy | None) -> Rendered:
        began = self._clock.monotonic()
        most = self._settings.page_requests
        own, others = self._own.of_page(rules, url, most), self._others.of_page(None, url, most)
        desk = _Desk(
            url,
            own,
            others,
            self._scripts,
            seconds=self._settings.page_seconds * _ASKING_SHARE,
            clock=self._clock,
        )
        drawn = process.draw(url, self._agent, desk.answer)
        seconds = self._clock.monotonic() - began
        if drawn.problem:
            logger.warning("%s was not drawn: %s", url, drawn.problem)
        return Rendered(
            _response(url, desk.document, drawn),
            requests=own.requests + others.requests,
            seconds=seconds,
            wait_seconds=own.wait_seconds,
        )


class ScriptMemory:
    """Scripts that may be used again, so that a page costs few requests at its next visit. Thread-safe."""

    def __init__(self, clock: Clock, most_bytes: int = _MOST_SCRIPT_BYTES) -> None:
        self._clock = clock
        self._most = most_bytes
        self._lock = Lock()
        self._kept: OrderedDict[str, tuple[float, Response]] = OrderedDict()

    def get(self, key: str) -> Response | None:
        """Return the script kept under *key*; None = unknown, or too old."""
        with self._lock:
            until, response = self._kept.get(key, (0.0, None))
            return response if self._clock.now() < until else None

    def put(self, key: str, response: Response) -> None:
        """Keep a script as long as its server allows."""
        seconds = cache_seconds(response.headers)
        if response.status is not FetchStatus.FETCHED or not seconds:
            return
        with self._lock:
            self._kept[key] = (self._clock.now() + seconds, response)
            self._kept.move_to_end(key)
            while sum(len(one.body) for _, one in self._kept.values()) > self._most:
                self._kept.popitem(last=False)


class _Desk:
    """Answers the requests of one page."""

    def __init__(  # noqa: PLR0913 - what its answers depend on
        self,
        url: str,
        own: Parts,
        others: Parts,
        scripts: ScriptMemory,
        *,
        seconds: float,
        clock: Clock,
    ) -> None:
        self._url, self._own, self._others, self._scripts = url, own, others, scripts
        self._seconds, self._clock = seconds, clock
        self._ends_at: float | None = None
        parts = urlsplit(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self.document: Response | None = None
        """The answer to the page itself."""

    def answer(self, wanted: Wanted) -> Answer:
        """Answer a request of the page."""
        ruling = ruling_of(wanted, self._url)
        if ruling is Ruling.EMPTY:
            return Answer(wanted.number, 200, {"content-type": "text/css"})
        if ruling is Ruling.REFUSE:
            return Answer(wanted.number)
        # Each origin has its own: what was fetched with a site's secrets is not for the next site's page.
        script = f"{self._origin} {wanted.url}"
        kept = self._scripts.get(script) if wanted.kind == "script" else None
        response = kept or self._fetch(wanted)
        if wanted.kind == "script" and kept is None:
            self._scripts.put(script, response)
        if wanted.kind == "document":
            self.document = response
            if response.content_type not in ("text/html", "application/xhtml+xml", ""):
                return Answer(wanted.number)  # it would be downloaded
        if response.status is not FetchStatus.FETCHED:
            # Scripts expect errors of what they ask for.
            code = response.http_code or 0
            shown = wanted.kind in ("xhr", "fetch") and response.status in _ERRORS
            return Answer(wanted.number, code if shown else 0, self._headers(response))
        body = b"" if wanted.method == "HEAD" else response.body
        return Answer(wanted.number, response.http_code or 200, self._headers(response), body)

    def _fetch(self, wanted: Wanted) -> Response:
        accept, now = wanted.accept, self._clock.monotonic()
        headers = {"Accept": accept} if accept and accept.isprintable() else {}
        # Its time begins with its first request: before, the browser may have had to start.
        self._ends_at = self._ends_at or now + self._seconds
        request = Request(wanted.url, headers=headers, seconds=self._ends_at - now)
        for _ in range(MOST_REDIRECTS):
            parts = self._own if is_own(request.url, self._url) else self._others
            response = parts.fetch(request)
            elsewhere = response.status is FetchStatus.REDIRECTED and response.location is not None
            # The caller decides where the page itself went.
            if not elsewhere or wanted.kind == "document":
                return response
            seconds = self._ends_at - self._clock.monotonic()
            request = Request(response.location or "", headers=headers, seconds=seconds)
        return replace(response, status=FetchStatus.TOO_MANY_REDIRECTS)

    def _headers(self, response: Response) -> dict[str, str]:
        kept = {name: response.headers[name] for name in _PASSED_ON if name in response.headers}
        # Servers are not told which page asks, so all that it may ask for it may read.
        own = {"access-control-allow-origin": self._origin}
        return kept | own | {"access-control-allow-credentials": "true"}


def _response(url: str, document: Response | None, drawn: Drawn) -> Response:
    """Return what the visit of the page came to."""
    if document is None or document.status is not FetchStatus.FETCHED:
        if document is not None:
            return document
        detail = drawn.problem or "the browser did not ask for the page"
        return Response(url, FetchStatus.PARSE_FAILED, detail=detail)
    if drawn.problem:
        status = FetchStatus.PARSE_TIMED_OUT if drawn.too_slow else FetchStatus.PARSE_FAILED
        return replace(document, status=status, detail=drawn.problem, body=b"")
    # Validators would be those of the shell.
    headers = {"content-type": "text/html; charset=utf-8"}
    return replace(document, body=drawn.html, headers=headers)
