#!/usr/bin/env python3
"""Compare the completeness that Hubwatch estimates with what it really found, month by month.

    scripts/bench_completeness.py ../shared/replay/kubaik.sqlite ../shared/replay/weichiachang.sqlite --json
    scripts/bench_completeness.py FILE.sqlite --requests-per-day 12
    scripts/bench_completeness.py FILE.sqlite --without 0.7 --seed 2      most hubs are not there any more

The real crawler runs against each recording. At its end and each 30 days before, down to the first fifth,
the estimate for the last 30 days is asked for; the truth is the share of the articles linked in them, two
days before their end at the latest, that were announced. ``--without SHARE`` answers 404 for this share of
the hubs that are known after the first fifth, except the seed, and for this share of lists, feeds and
sitemaps that come later (by a digest of address and seed).

JSON: ``{"months": [{"site", "month", "pages", "estimate", "low", "high", "true", "says"}], "covered",
"mean_width", "mean_absolute_error", "rank_correlation", "without_estimate"}``. Months without an estimate
count for nothing but ``without_estimate``; the rank correlation is Spearman's, over all months with one.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import msgspec
from lab.arguments import parser_of, print_json
from replay import BASELINE_SHARE, DAY, page_key
from replay_place import Setup, place_of, store_of
from replay_site import Answer, ReplaySite
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import spearmanr

from incremental.base.clock import SimulatedClock
from incremental.daemon.assembly import make_crawler
from incremental.features.completeness.showing import DAYS, of_site
from incremental.settings import Settings
from incremental.settings.seeds import add_seed
from store import Store
from store.models import News, Page

_GRACE = 2 * DAY
_LEAST_DAYS = 10
"""Of the first month."""
_FEWEST = 5
"""Articles of a month, for a truth."""


class WithoutHubs:
    """A recorded site that lost a share of its hubs at a moment."""

    def __init__(self, path: Path, share: float, seed: int) -> None:
        self._site = ReplaySite(path)
        self.base_url, self.first_ts = self._site.base_url, self._site.first_ts
        self.last_ts = self._site.last_ts
        self.lost_at = self.first_ts + BASELINE_SHARE * (self.last_ts - self.first_ts)
        self.hubs: set[str] = set()
        """Keys of those that were known then."""
        rows = list(_truth_rows(path))
        self.articles = {
            page_key(row["url"]): float(row["linked"]) for row in rows if row["scored"] == "1"
        }
        self._lists = {page_key(row["url"]) for row in rows if row["kind"] == "list"}
        self._share, self._seed = share, seed

    def answer(self, url: str, moment: float, etag: str | None = None) -> Answer:
        """Answer as the site does, or 404 for what was taken away."""
        if moment >= self.lost_at and self._is_lost(page_key(url)):
            return Answer(404, b"<title>Not found</title>", {"Content-Type": "text/html"})
        return self._site.answer(url, moment, etag)

    def _is_lost(self, key: str) -> bool:
        is_hub = key in self.hubs or key in self._lists or key.endswith(".xml")
        if not is_hub or key in self.articles or key == page_key(self.base_url):
            return False
        digest = hashlib.sha256(f"{self._seed} {key}".encode()).digest()
        return int.from_bytes(digest[:4]) < self._share * 2**32


def _truth_rows(path: Path) -> list[dict[str, str]]:
    with (path.parent / "truth" / f"{path.stem}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def months(path: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    """Crawl a recording; return estimate and truth of each 30 days."""
    site = WithoutHubs(path, options.without, options.seed)
    settings, clock = Settings(), SimulatedClock(site.first_ts)
    if options.requests_per_day is not None:
        revisit = msgspec.structs.replace(
            settings.revisit, requests_per_day=options.requests_per_day
        )
        settings = msgspec.structs.replace(settings, revisit=revisit)
    found = []
    with (
        tempfile.TemporaryDirectory(prefix="hubwatch-completeness-") as folder,
        store_of("sqlite", Path(folder)) as store,
        place_of(cast("ReplaySite", site), settings, clock, Setup(), lambda *_: None) as place,
    ):
        add_seed(store, place.url, now=site.first_ts, fetch=settings.fetch)
        crawler = make_crawler(store, settings, fetch=place.fetch, executor=place.executor)
        crawler.load(clock.now())
        ends = [site.last_ts]
        while ends[0] - (DAYS + _LEAST_DAYS) * DAY > site.lost_at:
            ends.insert(0, ends[0] - DAYS * DAY)
        for number, stop in enumerate([site.lost_at, *ends]):
            while clock.now() < stop:
                clock.advance_to(min(place.step(crawler, clock), stop))
            if number == 0:
                site.hubs = {page_key(hub.url) for hub in store.read.hubs()}
            else:
                found.append(_month(store, site, path.stem, number, stop))
    return [one for one in found if one is not None]


def _month(
    store: Store, site: WithoutHubs, name: str, number: int, now: float
) -> dict[str, Any] | None:
    """Return what is estimated of the last 30 days, and what is true; None for too few articles."""
    begin, end = max(now - DAYS * DAY, site.lost_at), now - _GRACE
    wanted = {key for key, at in site.articles.items() if begin <= at < end}
    if len(wanted) < _FEWEST:
        return None
    rows = News.select(Page.url).join(Page, on=Page.id == News.page).tuples()
    announced = {page_key(url) for (url,) in rows.execute(store.database)}
    said = of_site(store, store.read.sites()[0].id, name, now)
    return {
        "site": name,
        "month": number,
        "pages": said.pages,
        "estimate": said.share,
        "low": said.low,
        "high": said.high,
        "true": round(len(wanted & announced) / len(wanted), 3),
        "says": str(said.says),
    }


def figures(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Compare the estimates with the truth."""
    known = [one for one in found if one["estimate"] is not None]
    result: dict[str, Any] = {
        "months": found,
        "without_estimate": len(found) - len(known),
        "covered": None,
        "mean_width": None,
        "mean_absolute_error": None,
        "rank_correlation": None,
    }
    if known:
        held = [one["low"] <= one["true"] <= one["high"] for one in known]
        result["covered"] = round(statistics.fmean(held), 3)
        widths = [one["high"] - one["low"] for one in known]
        result["mean_width"] = round(statistics.fmean(widths), 3)
        errors = [abs(one["estimate"] - one["true"]) for one in known]
        result["mean_absolute_error"] = round(statistics.fmean(errors), 3)
    pairs = [[one[key] for one in known] for key in ("estimate", "true")]
    if all(len(set(values)) > 1 for values in pairs):
        result["rank_correlation"] = round(float(spearmanr(*pairs).statistic), 3)
    return result


def show(result: dict[str, Any]) -> None:
    """Print the figures as tables."""
    columns = ("site", "month", "pages", "estimate", "low", "high", "true")
    table = Table(*columns, title="completeness of each 30 days")
    for one in result["months"]:
        table.add_row(*(str(one[name]) for name in columns))
    console = Console()
    console.print(table)
    overall = Table("figure", "value")
    for key, value in result.items():
        if key != "months":
            overall.add_row(key, str(value))
    console.print(overall)


def main() -> int:
    """Run from the command line; exit 0."""
    parser = parser_of(__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.sqlite")
    parser.add_argument("--requests-per-day", type=float, metavar="N")
    parser.add_argument("--without", type=float, default=0.0, metavar="SHARE", help="of the hubs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = []
    for path in track(options.files, console=Console(stderr=True), description="recordings"):
        found += months(path, options)
    result = figures(found)
    show(result)
    print_json(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
