#!/usr/bin/env python3
"""Kill and freeze random parts of a whole cluster while it works, and compare with the truth.

    scripts/bench_cluster.py --kills 200 --json
    scripts/bench_cluster.py --kills 20 --daemons 4 --workers 0 --seed 7

Eight small sites on loopback, three of them on one host, publish while several ``hubwatch run`` share them
on a PostgreSQL store; their visits run on the workers of one Dask cluster. Again and again a daemon, a
worker, the scheduler or the server is killed, or a daemon or worker stands still for a while (see
``lab/cluster_kills.py``). Now and then a site takes seconds to answer. In the end all run until
everything is found.

kills                  parts that were killed, restarted or frozen; ``killed`` has them by kind
frozen                 of them, daemons and workers that stood still and went on
server_restarts        of PostgreSQL, those in the middle of a takeover included
published              articles, all of them new pages
lost                   of them, in no list of new pages
announced_twice        addresses in two rows of new pages
messages_twice         addresses in two messages of different idempotency keys
politeness_violations  requests to a host that was being asked, or sooner than its delay allows, by whomever
takeover_seconds_p95   from the kill of a daemon until all sites are some living daemon's
recovery_seconds_p95   from when another part was started again, or went on, until every daemon makes visits

Exit 1 when one of these that should be zero is not, or a takeover took longer than a minute.
"""

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lab.cli import parser_of, print_json, show, whole_number
from lab.cluster import Cluster
from lab.cluster_kills import Killer, Part
from lab.daemon_process import wait_until
from lab.postgres_server import missing_for_postgres
from rich.console import Console
from rich.progress import Progress

LONGEST_TAKEOVER_SECONDS = 60.0
_MOST_SHOWN = 5
_SLOW_SHARE = 0.08


def run(
    cluster: Cluster, kills: int, seed: int, workers: int, tick: Callable[[], object]
) -> dict[str, Any]:
    """Kill so many times, and compare; return what is printed as JSON."""
    killer, began = Killer(cluster, random.Random(seed)), time.monotonic()
    counted = killer.counted
    with cluster:
        cluster.begin()
        for one in cluster.daemons[1:]:
            one.start()
        everybody = len(cluster.daemons)
        if not wait_until(lambda: sum(bool(n) for n in cluster.shares()) == everybody, 120):
            counted.failed.append(f"they do not share the sites: {cluster.rows()}")
        while counted.kills < kills:
            killer.kill(killer.choose())
            tick()
        lost = cluster.end_publishing(within=300)
        published = cluster.published()
        wait_until(lambda: published <= cluster.hook.urls(), 60, every=0.5)
        violations = cluster.overlaps()
        return {
            "daemons": everybody,
            "workers": workers,
            "sites": len(cluster.sites),
            "seed": seed,
            "kills": counted.kills,
            "killed": {part.value: counted.killed[part] for part in Part},
            "frozen": counted.frozen.total(),
            "frozen_workers": counted.frozen[Part.WORKER],
            "restarted_workers": counted.restarted_workers,
            "server_restarts": counted.server_restarts,
            "server_crashes": counted.server_crashes,
            "published": len(published),
            "requests": sum(map(len, cluster.asked().values())),
            "lost": len(lost),
            "announced_twice": sum(n > 1 for n in cluster.announced().values()),
            "messages_twice": len(cluster.hook.twice()),
            "messages_retried": cluster.hook.retried(),
            "politeness_violations": len(violations),
            **_spread("takeover", counted.takeovers),
            **_spread("recovery", counted.recoveries),
            "failed": len(counted.failed),
            "seconds": round(time.monotonic() - began),
            "examples": [
                *(f"lost: {url}" for url in lost[:_MOST_SHOWN]),
                *(f"impolite: {one}" for one in violations[:_MOST_SHOWN]),
                *counted.failed[:_MOST_SHOWN],
            ],
        }


def _spread(name: str, seconds: Sequence[float]) -> dict[str, float]:
    """Return median, 95th percentile and longest; 0 when there are none."""
    times = sorted(seconds) or [0.0]
    return {
        f"{name}_seconds_p50": round(statistics.median(times), 1),
        f"{name}_seconds_p95": round(times[int(0.95 * (len(times) - 1))], 1),
        f"{name}_seconds_max": round(times[-1], 1),
    }


def is_well(result: dict[str, Any]) -> bool:
    """Whether everything held."""
    zero = ("lost", "announced_twice", "messages_twice", "politeness_violations", "failed")
    quick = result["takeover_seconds_max"] <= LONGEST_TAKEOVER_SECONDS
    return quick and not any(result[name] for name in zero)


def main() -> int:
    """Run from the command line; 0 = everything held, 1 = it did not, 2 = wrong usage."""
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=whole_number, default=20)
    parser.add_argument("--daemons", type=whole_number, default=3)
    parser.add_argument(
        "--workers", type=int, default=4, help="of Dask; 0 = threads of the daemons"
    )
    parser.add_argument("--sites", type=whole_number, default=8)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if missing := missing_for_postgres():
        parser.error(missing)
    if arguments.daemons < 2:  # noqa: PLR2004 - nobody could take over
        parser.error("--daemons must be at least 2")
    if arguments.workers < 0:
        parser.error("--workers must be at least 0")
    console = Console(stderr=arguments.json)
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-cluster-") as name,
        Progress(console=console) as bar,
    ):
        task = bar.add_task("kills", total=arguments.kills)
        cluster = Cluster(
            Path(name),
            daemons=arguments.daemons,
            workers=arguments.workers,
            sites=arguments.sites,
            shared_host=(0, 2, 4),
            seconds_between=10.0,
            slow_share=_SLOW_SHARE,
            seed=arguments.seed,
        )
        result = run(
            cluster, arguments.kills, arguments.seed, arguments.workers, lambda: bar.advance(task)
        )
    show(result, f"{result['kills']} kills", console)
    print_json(arguments, result)
    return 0 if is_well(result) else 1


if __name__ == "__main__":
    sys.exit(main())
