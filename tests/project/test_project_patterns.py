"""No regular expression of the product takes more than its share of time for a text made against it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pattern_sweep
import pytest

PROGRAM = Path(pattern_sweep.__file__)
ROOT = PROGRAM.parents[2]


def super_linear(*patterns: tuple[str, int]) -> dict[str, str]:
    """Return those that are, each with the text whose repetition showed it."""
    done = (
        subprocess.run(  # in a process of its own, because a pattern holds the lock of all threads
            [sys.executable, str(PROGRAM)],
            input=json.dumps(patterns),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    )
    return dict(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    "pattern",
    [
        r"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>",
        r"\s+$",
        r"(\w+)\s*:",
    ],
)
def test_the_sweep_sees_what_is_slow(pattern: str) -> None:
    assert list(super_linear((pattern, 16))) == [pattern]


def test_the_sweep_lets_pass_what_is_not() -> None:
    assert super_linear((r"\b\w{1,30}\b", 0), (r"<[a-z]+>", 0), (r"\A\s+", 0)) == {}
