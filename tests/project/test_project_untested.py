"""A run says at its end what the machine did not let it test."""

import subprocess
import sys
from pathlib import Path

import pytest
from untested import untested

from incremental.settings.sections import BrowserSettings
from incremental.visit.rendering.browser import find_browser

ROOT = Path(__file__).parents[2]


def test_what_is_missing_is_counted_and_the_command_that_helps_is_named() -> None:
    line = untested(["no Chromium is installed", "no Chromium is installed", "for another reason"])
    assert line.startswith("Not tested for want of Chromium (2 skipped; apt-get install chromium")
    assert "\n" not in line


def test_a_complete_machine_has_nothing_to_say() -> None:
    assert untested([]) == untested(["not on this platform"]) == ""


def test_a_machine_without_a_browser_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert not find_browser(BrowserSettings()).executable
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/rendering"]
    done = subprocess.run(
        [*command, "-k", "drawn"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    (line,) = [line for line in done.stdout.splitlines() if "want of" in line]
    assert line.startswith("Not tested for want of Chromium")
