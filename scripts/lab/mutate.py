#!/usr/bin/env python3
"""Change the code that decides in small ways, one at a time, and see whether a test notices.

    scripts/lab/mutate.py --places 60 --seed 1 --json
    scripts/lab/mutate.py --seed 2 --coverage /tmp/seen.json
    scripts/lab/mutate.py --rooms revisit,urls
    scripts/lab/mutate.py --list

A sample, spread evenly over the rooms: comparisons, conditions, constants, operators, returned values,
only where a test of the room runs the line. All happens in copies of the checkout; each change is shown
to the tests that run its line, the quickest first, until one fails. What survives is a missing test
or a change that makes no difference. The sample is the same for the same seed and code, but for tests
at the edge of the time they get. Which tests run which lines takes about half of the time; --coverage
keeps it in a file for other seeds, as long as the modules stay as they are; tests of later are not in it.

Of the known tools, mutmut changes no constants of modules and draws no samples, and Cosmic Ray changes
the files of the checkout itself.
"""

from __future__ import annotations

import argparse
import hashlib
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
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from rich.console import Console
from rich.table import Table

from lab.covered import PLAN
from lab.mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[2]
# So much processor time of tests, as they take unchanged and traced, one change is shown to.
BASE_SECONDS = 20.0
# A changed loop may never end: what takes more processor time than this counts as noticed.
LIMIT_SECONDS, LIMIT_FACTOR = 20, 4
# What pytest is to choose: PostgreSQL runs the same stories again, benchmarks take a minute each.
QUICK = "not postgres and not benchmark"
# Traced by one run of tests: a run takes a while to begin.
FILES_AT_ONCE = 6
_FAILED, _INTERRUPTED = 1, 2


@dataclass(frozen=True, slots=True)
class Room:
    """Modules that decide, and the tests that should notice: folders and files, none of them slow."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def has(self, test: str) -> bool:
        """Return whether a test, by its name in pytest, is one of them."""
        return test.removeprefix("tests/").startswith(self.tests)


@dataclass(frozen=True, slots=True)
class Place:
    """A change, and the tests that run its lines with their processor time, the quickest first."""

    change: Mutation
    tests: dict[str, float]


def _files(folder: str, names: str) -> tuple[str, ...]:
    prefix = {"classifier": "hub"}.get(folder, folder)
    return tuple(f"{folder}/test_{prefix}_{name}.py" for name in names.split())


# None that starts daemons, plays recorded sites, simulates months, trains models or draws long texts.
CRAWL = _files(
    "crawl",
    "articles given_feeds host_gate news_edges rescheduling stories urgent",
)
STORE = _files("store", "backfills path_aliases user_hubs visits")
PARSE = _files(
    "parse",
    "bad_input dates feeds head html_context html_links main_text paging references sitemaps sniff",
)
HUB = _files("classifier", "classifier content evidence labels model tables")
TOPIC = _files(
    "topic",
    "adaptive background bayes combined frontier link_orders links model neighbours opinion page_ranking"
    " pagerank rankers text trees vectors",
)
ROOMS = {
    "decide": Room(("incremental/decide/*.py",), ("decide/", *CRAWL)),
    "crawl": Room(("incremental/crawl/*.py",), CRAWL),
    "revisit": Room(("incremental/revisit/*.py",), ("revisit/",)),
    "record": Room(("store/record.py", "store/backfills.py"), (*STORE, *CRAWL)),
    "parse": Room(("incremental/parse/*.py",), PARSE),
    "scope": Room(("incremental/scope.py",), ("ground/",)),
    "urls": Room(("incremental/urls.py",), ("ground/",)),
    "history": Room(("incremental/history/*.py",), ("history/",)),
    "notify": Room(("incremental/notify/plan.py", "incremental/notify/message.py"), ("notify/",)),
    "hub": Room(("classifier/hub/*.py",), HUB),
    "topic": Room(("classifier/topic/*.py",), TOPIC),
}


def main() -> int:
    """Draw, change, test, report; 0 = done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default=",".join(ROOMS), help="names, with commas between")
    parser.add_argument("--jobs", type=int, default=2, help="runs of tests at the same time")
    parser.add_argument(
        "--coverage", type=Path, help="a file that keeps which tests run which lines"
    )
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.rooms.split(",")) - set(ROOMS):
        parser.error(f"no such room: {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    console = Console(stderr=True, markup=False, highlight=False, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="hubwatch-mutate-") as folder:
        copies = Copies(Path(folder), options.jobs, console)
        seen = _coverage(copies, options.rooms.split(","), options.coverage)
        sample = _sample(seen, options.rooms.split(","), options.places, options.seed)
        if options.list:
            for place in sample:
                print(f"{_said(place.change)} ({len(place.tests)} tests)")
            copies.close()
            return 0
        outcomes = copies.outcomes(sample)
        copies.close()
    _report(sample, outcomes, as_json=options.json)
    return 0


def _coverage(copies: Copies, rooms: list[str], keep: Path | None) -> dict[str, Any]:
    """Return by test its seconds and the lines that it runs, of those that may be changed."""
    changes = [one for room in rooms for one in _changes(ROOMS[room])]
    tests = sorted({one for room in rooms for one in ROOMS[room].tests})
    text = json.dumps([[one.file, one.line, one.change] for one in changes])
    of = [hashlib.sha256(text.encode()).hexdigest(), *tests]
    if keep is not None and keep.exists():
        kept = json.loads(keep.read_text(encoding="utf-8"))
        if kept.get("of") == of:
            return dict(kept["seen"])
    seen = copies.coverage(changes, tests)
    if keep is not None:
        keep.write_text(json.dumps({"of": of, "seen": seen}), encoding="utf-8")
    return seen


def _sample(seen: dict[str, Any], rooms: list[str], places: int, seed: int) -> list[Place]:
    """Return changes with the tests that run their lines, evenly from the rooms."""
    dice = random.Random(seed)
    quota = -(-places // len(rooms))
    found: list[Place] = []
    for room in rooms:
        candidates = _changes(ROOMS[room])
        dice.shuffle(candidates)
        inside = {n: t for n, t in seen.items() if ROOMS[room].has(n)}
        noticing = (Place(one, _tests_of(one, inside)) for one in candidates)
        found += islice((place for place in noticing if place.tests), quota)
    chosen = found if len(found) <= places else dice.sample(found, places)
    return sorted(chosen, key=lambda place: (place.change.file, place.change.line))


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

    def __init__(self, folder: Path, number: int, console: Console) -> None:
        self._free: SimpleQueue[Copy] = SimpleQueue()
        self._console, self._began = console, time.monotonic()
        for place in range(number):
            self._free.put(Copy(folder / str(place) / "tree"))
        self._pool = ThreadPoolExecutor(number)

    def coverage(self, changes: list[Mutation], tests: list[str]) -> dict[str, Any]:
        """Return by test its seconds, and which lines of the changes it ran."""
        trace: dict[str, set[int]] = {}
        for one in changes:
            trace.setdefault(one.file, set()).update(one.lines)

        def cover(tests: list[str]) -> dict[str, Any]:
            with self._one() as copy:
                return copy.coverage({file: sorted(rows) for file, rows in trace.items()}, tests)

        runs = [
            files[first : first + FILES_AT_ONCE]
            for _, group in groupby(tests, key=lambda one: one.split("/")[0])
            for files in [list(group)]
            for first in range(0, len(files), FILES_AT_ONCE)
        ]
        found: dict[str, Any] = {}
        for done in as_completed([self._pool.submit(cover, run) for run in runs]):
            found |= done.result()
            self._say(f"{len(found)} tests traced")
        return found

    def outcomes(self, sample: list[Place]) -> list[str]:
        """Return what became of each change: killed, timeout or survived."""

        def outcome(place: Place) -> str:
            with self._one() as copy:
                return copy.outcome(place)

        waiting = {self._pool.submit(outcome, place): place for place in sample}
        for number, done in enumerate(as_completed(waiting), 1):
            change = _said(waiting[done].change)
            self._say(f"{number}/{len(sample)} {done.result()}: {change}")
        return [done.result() for done in waiting]

    def close(self) -> None:
        """End what runs the tests."""
        while not self._free.empty():
            self._free.get().close()

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
        self._tests = subprocess.Popen(
            [sys.executable, "-m", "lab.preloaded"],
            cwd=folder,
            # CI: property tests draw the same examples each time.
            env={**os.environ, "PYTHONPATH": paths, PLAN: str(self._plan), "CI": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def close(self) -> None:
        """End the process that runs the tests."""
        self._tests.communicate()

    def coverage(self, trace: dict[str, list[int]], tests: list[str]) -> dict[str, Any]:
        """Return by test its seconds, and which of some lines it ran."""
        out = self._folder.parent / "seen.json"
        self._plan.write_text(json.dumps({"trace": trace, "out": str(out)}), encoding="utf-8")
        if (code := self._pytest([f"tests/{one}" for one in tests])) not in (0, _FAILED):
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
        arguments = [
            "-q",
            "-n",
            "0",
            "-p",
            "lab.covered",
            "-p",
            "no:cacheprovider",
            "-k",
            QUICK,
            *words,
        ]
        assert self._tests.stdin is not None
        assert self._tests.stdout is not None
        self._tests.stdin.write(json.dumps(arguments) + "\n")
        self._tests.stdin.flush()
        return int(self._tests.stdout.readline())


def _said(one: Mutation) -> str:
    return f"{one.file}:{one.line}: {one.change}"


def _report(sample: list[Place], outcomes: list[str], *, as_json: bool) -> None:
    counts = Counter(outcomes)
    survivors = [p for p, came in zip(sample, outcomes, strict=True) if came == "survived"]
    killed = len(sample) - len(survivors)
    table = Table(
        "change that no test noticed", "tests", title=f"{killed} of {len(sample)} noticed"
    )
    for place in survivors:
        table.add_row(_said(place.change), str(len(place.tests)))
    Console(stderr=as_json).print(table)
    if as_json:
        rows = [
            {"file": p.change.file, "line": p.change.line, "mutation": p.change.change}
            for p in survivors
        ]
        report = {
            "places": len(sample),
            "killed": killed,
            "timeouts": counts["timeout"],
            "survived": len(survivors),
            "share": round(killed / len(sample), 4) if sample else 0.0,
            "survivors": rows,
        }
        print(json.dumps(report, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
