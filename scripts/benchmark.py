#!/usr/bin/env python3
"""Replay recorded websites with default settings, and show recall, delay and false reports in one table.

    scripts/benchmark                       the recording in benchmarks/, and those in ../shared/replay
    scripts/benchmark FILE.sqlite FOLDER    these
    scripts/benchmark --chart delays.png    and how many new pages were announced how soon
    scripts/benchmark --write               and write the figures into README and docs/replays.md

Each recording needs its truth in truth/NAME.tsv beside it; docs/replays.md explains the figures.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lab.cli import Line, Panel, plot, show
from lab.written_tables import write_results
from replay import against_bound, delays_of, read_truth, score, simulate, truth_beside
from replay_site import ReplaySite

from incremental.settings import Settings

ROOT = Path(__file__).parents[1]
DEFAULT = (ROOT / "benchmarks", ROOT.parent / "shared" / "replay")


def recordings(places: Iterable[Path]) -> Iterator[Path]:
    """Yield the files that are meant, and those in folders that have a truth, in the order of names."""
    for place in places:
        if place.is_dir():
            found = sorted(place.rglob("*.sqlite"))
            yield from (file for file in found if truth_beside(file).is_file())
        else:
            yield place


def fingerprint(file: Path) -> str:
    """Return what is equal for recordings of the same pages, versions and truth, however they are packed."""
    query = """SELECT url, valid_from, valid_to, length FROM page JOIN version ON page_id = id
               ORDER BY url, valid_from"""
    with contextlib.closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database:
        rows = repr(database.execute(query).fetchall()).encode()
    truth = sorted(truth_beside(file).read_bytes().splitlines())
    return hashlib.sha256(rows + b"\n".join(truth)).hexdigest()[:12]


def measure(file: Path) -> tuple[dict[str, Any], Line]:
    """Return the figures of one recording, with what identifies its data, and its curve in the chart."""
    site, truth = ReplaySite(file), truth_beside(file)
    started = time.perf_counter()
    tally = simulate(site, Settings(), None, quiet=True)
    result = score(tally, site, truth)
    delays = delays_of(tally, read_truth(truth))
    shares = [number / result["scored"] for number in range(1, len(delays) + 1)]
    figures = {
        **result,
        **(against_bound(result, tally, site, truth) if result["found"] else {}),
        "data": fingerprint(file),
        "wall_seconds": round(time.perf_counter() - started, 1),
    }
    return figures, (delays, shares)


def circumstances() -> dict[str, str]:
    """Return what was measured, and on what machine."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell
    commit = done.stdout.strip()
    return {
        "version": f"hubwatch {version('hubwatch')}" + (f" ({commit})" if commit else ""),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "python": f"Python {platform.python_version()}",
    }


def row(result: Mapping[str, Any]) -> dict[str, object]:
    """Return what the table shows of a recording."""
    delays = result["delay_minutes"]
    return {
        "scored": result["scored"],
        "recall": result["recall"],
        "mean delay, min": delays["mean"],
        "median": delays["median"],
        "over the bound": result.get("ratio_to_bound", ""),
        "announced": result["announced"],
        "false new": result["false_new"],
        "requests a day": result["fetches_per_day"],
        "seconds": result["wall_seconds"],
    }


def main() -> int:
    """Run from the command line; exit 0, or 2 for wrong usage."""
    parser = argparse.ArgumentParser(
        prog="scripts/benchmark",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("places", nargs="*", type=Path, metavar="PATH", help="file or folder")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--chart", type=Path, metavar="FILE.png", help="draw the delays")
    parser.add_argument("--write", action="store_true", help="write the figures into the documents")
    arguments = parser.parse_args()
    files = list(recordings(arguments.places or filter(Path.is_dir, DEFAULT)))
    for file in files:
        if not (file.is_file() and truth_beside(file).is_file()):
            parser.error(f"{file} or {truth_beside(file)} is not there")
    if not files:
        parser.error("there is no recording with a truth")
    results, lines = [], dict[str, Line]()
    for file in files:
        print(f"{file.stem} ...", file=sys.stderr, flush=True)
        result, lines[file.stem] = measure(file)
        results.append(result)
    about = circumstances()
    show({f"{one['site']} {one['data']}": row(one) for one in results}, " · ".join(about.values()))
    if arguments.chart:
        axes = {"xscale": "symlog", "xlim": (0, None), "ylim": (0, 1.02)}
        y = "share of the new pages that were announced"
        panel = Panel(lines, about["version"], "minutes after they were linked", y, axes)
        plot([panel], arguments.chart)
    if arguments.write:
        write_results({one["site"]: {**about, **one} for one in results})
    if arguments.json:
        print(json.dumps({**about, "recordings": results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
