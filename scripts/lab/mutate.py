#!/usr/bin/env python3
"""Change the code that decides in small ways, one at a time, and see whether a test notices.

    scripts/lab/mutate.py --places 60 --seed 1 --json
    scripts/lab/mutate.py --rooms revisit,urls
    scripts/lab/mutate.py --list

A sample, spread evenly over the rooms: comparisons, conditions, constants, operators, returned values,
only where a test of the room runs the line. All happens in copies of the checkout; each change is shown
to the tests that run its line, the quickest first, until one fails. What survives is a missing test
or a change that makes no difference. The sample is the same for the same seed and code, but for tests
at the edge of the time they get.

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
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as scripts beside it have

from rich.console import Console
from rich.table import Table

from lab.cli import parser_of, print_json
from lab.covered import PLAN
from lab.mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[2]
# So much processor time of tests, as they take unchanged and traced, one change is shown to.
BASE_SECONDS = 20.0
# A changed loop may never end: what takes more processor time than this counts as noticed.
LIMIT_SECONDS, LIMIT_FACTOR = 20, 4
# For tests that wait for something that never comes; a loaded machine is slow.
WAIT_SECONDS = 600
# What pytest is to choose: PostgreSQL runs the same stories again, benchmarks take a minute each.
QUICK = "not postgres and not benchmark"
_FAILED, _INTERRUPTED = 1, 2


@dataclass(frozen=True, slots=True)
class Room:
    """Modules that decide, and the quick tests that should notice, below tests/; both as patterns."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A change, and the tests that run its lines with their processor time, the quickest first."""

    change: Mutation
    tests: dict[str, float]


# Rooms with quick tests come first.
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
    rooms = options.rooms.split(",")
    dice = random.Random(options.seed)
    outcomes: list[tuple[Place, str]] = []
    with tempfile.TemporaryDirectory(prefix="hubwatch-mutate-") as folder:
        copies = Copies(Path(folder), options.jobs, [ROOMS[name] for name in rooms], console)
        for number, name in enumerate(rooms):
            quota = options.places // len(rooms) + (number < options.places % len(rooms))
            sample = _sample(copies, ROOMS[name], quota, dice)
            if options.list:
                for place in sample:
                    print(f"{_said(place.change)} ({len(place.tests)} tests)")
            else:
                outcomes += copies.outcomes(sample)
    if not options.list:
        _report(outcomes, options)
    return 0


def _sample(copies: Copies, room: Room, quota: int, dice: random.Random) -> list[Place]:
    """Return changes of a room with the tests that run their lines."""
    changes = _changes(room)
    dice.shuffle(changes)
    seen = copies.coverage(room)
    noticing = (Place(one, _tests_of(one, seen)) for one in changes)
    return list(islice((place for place in noticing if place.tests), quota))


def _changes(room: Room) -> list[Mutation]:
    """Return every change of a room."""
    files = sorted(path for pattern in room.modules for path in ROOT.glob(pattern))
    return [
        one
        for path in files
        for one in mutations(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]


def _tests_of(one: Mutation, seen: dict[str, Any]) -> dict[str, float]:
    """Return the tests that run a line of the change, the quickest first, within the time."""
    running = [
        (test["seconds"], name)
        for name, test in seen.items()
        if set(test["lines"].get(one.file, ())) & set(one.lines)
    ]
    found: dict[str, float] = {}
    for seconds, name in sorted(running):
        if found and sum(found.values()) + seconds > BASE_SECONDS:
            break
        found[name] = seconds
    return found


class Copies:
    """As many copies of the checkout as tests may run at a time."""

    def __init__(self, folder: Path, number: int, rooms: list[Room], console: Console) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        self._number = number
        lines: dict[str, set[int]] = {}
        for change in (one for room in rooms for one in _changes(room)):
            lines.setdefault(change.file, set()).update(change.lines)
        self._trace = {file: sorted(numbers) for file, numbers in lines.items()}
        self._seen: dict[str, dict[str, Any]] = {}
        """By file of tests and by test; rooms share some."""
        self._console, self._began = console, time.monotonic()
        for place in range(number):
            self._free.put(Copy(folder / str(place) / "tree"))
        self._pool = ThreadPoolExecutor(number)

    def coverage(self, room: Room) -> dict[str, Any]:
        """Return by test of a room its seconds, and which lines it ran."""
        files = sorted(
            str(path.relative_to(ROOT))
            for pattern in room.tests
            for path in ROOT.glob(f"tests/{pattern}")
        )
        new = [file for file in files if file not in self._seen]
        self._seen |= {file: {} for file in new}
        runs = [new[first :: self._number] for first in range(self._number)]
        for done in as_completed([self._pool.submit(self._cover, run) for run in runs if run]):
            for name, test in done.result().items():
                self._seen[name.split("::")[0]][name] = test
        found = {name: test for file in files for name, test in self._seen[file].items()}
        self._say(f"{len(found)} tests traced")
        return found

    def _cover(self, tests: list[str]) -> dict[str, Any]:
        with self._one() as copy:
            return copy.coverage(self._trace, tests)

    def outcomes(self, sample: list[Place]) -> list[tuple[Place, str]]:
        """Return what became of each change: killed, timeout or survived."""

        def outcome(place: Place) -> str:
            with self._one() as copy:
                return copy.outcome(place)

        waiting = {self._pool.submit(outcome, place): place for place in sample}
        for number, done in enumerate(as_completed(waiting), 1):
            change = _said(waiting[done].change)
            self._say(f"{number}/{len(sample)} {done.result()}: {change}")
        return [(place, done.result()) for done, place in waiting.items()]

    def _say(self, text: str) -> None:
        self._console.print(f"{time.monotonic() - self._began:5.0f} s  {text}")

    @contextmanager
    def _one(self) -> Iterator[Copy]:
        copy = self._free.get()
        try:
            yield copy
        finally:
            self._free.put(copy)


class Copy:
    """A copy of the checkout, in which the changes are made."""

    def __init__(self, folder: Path) -> None:
        leave = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=leave)
        self._folder = folder
        self._plan = folder.parent / "plan.json"
        paths = os.pathsep.join([str(folder), str(folder / "scripts")])
        # CI: property tests draw the same examples each time.
        self._environment = {**os.environ, "PYTHONPATH": paths, PLAN: str(self._plan), "CI": "1"}

    def coverage(self, trace: dict[str, list[int]], tests: list[str]) -> dict[str, Any]:
        """Return by test its seconds, and which of some lines it ran."""
        out = self._folder.parent / "seen.json"
        self._plan.write_text(json.dumps({"trace": trace, "out": str(out)}), encoding="utf-8")
        if (code := self._pytest(tests)) not in (0, _FAILED):
            raise RuntimeError(f"pytest ended with {code} for {', '.join(tests)}")
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        out.unlink()
        return found

    def outcome(self, place: Place) -> str:
        """Make a change, run the tests until one fails, take it back; return what happened."""
        path = self._folder / place.change.file
        before = path.read_text(encoding="utf-8")
        limit = LIMIT_SECONDS + LIMIT_FACTOR * round(sum(place.tests.values()))
        plan = {"only": list(place.tests), "limit": limit}
        self._plan.write_text(json.dumps(plan), encoding="utf-8")
        self._change(path, place.change.source)
        code = self._pytest(["-x", *sorted({name.split("::")[0] for name in place.tests})])
        self._change(path, before)
        if code in (-signal.SIGXCPU, -signal.SIGALRM):
            return "timeout"
        if code not in (0, _FAILED, _INTERRUPTED):
            raise RuntimeError(f"pytest ended with {code} for {_said(place.change)}")
        return "killed" if code else "survived"

    def _change(self, path: Path, source: str) -> None:
        path.write_text(source, encoding="utf-8")
        # Compiled code is recognised by second and size, which a change may both keep.
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()

    def _pytest(self, words: list[str]) -> int:
        options = ["-q", "-n", "0", "-p", "lab.covered", "-p", "no:cacheprovider", "-k", QUICK]
        tests = subprocess.Popen(  # noqa: S603 - ours
            [sys.executable, "-m", "pytest", *options, *words],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return tests.wait(WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            return -signal.SIGALRM
        finally:
            # What the tests have started and not ended, too.
            with suppress(ProcessLookupError):
                os.killpg(tests.pid, signal.SIGKILL)
            tests.wait()


def _said(one: Mutation) -> str:
    return f"{one.file}:{one.line}: {one.change}"


def _report(outcomes: list[tuple[Place, str]], options: argparse.Namespace) -> None:
    counts = Counter(came for _, came in outcomes)
    places, survived = len(outcomes), counts["survived"]
    table = Table(
        "change that no test noticed", "tests", title=f"{places - survived} of {places} noticed"
    )
    survivors = [place for place, came in outcomes if came == "survived"]
    for place in survivors:
        table.add_row(_said(place.change), str(len(place.tests)))
    Console(stderr=options.json).print(table)
    rows = [
        {"file": p.change.file, "line": p.change.line, "mutation": p.change.change}
        for p in survivors
    ]
    report = {
        "places": places,
        "killed": places - survived,
        "timeouts": counts["timeout"],
        "survived": survived,
        "share": round(1 - survived / places, 4) if places else 0.0,
        "survivors": rows,
    }
    print_json(options, report)


if __name__ == "__main__":
    sys.exit(main())
