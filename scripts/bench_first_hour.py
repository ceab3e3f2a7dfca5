#!/usr/bin/env python3
"""The first hour and day of a new site, on recordings, without the grant of a new site and with it.

    scripts/bench_first_hour.py FILE.sqlite ...
    scripts/bench_first_hour.py FILE.sqlite --starts 12 --grants 0,60 --json

The site is added at several moments, each at most a day before a page of the truth is linked. True hubs
are the pages that were there when it was added and show at least three of the truth's pages as soon as these
are linked. A page that is not announced within the first day counts with the time until its end.
"""

import io
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
from lab.cli import parser_of, print_json, show
from replay import DAY, linked_of, page_key, simulate, truth_beside
from replay_bound import name_of
from replay_site import ReplaySite
from rich.console import Console

from incremental.settings import Settings

LOOK_SECONDS = 1200.0
HOUR = 3600.0
# The pages before and after a new article link to it as well.
_LEAST_SHOWN = 3


def true_hubs(site: ReplaySite, articles: dict[str, float]) -> Counter[str]:
    """Return how many of the articles (URL to when it was linked) each page showed at once."""
    return Counter(
        page_key(urljoin(site.base_url, one))
        for url, at in articles.items()
        for one in site.changed(at, name_of(url))
    )


def moments(articles: dict[str, float], starts: int, site: ReplaySite) -> list[float]:
    """Return when the site is added: at changing hours before evenly chosen articles."""
    linked = sorted(articles.values())
    chosen = [linked[round(place * (len(linked) - 1) / starts)] for place in range(starts)]
    # Steps of the golden ratio spread over the day however many there are.
    before = [(0.05 + 0.9 * (place * 0.618 % 1)) * DAY for place in range(starts)]
    wanted = (at - early for at, early in zip(chosen, before, strict=True))
    return [at for at in wanted if at + DAY < site.last_ts]


def measure(path: Path, grant: int, starts: int) -> dict[str, Any]:
    """Add the site at each moment; return the means."""
    articles, site = linked_of(truth_beside(path)), ReplaySite(path)
    shown = true_hubs(site, articles)
    settings = Settings()
    revisit = msgspec.structs.replace(settings.revisit, first_requests=grant)
    settings = msgspec.structs.replace(settings, revisit=revisit)
    precision, recall, known = list[float](), list[float](), list[int]()
    hour, day, delays, found = list[int](), list[int](), list[float](), 0
    for start in moments(articles, starts, site):
        site.first_ts = start
        there = {key for key, n in shown.items() if n >= _LEAST_SHOWN and _serves(site, key, start)}
        early = simulate(site, settings, None, quiet=True, until=start + LOOK_SECONDS)
        hubs = {page_key(url) for url in early.hubs}
        precision.append(len(hubs & there) / len(hubs) if hubs else 0.0)
        recall.append(len(hubs & there) / len(there) if there else 1.0)
        known.append(len(hubs))
        log = io.StringIO()
        tally = simulate(site, settings, log, quiet=True, until=start + DAY)
        fetched = [
            float(line.split("\t")[0])
            for line in log.getvalue().splitlines()
            if "\tfetch\t" in line
        ]
        hour.append(sum(at < start + HOUR for at in fetched))
        day.append(len(fetched))
        told: dict[str, float] = {}
        for at, url in tally.announced:
            told.setdefault(page_key(url), at)
        for url, linked in articles.items():
            if start <= linked < start + DAY:
                found += page_key(url) in told
                delays.append((told.get(page_key(url), start + DAY) - linked) / 60)
    return {
        "site": path.stem,
        "grant": grant,
        "starts": len(hour),
        "hubs_read": round(statistics.fmean(known), 1),
        "hub_precision": round(statistics.fmean(precision), 3),
        "hub_recall": round(statistics.fmean(recall), 3),
        "requests_first_hour": round(statistics.fmean(hour), 1),
        "requests_first_day": round(statistics.fmean(day), 1),
        "pages": len(delays),
        "found": found,
        "mean_delay_minutes": round(statistics.fmean(delays), 1) if delays else None,
    }


def _serves(site: ReplaySite, key: str, moment: float) -> bool:
    return any(site.answer(f"https://{key}{end}", moment).code == 200 for end in ("", "/"))  # noqa: PLR2004


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.sqlite")
    parser.add_argument("--starts", type=int, default=12, metavar="N")
    parser.add_argument("--grants", default="0,60", metavar="N,N")
    options = parser.parse_args(arguments)
    for path in options.files:
        for grant in options.grants.split(","):
            result = measure(path, int(grant), options.starts)
            show(result, f"{path.stem}, grant of {grant}", Console(stderr=options.json))
            print_json(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
