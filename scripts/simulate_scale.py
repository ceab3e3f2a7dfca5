#!/usr/bin/env python3
"""From measured costs to what 1e4 .. 1e9 hubs need, and which part gives way first.

    scripts/simulate_scale.py --json                     from scripts/lab/scale_costs.json
    scripts/simulate_scale.py --chart docs/images/scale.png
    scripts/simulate_scale.py --measure                  measure the costs again (minutes)
    scripts/simulate_scale.py --check --sites 20000      compare the model with a run (half an hour)

Costs of a visit are measured by the crawler of ``bench_throughput.py`` on a PostgreSQL server of its own;
demand (how often a hub is visited, how often it has changed, what is kept) by replays of recorded sites.
The machine is a choice: ``--cores``, ``--use``.

visits_per_second, statements_per_second  of an average second
crawler_cores                             of the daemons' own threads: one daemon each
worker_cores                              fetching and parsing
database_cores, database_tb               of PostgreSQL, after a year
stage, saturated                          what is run, and what gave way at the stage before
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from math import log10
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import msgspec
from lab.arguments import count
from lab.scale import KINDS, Cost, Demand, Machine, Model, Need, Shared, Storage
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
COSTS = Path(__file__).with_name("lab") / "scale_costs.json"
REPLAYS = ROOT.parent / "shared" / "replay"
HUBS = (1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
SITES = ("genai-news", "kubaik", "weichiachang", "blkstone")
"""Recorded sites that say what a hub asks for."""
_ROOMS_OF_CRAWLER = ("judge", "record", "schedule")
# A list of the load server, and an answer without a body.
_LIST_BYTES, _UNCHANGED_BYTES = 18_000.0, 300.0
_KEPT_DAYS = 365.0
# From here on numbers have no decimals.
_WHOLE = 10


class Measured(msgspec.Struct):
    """The file of measured costs."""

    costs: dict[str, Cost]
    demand: Demand
    storage: Storage
    shared: Shared
    taken_on: str
    machine: str


def read_costs(path: Path) -> Measured:
    """Read the file of costs."""
    return msgspec.json.decode(path.read_bytes(), type=Measured)


def measure_costs(pages: int, hosts: int) -> dict[str, Cost]:
    """Let the crawler visit *pages* lists three times on PostgreSQL; return what a visit costs, by kind."""
    from bench_throughput import measure  # noqa: PLC0415 - it loads the crawler
    from lab.postgres_server import PostgresServer  # noqa: PLC0415 - likewise

    from store.enums import HubRole  # noqa: PLC0415 - likewise

    spent: list[float] = []
    with PostgresServer() as server:
        phases, _ = measure(
            *(pages, hosts, HubRole.USER, lambda _name, _done: None),
            database=server.url,
            between=lambda: spent.append(server.cpu_seconds()),
        )
    costs = {}
    for number, kind in enumerate(KINDS):
        phase = phases[kind]
        rooms = {room: 1000 * phase.per_visit(seconds) for room, seconds in phase.rooms.items()}
        crawler = sum(rooms[room] for room in _ROOMS_OF_CRAWLER)
        costs[kind] = Cost(
            crawler_ms=crawler,
            worker_ms=sum(rooms.values()) - crawler,
            database_ms=1000 * phase.per_visit(spent[number + 1] - spent[number]),
            statements=phase.per_visit(phase.statements),
            received_bytes=_UNCHANGED_BYTES if kind == "unchanged" else _LIST_BYTES,
        )
    return costs


def measure_demand(folder: Path, console: Console) -> tuple[Demand, Storage]:
    """Replay recorded sites with the settings as shipped; return what a hub asks for, and what is kept."""
    from replay import simulate  # noqa: PLC0415 - it loads the crawler
    from replay_site import ReplaySite  # noqa: PLC0415 - likewise

    from incremental.settings import Settings  # noqa: PLC0415 - likewise

    total = dict.fromkeys(("hub_days", "fetches", "not_modified", "new", "hubs", "pages"), 0.0)
    stored = dict.fromkeys(("database_bytes", "cache_bytes"), 0.0)
    for name in SITES:
        console.print(f"replaying {name} ...")
        site = ReplaySite(folder / f"{name}.sqlite")
        tally = simulate(site, Settings(), None, quiet=True)
        print_, days = tally.footprint, (site.last_ts - site.first_ts) / 86_400
        total["hub_days"] += print_["hubs"] * days
        total["fetches"] += tally.fetches
        total["not_modified"] += tally.not_modified
        total["new"] += len(tally.announced)
        total["hubs"] += print_["hubs"]
        total["pages"] += print_["pages"]
        for key in stored:
            stored[key] += print_[key]
    per_day = {key: total[key] / total["hub_days"] for key in ("fetches", "not_modified", "new")}
    first = total["hubs"] / total["hub_days"]
    demand = Demand(
        visits_per_day={
            "first": first,
            "unchanged": per_day["not_modified"],
            "changed": per_day["fetches"] - per_day["not_modified"] - first,
        },
        new_pages_per_day=per_day["new"],
        hubs_per_site=total["hubs"] / len(SITES),
    )
    page_bytes = stored["database_bytes"] / total["pages"]
    storage = Storage(
        hub_bytes=page_bytes * total["pages"] / total["hubs"],
        page_bytes=page_bytes,
        cached_bytes=stored["cache_bytes"] / (total["hubs"] + total["new"]),
        kept_days=_KEPT_DAYS,
    )
    return demand, storage


def measure(pages: int, hosts: int, replays: Path, console: Console) -> Measured:
    """Measure everything."""
    console.print(f"visiting {pages} lists three times on PostgreSQL ...")
    costs = measure_costs(pages, hosts)
    demand, storage = measure_demand(replays, console)
    from lab.scale_check import costs_shared  # noqa: PLC0415 - it loads Dask

    console.print("measuring what several daemons and Dask add ...")
    shared = costs_shared()
    load = os.getloadavg()[1]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f} of the last 5 minutes"
    return Measured(costs, demand, storage, shared, datetime.now(UTC).date().isoformat(), machine)


def draw(needs: list[Need], path: Path) -> None:
    """Draw cores and storage by the number of hubs."""
    import matplotlib as mpl  # noqa: PLC0415 - heavy

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415 - heavy

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    hubs = [need.hubs for need in needs]
    for field, label in (
        ("crawler_cores", "crawlers (a daemon each)"),
        ("worker_cores", "workers"),
        ("database_cores", "PostgreSQL"),
    ):
        left.plot(hubs, [getattr(need, field) for need in needs], marker=".", label=label)
    left.set(xscale="log", yscale="log", xlabel="hubs", ylabel="cores")
    for field, label in (("database_tb", "database"), ("cache_tb", "page cache")):
        right.plot(hubs, [getattr(need, field) for need in needs], marker=".", label=label)
    right.set(xscale="log", yscale="log", xlabel="hubs", ylabel="terabytes after a year")
    for panel in (left, right):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _short(value: float) -> str:
    return f"{value:,.2g}" if value < _WHOLE else f"{value:,.0f}"


def _show(console: Console, needs: list[Need]) -> None:
    table = Table(
        "hubs",
        "visits/s",
        "SQL/s",
        "daemons",
        "workers",
        "DB cores",
        "DB TB",
        "cache TB",
        "machines",
    )
    for need in needs:
        rates = (need.visits_per_second, need.statements_per_second)
        parts = (need.worker_cores, need.database_cores, need.database_tb, need.cache_tb)
        row = (*map(_short, rates), f"{need.daemons:,}", *map(_short, parts), f"{need.machines:,}")
        table.add_row(f"1e{log10(need.hubs):.0f}", *row)
    console.print(table)
    stages = Table("hubs", "what is run", "gave way before")
    for need in needs:
        stages.add_row(f"1e{log10(need.hubs):.0f}", need.stage, need.saturated.replace("_", " "))
    console.print(stages)


def check_model(sites: int, again: int, minutes: int, console: Console) -> dict[str, Any]:
    """Compare the model with a run of several daemons; return what is printed as JSON."""
    from lab.scale_check import check  # noqa: PLC0415 - it loads Dask

    answer = check(sites, min(again, sites), 60.0 * minutes, console.print)
    table = Table("a visit", "predicted", "measured", "ratio", title=f"{sites} sites")
    for phase in (*KINDS, "all"):
        found = answer[phase]
        for field, ratio in found["ratio"].items():
            values = (found["predicted"][field], found["measured"][field], ratio)
            table.add_row(f"{phase}: {field}", *(f"{value:.2f}" for value in values))
    console.print(table)
    return answer


def main() -> int:
    """Run from the command line; exit 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--costs", type=Path, default=COSTS, metavar="JSON")
    parser.add_argument("--measure", action="store_true", help="and write them to --costs")
    parser.add_argument("--pages", type=count, default=1_000, help="lists that are visited")
    parser.add_argument("--hosts", type=count, default=100, help="loopback addresses")
    parser.add_argument("--replays", type=Path, default=REPLAYS, metavar="FOLDER")
    parser.add_argument("--cores", type=count, default=Machine.cores, help="of one machine")
    parser.add_argument(
        "--use", type=float, default=Machine.use, help="share of a core planned with"
    )
    parser.add_argument("--check", action="store_true", help="compare the model with a run")
    parser.add_argument("--sites", type=count, default=20_000, help="of the run")
    parser.add_argument(
        "--again", type=count, default=2_000, help="of them, visited unchanged and changed as well"
    )
    parser.add_argument(
        "--minutes", type=count, default=20, help="for the first visits; the rest is left out"
    )
    parser.add_argument("--chart", type=Path, metavar="PNG")
    parser.add_argument("--json", action="store_true", dest="as_json")
    arguments = parser.parse_args()
    if not 0 < arguments.use <= 1:
        parser.error("--use: above 0 and at most 1")
    console = Console(stderr=arguments.as_json)
    if arguments.measure:
        found = measure(arguments.pages, arguments.hosts, arguments.replays, console)
        arguments.costs.write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    known = read_costs(arguments.costs)
    machine = Machine(cores=arguments.cores, use=arguments.use)
    model = Model(known.costs, known.demand, known.storage, known.shared, machine)
    needs = [model.need(hubs) for hubs in HUBS]
    _show(console, needs)
    console.print(f"costs of {known.taken_on} ({known.machine}); machines of {machine.cores} cores")
    if arguments.check:
        checked = check_model(arguments.sites, arguments.again, arguments.minutes, console)
    if arguments.chart:
        draw(needs, arguments.chart)
    if arguments.as_json:
        answer: dict[str, Any] = {
            "needs": [asdict(need) for need in needs],
            "measured": msgspec.to_builtins(known),
        }
        if arguments.check:
            answer["check"] = checked
        print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
