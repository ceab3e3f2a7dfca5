"""What regular expressions cost on texts made against them. A program: see :func:`main`.

::

    every module ── compiled patterns in its values, literal ones in its code
    a pattern ── its parts ── units: the text of each beginning, each repeated part, each gap
    a unit ── repeated to 5,000, 20,000 and 100,000 characters ── seconds of processor time
    four times as long and more than eight times as slow, twice    super-linear
"""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PACKAGES = ("incremental", "classifier", "store")
SIZES = (5_000, 20_000, 100_000)
_MOST_PARTS = 40
# Below, noise decides.
_WORTH_SECONDS = 0.01
_MOST_SECONDS = 0.5
_Found = dict[tuple[str, int], str]


def modules() -> Iterator[ModuleType]:
    """Yield every module of the product that can be imported."""
    for package in PACKAGES:
        top = importlib.import_module(package)
        yield top
        for one in pkgutil.walk_packages(top.__path__, f"{package}."):
            # Migrations are run by number, and programs run when they are imported as such.
            if "migrations" not in one.name and not one.name.endswith("__main__"):
                yield importlib.import_module(one.name)


def patterns() -> _Found:
    """Return all patterns with their flags, and a module of each."""
    found: _Found = {}
    for module in modules():
        for value in [*vars(module).values()]:
            for pattern in _compiled(value):
                found.setdefault((pattern.pattern, pattern.flags), module.__name__)
        for text in _literals(Path(module.__file__ or "")):
            found.setdefault((text, re.compile(text).flags), module.__name__)
    return found


def _compiled(value: object, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth < 3:
        inside: list[Any] = []
        if isinstance(value, dict):
            inside = [*value.values(), *value]
        elif isinstance(value, tuple | list | set | frozenset):
            inside = [*value]
        for one in inside[:2_000]:
            yield from _compiled(one, depth + 1)


def _literals(path: Path) -> Iterator[str]:
    """Yield the literal patterns of calls like ``re.sub``."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            first = node.args[0]
            if of_re and isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value


def units(pattern: str, flags: int) -> list[str]:
    """Return short texts whose repetition may cost *pattern* much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from re import _parser  # type: ignore[attr-defined]
    parsed = list(_parser.parse(pattern, flags))
    found = {"a", " ", "a ", "0", "<", "\n", "中", "a.", "0-", "a:", "(", "[", '"'}
    text = ""
    for item in parsed[:_MOST_PARTS]:
        text += _witness([item])
        found.add(text)
    for part in _repeated(parsed):
        found |= {part, f"{part} ", f"{part}\n"}
        found |= {text[: text.find(part) + len(part)] if part in text else part}
    return sorted(one[:200] for one in found if one)


def _repeated(items: Any) -> Iterator[str]:
    """Yield a text of each repeated part."""
    for name, given in items:
        kind = str(name)
        if "REPEAT" in kind:
            yield _witness(given[2])
            yield from _repeated(given[2])
        elif kind == "SUBPATTERN":
            yield from _repeated(given[3])
        elif kind == "BRANCH":
            for branch in given[1]:
                yield from _repeated(branch)
        elif kind in ("ASSERT", "ASSERT_NOT"):
            yield from _repeated(given[1])


def _witness(items: Any) -> str:
    """Return a text that matches *items*, mostly."""
    text = ""
    for name, given in items:
        kind = str(name)
        if kind == "LITERAL":
            text += chr(given)
        elif kind in ("NOT_LITERAL", "ANY"):
            text += "b"
        elif kind == "IN":
            text += _of_set(given)
        elif "REPEAT" in kind or kind == "POSSESSIVE_REPEAT":
            text += _witness(given[2]) * min(max(given[0], 1), 20)
        elif kind == "SUBPATTERN":
            text += _witness(given[3])
        elif kind == "ATOMIC_GROUP":
            text += _witness(given)
        elif kind == "BRANCH":
            text += _witness(given[1][0])
    return text


_OF_CATEGORY = {"DIGIT": "1", "NOT_DIGIT": "b", "SPACE": " ", "NOT_SPACE": "b", "WORD": "b"}


def _of_set(items: Any) -> str:
    plain = [one for one in items if str(one[0]) != "NEGATE"]
    if len(plain) != len(items):
        pattern = {chr(given) for name, given in plain if str(name) == "LITERAL"}
        return next(one for one in "b1 <-_é" if one not in pattern)
    name, given = plain[0]
    if str(name) == "LITERAL":
        return chr(given)
    if str(name) == "RANGE":
        return chr(given[0])
    return _OF_CATEGORY.get(str(given).removeprefix("CATEGORY_"), "-")


class _TooLongError(Exception):
    """The processor time for one text is used up."""


def _stop(_number: int, _frame: object) -> None:
    raise _TooLongError


def seconds(pattern: re.Pattern[str], text: str) -> float:
    """Return the processor time of finding all matches in *text*; infinity = too long."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
    begun = time.process_time()
    try:
        for _ in pattern.finditer(text):
            pass
        return time.process_time() - begun
    except _TooLongError:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def is_super_linear(pattern: re.Pattern[str], unit: str) -> bool:
    """Return whether the cost of repetitions of *unit* grows faster than their length."""
    small, large, largest = (unit * (size // len(unit)) + "\x01" for size in SIZES)
    if seconds(pattern, large) < _WORTH_SECONDS:
        return False
    for _ in range(2):
        before, after = seconds(pattern, small), seconds(pattern, large)
        if after < 8 * max(before, 1e-4):
            return False
    # Four times as much for each fourfold length would be 20.
    return seconds(pattern, largest) > 60 * max(before, 1e-4)


def main() -> None:
    """Read ``[[pattern, flags], ...]`` as JSON; write each super-linear one with its unit, a line each."""
    resource.setrlimit(resource.RLIMIT_CPU, (600, 600))
    signal.signal(signal.SIGVTALRM, _stop)
    for text, flags in json.load(sys.stdin):
        pattern = re.compile(text, flags)
        for unit in units(text, flags):
            if is_super_linear(pattern, unit):
                print(json.dumps([text, unit]), flush=True)  # noqa: T201
                break


if __name__ == "__main__":
    main()
