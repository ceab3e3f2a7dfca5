"""What ``hubwatch doctor`` says of the engine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.base.findings import Finding, ok, problem, warning
from incremental.base.threads import cores, pause
from incremental.settings import Settings
from incremental.settings.engine import EngineKind
from incremental.visit.engines.choice import make_visits
from incremental.visit.engines.visits import EngineReport

_TICK_SECONDS = 0.25
# Ten seconds: a worker that is busy introduces itself late.
_MOST_TICKS = 40


def engine_findings(settings: Settings, *, offline: bool) -> Iterator[Finding]:
    """Say what runs the visits; a cluster is asked who works there, unless *offline*."""
    engine, workers = settings.engine, settings.daemon.workers
    if engine.kind is EngineKind.THREADS:
        yield ok("engine", EngineReport("threads", workers).text())
    elif engine.kind is EngineKind.PROCESSES:
        many = engine.processes or cores()
        yield ok("engine", EngineReport("processes", many, processes=many).text())
    elif offline:
        yield ok("engine", f"Dask at {engine.address}, not asked")
    else:
        try:
            yield from _of_cluster(_asked(settings))
        except SettingsError as error:
            yield problem("engine", f"{error.field} = {error.value!r}", error.way_out)


def _asked(settings: Settings) -> EngineReport:
    """Return what a cluster says when its workers have introduced themselves."""
    with contextlib.ExitStack() as stack:
        visits = stack.enter_context(make_visits(settings, SystemClock()))
        assert visits is not None
        for _ in range(_MOST_TICKS):
            pause(_TICK_SECONDS)
            report = visits.report()
            if not report.unknown and (report.workers or report.refused):
                break
        return report


def _of_cluster(report: EngineReport) -> Iterator[Finding]:
    for worker in report.refused:
        yield warning("engine", f"refused: {worker}", "install the daemon's version there")
    if report.workers:
        yield ok("engine", report.text())
    else:
        way_out = f"start one with this version of Hubwatch: dask worker {report.address}"
        yield problem("engine", report.waits or "no worker has answered", way_out)
