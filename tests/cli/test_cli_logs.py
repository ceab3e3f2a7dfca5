"""The log of the daemon: lines for people by default, one JSON object a line where machines gather it."""

import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Run
from fake_web import page
from hypothesis import given
from hypothesis import strategies as st
from local_site import LocalSite

from incremental.interfaces.cli.logs import JsonFormatter
from incremental.interfaces.cli.reporting import Reporter
from store import Store

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
CONFIG = """
[fetch]
allowed_networks = ["127.0.0.0/8"]
[web]
enabled = false
"""
HOSTILE = 'A title\n{"level": "critical"}\r\x85\u2028\u2029\x1b[2J\x00 of two lines'


def once(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run ``hubwatch run --once`` as a process of its own."""
    code = "from incremental.interfaces.cli import main; main()"
    command = [sys.executable, "-c", code, "run", "--once", *arguments]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, capture_output=True, check=False)


def python(code: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, capture_output=True, check=False
    )


def lines(err: bytes) -> list[dict[str, Any]]:
    """Read each line as a JSON object; whoever splits at other ends of lines finds as many."""
    assert len(err.decode().splitlines()) == err.count(b"\n")
    return [json.loads(line) for line in err.splitlines()]


def test_what_a_run_says_is_one_object_a_line_and_nothing_else(tmp_path: Path) -> None:
    """The site that is read and the one that is gone, what was known before and what is new."""
    (tmp_path / "hubwatch.toml").write_text(CONFIG + '[daemon]\nlog_format = "json"\n')
    with LocalSite({}) as closed:
        gone = closed.url
    old = "/stories/a-story-with-a-long-name.html"
    with LocalSite({"/": page(old), old: page(text="Long ago. " * 90)}) as site:
        done = once(tmp_path, site.url, gone)
    assert (done.returncode, done.stdout) == (1, b"")
    said = lines(done.stderr)
    assert {tuple(line) for line in said} == {("time", "level", "logger", "message")}
    assert all(datetime.fromisoformat(line["time"]).tzinfo == UTC for line in said)
    messages = [line["message"] for line in said]
    assert any(one.startswith(f"hub   {site.url}/ ") for one in messages)
    assert any(gone in one and one.startswith("hubwatch: ") for one in messages)


def test_without_a_site_it_says_how_to_add_one(
    sqlite_store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    Reporter(sqlite_store, as_json=False).begin(0, None)
    assert capsys.readouterr().err.startswith("no site yet; add one: hubwatch add ")


def test_by_default_people_read_what_is_found_on_stdout(tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text(CONFIG)
    with LocalSite({"/": page("/stories/a-story-with-a-long-name.html")}) as site:
        done = once(tmp_path, site.url)
    assert done.stdout.startswith(f"hub   {site.url}/".encode())
    assert b"\nwatching 1 site; Ctrl-C to stop\n" in b"\n" + done.stderr


def test_why_a_run_could_not_begin_is_a_line_as_well(tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text(CONFIG + '[daemon]\nlog_format = "json"\n')
    done = once(tmp_path)
    line = lines(done.stderr)[-1]
    assert (done.returncode, line["level"]) == (2, "error")
    assert "hubwatch add URL" in line["message"]


BEGIN = """
import threading, warnings
from incremental.interfaces.cli.logs import begin_log
from incremental.settings import Settings
from incremental.settings.sections import DaemonSettings
begin_log(Settings(daemon=DaemonSettings(log_format="json")))
"""


RAISE = "raise RuntimeError('first\\nsecond')"


@pytest.mark.parametrize(
    "code",
    [RAISE, f"def f():\n    {RAISE}\nthreading.Thread(target=f).start()"],
    ids=["main thread", "another thread"],
)
def test_the_trace_of_a_bug_stays_in_its_line(code: str) -> None:
    (line,) = lines(python(BEGIN + code).stderr)
    assert line["level"] == "critical"
    assert line["exception"].endswith("RuntimeError: first\nsecond")


def test_what_a_library_warns_of_is_a_line_as_well() -> None:
    code = "warnings.simplefilter('always')\nwarnings.warn('old\\nway', stacklevel=1)"
    (line,) = lines(python(BEGIN + code).stderr)
    assert (line["level"], "old\nway" in line["message"]) == ("warning", True)


def formatted(message: str, **fields: Any) -> str:
    record = logging.makeLogRecord({"name": "hubwatch.x", "msg": "%s", "args": (message,)} | fields)
    return JsonFormatter().format(record)


def test_a_line_says_when_how_bad_who_and_what() -> None:
    line = formatted("gone", created=1_795_358_694.5, levelname="WARNING")
    assert json.loads(line) == {
        "time": "2026-11-22T14:44:54.500Z",
        "level": "warning",
        "logger": "hubwatch.x",
        "message": "gone",
    }


@given(st.text(st.characters()) | st.just(HOSTILE) | st.just("\ud800"))
def test_no_text_of_a_site_begins_a_line_of_its_own(text: str) -> None:
    line = formatted(text)
    assert line.isascii()
    assert line.isprintable()
    assert json.loads(line)["message"] == text


def test_a_form_that_is_none_is_refused(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text("[daemon]\nlog_format = 'xml'\n")
    done = hubwatch("list")
    assert (done.code, "daemon.log_format" in done.err) == (2, True)
    assert 'must be one of: "json", "text"' in done.err
