"""The script that measures dates, on small inputs of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def run(script: str, *arguments: str | Path) -> list[dict[str, object]]:
    command = [sys.executable, str(SCRIPTS / script), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def test_dates_are_right_wrong_or_none(tmp_path: Path) -> None:
    pages = {
        "right.html": "<meta name=date content=2024-05-06><p>x</p>",
        "wrong.html": "<meta name=date content=2020-01-02><p>x</p>",
        "none.html": "<p>x</p>",
    }
    for name, markup in pages.items():
        (tmp_path / name).write_text(markup, encoding="utf-8")
    truth = tmp_path / "truth.json"
    truth.write_text(
        json.dumps(
            {f"https://e.org/{name}": {"file": name, "date": "2024-05-06"} for name in pages}
        ),
        encoding="utf-8",
    )
    rows = run("bench_dates.py", "--truth", truth, "--pages", tmp_path)
    shares = {row["method"]: (row["right"], row["wrong"], row["none"]) for row in rows}
    assert shares["hubwatch"] == (33.3, 33.3, 33.3)
