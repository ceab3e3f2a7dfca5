"""The command line, run in this process, in a folder of its own."""

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.base.clock import SystemClock
from incremental.interfaces.cli import main


@dataclass(frozen=True)
class Result:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def hubwatch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run ``hubwatch ARGUMENTS`` and return its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO())

    def run(*arguments: str) -> Result:
        monkeypatch.setattr("sys.argv", ["hubwatch", *arguments])
        code = 0
        try:
            main()
        except SystemExit as ending:
            code = int(ending.code or 0)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return run


@pytest.fixture
def found(tmp_path: Path) -> list[str]:
    """Have two sites watched for two days up to now; return what was announced as new on the first."""
    start = SystemClock().now() - 2 * DAY
    home, other = "https://news.example/", "https://other.example/"
    old, new = [f"{home}old-{n}.html" for n in range(3)], [f"{home}new-{n}.html" for n in range(3)]
    pages = {
        home: [(0, page(*old)), (start + DAY, page(*new, *old))],
        **{url: page(title=f"Title of {url[-10:]}", text="A story. " * 80) for url in new},
        other: [(0, page("/a.html")), (start + DAY, page("/b.html", "/a.html"))],
        other + "b.html": page(),
    }
    with Watch(tmp_path, FakeWeb(SimulatedClock(start), pages), home, other) as crawl:
        crawl.run(2 * DAY)
    return new
