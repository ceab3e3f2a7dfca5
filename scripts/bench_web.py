#!/usr/bin/env python3
"""Time the routes of the web page, the API and the feeds, on a store of a given size.

    scripts/bench_web.py --pages 1e5 --sightings 1e6
    scripts/bench_web.py --pages 1e4 --sightings 1e5 --runs 5 --json

The store is that of scripts/bench_store.py; titles are its pages' only texts. The server runs in a thread
of this process and is asked over a socket, one request at a time, as by one browser; the first answer
counts like the others. Each route is asked ``--runs`` times. Besides the time that passed, the time that
the process was at work is given, for server and asker together: on a busy machine the rest is waiting for
a turn.
"""

import argparse
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import msgspec
from bench_store import DAY, START, fill
from lab.cli import parser_of, print_json, show, whole_number
from lab.clocks import SimulatedClock
from rich.console import Console
from rich.progress import track

from incremental.interfaces.web.context import Web
from incremental.interfaces.web.server import served
from incremental.settings import Settings
from incremental.settings.sections import WebSettings
from store import open_store
from store.search.fulltext import index_words_of, words_of

NOW = START + 30 * DAY
# The latest pages, which the search finds.
SEARCHABLE = 200
ROUTES = {
    "New": "",
    "New, page 3": "?before={middle}",
    "New, unread": "?show=unread",
    "New, search": "?q=harbour",
    "New: anything since?": "fresh?after={latest}",
    "Sites": "sites",
    "Site": "sites/1",
    "Page": "pages/{page}",
    "Topics": "topics",
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
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=whole_number, default=100_000)
    parser.add_argument("--sightings", type=whole_number, default=1_000_000)
    parser.add_argument("--runs", type=whole_number, default=20, help="of each route")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hubwatch-bench-") as folder:
        report = _bench(options, Path(folder))
    show(report)
    print_json(options, report)
    return 0


def _bench(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    with open_store(str(folder / "bench.sqlite"), cache_folder=folder / "pages") as store:
        fill(store, options.pages, options.sightings)
        # A page's id is that of its row in the list.
        latest = store.answers.latest_cursor()
        announced = store.answers.totals().announced
        words = words_of("The ferry and the harbour", "")
        index_words_of(store.database, [(latest - one, words) for one in range(SEARCHABLE)])
        values = {"latest": latest, "middle": latest // 2, "page": latest}
        settings = msgspec.structs.replace(Settings(), web=WebSettings(port=0))
        web = Web(settings, folder, SimulatedClock(NOW), store)
        routes = {}
        with served(web) as url:
            for name, route in track(ROUTES.items(), console=Console(stderr=True)):
                routes[name] = _ask(url + route.format(**values), options.runs)
    return {
        "pages": options.pages,
        "announced": announced,
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
