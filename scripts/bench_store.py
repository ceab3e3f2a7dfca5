#!/usr/bin/env python3
"""What the store costs as it grows: the statements of a visit, the list of new pages, whole commands.

    scripts/bench_store.py --pages 1e4,1e5,1e6 --sightings 1e5,1e6,1e7 --json
    scripts/bench_store.py --pages 1e4,1e5 --sightings 1e5,1e6 --backend postgres

Sites of 2,000 pages, twenty of them hubs, are loaded by the database itself; half of the articles are
announced. Every hub shows 200 pages and has shown others. Sizes are taken in pairs.

record_ms      to record a visit whose 200 links are known
due_ms         to find out what a site has due, and read its first hub
known_ms       to look up 200 addresses of a site
new_ms         the newest fifty announced pages
commands       processor seconds of whole commands
size_mb        of the database
growth_record  record_ms at the largest over that at the smallest
growth_command the same of the command that grew most, over an empty store
"""

import contextlib
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.cli import parser_of, print_json, show, whole_number, whole_numbers
from lab.daemon_process import command
from lab.postgres_server import PostgresServer, missing_for_postgres
from rich.console import Console
from rich.progress import Progress

from incremental.settings.seeds import add_seed
from store import Store, open_store
from store.answers import NewQuery
from store.database import is_server
from store.enums import HubClass
from store.values import SeenLink, VisitRecord

START = 1_700_000_000.0
DAY = 86_400.0
PAGES_OF_SITE, HUBS_OF_SITE, SHOWN = 2_000, 20, 200
TIMES = 30
_RUNS = 3
_COMMANDS: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    "new": ("new",),
    "list": ("list",),
    "status": ("status",),
    "hubs": ("hubs", "site-0.example"),
    "check": ("check", "https://site-0.example/news/25.html"),
}


def fill(store: Store, pages: int, sightings: int) -> None:
    """Load sites, pages, hubs, sightings and announcements."""
    database: Any = store.database
    sites, per_site = max(pages // PAGES_OF_SITE, 1), min(pages, PAGES_OF_SITE)
    hubs = sites * HUBS_OF_SITE
    of_hub = min(sightings // hubs, per_site - HUBS_OF_SITE)
    site = f"(i / {per_site} + 1)"
    host = f"'site-' || ({site} - 1) || '.example'"
    own = f"(i % {per_site})"
    of_shower = f"(i / {of_hub})"
    shower = f"({of_shower} / {HUBS_OF_SITE} * {per_site} + {of_shower} % {HUBS_OF_SITE} + 1)"
    shown = (
        f"({of_shower} / {HUBS_OF_SITE} * {per_site} + {HUBS_OF_SITE} + 1"
        f" + (i % {of_hub} + {of_shower} % {HUBS_OF_SITE} * 7) % {per_site - HUBS_OF_SITE})"
    )
    at = f"{START} + i * {30 * DAY / max(pages, sightings):f}"
    article, announced = f"{own} >= {HUBS_OF_SITE}", f"{own} >= {per_site // 2}"
    url = f"'https://' || {host} || '/news/' || {own} || '.html'"
    key = f"'//' || {host} || '/news/' || {own} || '.html'"
    words = "'The ferry and the harbour, part ' || i"
    first_of_site = f"({site} * {per_site} - {per_site} + 1)"
    known = f"CASE WHEN {announced} THEN {at} END"
    gone = f"CASE WHEN i % {of_hub} >= {SHOWN} THEN {at} + {DAY} END"
    every, some = (_series(store, count) for count in (sites * per_site, hubs * of_hub))
    statements = f"""
INSERT INTO site (id, seed_url, name, state, added_at, scope, path_aliases, budget, revisit, origin,
    not_news)
SELECT i + 1, 'https://site-' || i || '.example/', 'site-' || i || '.example', 'active', {START},
    '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '[]' FROM {_series(store, sites)};
INSERT INTO page (id, site_id, canonical_key, url, anchor, title, first_seen_at, announced_at, state)
SELECT i + 1, {site}, {key}, {url}, {words}, {words}, {at}, {known}, 'known' FROM {every};
INSERT INTO hub (page_id, site_id, kind, role, state, score, why, due_at, baseline_at, visited_at,
    shown_links, revisit, way, visits, failures, new_pages, unproductive_visits)
SELECT i + 1, {site}, 'html', 'list', 'active', 0.9, '', {START} + i, {START}, {START},
    {SHOWN}, '{{}}', '{{}}', 0, 0, 0, 0 FROM {every} WHERE NOT ({article});
INSERT INTO sighting (hub_id, page_id, first_seen_at, gone_at, anchor, tag_path)
SELECT {shower}, {shown}, {at}, {gone}, 'The ferry', 'html/body/ul/li/a' FROM {some};
INSERT INTO change (id, site_id, page_id, kind, at, hub_id, detail)
SELECT i + 1, {site}, i + 1, 'added', {at}, {first_of_site}, '' FROM {every} WHERE {announced};
INSERT INTO news (id, page_id, site_id, hub_id, found_at, language)
SELECT i + 1, i + 1, {site}, {first_of_site}, {at}, 'en' FROM {every} WHERE {announced};
ANALYZE"""  # noqa: S608 - numbers of ours
    for statement in statements.split(";"):
        # The driver of PostgreSQL takes a single sign for a parameter.
        database.execute_sql(statement.replace("%", "%%") if is_server(store.where) else statement)


def _series(store: Store, count: int) -> str:
    """Return what numbers rows in SQL: *i* from 0."""
    if is_server(store.where):
        return f"generate_series(0, {count - 1}) AS n(i)"
    counted = f"SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {count - 1}"  # noqa: S608 - likewise
    return f"(WITH RECURSIVE n(i) AS ({counted}) SELECT i FROM n) AS numbers"  # noqa: S608 - likewise


def _median_ms(work: Callable[[int], object]) -> float:
    taken = []
    for number in range(TIMES):
        began = time.perf_counter()
        work(number)
        taken.append(1000 * (time.perf_counter() - began))
    return statistics.median(taken)


def _timed(store: Store) -> dict[str, float]:
    """Return milliseconds by what was done."""
    sites = store.read.active_sites()

    def site(number: int) -> int:
        return sites[number * 37 % len(sites)]

    shown: dict[int, tuple[SeenLink, ...]] = {}
    for number in range(TIMES):
        hub = store.read.hubs(site(number))[0].page_id
        keys = sorted(store.read.shown_by(hub))[:SHOWN]
        shown[number] = tuple(SeenLink(key, f"https:{key}", anchor="The ferry") for key in keys)

    def record(number: int) -> None:
        hub = store.read.hubs(site(number))[0]
        visit = VisitRecord(
            site_id=hub.site_id,
            page_id=hub.page_id,
            at=START + 60 * DAY + number,
            status="fetched",
            links=shown[number],
            hub_fields={"visits": hub.visits + 1, "due_at": START + 61 * DAY},
        )
        began = time.perf_counter()
        store.write.visit(visit)
        recorded.append(1000 * (time.perf_counter() - began))

    def due(number: int) -> None:
        store.read.due_times(site(number))
        store.read.due_hubs(site(number), START + 99 * DAY, HubClass.REVISIT, limit=8)

    def known(number: int) -> None:
        store.read.known(site(number), [link.canonical_key for link in shown[number]])

    recorded: list[float] = []
    for number in range(TIMES):
        record(number)
    return {
        "record_ms": statistics.median(recorded),
        "due_ms": _median_ms(due),
        "known_ms": _median_ms(known),
        "new_ms": _median_ms(lambda _: store.answers.new(NewQuery())),
    }


def _command_seconds(folder: Path, arguments: tuple[str, ...], url: str, runs: int) -> float:
    """Return the processor time of a whole command, the least of *runs*."""
    taken = []
    variables = {"HUBWATCH_STORE_DATABASE": url} if url else {}
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        if command(folder, *arguments, variables=variables).wait():
            raise RuntimeError(f"hubwatch {' '.join(arguments)} failed")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(taken)


def measure(
    folder: Path, pages: int, sightings: int, url: str, runs: int = _RUNS
) -> dict[str, Any]:
    """Fill a store and measure it; no *pages* = an empty one, with a single site."""
    home = folder / "hubwatch-data"
    home.mkdir()
    place = url or str(home / "hubwatch.sqlite")
    began = time.monotonic()
    found: dict[str, Any] = {}
    with open_store(place, cache_folder=home / "pages") as store:
        if pages:
            fill(store, pages, sightings)
            found["load_seconds"] = time.monotonic() - began
            found |= _timed(store)
        else:
            add_seed(store, "https://site-0.example/", now=START)
        found["size_mb"] = store.space.size().size_bytes / 1e6
    if not url:
        files = [home / name for name in ("hubwatch.sqlite", "hubwatch.sqlite-wal")]
        found["size_mb"] = sum(one.stat().st_size for one in files if one.exists()) / 1e6
    found["commands"] = {
        name: _command_seconds(folder, arguments, url, runs)
        for name, arguments in _COMMANDS.items()
    }
    return found


@contextlib.contextmanager
def _databases(backend: str) -> Iterator[Callable[[str], str]]:
    """Yield what makes the address of an empty database."""
    if backend == "sqlite":
        yield lambda _: ""
        return
    with PostgresServer() as server:
        yield server.database


def main() -> int:
    """Measure; 0 = done."""
    parser = parser_of(__doc__)
    parser.add_argument("--pages", type=whole_numbers, default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--sightings", type=whole_numbers, default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--backend", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--runs", type=whole_number, default=_RUNS, help="of each command")
    arguments = parser.parse_args()
    if len(arguments.pages) != len(arguments.sightings):
        parser.error("--sightings: as many numbers as --pages")
    for pages, sightings in zip(arguments.pages, arguments.sightings, strict=True):
        if not pages <= sightings <= 100 * pages:
            parser.error(
                f"--sightings: {sightings} do not go with {pages} pages: give 1 to 100 for each"
            )
    if arguments.backend == "postgres" and (missing := missing_for_postgres()):
        parser.error(f"--backend: {missing}")
    console = Console(stderr=arguments.json)
    sizes = [(0, 0), *zip(arguments.pages, arguments.sightings, strict=True)]
    rows: dict[str, dict[str, Any]] = {}
    with (
        _databases(arguments.backend) as database,
        Progress(console=console, transient=True) as bar,
    ):
        for pages, sightings in bar.track(sizes, description="sizes"):
            with tempfile.TemporaryDirectory(prefix="hubwatch-store-") as folder:
                rows[str(pages)] = measure(
                    Path(folder), pages, sightings, database(f"s{pages}"), arguments.runs
                )
    empty, *filled = rows.values()
    last, base = filled[-1]["commands"], empty["commands"]
    answer: dict[str, Any] = {
        "backend": arguments.backend,
        "pages": rows,
        "growth_record": filled[-1]["record_ms"] / filled[0]["record_ms"],
        "growth_command": max(last[name] / base[name] for name in _COMMANDS),
    }
    show(answer, console=console)
    print_json(arguments, answer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
