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
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import psutil  # type: ignore[import-untyped] # ships no types

from incremental.assembly import make_fetcher, make_reader
from incremental.clock import SystemClock
from incremental.crawl.engine import Engine
from incremental.engines.choice import make_visits
from incremental.engines.visits import LocalVisits, Visits
from incremental.fetch.status import FetchStatus
from incremental.settings import Settings, build_settings
from incremental.threads import pause
from incremental.visit import Purpose, VisitTask, visit

ROOT = Path(__file__).resolve().parents[1]
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
    with _site(options.links) as url, _cluster(options.processes) as address:
        found = [
            _measured(kind, _settings(kind, address, options.processes), url, options.visits)
            for kind in ("threads", "processes", "dask")
        ]
    load, cores = os.getloadavg()[0], os.cpu_count()
    if options.json:
        print(json.dumps({"load": load, "cores": cores, "costs": [asdict(one) for one in found]}))
        return 0
    print(f"load {load:.1f} on {cores} cores; {options.processes} processes or workers")
    print(f"{'engine':<12}{'here, ms':>10}{'workers, ms':>13}{'together':>10}{'visits/s':>10}")
    for one in found:
        together = one.here_ms + one.workers_ms
        print(
            f"{one.engine:<12}{one.here_ms:>10.1f}{one.workers_ms:>13.1f}{together:>10.1f}"
            f"{one.per_second:>10.0f}"
        )
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


def _settings(kind: str, address: str, processes: int) -> Settings:
    engine = {"kind": kind, "address": address, "processes": processes}
    return build_settings(
        {
            "fetch": {"allowed_networks": ["127.0.0.0/8"]},
            "daemon": {"workers": 4, "parse_workers": processes if kind == "threads" else 1},
            "engine": engine,
        }
    )


def _measured(kind: str, settings: Settings, url: str, count: int) -> Cost:
    clock = SystemClock()
    with contextlib.ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(settings.daemon.workers))
        visits: Visits | None = stack.enter_context(make_visits(settings, clock))
        if visits is None:
            read = stack.enter_context(make_reader(settings))
            fetcher = stack.enter_context(contextlib.closing(make_fetcher(settings, clock)))
            visits = LocalVisits(threads, visit, fetcher.fetch, read, settings.daemon.workers)
        while not visits.most:
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
def _site(links: int) -> Iterator[str]:
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
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    scheduler = ["scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    worker = ["worker", address, "--nthreads", "2", "--no-nanny", "--no-dashboard"]
    with contextlib.ExitStack() as stack:
        for command in [scheduler, *[worker] * workers]:
            process = subprocess.Popen(  # noqa: S603 - Dask's own commands
                [sys.executable, "-m", "dask", *command],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
        _wait_for(port)
        yield address


def _wait_for(port: int) -> None:
    """Wait until the scheduler listens."""
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        pause(0.1)
    raise SystemExit("Dask's scheduler did not start")


if __name__ == "__main__":
    sys.exit(main())
