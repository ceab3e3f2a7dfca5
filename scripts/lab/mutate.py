#!/usr/bin/env python3
"""Change the code that decides in small ways, one at a time, and see whether a test notices.

    scripts/lab/mutate.py --places 60 --seed 1
    scripts/lab/mutate.py --rooms revisit,urls --json
    scripts/lab/mutate.py --list

A sample, spread evenly over the rooms: comparisons, conditions, constants, operators, returned values,
only where a test of the room runs the line. All happens in a copy of the checkout; each change is shown
to the tests that run its line, the quickest first, until one fails. What survives is a missing test
or a change that makes no difference. The sample is the same for the same seed and code.

Of the known tools, mutmut changes no constants of modules and draws no samples, and Cosmic Ray changes
the files of the checkout itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

from rich.console import Console
from rich.progress import track
from rich.table import Table

from lab.covered import PLAN
from lab.mutations import Mutation, mutations

ROOT = Path(__file__).resolve().parents[2]
# So many times the places are drawn, because no test may run a line.
MARGIN = 4
# So much time of tests, as they take unchanged, one change is shown to.
BASE_SECONDS = 60.0
LIMIT_SECONDS = 180.0
# What pytest is to choose: PostgreSQL runs the same stories again, benchmarks take a minute each.
QUICK = "not postgres and not benchmark"


@dataclass(frozen=True, slots=True)
class Room:
    """Modules that decide, and the tests that should notice."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "judge": Room(("incremental/decide/*.py", "incremental/decide/*.py"), ("judge", "crawl")),
    "crawl": Room(("incremental/crawl/*.py",), ("crawl",)),
    "revisit": Room(("incremental/revisit/*.py", "incremental/schedule/*.py"), ("revisit",)),
    "record": Room(("store/record*.py", "store/backfills.py"), ("store", "crawl")),
    "parse": Room(("incremental/parse/*.py",), ("parse",)),
    "scope": Room(("incremental/scope.py",), ("ground",)),
    "urls": Room(("incremental/urls.py",), ("ground",)),
    "history": Room(("incremental/history/*.py",), ("history",)),
    "notify": Room(("incremental/notify/plan.py", "incremental/notify/message.py"), ("notify",)),
    "hub": Room(("classifier/hub/*.py",), ("classifier",)),
    "topic": Room(("classifier/topic/*.py",), ("topic",)),
}


def main() -> int:
    """Draw, change, test, report; 0 = done."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--places", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default=",".join(ROOMS), help="names, with commas between")
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.rooms.split(",")) - set(ROOMS):
        parser.error(f"no such room: {', '.join(sorted(unknown))}; there are {', '.join(ROOMS)}")
    with tempfile.TemporaryDirectory(prefix="hubwatch-mutate-") as folder:
        copy = Copy(Path(folder) / "tree")
        sample = _sample(copy, options.rooms.split(","), options.places, options.seed)
        if options.list:
            for one, tests in sample:
                print(f"{one.file}:{one.line}: {one.change} ({len(tests)} tests)")
            return 0
        survivors = []
        console = Console(stderr=True)
        for one, tests in track(sample, console=console):
            if not copy.notices(one, tests):
                survivors.append(one)
                console.print(f"survived: {one.file}:{one.line}: {one.change}", markup=False)
    _report(len(sample), survivors, as_json=options.json)
    return 0


def _sample(
    copy: Copy, rooms: list[str], places: int, seed: int
) -> list[tuple[Mutation, list[str]]]:
    """Return changes with the tests that run their lines, evenly from the rooms."""
    dice = random.Random(seed)
    quota = -(-places // len(rooms))
    drawn = {room: _drawn(dice, ROOMS[room], quota * MARGIN) for room in rooms}
    tests = sorted({folder for room in rooms for folder in ROOMS[room].tests})
    seen = copy.coverage([one for found in drawn.values() for one in found], tests)
    found: list[tuple[Mutation, list[str]]] = []
    for room, candidates in drawn.items():
        inside = {n: t for n, t in seen.items() if n.split("/")[1] in ROOMS[room].tests}
        noticing = ((one, _tests_of(one, inside)) for one in candidates)
        found += [pair for pair in noticing if pair[1]][:quota]
    return (
        found[:places]
        if len(found) <= places
        else sorted(dice.sample(found, places), key=lambda pair: (pair[0].file, pair[0].line))
    )


def _drawn(dice: random.Random, room: Room, number: int) -> list[Mutation]:
    """Return changes of a room in random order: a place at most once."""
    files = sorted(path for pattern in room.modules for path in ROOT.glob(pattern))
    found = [
        one
        for path in files
        for one in mutations(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    ]
    return dice.sample(found, min(number, len(found)))


def _tests_of(one: Mutation, seen: dict[str, Any]) -> list[str]:
    """Return the tests that run a line of the change, the quickest first, within the time."""
    running = [
        (test["seconds"], name)
        for name, test in seen.items()
        if set(test["lines"].get(one.file, ())) & set(one.lines)
    ]
    found: list[str] = []
    total = 0.0
    for seconds, name in sorted(running):
        total += seconds
        if found and total > BASE_SECONDS:
            break
        found.append(name)
    return found


class Copy:
    """A copy of the checkout, in which the changes are made."""

    def __init__(self, folder: Path) -> None:
        leave = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=leave)
        self._folder = folder
        self._plan = folder.parent / "plan.json"
        paths = os.pathsep.join([str(folder), str(folder / "scripts")])
        self._environment = {**os.environ, "PYTHONPATH": paths, PLAN: str(self._plan)}

    def coverage(self, candidates: list[Mutation], tests: list[str]) -> dict[str, Any]:
        """Return by test its seconds, and which lines around the candidates it ran."""
        wanted: dict[str, set[int]] = {}
        for one in candidates:
            wanted.setdefault(one.file, set()).update(one.lines)
        trace = {file: sorted(lines) for file, lines in wanted.items()}
        out = self._folder.parent / "seen.json"
        self._plan.write_text(json.dumps({"trace": trace, "out": str(out)}), encoding="utf-8")
        self._pytest([f"tests/{folder}" for folder in tests])
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return found

    def notices(self, one: Mutation, tests: list[str]) -> bool:
        """Make a change, run the tests until one fails, take it back; return whether one failed."""
        path = self._folder / one.file
        before = path.read_text(encoding="utf-8")
        self._plan.write_text(json.dumps({"only": tests}), encoding="utf-8")
        # Compiled code is recognised by second and size, which a change may both keep.
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()
        path.write_text(one.source, encoding="utf-8")
        try:
            return self._pytest(sorted({name.split("::")[0] for name in tests}), "-x") != 0
        except subprocess.TimeoutExpired:
            return True
        finally:
            path.write_text(before, encoding="utf-8")

    def _pytest(self, files: list[str], *more: str) -> int:
        words = ["-q", "-n", "0", "-p", "lab.covered", "-p", "no:cacheprovider", *more]
        command = [sys.executable, "-m", "pytest", *words, "-k", QUICK, *files]
        changing = bool(more)
        done = subprocess.run(  # noqa: S603 - our own tests
            command,
            cwd=self._folder,
            env=self._environment | ({"PYTHONDONTWRITEBYTECODE": "1"} if changing else {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=LIMIT_SECONDS if changing else None,
        )
        return done.returncode


def _report(places: int, survivors: list[Mutation], *, as_json: bool) -> None:
    killed = places - len(survivors)
    share = round(killed / places, 4) if places else 0.0
    table = Table(
        "place", "change that no test noticed", title=f"{killed} of {places} were noticed"
    )
    for one in survivors:
        table.add_row(f"{one.file}:{one.line}", one.change)
    Console().print(table)
    if as_json:
        rows = [{"file": one.file, "line": one.line, "mutation": one.change} for one in survivors]
        counts = {"places": places, "killed": killed, "survived": len(survivors)}
        print(json.dumps({**counts, "share": share, "survivors": rows}, ensure_ascii=False))


if __name__ == "__main__":
    sys.exit(main())
