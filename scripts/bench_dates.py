#!/usr/bin/env python3
"""Measure how often the publication date that a page is given is right, beside the library htmldate.

    scripts/bench_dates.py --truth eval_default.json --pages FOLDER   htmldate's own tests
    scripts/bench_dates.py --replay FILE.sqlite --replay ...          recorded sites, with their truth
    scripts/bench_dates.py ... --json --misses

A truth file is JSON, ``{url: {"file": name, "date": "2024-05-06"}}``; pages without a file are left
out. Of a recorded site the articles count that came up while it was recorded; they are right when
the date is that of the day on which they came up, or of a day beside it (time zones).
"""

from __future__ import annotations

import argparse
import csv
import json
import logging
import lzma
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from incremental.parse import parse


@dataclass(frozen=True, slots=True)
class Dated:
    """A page, where it stands, and the day on which it was published."""

    source: str
    url: str
    body: bytes
    day: date
    slack_days: int


def by_product(page: Dated) -> date | None:
    """Return the day that Hubwatch reads."""
    parsed = parse(page.body, page.url, content_type="text/html", want_text=True)
    moment = parsed.published_at
    return None if moment is None else datetime.fromtimestamp(moment, UTC).date()


def by_htmldate(page: Dated) -> date | None:
    """Return the day that htmldate reads, by its slow and thorough search."""
    from htmldate import find_date  # noqa: PLC0415 - only the comparison needs it

    found = find_date(page.body, url=page.url, original_date=True, max_date="2100-01-01")
    return None if found is None else date.fromisoformat(found)


METHODS: dict[str, Callable[[Dated], date | None]] = {
    "hubwatch": by_product,
    "htmldate": by_htmldate,
}


def from_truth(truth: Path, folders: list[Path]) -> Iterator[Dated]:
    """Yield the pages of a truth file that lie in one of the folders."""
    for url, row in json.loads(truth.read_text(encoding="utf-8")).items():
        found = next((f for folder in folders if (f := folder / row["file"]).is_file()), None)
        if found is not None:
            yield Dated(truth.stem, url, found.read_bytes(), date.fromisoformat(row["date"]), 0)


def from_recording(recording: Path) -> Iterator[Dated]:
    """Yield the articles of a recorded site that came up within it, as they first were."""
    bodies = _first_bodies(recording)
    truth = recording.parent / "truth" / f"{recording.stem}.tsv"
    with truth.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if row["kind"] == "article" and row["scored"] == "1" and row["url"] in bodies:
                day = datetime.fromtimestamp(float(row["published"]), UTC).date()
                yield Dated(recording.stem, row["url"], bodies[row["url"]], day, 1)


def _first_bodies(recording: Path) -> dict[str, bytes]:
    query = (
        "SELECT url, bodies, start, length FROM page JOIN version ON page_id = page.id"
        " GROUP BY page.id HAVING valid_from = MIN(valid_from)"
    )
    database = sqlite3.connect(f"file:{recording}?mode=ro", uri=True)
    try:
        return {
            url: lzma.decompress(packed)[start : start + length]
            for url, packed, start, length in database.execute(query)
        }
    finally:
        database.close()


def verdict(page: Dated, found: date | None) -> str:
    """Return right, near (a day off), wrong or none."""
    if found is None:
        return "none"
    off = abs(found - page.day)
    if off <= timedelta(days=page.slack_days):
        return "right"
    return "near" if off <= timedelta(days=page.slack_days + 1) else "wrong"


def measure(pages: Iterator[Dated], *, show_misses: bool) -> list[dict[str, object]]:
    """Return a row for each source and method: pages, shares in per cent, milliseconds a page."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    seconds: Counter[tuple[str, str]] = Counter()
    for page in pages:
        for name, method in METHODS.items():
            begun = time.perf_counter()
            found = method(page)
            seconds[page.source, name] += time.perf_counter() - begun  # type: ignore[assignment]  # Counter adds floats too
            result = verdict(page, found)
            counts.setdefault((page.source, name), Counter())[result] += 1
            if show_misses and result != "right":
                print(f"{name}\t{result}\t{found}\t{page.day}\t{page.url}")
    return [
        {"source": source, "method": name, "pages": tally.total()}
        | {kind: round(100 * tally[kind] / tally.total(), 1) for kind in KINDS}
        | {"ms": round(1000 * seconds[source, name] / tally.total(), 1)}
        for (source, name), tally in counts.items()
    ]


KINDS = ("right", "near", "wrong", "none")


def main() -> None:
    """Read the command line and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--truth", type=Path, action="append", default=[])
    parser.add_argument("--pages", type=Path, action="append", default=[])
    parser.add_argument("--replay", type=Path, action="append", default=[])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true", help="print each page that is not right")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)

    def pages() -> Iterator[Dated]:
        for truth in options.truth:
            yield from from_truth(truth, options.pages)
        for recording in options.replay:
            yield from from_recording(recording)

    rows = measure(pages(), show_misses=options.misses)
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    columns = ("source", "method", "pages", *KINDS, "ms")
    print("\t".join(columns))
    for row in rows:
        print("\t".join(str(row[column]) for column in columns))


if __name__ == "__main__":
    main()
