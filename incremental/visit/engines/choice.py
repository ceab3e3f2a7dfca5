"""From settings to visits outside of this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from incremental.base.clock import Clock
from incremental.base.threads import cores
from incremental.fetch.options import SiteAccess, origin
from incremental.sandbox.process import ReaderLimits
from incremental.settings import Settings
from incremental.settings.engine import EngineKind
from incremental.visit.engines.visits import Visits

if TYPE_CHECKING:
    from incremental.visit.engines.worker import WorkerTerms


@contextlib.contextmanager
def make_visits(settings: Settings, clock: Clock) -> Iterator[Visits | None]:
    """Yield visits on the configured engine; None = in threads of this process.

    Raises:
        SettingsError: the extra is not installed, or there is no scheduler at the address.
    """
    engine = settings.engine
    if engine.kind is EngineKind.THREADS:
        yield None
        return
    sites = _by_origin(settings.accesses)
    if engine.kind is EngineKind.PROCESSES:
        from incremental.visit.engines.elsewhere import ProcessVisits  # noqa: PLC0415 - loads a fetcher

        here = ProcessVisits(engine.processes or cores(), terms_of(settings, readers=1), sites)
        with contextlib.closing(here):
            yield Visits(here.start, here.report)
        return
    from incremental.visit.engines.cluster import ClusterVisits  # noqa: PLC0415 - Dask loads for a second

    there = ClusterVisits(engine.address, terms_of(settings, readers=None), sites, clock)
    with contextlib.closing(there):
        yield Visits(there.start, there.report)


def terms_of(settings: Settings, *, readers: int | None) -> WorkerTerms:
    """Return what visits are made with; *readers* of each worker at most."""
    from incremental.visit.engines.worker import WorkerTerms  # noqa: PLC0415 - as above

    daemon = settings.daemon
    limits = ReaderLimits(daemon.parse_seconds, daemon.parse_memory_mb)
    wanted = daemon.parse_workers
    if isinstance(wanted, int):
        readers = wanted if readers is None else min(wanted, readers)
    return WorkerTerms(settings.fetch, limits, readers, tuple(settings.enabled.readers.items()))


def _by_origin(accesses: dict[str, SiteAccess]) -> dict[str, SiteAccess]:
    """Return what holds secrets, by origin."""
    nothing = SiteAccess()
    return {origin(url): access for url, access in accesses.items() if access != nothing}
