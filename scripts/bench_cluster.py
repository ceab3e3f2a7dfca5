#!/usr/bin/env python3
"""Kill and freeze real daemons that share a PostgreSQL store, restart the server, and compare with the truth.

    scripts/bench_cluster.py --kills 100 --json
    scripts/bench_cluster.py --kills 20 --daemons 4 --seed 7

Eight small sites on loopback, three of them on one host, publish while several ``hubwatch run`` share them.
Again and again a daemon gets SIGKILL, or SIGSTOP until another has taken its sites; now and then the server
restarts as well. In the end the daemons run until they have found everything.

kills                  daemons that were killed or frozen
server_restarts        of PostgreSQL, each while daemons were at work
published              articles, all of them new pages
lost                   of them, in no list of new pages
announced_twice        addresses in two rows of new pages
messages_twice         addresses in two messages of different idempotency keys
politeness_violations  requests of two daemons to one host at once, or sooner than its delay allows
takeover_seconds_p95   from a kill until all sites are some living daemon's

Exit 1 when one of these that should be zero is not, or a takeover took longer than a minute.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from lab.arguments import count
from lab.cluster import Cluster
from lab.daemon_process import DaemonProcess, wait_until
from lab.postgres_server import missing_for_postgres
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

LONGEST_TAKEOVER_SECONDS = 60.0
_PATIENCE_SECONDS = 120.0
# Of the kills, those that only freeze, and those during which the server restarts.
_FREEZE_EVERY = 4
_RESTART_EVERY = 5
_MOST_SHOWN = 5


@dataclass
class Counted:
    """What came of the kills."""

    kills: int = 0
    frozen: int = 0
    server_restarts: int = 0
    takeovers: list[float] = field(default_factory=list)
    """Seconds each."""
    failed: list[str] = field(default_factory=list)
    """Daemons that ended by themselves, or sites that nobody took."""


def kill(cluster: Cluster, dice: random.Random, counted: Counted) -> None:
    """Kill or freeze a daemon, wait until its sites are another's, and let it come again."""
    victim = dice.choice([one for one in cluster.daemons if one.running])
    frozen = counted.kills % _FREEZE_EVERY == _FREEZE_EVERY - 1
    held = {one.id for one in cluster.rows() if one.name.endswith(f"-{victim.pid}")}
    if frozen:
        victim.send(signal.SIGSTOP)
    else:
        victim.kill()
    began = time.monotonic()
    counted.kills += 1
    counted.frozen += frozen
    if counted.kills % _RESTART_EVERY == 0:
        cluster.restart_server(dice.uniform(0, 3))
        counted.server_restarts += 1
    if wait_until(lambda: is_taken_over(cluster, held), _PATIENCE_SECONDS, every=0.2):
        counted.takeovers.append(time.monotonic() - began)
    else:
        counted.failed.append(f"nobody took over: {cluster.rows()}")
    if frozen:
        victim.send(signal.SIGCONT)
    else:
        victim.start()
    time.sleep(dice.uniform(1, 8))
    counted.failed += [ended(one) for one in cluster.daemons if not one.running]
    for one in cluster.daemons:
        if not one.running:
            one.start()


def is_taken_over(cluster: Cluster, held: set[int]) -> bool:
    """Whether the daemons *held* are gone, and each site is a living daemon's."""
    living = {one.id for one in cluster.rows() if one.lives}
    holders = set(cluster.store.daemons.holders().values())
    return not held & living and holders <= living


def ended(daemon: DaemonProcess) -> str:
    """Say how a daemon ended by itself."""
    return f"exit {daemon.exit_code}: {daemon.errors()[-400:]}"


def run(cluster: Cluster, kills: int, seed: int, tick: Callable[[], object]) -> dict[str, Any]:
    """Kill so many times, and compare; return what is printed as JSON."""
    dice, counted, began = random.Random(seed), Counted(), time.monotonic()
    with cluster:
        cluster.begin()
        for one in cluster.daemons[1:]:
            one.start()
        everybody = len(cluster.daemons)
        if not wait_until(lambda: sum(bool(n) for n in cluster.shares()) == everybody, 120):
            counted.failed.append(f"they do not share the sites: {cluster.rows()}")
        while counted.kills < kills:
            kill(cluster, dice, counted)
            tick()
        lost = cluster.end_publishing(within=300)
        published = cluster.published()
        wait_until(lambda: published <= cluster.hook.urls(), 60, every=0.5)
        violations = cluster.overlaps()
        times = sorted(counted.takeovers) or [0.0]
        return {
            "daemons": everybody,
            "sites": len(cluster.sites),
            "seed": seed,
            "kills": counted.kills,
            "frozen": counted.frozen,
            "server_restarts": counted.server_restarts,
            "published": len(published),
            "requests": sum(map(len, cluster.asked().values())),
            "lost": len(lost),
            "announced_twice": sum(n > 1 for n in cluster.announced().values()),
            "messages_twice": len(cluster.hook.twice()),
            "messages_retried": cluster.hook.retried(),
            "politeness_violations": len(violations),
            "takeover_seconds_p50": round(statistics.median(times), 1),
            "takeover_seconds_p95": round(times[int(0.95 * (len(times) - 1))], 1),
            "takeover_seconds_max": round(times[-1], 1),
            "failed": len(counted.failed),
            "seconds": round(time.monotonic() - began),
            "examples": [
                *(f"lost: {url}" for url in lost[:_MOST_SHOWN]),
                *(f"impolite: {one}" for one in violations[:_MOST_SHOWN]),
                *counted.failed[:_MOST_SHOWN],
            ],
        }


def is_well(result: dict[str, Any]) -> bool:
    """Whether everything held."""
    zero = ("lost", "announced_twice", "messages_twice", "politeness_violations", "failed")
    quick = result["takeover_seconds_max"] <= LONGEST_TAKEOVER_SECONDS
    return quick and not any(result[name] for name in zero)


def main() -> int:
    """Run from the command line; 0 = everything held, 1 = it did not, 2 = wrong usage."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=count, default=20)
    parser.add_argument("--daemons", type=count, default=3)
    parser.add_argument("--sites", type=count, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", dest="as_json")
    arguments = parser.parse_args()
    if missing := missing_for_postgres():
        parser.error(missing)
    if arguments.daemons < 2:  # noqa: PLR2004 - nobody could take over
        parser.error("--daemons must be at least 2")
    console = Console(stderr=arguments.as_json)
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-cluster-") as name,
        Progress(console=console) as bar,
    ):
        task = bar.add_task("kills", total=arguments.kills)
        cluster = Cluster(
            Path(name),
            daemons=arguments.daemons,
            sites=arguments.sites,
            shared_host=(0, 2, 4),
            seconds_between=10.0,
            seed=arguments.seed,
        )
        result = run(cluster, arguments.kills, arguments.seed, lambda: bar.advance(task))
    table = Table("", "", title=f"{result['kills']} kills of {result['daemons']} daemons")
    for key, value in result.items():
        if key not in {"kills", "daemons", "examples"}:
            table.add_row(key.replace("_", " "), str(value))
    console.print(table)
    for line in result["examples"]:
        console.print(line, markup=False, highlight=False)
    if arguments.as_json:
        print(json.dumps(result))
    return 0 if is_well(result) else 1


if __name__ == "__main__":
    sys.exit(main())
