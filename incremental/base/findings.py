"""What a check of the installation found: one line of a report, with the way out."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from incremental.base.errors import SettingsError


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


def wrong_setting(error: SettingsError) -> Finding:
    """Return the finding for a setting that cannot be used."""
    return problem("settings", f"{error.field} = {error.value!r}", error.way_out)


@contextmanager
def settings_checked(findings: list[Finding]) -> Iterator[None]:
    """Add a setting that the block refuses to *findings*, and go on."""
    try:
        yield
    except SettingsError as error:
        findings.append(wrong_setting(error))
