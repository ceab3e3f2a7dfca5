"""A plug-in of pytest for mutate: which tests run which lines, or a run of chosen tests alone.

The environment names a plan (JSON). With ``trace``, a table of file to line numbers,
it writes to ``out`` for each test its seconds and those of the lines that it ran; with ``only`` it
keeps the tests named there, in that order, and ends the run after ``limit`` seconds. Seconds are those of
the processor: they are the same on a loaded machine.
"""

from __future__ import annotations

import inspect
import json
import os
import resource
import signal
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

PLAN = "HUBWATCH_MUTATION_PLAN"
# A line that so many calls in one test did not reach is taken as not reached by it.
MANY_CALLS = 200
# So much processor time a test may take, traced; those that simulate months are left out.
SLOW_SECONDS = 3.0


class Coverage:
    """Traces a few lines, whichever thread runs them: tracing all would take too long."""

    def __init__(self, root: Path, lines: dict[str, list[int]], out: Path) -> None:
        self._root, self._out = root, out
        self._wanted = {str(root / file): set(numbers) for file, numbers in lines.items()}
        self._missing: dict[int, set[int]] = {}
        self._calls: Counter[int] = Counter()
        self._others: set[int] = set()
        self._idle: set[int] = set()
        self._codes: list[CodeType] = []
        """Kept, so that no other gets the identity of one."""
        self._lines: dict[str, set[int]] = defaultdict(set)
        self._tests: dict[str, dict[str, Any]] = {}
        self._failed: set[str] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test, with its fixtures."""
        for table in (self._lines, self._missing, self._calls):
            table.clear()
        self._idle = set(self._others)
        began = _seconds()
        signal.signal(signal.SIGPROF, _too_slow)
        signal.setitimer(signal.ITIMER_PROF, SLOW_SECONDS)
        threading.settrace(self._call)
        sys.settrace(self._call)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            sys.settrace(None)
            threading.settrace(None)
            seconds = _seconds() - began
            lines = {file: sorted(lines) for file, lines in self._lines.items()}
            self._tests[item.nodeid] = {"seconds": round(seconds, 3), "lines": lines}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Forget a test that fails as things are, or was too slow: it would notice every change."""
        if not report.passed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was seen."""
        tests = {name: found for name, found in self._tests.items() if name not in self._failed}
        self._out.write_text(json.dumps(tests), encoding="utf-8")

    def _call(self, frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - as sys.settrace has it
        code = frame.f_code
        key = id(code)  # code itself takes long to hash
        if key in self._idle:  # by far the most calls end here
            return None
        missing = self._missing.get(key)
        if missing is None:
            missing = self._missing[key] = self._inside(code)
        self._calls[key] += 1
        if not missing or self._calls[key] > MANY_CALLS:
            self._idle.add(key)
            return None
        seen = self._lines[str(Path(code.co_filename).relative_to(self._root))]

        def line(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - a trace function or None
            if frame.f_lineno in missing:
                missing.discard(frame.f_lineno)
                seen.add(frame.f_lineno)
            return line if missing else None

        return line(frame, "", None)

    def _inside(self, code: CodeType) -> set[int]:
        """Return the lines of a function that are asked for."""
        wanted = self._wanted.get(code.co_filename, set())
        # Modules and bodies of classes run at import, in whichever test comes first.
        rows = code.co_lines() if wanted and code.co_flags & inspect.CO_OPTIMIZED else ()
        inside = wanted & {line for _, _, line in rows if line is not None}
        self._codes.append(code)
        if not inside:
            self._others.add(id(code))
        return inside


class Only:
    """Keeps chosen tests."""

    def __init__(self, names: list[str]) -> None:
        self._place = {name: place for place, name in enumerate(names)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drop the others."""
        items[:] = [item for item in items if item.nodeid in self._place]
        items.sort(key=lambda item: self._place[item.nodeid])


def _too_slow(_signal: int, _frame: FrameType | None) -> None:
    # Hypothesis would look for a simpler example of a failure.
    pytest.skip("too slow to be shown changes")


def _seconds() -> float:
    """Return the time of the processor for this process and those that it has waited for."""
    return sum(os.times()[:4])


def pytest_configure(config: pytest.Config) -> None:
    """Read the plan."""
    plan = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))
    part: object
    if "only" in plan:
        part = Only(plan["only"])
        # SIGXCPU ends a loop without end, which no test would.
        resource.setrlimit(resource.RLIMIT_CPU, (plan["limit"], plan["limit"] + 10))
    else:
        part = Coverage(config.rootpath, plan["trace"], Path(plan["out"]))
    config.pluginmanager.register(part)
