"""A crawler whose visits run on some engine, watching websites on loopback while its own time jumps."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import msgspec
from empty_store import open_in
from engine_site import EngineSite
from fake_web import SPARING, START, FolderScorer
from lab.clocks import SimulatedClock
from lab.dask_cluster import WAIT_SECONDS
from stories import announced_pages

from incremental.base.clock import SystemClock
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.fetch.options import FetchSettings
from incremental.settings import Settings, SiteSettings
from incremental.settings.sections import DaemonSettings, EngineKind, EngineSettings
from incremental.settings.seeds import add_seed
from incremental.visit.engines.elsewhere import Elsewhere, make_elsewhere

LOOPBACK = FetchSettings(allowed_networks=("127.0.0.0/8",), total_timeout_seconds=20)


def engine_settings(
    kind: EngineKind, address: str = "", *, workers: int = 4, sites: Sequence[SiteSettings] = ()
) -> Settings:
    """Settings for visits on an engine, of addresses of loopback."""
    return msgspec.structs.replace(
        SPARING,
        fetch=LOOPBACK,
        engine=EngineSettings(kind, address, processes=2),
        daemon=DaemonSettings(workers=workers, parse_workers=1),
        site=tuple(sites),
    )


@contextmanager
def elsewhere_of(settings: Settings) -> Iterator[Elsewhere | None]:
    """Yield visits on the engine of the settings, when it has a worker; None = in threads."""
    with make_elsewhere(settings, SystemClock()) as elsewhere:
        if elsewhere is not None:
            wait_until(lambda: elsewhere.report().workers > 0)
        yield elsewhere


def wait_until(happens: Callable[[], object]) -> None:
    """Wait until something is so; fails after a minute."""
    for _ in range(WAIT_SECONDS * 20):
        if happens():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it did not happen within a minute")


class EngineStory:
    """Watches *sites* with its store in *folder*."""

    def __init__(
        self, folder: Path, settings: Settings, elsewhere: Elsewhere | None, *sites: EngineSite
    ) -> None:
        self.clock = SimulatedClock(START)
        self.store = open_in(folder, settings)
        for site in sites:
            add_seed(self.store, f"{site.url}/", now=START, fetch=settings.fetch)
        self._threads = ThreadPoolExecutor(settings.daemon.workers)
        self._elsewhere = elsewhere
        self.ready = threading.Event()
        self.crawler = make_crawler(
            self.store,
            settings,
            fetch=make_fetcher(settings, SystemClock()).fetch,
            executor=self._threads,
            elsewhere=elsewhere,
            scorer=FolderScorer(),
        )
        self.crawler.load(self.clock.now())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()
        self.store.close()

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> Self:
        """Let so much time pass, or less; none passes while visits run or there is no worker."""
        end = self.clock.now() + seconds
        while not until():
            self.ready.clear()
            wake_at = self.crawler.step(self.clock.now(), self.ready.set)
            if not self.crawler.idle:
                assert self.ready.wait(WAIT_SECONDS), "a visit ends"
            elif self._elsewhere is not None and not self._elsewhere.report().workers:
                self.ready.wait(0.05)
            elif self.clock.now() >= end:
                break
            else:
                self.clock.advance_to(min(max(wake_at, self.clock.now() + 0.1), end))
        return self

    def new(self) -> list[tuple[str, str]]:
        """Return host and path of what was announced as new, in the order of announcing."""
        found = announced_pages(self.store, limit=10_000, order="oldest")
        return [(str(urlsplit(page.url).hostname), urlsplit(page.url).path) for page in found]
