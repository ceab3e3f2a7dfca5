#!/usr/bin/env python3
"""Kill the real daemon at random moments, and compare what it knows in the end with the truth.

    scripts/bench_crash.py --kills 1000 --store sqlite --json
    scripts/bench_crash.py --kills 500 --store postgres --seed 7

A small site on loopback publishes an article about every second; ``hubwatch run`` watches it and sends
what is new to a web hook. It gets SIGKILL while it starts, works, or retrains its hub classifier; so do
backups, restores and compactions. Now and then the store is checked as the kill left it.
In the end the daemon runs until it has found everything, and ends by TERM.

published            articles, all of them new pages
lost                 of them, in no list of new pages
announced_twice      addresses in two rows of new pages, or printed twice
messages_twice       addresses in two messages of different idempotency keys
messages_retried     messages that came again under the key they had, as they should after a kill
corrupt_cache_files  files of the page cache that are not what their name says
failed_starts        daemons and commands that ended by themselves
recovery_seconds     from a start to its first request

Exit 1 when one of these that should be zero is not.
"""

import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from lab.cli import parser_of, print_json, show
from lab.crashes import SERVER_ONLY, Counted, CrashWorld, Moment, plan
from lab.postgres_server import PostgresServer, missing_for_postgres
from rich.console import Console
from rich.progress import Progress

CHECK_EVERY = 8
_MOST_SHOWN = 5


def moments_for(store: str) -> list[Moment]:
    """Return the moments that this kind of store has."""
    return [one for one in Moment if store == "sqlite" or one not in SERVER_ONLY]


def run(world: CrashWorld, moments: list[Moment], kills: int, tick: Any) -> Counted:  # noqa: ANN401 - a progress bar's
    """Kill at each of *moments*, at least *kills* times, and compare."""
    with world:
        while world.counted.kills < kills:
            for number, moment in enumerate(moments, 1):
                before = world.counted.kills
                world.kill_at(moment)
                tick(world.counted.kills - before)
                if number % CHECK_EVERY == 0:
                    world.check()
                if world.counted.kills >= kills:
                    break
        return world.finish()


def figures(counted: Counted, *, store: str, seed: int, seconds: float) -> dict[str, Any]:
    """Return what is printed as JSON."""
    times = sorted(counted.recoveries) or [0.0]
    counts = {
        name: len(value) if isinstance(value, list) else value
        for name, value in vars(counted).items()
        if name != "recoveries"
    }
    return (
        {"store": store, "seed": seed}
        | counts
        | {
            "by_moment": {one.value: counted.by_moment[one] for one in Moment},
            "left_half_done": dict(counted.left_half_done),
            "recovery_seconds_p50": round(statistics.median(times), 2),
            "recovery_seconds_p95": round(times[int(0.95 * (len(times) - 1))], 2),
            "seconds": round(seconds),
        }
    )


def problems(counted: Counted) -> list[str]:
    """Return what should not have happened, the first few of each kind."""
    found = [
        f"{name.replace('_', ' ')}: {one}"
        for name, value in vars(counted).items()
        if isinstance(value, list) and name != "recoveries"
        for one in value[:_MOST_SHOWN]
    ]
    if counted.corrupt_cache_files:
        found.append(f"corrupt files of the page cache: {counted.corrupt_cache_files}")
    return found


def main() -> int:
    """Run from the command line; 0 = everything held, 1 = it did not, 2 = wrong usage."""
    parser = parser_of(__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--store", choices=("sqlite", "postgres"), default="sqlite")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--worlds", type=int, default=2, help="daemons at a time (default: 2)")
    parser.add_argument(
        "--moments", help="only these, comma-separated: " + ", ".join(one.value for one in Moment)
    )
    arguments = parser.parse_args()
    if arguments.store == "postgres" and (missing := missing_for_postgres()):
        parser.error(missing)
    moments = moments_for(arguments.store)
    if arguments.moments:
        moments = [one for one in moments if one.value in arguments.moments.split(",")]
    began = time.monotonic()
    console = Console(stderr=arguments.json)
    total = Counted()
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hubwatch-crash-")))
        server = stack.enter_context(PostgresServer()) if arguments.store == "postgres" else None
        bar = stack.enter_context(Progress(console=console))
        task = bar.add_task("kills", total=arguments.kills)
        pool = stack.enter_context(ThreadPoolExecutor(arguments.worlds))
        runs = []
        for number in range(arguments.worlds):
            folder = root / str(number)
            folder.mkdir()
            share = (arguments.kills + number) // arguments.worlds
            seed = arguments.seed * 1_000 + number
            where = server.database(f"world{number}") if server else ""
            world = CrashWorld(folder, where=where, seed=seed)
            drawn = plan(share, moments, seed)
            runs.append(
                pool.submit(run, world, drawn, share, lambda n: bar.update(task, advance=n))
            )
        for one in runs:
            total.add(one.result())
    result = figures(
        total, store=arguments.store, seed=arguments.seed, seconds=time.monotonic() - began
    )
    show(result, f"{result['kills']} kills, {result['store']}", console)
    found = problems(total)
    for line in found:
        console.print(line, markup=False, highlight=False)
    print_json(arguments, result)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
