#!/usr/bin/env python3
"""Time the routes of the web page, the API and the feeds, on a store of a given size.

    scripts/bench_web.py --pages 1e5 --sightings 1e6
    scripts/bench_web.py --folder /tmp/store --json

The store is that of scripts/bench_queries.py. The server runs in a thread of this process and is
asked over a socket, one request at a time, as by one browser; the first answer counts like the
others. Each route is asked ``--runs`` times. Besides the time that passed, the time that the process
was at work is given, for server and asker together: on a busy machine the rest is waiting for a turn.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import msgspec
from bench_queries import NOW, World
from lab.printing import show
from rich.console import Console
from rich.progress import track

from incremental.base.clock import SimulatedClock
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.server import served
from incremental.settings import Settings, WebSettings
from store import open_store

ROUTES = {
    "New": "",
    "New, page 3": "?before={middle}",
    "New, unread": "?show=unread",
    "New, search": "?q=w12",
    "New: anything since?": "fresh?after={latest}",
    "Sites": "sites",
    "Site": "sites/1",
    "Page": "pages/{page}",
    "Topics": "topics",
    "Models": "models",
    "Status": "status",
    "Feed, Atom": "feeds/new.atom",
    "Feed of a site, JSON": "feeds/site/1.json",
    "API: new pages": "api/v1/pages?limit=100",
    "API: one page": "api/v1/pages/{page}",
    "API: hubs of a site": "api/v1/hubs?site=1",
    "API: status": "api/v1/status",
    "metrics": "metrics",
    "healthz": "healthz",
}


def main() -> int:
    """Make the store, ask each route, report; 0 = done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--pages", type=float, default=1e5)
    parser.add_argument("--sightings", type=float, default=1e6)
    parser.add_argument("--words", type=int, default=80, help="of each text")
    parser.add_argument("--runs", type=int, default=20, help="of each route")
    parser.add_argument("--folder", help="keep the store here, or use the one that is here")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(options.folder or tempfile.mkdtemp(prefix="hubwatch-bench-"))
    try:
        report = _bench(options, folder)
    finally:
        if options.folder is None:
            shutil.rmtree(folder, ignore_errors=True)
    show(report)
    if options.json:
        print(json.dumps(report))
    return 0


def _bench(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    path = folder / "bench.sqlite"
    there = path.exists()
    with open_store(str(path), cache_folder=folder / "pages") as store:
        world = World(int(options.pages), int(options.sightings), options.words)
        if not there:
            world.fill(store)
        latest = store.answers.latest_cursor()
        page = next(number for number in range(1, world.pages) if world.is_announced(number))
        values = {"latest": latest, "middle": latest // 2, "page": page}
        settings = msgspec.structs.replace(Settings(), web=WebSettings(port=0))
        web = Web(settings, folder, SimulatedClock(NOW), store)
        routes = {}
        with served(web) as url:
            for name, route in track(ROUTES.items(), console=Console(stderr=True)):
                routes[name] = _ask(url + route.format(**values), options.runs)
    return {
        "pages": world.pages,
        "sites": world.sites,
        "announced": world.announced,
        "routes": routes,
    }


def _ask(url: str, runs: int) -> dict[str, float]:
    """Return milliseconds of time and of work, and the size of the answer."""
    times, work, size = [], [], 0
    for _ in range(runs):
        began, worked = time.perf_counter(), time.process_time()
        asked = urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})  # noqa: S310 - our own server
        with urllib.request.urlopen(asked) as answer:  # noqa: S310 - likewise
            size = len(answer.read())
        times.append(1_000 * (time.perf_counter() - began))
        work.append(1_000 * (time.process_time() - worked))
    ninety_five = statistics.quantiles(times, n=20)[-1] if runs > 1 else times[0]
    return {
        "p50_ms": round(statistics.median(times), 1),
        "p95_ms": round(ninety_five, 1),
        "p50_work_ms": round(statistics.median(work), 1),
        "bytes": size,
    }


if __name__ == "__main__":
    sys.exit(main())
