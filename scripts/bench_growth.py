#!/usr/bin/env python3
"""What a visit, a start and a reload cost with many sites.

    scripts/bench_growth.py --sites 100,1000,10000,50000 --json
    scripts/bench_growth.py --chart docs/images/growth.png

One site of a home page and ten articles is crawled in memory under a simulated clock, and copied under other
names as often as wanted, each due at another moment of half an hour, the interval that its budget allows.
Then, in a process of its own for each number of sites, a crawler on that store starts. As many sites as it
does not keep in memory take turns, the others are due next day. Their first visits, with what a site costs
once a day, are not counted; the next are, when memory has forgotten them::

    unchanged   answered 304
    changed     two of ten links are new, and are fetched to see that they are articles
    first       sites just added, while the others are paused

Nothing is fetched; bodies are read in the same process.

cpu_ms_*         processor time of a visit; *changed* and *first* include the visits of new articles, each
                 counted, and robots.txt, not counted
start_seconds    wall time until the crawler knows when to visit which site
reload_seconds   the same after another process has changed one site
add_seconds      to add the new sites, each
rss_mb           resident memory after the visits
growth_*         cpu_ms with the most sites over that with the fewest
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from lab.arguments import count, counts
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from incremental.base.threads import InlineExecutor
from incremental.crawl.crawler import Crawler
from incremental.crawl.watched_sites import MOST_IN_MEMORY
from incremental.daemon.assembly import make_crawler
from incremental.fetch.outgoing import is_robots_url
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings.loading import build_settings
from incremental.settings.seeds import add_seed
from store import Store, open_store

DAY = 86_400.0
START = 1_700_000_000.0
VISITS = 1_000
_INTERVAL = 1_800.0
_TEMPLATE = "site-0000000.example"
_LINKS = 10
# Slashes in the address of a home page.
_ROOT = 3
_SETTINGS: dict[str, Any] = {
    "revisit": {"requests_per_day": 48},
    "news": {"verify_share": 0},
    "refresh": {"share": 0},
    "daemon": {"parse_workers": 0},
}
_WORDS = """anchor bakery bridge captain council crane cyclist debate engine ferry flood garden harbour
island judge kitchen lantern library market museum night orchard painter pilot quarry railway river""".split()  # noqa: SIM905 - prose


def _page(newest: int) -> bytes:
    rows = "".join(
        f'<li><a href="/news/{_WORDS[n % 27]}-{_WORDS[n // 27 % 27]}-{n}.html">'
        f"The {_WORDS[n % 27]} and the {_WORDS[n // 27 % 27]} by the river</a></li>"
        for n in range(newest, newest - _LINKS, -1)
    )
    return (
        '<!doctype html><html lang="en"><head><title>News</title></head>'
        f"<body><main><ul>{rows}</ul></main></body></html>"
    ).encode()


@dataclass
class Web:
    """All sites at once: every page is the same list, which may change."""

    unchanged: bool = False
    first: int = 100
    """Number of the newest link of a list that never changed."""
    newest: Counter[str] = field(default_factory=Counter)
    """Links of each list beyond its first ones; two more at each visit that is not unchanged."""
    lists: int = 0
    """Lists asked for."""
    articles: int = 0
    """Articles asked for."""

    def fetch(self, request: Request) -> Response:
        """Answer a request."""
        if is_robots_url(request.url):
            return Response(request.url, FetchStatus.GONE, http_code=404)
        if request.url.count("/") != _ROOT:
            self.articles += 1
            body = b"<html><body><article><p>Not worth reading.</p></article></body></html>"
            return Response(request.url, FetchStatus.FETCHED, http_code=200, body=body)
        self.lists += 1
        if self.unchanged:
            return Response(request.url, FetchStatus.NOT_MODIFIED, http_code=304)
        self.newest[request.url] += 2
        headers = {"content-type": "text/html; charset=utf-8"}
        body = _page(self.first + self.newest[request.url])
        return Response(request.url, FetchStatus.FETCHED, http_code=200, headers=headers, body=body)


@contextmanager
def _crawling(path: Path, web: Web) -> Iterator[tuple[Store, Crawler]]:
    settings = build_settings(_SETTINGS)
    with open_store(str(path), cache_folder=path.parent / "pages") as store:
        crawler = make_crawler(store, settings, fetch=web.fetch, executor=InlineExecutor())
        yield store, crawler


def _run(crawler: Crawler, web: Web, now: float, wanted: int) -> float:
    """Visit *wanted* lists; return the time."""
    before = web.lists
    while web.lists - before < wanted:
        now = max(now + 0.001, min(crawler.step(now), now + DAY))
    return now


def make_template(path: Path) -> float:
    """Crawl one site for a day; return the time."""
    web = Web()
    with _crawling(path, web) as (store, crawler):
        site_id = add_seed(store, f"https://{_TEMPLATE}/", now=START)
        store.write.update_site(site_id, probed_at=START)
        crawler.load(START)
        now = _run(crawler, web, START, 1)
        web.unchanged = True
        return _run(crawler, web, now, 20)


def _taking_turns(sites: int, visits: int) -> int:
    """Return how many of the sites take turns."""
    return min(sites, MOST_IN_MEMORY + visits)


def copy_sites(path: Path, sites: int, turns: int, now: float) -> None:
    """Copy the template under other names until there are *sites*; *turns* of them are due soon."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA synchronous = off")
        columns = {
            table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for table in ("site", "page", "hub", "sighting", "host")
        }
        pages = db.execute("SELECT MAX(id) FROM page").fetchone()[0]
        db.execute("CREATE TEMP TABLE n (i INTEGER PRIMARY KEY)")
        db.executemany("INSERT INTO n VALUES (?)", ((i,) for i in range(1, sites)))
        name = "printf('site-%07d.example', i)"
        renamed = f"replace({{}}, '{_TEMPLATE}', {name})"
        page_id = f"{{}} + i * {pages}"
        own_key = """'"key":"' || page_id || '"'"""
        new_key = f"""'"key":"' || ({page_id.format("page_id")}) || '"'"""
        changes = {
            "site": {"id": "id + i", "seed_url": renamed, "name": renamed, "scope": renamed},
            "page": {
                "id": page_id,
                "site_id": "site_id + i",
                "url": renamed,
                "canonical_key": renamed,
                "first_hub_id": page_id,
            },
            "hub": {
                "page_id": page_id,
                "site_id": "site_id + i",
                "due_at": f"{now} + iif(i < {turns}, i * {_INTERVAL / turns}, {DAY})",
                "revisit": f"replace(revisit, {own_key}, {new_key})",
            },
            "sighting": {"hub_id": page_id, "page_id": page_id},
            "host": {"name": renamed, "robots": renamed},
        }
        for table, names in columns.items():
            wanted = [changes[table].get(one, one).format(one) for one in names]
            own = f"name = '{_TEMPLATE}'" if table == "host" else "1"
            source = f"(SELECT * FROM {table} WHERE {own}) CROSS JOIN n"  # noqa: S608 - names of ours
            copied = f"SELECT {', '.join(wanted)} FROM {source}"  # noqa: S608 - likewise
            db.execute(f"INSERT INTO {table} ({', '.join(names)}) {copied}")


def _timed_run(crawler: Crawler, web: Web, now: float, wanted: int) -> tuple[float, float]:
    """Visit *wanted* lists; return the time, and the processor milliseconds for each page read."""
    used, before = time.process_time(), web.lists + web.articles
    now = _run(crawler, web, now, wanted)
    visits = web.lists + web.articles - before
    return now, 1000 * (time.process_time() - used) / visits


def measure(path: Path, now: float, visits: int) -> dict[str, float]:
    """Start a crawler on a store of many sites, and visit some of them."""
    # Beyond what the template showed.
    web, found = Web(unchanged=True, first=110), dict[str, float]()
    new_sites = max(visits // 5, 1)
    with _crawling(path, web) as (store, crawler):
        _ = store.read.generation()
        began = time.monotonic()
        crawler.load(now)
        crawler.frontier.wake_at(now)
        found["start_seconds"] = time.monotonic() - began
        now = _run(crawler, web, now + 60, _taking_turns(len(store.read.active_sites()), visits))
        for kind, unchanged in (("unchanged", True), ("changed", False)):
            web.unchanged = unchanged
            now, found[f"cpu_ms_{kind}"] = _timed_run(crawler, web, now, visits)
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE site SET requests_per_day = 40 WHERE id = 1")
        began = time.monotonic()
        crawler.load(now)
        crawler.frontier.wake_at(now)
        found["reload_seconds"] = time.monotonic() - began
        with closing(sqlite3.connect(path)) as other, other:
            other.execute("UPDATE site SET state = 'paused'")
        began = time.monotonic()
        for number in range(new_sites):
            site_id = add_seed(store, f"https://new-{number}.example/", now=now)
            store.write.update_site(site_id, probed_at=now)
        found["add_seconds"] = (time.monotonic() - began) / new_sites
        crawler.load(now)
        now, found["cpu_ms_first"] = _timed_run(crawler, web, now + 60, new_sites)
        gc.collect()
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        found["rss_mb"] = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return found


def _measured(sites: int, template: Path, now: float, visits: int) -> dict[str, float]:
    """Measure in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="hubwatch-growth-") as folder:
        path = Path(folder) / "hubwatch.sqlite"
        path.write_bytes(template.read_bytes())
        copy_sites(path, sites, _taking_turns(sites, visits), now)
        command = [sys.executable, __file__, "--measure", str(path), "--now", str(now)]
        command += ["--visits", str(visits)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this file
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def draw(rows: dict[str, dict[str, float]], target: Path) -> None:
    """Draw what a visit and a start cost, by the number of sites."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    mpl.use("agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra

    sites = [int(one) for one in rows]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for kind in ("first", "changed", "unchanged"):
        left.plot(sites, [row[f"cpu_ms_{kind}"] for row in rows.values()], "o-", label=kind)
    left.set(title="processor time of a visit, ms", xlabel="sites", xscale="log", ylim=(0, None))
    left.legend(frameon=False)
    for name, label in (("start_seconds", "start"), ("reload_seconds", "after a change elsewhere")):
        right.plot(sites, [row[name] for row in rows.values()], "o-", label=label)
    right.set(title="reading which sites are due, s", xlabel="sites", xscale="log", yscale="log")
    right.legend(frameon=False)
    figure.savefig(target, dpi=120)
    plt.close(figure)


def main() -> int:
    """Measure; 0 = done."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sites", type=counts, default=[100, 1_000, 10_000, 50_000])
    parser.add_argument("--chart", type=Path, metavar="PNG", help="draw it")
    parser.add_argument("--json", action="store_true", dest="as_json")
    parser.add_argument("--visits", type=count, default=VISITS, help="of each kind")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--now", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.measure, arguments.now, arguments.visits)))
        return 0
    console = Console(stderr=arguments.as_json)
    rows: dict[str, dict[str, float]] = {}
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-growth-") as folder,
        Progress(console=console, transient=True) as bar,
    ):
        template = Path(folder) / "hubwatch.sqlite"
        now = make_template(template)
        with closing(sqlite3.connect(template)) as db:
            db.execute("PRAGMA wal_checkpoint(truncate)")
        for sites in bar.track(arguments.sites, description="sites"):
            rows[str(sites)] = _measured(sites, template, now, arguments.visits)
    names = list(next(iter(rows.values())))
    table = Table("sites", *names)
    for sites_, row in rows.items():
        table.add_row(sites_, *(f"{row[name]:.3g}" for name in names))
    console.print(table)
    if arguments.chart:
        draw(rows, arguments.chart)
    first, *_, last = (*rows.values(), list(rows.values())[-1])
    answer: dict[str, Any] = {"sites": rows}
    for kind in ("unchanged", "changed", "first"):
        answer[f"growth_{kind}"] = last[f"cpu_ms_{kind}"] / first[f"cpu_ms_{kind}"]
    if arguments.as_json:
        print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
