"""What a check of the installation found: one line of a report, with the way out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a check found."""

    OK = "ok"
    WARNING = "warning"
    """It works, but not as intended or not for long."""
    PROBLEM = "problem"
    """Broken; needs user action."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    check: str
    verdict: Verdict
    says: str
    way_out: str = ""
    """What to do; empty when there is nothing to do."""


def ok(check: str, says: str) -> Finding:
    """Return a finding that needs nothing."""
    return Finding(check, Verdict.OK, says)


def warning(check: str, says: str, way_out: str) -> Finding:
    """Return a finding that somebody should look at."""
    return Finding(check, Verdict.WARNING, says, way_out)


def problem(check: str, says: str, way_out: str) -> Finding:
    """Return a finding that somebody has to mend."""
    return Finding(check, Verdict.PROBLEM, says, way_out)
