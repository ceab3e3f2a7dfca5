#!/usr/bin/env python3
"""Crawl hundreds of loopback hosts as quickly as the machine can, and Scrapy after it.

    scripts/bench_throughput.py --pages 2000 --hosts 200 --peer scrapy --json

A server in a process of its own has lists of 50 links (18 kB, with ETags) on many loopback addresses. We
crawl with everything that the daemon has: robots.txt obeyed, links canonicalised and judged by the URL
SVM, every visit a transaction on disk, new pages announced. Each list is visited four times::

    first       never read before; all its links are stored
    unchanged   answered 304
    same_links  without ETag; the body differs, its links do not
    changed     three of its fifty links are new, and are announced

Lists are given as a user gives them, and pages are not read for their text: a visit is one list.
``first_readings`` are lists that nobody gave; each is also read for its text, to tell it from an article.

``mix`` is the life of a watcher: rounds of visits of the kinds and in the shares that the replays of whole
sites have (``benchmarks/mix.json``, by ``scripts/measure_mix.py``), new articles included, which are
read before they are announced; once with ETags and once without any validator.

Scrapy obeys robots.txt, extracts the links, and writes each once into SQLite; a page is a transaction. It
keeps ETags and sends them. Beside ``same_links`` it reads the lists again, with the links it has; beside
``mix`` it reads the same lists in the same rounds, and the articles that they gain. It
needs an environment of its own: it depends on a package with the same name as one of ours.

first_visits_per_second, ...  visits of lists by the wall clock, robots.txt included
cpu_ms_first, ...             processor time of a visit, readers included, server not
cpu_ms_bare_requests          processor time of a conditional request by requests alone: the least that an
                              unchanged visit could take with it
statements_per_visit          SQL statements of all four visits; a batch of rows is one, BEGIN none
peakrss_mb                   of this process; readersrss_mb: of its readers together
ratio_first, ...              visits a second, over Scrapy's pages a second
mix_per_second, ...           visits of the mix, articles included; ratio_mix over Scrapy's pages
rooms                         processor milliseconds of a first visit, by what they go to
"""

import contextlib
import itertools
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import requests
from lab.cli import parser_of, print_json, show, whole_number
from lab.load_server import LoadServer
from lab.postgres_server import PostgresServer
from lab.scrapy_rounds import Round, scrapy_reads
from lab.speed import (
    SETTINGS,
    WORKERS,
    Phase,
    Setup,
    add_lists,
    addresses_of,
    crawl,
    crawling,
    rss_mb,
)
from lab.watcher_mix import measure_mixes, scrapy_mix
from requests.adapters import HTTPAdapter
from rich.console import Console
from rich.progress import Progress

from incremental.fetch.status import FetchStatus
from incremental.settings.loading import build_settings
from store.enums import HubRole

# Each with the generation and the printing of its lists.
_PHASES = {"first": (0, 0), "unchanged": (0, 0), "same_links": (0, 1), "changed": (1, 0)}
# Between two visits of a list the clock is put forward by this: longer than the longest interval.
_LATER_SECONDS = 1_800.0
_STAGGERED_SECONDS = 60.0


def measure(
    pages: int, hosts: int, role: HubRole, tick: Callable[[str, int], None], setup: Setup
) -> tuple[dict[str, Phase], dict[str, float]]:
    """Visit every list four times; return the visits, and megabytes of memory."""
    phases: dict[str, Phase] = {}
    settings = build_settings(SETTINGS)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hubwatch-speed-")))
        server = stack.enter_context(LoadServer())
        world = stack.enter_context(crawling(folder, settings, setup))
        world.visits.lists |= add_lists(world.store, server, pages, hosts, role)
        # The first requests after a start are spread over a minute, which has passed by now.
        world.crawler.load(time.time() - _STAGGERED_SECONDS)
        for number, (name, shown) in enumerate(_PHASES.items()):
            server.change(*shown)
            world.offset = number * _LATER_SECONDS
            phases[name] = crawl(world, len(world.visits.lists), partial(tick, name))
            if role is not HubRole.USER:
                break
        memory = {
            "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "readers_rss_mb": sum(map(rss_mb, world.readers.pids)),
        }
    return phases, memory


@contextlib.contextmanager
def databases(kind: str) -> Iterator[Callable[[str], str]]:
    """Yield what gives an empty database by its name; empty = a new file."""
    if kind == "sqlite":
        yield lambda _: ""
        return
    with PostgresServer() as server:
        yield server.database


def report(
    phases: dict[str, Phase], memory: dict[str, float], readings: Phase | None
) -> dict[str, Any]:
    """Return the figures of our visits."""
    ours: dict[str, Any] = {}
    for name, one in phases.items():
        key = "first_visits_per_second" if name == "first" else f"{name}_per_second"
        ours[key] = one.in_time / one.seconds
    for name, one in phases.items():
        ours[f"cpu_ms_{name}"] = 1000 * one.per_visit(sum(one.rooms.values()))
    ours |= memory
    total = sum(one.visits for one in phases.values())
    ours["statements_per_visit"] = sum(one.statements for one in phases.values()) / total
    ours["statements"] = {name: one.per_visit(one.statements) for name, one in phases.items()}
    ours["visits"] = {name: one.statuses for name, one in phases.items()}
    ours["announced"] = phases["changed"].announced
    if readings is not None:
        ours["first_readings_per_second"] = readings.in_time / readings.seconds
        ours["cpu_ms_first_reading"] = 1000 * readings.per_visit(sum(readings.rooms.values()))
    rooms = {
        name: {room: 1000 * one.per_visit(spent) for room, spent in one.rooms.items()}
        for name, one in phases.items()
    }
    return {"ours": ours, "rooms": rooms["first"], "rooms_by_visit": rooms}


def bare_requests(pages: int, hosts: int) -> float:
    """Return the processor milliseconds of a conditional request by ``requests`` alone."""
    with LoadServer() as server, requests.Session() as session:
        session.mount("http://", HTTPAdapter(pool_connections=hosts, pool_maxsize=WORKERS))
        session.trust_env = False
        lists = list(itertools.chain(*addresses_of(server, pages, hosts)))
        tags = {url: session.get(url).headers["ETag"] for url in lists}

        def ask(url: str) -> int:
            return session.get(url, headers={"If-None-Match": tags[url]}).status_code

        with ThreadPoolExecutor(WORKERS) as threads:
            for _ in range(2):  # the first time it connects
                began = time.process_time()
                statuses = set(threads.map(ask, lists))
                spent = time.process_time() - began
    assert statuses == {HTTPStatus.NOT_MODIFIED}
    return 1000 * spent / len(lists)


def scrapy(pages: int, hosts: int) -> dict[str, dict[str, float]]:
    """Let Scrapy read the same lists: ``first``, then ``same_links``, of the next printing."""
    read: dict[str, dict[str, float]] = {}
    with LoadServer() as server, tempfile.TemporaryDirectory(prefix="hubwatch-peer-") as folder:
        lists = list(itertools.chain(*addresses_of(server, pages, hosts)))
        for name in ("first", "same_links"):
            server.change(*_PHASES[name])
            read[name] = scrapy_reads([Round(lists)], Path(folder))
    return read


def main() -> int:
    """Measure; 0 = every list was visited as it should be."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=whole_number, default=2_000, help="lists in all")
    parser.add_argument("--hosts", type=whole_number, default=200, help="loopback addresses")
    parser.add_argument("--peer", choices=["scrapy"], help="measure it in the same run")
    parser.add_argument("--store", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--engine", choices=["threads", "processes"], default="threads")
    arguments = parser.parse_args()
    pages, hosts = arguments.pages, arguments.hosts
    if not 1 <= hosts <= pages:
        parser.error("--hosts: at least 1, and at most as many as --pages")
    console = Console(stderr=arguments.json)
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("visits", total=pages)

        def tick(name: str, done: int) -> None:
            bar.update(task, completed=done, description=name)

        with databases(arguments.store) as database:
            there = partial(Setup, arguments.engine)
            phases, memory = measure(pages, hosts, HubRole.USER, tick, there(database("visits")))
            readings = None
            if pages > hosts:
                again = there(database("readings"))
                readings = measure(pages, hosts, HubRole.LIST, tick, again)[0]["first"]
            mixes = measure_mixes(pages, hosts, tick, lambda name: there(database(name)))
    answer = report(phases, memory, readings)
    answer["ours"]["cpu_ms_bare_requests"] = bare_requests(pages, hosts)
    for name, mix in mixes.items():
        answer["ours"] |= mix.figures(name)
    if arguments.peer:
        answer["scrapy"] = scrapy(pages, hosts)
        for name, one in phases.items():
            peer = answer["scrapy"].get(name, answer["scrapy"]["first"])
            answer[f"ratio_{name}"] = one.in_time / one.seconds / peer["pages_per_second"]
        for name, mix in mixes.items():
            peer = answer["scrapy"][name] = scrapy_mix(mix)
            answer[f"ratio_{name}"] = mix.per_second / peer["pages_per_second"]
    show(answer, console=console)
    print_json(arguments, answer)
    return 0 if _as_named(phases, pages) else 1


def _as_named(phases: dict[str, Phase], pages: int) -> bool:
    """Whether every visit was what its phase is called."""
    wanted = {"first": FetchStatus.FETCHED, "unchanged": FetchStatus.NOT_MODIFIED}
    return all(
        phases[name].statuses == {wanted.get(name, FetchStatus.FETCHED): pages} for name in _PHASES
    )


if __name__ == "__main__":
    sys.exit(main())
