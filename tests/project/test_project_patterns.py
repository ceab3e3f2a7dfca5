"""No regular expression of the product takes more than its share of time for a text made against it."""

import importlib
import json
import os
import re
import subprocess
import sys

import pytest
from pattern_sweep import ROOT, Pattern, patterns

# Slow on a long text, and never given one: the constant that bounds it.
BOUNDED = {
    "incremental.parse.history.noise._BETWEEN": "incremental.parse.history.noise.MAX_LINE_CHARS",
    "incremental.parse.history.noise._FURNITURE": "incremental.parse.history.noise._MAX_FURNITURE_CHARS",
    "incremental.parse.history.noise._FURNITURE[1]": "incremental.parse.history.noise._MAX_FURNITURE_CHARS",
    "incremental.parse.dates._NUMERIC": "incremental.parse.dates._MAX_CHARS",
    "classifier.hub.page_text._DATE": "classifier.hub.page_text._DATE_TEXT_LIMIT",
}
# Lines that could once be read in thousands of ways, up to seconds for a line.
UNITS = {
    "incremental.parse.history.noise._ALONE": ("jan 12 ", "10:30UTC", "10:30 TTT "),
    "incremental.parse.history.noise._COUNTER": ("hits1111hits",),
    "incremental.parse.history.noise._FURNITURE[1]": ("新浪微博",),
}


def super_linear(given: dict[str, Pattern]) -> dict[str, str]:
    """Return the places of those that are, each with a text that shows it."""
    done = subprocess.run(  # in a process of its own, where a timer may end what takes too long
        [sys.executable, ROOT / "tests/project/pattern_sweep.py"],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


def _with_units(place: str, given: Pattern) -> Pattern:
    return given._replace(units=UNITS.get(place, ()))


def test_every_pattern_of_the_product_is_linear() -> None:
    given = patterns()
    found = super_linear({place: _with_units(place, one) for place, one in given.items()})

    # What stands in the table is slow indeed, and still there.
    assert found.keys() == BOUNDED.keys(), found


def test_a_bounded_pattern_is_quick_at_its_bound() -> None:
    given = patterns()
    bounded = {}
    for place, bound in BOUNDED.items():
        module, name = bound.rsplit(".", 1)
        most = getattr(importlib.import_module(module), name)
        bounded[place] = _with_units(place, given[place])._replace(most=most)

    assert super_linear(bounded) == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s+$",
        r"(\w+)\s*:",
        r"(a+)+$",
        r"(?:a|a)+$",
        r"(?:x|y|xy)*$",
        r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>",
    ],
)
def test_the_sweep_sees_what_is_slow(pattern: str) -> None:
    assert super_linear({"one": Pattern(pattern, re.DOTALL, ["search"])}).keys() == {"one"}


def test_a_pattern_is_judged_as_it_is_called() -> None:
    spaces = {method: Pattern(r"\s+:", 0, [method]) for method in ("match", "search", "sub")}

    assert super_linear(spaces).keys() == {"search", "sub"}


def test_the_sweep_lets_pass_what_is_not() -> None:
    quick = [r"\b\w{1,30}\b", r"<[a-z]+>", r"\A\s+", r"(?<!\s)\s++:", r"[^<]*", "abc"]

    assert super_linear({one: Pattern(one, 0, ["finditer"]) for one in quick}) == {}
