"""A plug-in of pytest for mutate: which lines of some files the tests run, whichever thread runs them.

The environment names a plan, JSON with ``files`` and ``out``, the file to which their lines are written.
"""

import inspect
import json
import os
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

PLAN = "HUBWATCH_MUTATION_PLAN"
# A line that so many calls did not reach is taken as not reached: tracing takes long.
MANY_CALLS = 5_000
_LINES: defaultdict[str, set[int]] = defaultdict(set)


def pytest_sessionstart() -> None:
    """Trace from now on."""
    plan = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))
    files, calls = set(plan["files"]), Counter[int]()
    missing_of: dict[int, set[int]] = {}
    kept: list[CodeType] = []  # so that no other gets the identity of one, which is quicker to hash

    def call(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - as sys.settrace has it
        code = frame.f_code
        key = id(code)
        if key not in missing_of:
            # Modules and bodies of classes run at import.
            inside = code.co_filename in files and code.co_flags & inspect.CO_OPTIMIZED
            missing_of[key] = {line for *_, line in code.co_lines() if line} if inside else set()
            kept.append(code)
        missing = missing_of[key]
        if not missing:
            return None
        calls[key] += 1
        if calls[key] > MANY_CALLS:
            missing.clear()
            return None

        def line(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - a trace function or None
            missing.discard(frame.f_lineno)
            _LINES[code.co_filename].add(frame.f_lineno)
            return line if missing else None

        return line(frame, "", None)

    threading.settrace(call)
    sys.settrace(call)


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    sys.settrace(None)
    plan = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))
    lines = {file: sorted(numbers) for file, numbers in _LINES.items()}
    Path(plan["out"]).write_text(json.dumps(lines), encoding="utf-8")
