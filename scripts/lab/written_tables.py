"""Tables of documents whose figures come from the last replay of each recording."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results.json"
"""The figures of the last replay by recording, with what was replayed by which version."""
DOCUMENTS = tuple(ROOT / name for name in ("README.md", "README.zh.md", "docs/replays.md"))


def _delay(result: Mapping[str, Any]) -> str:
    delay = result["delay_minutes"]
    return f"{delay['mean']:.0f} ({delay['median']:.0f})"


_CELLS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "scored": lambda one: f"{one['scored']}",
    "recall": lambda one: f"{one['recall']:.3f}",
    "delay, mean (median)": lambda one: f"{_delay(one)} min",
    "delay, mean (median), min": _delay,
    "over the bound": lambda one: f"{one['ratio_to_bound']:.1f}",
    "false new": lambda one: f"{one['false_new']} of {one['announced']}",
    "requests for missing pages": lambda one: f"{one['missing_share']:.1%}".replace("%", " %"),
    "requests a day": lambda one: f"{one['fetches_per_day']:.0f}",
    "fetches per page found": lambda one: f"{one['fetches_per_found']:.0f}",
    "计分文章": lambda one: f"{one['scored']}",
    "召回率": lambda one: f"{one['recall']:.3f}",
    "延迟：均值（中位数）": lambda one: f"{_delay(one)} 分钟",
    "与理论下限之比": lambda one: f"{one['ratio_to_bound']:.1f}",
    "误报": lambda one: f"{one['announced']} 篇中 {one['false_new']} 篇",
    "每日请求": lambda one: f"{one['fetches_per_day']:.0f}",
}
"""What a column shows, by its heading."""


def read_results() -> dict[str, dict[str, Any]]:
    """Return the kept figures by recording."""
    found = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    return dict(found)


def with_figures(text: str, results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a Markdown text with the figures of rows that begin with a recording's name."""
    lines, headings = [], list[str]()
    for line in text.split("\n"):
        lines.append(line)
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if not cells:
            headings = []
        elif not headings:
            headings = cells
        elif cells[0] in results and any(heading in _CELLS for heading in headings):
            row = [
                _CELLS[heading](results[cells[0]]) if heading in _CELLS else cell
                for heading, cell in zip(headings, cells, strict=True)
            ]
            lines[-1] = f"| {' | '.join(row)} |"
    return "\n".join(lines)


def write_results(new: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep the figures of some recordings, and write them into the documents' tables."""
    results = dict(sorted({**read_results(), **new}.items()))
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        path.write_text(with_figures(text, results), encoding="utf-8")
