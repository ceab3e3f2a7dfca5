#!/usr/bin/env python3
"""Change the code that decides in small ways, one at a time, and see whether a test notices.

    scripts/lab/mutate.py --places 60 --seed 1 --json
    scripts/lab/mutate.py --rooms revisit,urls
    scripts/lab/mutate.py --list

A sample, spread evenly over the rooms: comparisons, conditions, constants, operators, returned values, only
where a test of the room runs the line. All happens in copies of the checkout; each change is shown to the
room's tests until one fails. What survives is a missing test or a change that makes no difference. The
sample is the same for the same seed and code.

Of the known tools, mutmut changes no constants of modules and draws no samples, and Cosmic Ray changes
the files of the checkout itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as scripts beside it have

from rich.console import Console
from rich.table import Table

from lab.cli import parser_of, print_json
from lab.covered import PLAN
from lab.mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[2]
# A changed loop may never end: after so many times what the tests take unchanged, it counts as noticed.
LIMIT_SECONDS, LIMIT_FACTOR = 60, 4
LONGEST_SECONDS = 1_800.0
# What pytest is to choose: PostgreSQL runs the same stories again, benchmarks take a minute each.
QUICK = "not postgres and not benchmark"


@dataclass(frozen=True, slots=True)
class Room:
    """Modules that decide, and the quick tests that should notice, below tests/; both as patterns."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    @property
    def files(self) -> list[str]:
        """The modules."""
        found = {path for pattern in self.modules for path in ROOT.glob(pattern)}
        return sorted(str(path.relative_to(ROOT)) for path in found)


ROOMS = {
    "urls": Room(("incremental/base/urls.py",), ("ground/test_ground_url*.py",)),
    "scope": Room(("incremental/base/scope.py",), ("ground/test_ground_scope.py",)),
    "decide": Room(
        ("incremental/decide/*.py",),
        ("decide/*.py", "crawl/test_crawl_news_edges.py"),
    ),
    "history": Room(("incremental/parse/history/*.py",), ("history/test_history_[fnrt]*.py",)),
    "notify": Room(
        ("incremental/features/messages/plan.py", "incremental/features/messages/message.py"),
        (
            "features/messages/test_notify_plan.py",
            "features/messages/test_notify_backfill.py",
        ),
    ),
    "parse": Room(
        ("incremental/parse/*.py",),
        (
            "parse/test_parse_[dfhms]*.py",
            "parse/test_parse_paging.py",
        ),
    ),
    "revisit": Room(("incremental/schedule/*.py",), ("revisit/*.py",)),
    "hub": Room(("classifier/hub/*.py",), ("classifier/test_hub_[celmt]*.py",)),
    "topic": Room(("classifier/topic/*.py",), ("topic/test_topic_[bclmnoprtv]*.py",)),
    "record": Room(
        ("store/crawl/record.py", "store/*_records.py", "store/crawl/backfills.py"),
        ("store/test_store_[bpuv]*.py", "crawl/test_crawl_stories.py"),
    ),
    "crawl": Room(("incremental/crawl/*.py",), ("crawl/test_crawl_[eghnsu]*.py",)),
}


def main() -> int:
    """Draw, change, test, report; 0 = done."""
    parser = parser_of(__doc__)
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default=",".join(ROOMS), help="names, with commas between")
    parser.add_argument("--jobs", type=int, default=2, help="runs of tests at the same time")
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    options = parser.parse_args()
    if unknown := set(options.rooms.split(",")) - set(ROOMS):
        parser.error(f"no such room: {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    names = options.rooms.split(",")
    dice = random.Random(options.seed)
    outcomes: list[tuple[Mutation, str]] = []
    with tempfile.TemporaryDirectory(prefix="hubwatch-mutate-") as folder:
        copies = [Copy(Path(folder) / str(place)) for place in range(options.jobs)]
        for number, name in enumerate(names):
            room = ROOMS[name]
            began = time.monotonic()
            changes = _changes(room, copies[0].lines(room))
            limit = LIMIT_SECONDS + LIMIT_FACTOR * (time.monotonic() - began)
            quota = options.places // len(names) + (number < options.places % len(names))
            sample = dice.sample(changes, min(quota, len(changes)))
            if options.list:
                print("\n".join(map(_said, sample)))
                continue
            for change, came in _outcomes(copies, room, sample, limit):
                outcomes.append((change, came))
                console.print(f"{len(outcomes)}/{options.places} {came}: {_said(change)}")
    if options.list:
        return 0
    _report(outcomes, options)
    return 0


def _changes(room: Room, seen: dict[str, list[int]]) -> list[Mutation]:
    """Return the changes of a room whose lines its tests run."""
    return [
        one
        for path in room.files
        for one in mutations(path, (ROOT / path).read_text(encoding="utf-8"))
        if set(one.lines) & set(seen.get(path, ()))
    ]


def _outcomes(
    copies: list[Copy], room: Room, sample: list[Mutation], limit: float
) -> Iterator[tuple[Mutation, str]]:
    """Yield what becomes of each change: killed, timeout or survived."""
    free = SimpleQueue[Copy]()
    for copy in copies:
        free.put(copy)

    def outcome(change: Mutation) -> str:
        copy = free.get()
        try:
            return copy.outcome(change, room, limit)
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        yield from zip(sample, pool.map(outcome, sample), strict=True)


class Copy:
    """A copy of the checkout, in which the changes are made."""

    def __init__(self, folder: Path) -> None:
        leave = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=leave)
        self._folder = folder
        paths = os.pathsep.join([str(folder), str(folder / "scripts")])
        # CI: property tests draw the same examples each time. Compiled code is recognised by second and size,
        # which a change may both keep.
        self._environment = {
            **os.environ,
            "PYTHONPATH": paths,
            "CI": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def lines(self, room: Room) -> dict[str, list[int]]:
        """Return by file of a room the lines that its tests run."""
        plan, out = self._folder.parent / "plan.json", self._folder.parent / "lines.json"
        files = [str(self._folder / path) for path in room.files]
        plan.write_text(json.dumps({"files": files, "out": str(out)}), encoding="utf-8")
        came = self._tested(room, LONGEST_SECONDS, "-p", "lab.covered", **{PLAN: str(plan)})
        if came != "survived":
            raise RuntimeError(f"{came} without a change: {', '.join(room.tests)}")
        found = json.loads(out.read_text(encoding="utf-8"))
        return {str(Path(file).relative_to(self._folder)): rows for file, rows in found.items()}

    def outcome(self, change: Mutation, room: Room, limit: float) -> str:
        """Make a change, run the tests until one fails, take it back; return what happened."""
        path = self._folder / change.file
        before = path.read_text(encoding="utf-8")
        path.write_text(change.source, encoding="utf-8")
        try:
            return self._tested(room, limit)
        finally:
            path.write_text(before, encoding="utf-8")

    def _tested(self, room: Room, limit: float, *more: str, **variables: str) -> str:
        options = ["-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-k", QUICK, *more]
        tests = [one for pattern in room.tests for one in (self._folder / "tests").glob(pattern)]
        run = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, "-m", "pytest", *options, *sorted(map(str, tests))],
            cwd=self._folder,
            env=self._environment | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return "killed" if run.wait(limit) else "survived"
        except subprocess.TimeoutExpired:
            return "timeout"
        finally:
            # What the tests have started and not ended, too.
            with suppress(ProcessLookupError):
                os.killpg(run.pid, signal.SIGKILL)
            run.wait()


def _said(one: Mutation) -> str:
    return f"{one.file}:{one.line}: {one.change}"


def _report(outcomes: list[tuple[Mutation, str]], options: argparse.Namespace) -> None:
    counts = Counter(came for _, came in outcomes)
    places, survived = len(outcomes), counts["survived"]
    survivors = [change for change, came in outcomes if came == "survived"]
    table = Table("change that no test noticed", title=f"{places - survived} of {places} noticed")
    for change in survivors:
        table.add_row(_said(change))
    Console(stderr=options.json, emoji=False).print(table)
    report = {
        "places": places,
        "killed": places - survived,
        "timeouts": counts["timeout"],
        "survived": survived,
        "share": round(1 - survived / places, 4) if places else 0.0,
        "survivors": [
            {"file": one.file, "line": one.line, "mutation": one.change} for one in survivors
        ],
    }
    print_json(options, report)


if __name__ == "__main__":
    sys.exit(main())
