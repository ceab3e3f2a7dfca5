"""Whether there is a browser, and which."""

import os
import shutil
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from incremental.base.findings import Finding, ok, warning
from incremental.base.texts import Text
from incremental.settings.sections import BrowserSettings

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_INSTALLED = ("chromium-*/chrome-linux*/chrome", "chromium_headless_shell-*/*/*headless*shell")


class BrowserProblem(StrEnum):
    """Why there is no browser."""

    OFF = "off"
    EXTRA = "extra"
    """The package is not installed."""
    PROGRAM = "program"
    """What the settings name is no program."""
    NOT_FOUND = "not_found"


@dataclass(frozen=True, slots=True)
class Browser:
    """A Chromium, or why there is none."""

    executable: str = ""
    """Empty = none."""
    problem: BrowserProblem | None = None


def find_browser(settings: BrowserSettings) -> Browser:
    """Return the browser that draws pages under *settings*; nothing is started."""
    if not settings.enabled:
        return Browser(problem=BrowserProblem.OFF)
    if find_spec("playwright") is None:
        return Browser(problem=BrowserProblem.EXTRA)
    if settings.executable:
        if os.access(settings.executable, os.X_OK) and Path(settings.executable).is_file():
            return Browser(settings.executable)
        return Browser(problem=BrowserProblem.PROGRAM)
    found = next(filter(None, map(shutil.which, _NAMES)), None) or _playwrights_own()
    if found is None:
        return Browser(problem=BrowserProblem.NOT_FOUND)
    return Browser(found)


def browser_finding(settings: BrowserSettings) -> Finding:
    """Say whether a browser is there, for ``hubwatch doctor``; nothing is started."""
    browser = find_browser(settings)
    if browser.problem is None:
        bare = not settings.sandbox or not os.geteuid()
        says = f"{browser.executable}{', without its sandbox' if bare else ''}"
        return ok("browser", says)
    says = Text(f"browser.{browser.problem}")
    # Few sites need it, and each that does says so: only a wrong setting is a fault.
    if browser.problem is BrowserProblem.PROGRAM:
        return warning("browser", says, "give the path of a Chromium, or leave it empty")
    return ok("browser", f"none: {says}; pages that need one are not read")


def _playwrights_own() -> str | None:
    given = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    home = Path(given) if given not in ("", "0") else Path.home() / ".cache" / "ms-playwright"
    found = (str(path) for form in _INSTALLED for path in sorted(home.glob(form), reverse=True))
    return next((path for path in found if os.access(path, os.X_OK)), None)
