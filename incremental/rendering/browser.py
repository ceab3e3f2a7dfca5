"""Whether there is a browser, and which."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from incremental.settings.browser import BrowserSettings

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_INSTALLED = ("chromium-*/chrome-linux*/chrome", "chromium_headless_shell-*/*/*headless*shell")


@dataclass(frozen=True, slots=True)
class Browser:
    """A Chromium, or why there is none."""

    executable: str = ""
    """Empty = none."""
    problem: str = ""
    way_out: str = ""


def find_browser(settings: BrowserSettings) -> Browser:
    """Return the browser that draws pages under *settings*; nothing is started."""
    if not settings.enabled:
        return Browser(problem="switched off in the settings", way_out="[browser] enabled = true")
    if find_spec("playwright") is None:
        way_out = "pip install 'hubwatch[browser]'"
        return Browser(problem="the extra browser is not installed", way_out=way_out)
    if settings.executable:
        if os.access(settings.executable, os.X_OK) and Path(settings.executable).is_file():
            return Browser(settings.executable)
        says = f"{settings.executable} is no program"
        return Browser(problem=says, way_out="give the path of a Chromium in [browser] executable")
    found = next(filter(None, map(shutil.which, _NAMES)), None) or _playwrights_own()
    if found is None:
        way_out = "install chromium, or run: playwright install chromium"
        return Browser(problem="no Chromium was found", way_out=way_out)
    return Browser(found)


def _playwrights_own() -> str | None:
    given = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    home = Path(given) if given not in ("", "0") else Path.home() / ".cache" / "ms-playwright"
    found = (str(path) for form in _INSTALLED for path in sorted(home.glob(form), reverse=True))
    return next((path for path in found if os.access(path, os.X_OK)), None)
