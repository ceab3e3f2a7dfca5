#!/usr/bin/env python3
"""Measure what a visit costs on each engine: processor time here and in workers, and visits a second.

    scripts/bench_engines.py
    scripts/bench_engines.py --visits 1000 --links 100 --json

Pages come from a site on loopback in a process of its own, which does not count. Dask's scheduler and its
workers are processes of this machine. Before each measurement every worker has made a few visits.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import psutil  # type: ignore[import-untyped] # ships no types
from lab.dask_cluster import DaskCluster
from lab.printing import show

from incremental.base.clock import SystemClock
from incremental.base.threads import pause
from incremental.crawl.engine import Engine
from incremental.daemon.assembly import make_fetcher, make_reader
from incremental.fetch.status import FetchStatus
from incremental.settings import Settings, build_settings
from incremental.visit.engines.elsewhere import make_elsewhere
from incremental.visit.engines.visits import EngineReport, visits_in
from incremental.visit.visit import Purpose, VisitTask, visit

WARM = 40
_SERVER = """
import http.server, sys
body = sys.stdin.buffer.read()
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


QUIET_DASK = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "false",
    "DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL": "2s",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "DASK_DISTRIBUTED__SCHEDULER__WORK_STEALING": "false",
}
"""As shipped, Dask looks at itself many times a second: 3.5 % of a core for each idle worker; so, 0.3."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What visits of one engine took."""

    engine: str
    visits: int
    here_ms: float
    """Processor time of the process that starts the visits, each."""
    workers_ms: float
    """Of all others, readers and scheduler included, each."""
    per_second: float


def main() -> int:
    """Measure, print."""
    options = _options()
    found = []
    with site(options.links) as url:
        for kind in ("threads", "processes"):
            settings = settings_of(kind, "", options.processes)
            found.append(measured(kind, settings, url, options.visits))
        with _cluster(options.processes) as address:
            settings = settings_of("dask", address, options.processes)
            found.append(measured("dask", settings, url, options.visits))
    load, cores = os.getloadavg()[0], os.cpu_count()
    answer = {"load": load, "cores": cores, "costs": [asdict(one) for one in found]}
    if options.json:
        print(json.dumps(answer))
    else:
        show({one.engine: asdict(one) for one in found}, f"load {load:.1f} on {cores} cores")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--visits", type=int, default=400, metavar="N")
    parser.add_argument("--links", type=int, default=50, metavar="N", help="of the page")
    parser.add_argument("--processes", type=int, default=2, metavar="N")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def settings_of(kind: str, address: str, processes: int) -> Settings:
    """Return the settings of an engine."""
    engine = {"kind": kind, "address": address, "processes": processes}
    return build_settings(
        {
            "fetch": {"allowed_networks": ["127.0.0.0/8"]},
            "daemon": {"workers": 4, "parse_workers": processes if kind == "threads" else 1},
            "engine": engine,
        }
    )


def measured(kind: str, settings: Settings, url: str, count: int) -> Cost:
    """Make so many visits of one list on an engine; return what one cost."""
    clock = SystemClock()
    with contextlib.ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(settings.daemon.workers))
        elsewhere = stack.enter_context(make_elsewhere(settings, clock))
        if elsewhere is None:
            read = stack.enter_context(make_reader(settings))
            fetcher = stack.enter_context(contextlib.closing(make_fetcher(settings, clock)))
            report = EngineReport(kind, settings.daemon.workers)
            carry_out = partial(visit, fetch=fetcher.fetch, read=read)
            visits = visits_in(threads, carry_out, lambda: report)
        else:
            visits = visits_in(threads, elsewhere.visit, elsewhere.report)
        while not visits.report().workers:
            pause(0.1)
        engine = Engine(visits, workers=settings.daemon.workers)
        _make(engine, url, WARM)
        here, others, began = *_used(), clock.monotonic()
        _make(engine, url, count)
        seconds = clock.monotonic() - began
        here_after, others_after = _used()
        return Cost(
            kind,
            count,
            (here_after - here) / count * 1000,
            (others_after - others) / count * 1000,
            count / seconds,
        )


def _make(engine: Engine, url: str, count: int) -> None:
    """Make so many visits, as many at a time as the engine lets."""
    started = 0
    while started < count or not engine.idle:
        while engine.free and started < count:
            engine.start(VisitTask(Purpose.HUB, f"{url}/{started}", 1, started))
            started += 1
        engine.wait(60)
        for outcome in engine.finished():
            if outcome.response.status is not FetchStatus.FETCHED:
                raise SystemExit(f"a visit failed: {outcome.response.detail}")


def _used() -> tuple[float, float]:
    """Return the processor seconds of this process, and of those that it started but the site."""
    own = psutil.Process()
    mine = own.cpu_times()
    others = 0.0
    for child in own.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if _SERVER not in child.cmdline():
                times = child.cpu_times()
                others += times.user + times.system
    return mine.user + mine.system, others


@contextlib.contextmanager
def site(links: int) -> Iterator[str]:
    """Serve a list of so many links."""
    items = "".join(
        f'<li><a href="/2026/story-{number}.html">What happened on day {number}</a></li>'
        for number in range(links)
    )
    body = f"<title>News</title><h1>News</h1><ul>{items}</ul>".encode()
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(  # noqa: S603 - the site above
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(body)
        server.stdin.close()
        try:
            yield f"http://127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()


@contextlib.contextmanager
def _cluster(workers: int) -> Iterator[str]:
    """Run a scheduler and so many workers with two threads each."""
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-dask-") as folder,
        DaskCluster(Path(folder), variables=QUIET_DASK) as cluster,
    ):
        for _ in range(workers):
            cluster.start_worker(threads=2)
        cluster.wait_for(workers)
        yield cluster.address


if __name__ == "__main__":
    sys.exit(main())
