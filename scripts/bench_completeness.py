#!/usr/bin/env python3
"""Compare the completeness that Hubwatch estimates with what it really found, month by month.

    scripts/bench_completeness.py ../shared/replay/kubaik.sqlite ../shared/replay/weichiachang.sqlite --json
    scripts/bench_completeness.py FILE.sqlite --requests-per-day 12,24
    scripts/bench_completeness.py FILE.sqlite --without 0.1,0.3,0.5   a section's only list goes
    scripts/bench_completeness.py FILE.sqlite --thin 0.6,0.8          every kind of hubs shows a part

The real crawler runs against each recording. At its end and each 30 days before, down to the first fifth,
the estimate for the last 30 days is asked for; the truth is the share of the articles linked in them, two
days before their end at the latest, that were announced within a day.

``--without SHARE``: this share of the articles, by a digest of address and seed, is a section of its own. One
list shows it, to which the home page links; every other link to its articles is taken out of every page, feed
and sitemap of the recording, so no way round is left. It is there from the first of them to the middle of the
recording, and answers 404 then.

``--thin SHARE``: feeds, sitemaps, lists and articles each leave out this share of the articles, each its own,
from then on.

JSON: ``{"months": [{"site", "requests_per_day", "without", "thin", "month", "pages", "estimate", "low",
"high", "true", "says"}], "covered", "mean_width", "mean_absolute_error", "rank_correlation",
"without_estimate"}``. Months without an estimate count for nothing but ``without_estimate``; the rank
correlation is Spearman's, over all months with one.
"""

import hashlib
import re
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, cast
from urllib.parse import urljoin

import msgspec
from lab.cli import parser_of, print_json, show
from lab.clocks import SimulatedClock
from replay import BASELINE_SHARE, DAY, linked_of, page_key, truth_beside
from replay_place import crawling
from replay_site import Answer, ReplaySite
from rich.console import Console
from rich.progress import track
from scipy.stats import spearmanr

from incremental.features.completeness.showing import DAYS, of_site
from incremental.settings import Settings
from store import Store
from store.models import News, Page

_GRACE = 2 * DAY
_IN_TIME = DAY
_LEAST_DAYS = 10
"""Of the first month."""
_FEWEST = 5
"""Articles of a month, for a truth."""
_LOST_SHARE = 0.5
_SECTION = "/category/world/"
_SHOWN = 30
"""Articles on the section's list."""
_LINK = re.compile(rb"""(\shref\s*=\s*)(["']?)([^"'\s>]+)""", re.IGNORECASE)
_ENTRY = re.compile(rb"<(item|entry|url)\b.*?</\1>", re.DOTALL)
_ADDRESS = re.compile(
    rb"""<(?:link|loc|guid|id)\b[^>]*?(?:href=["']|>(?:<!\[CDATA\[)?)\s*([^"'<\]\s]+)"""
)


@dataclass(frozen=True)
class Run:
    """How a recording is crawled."""

    requests_per_day: float
    without: float
    thin: float
    seed: int


class Changed:
    """A recorded site whose articles appear on fewer pages."""

    def __init__(self, path: Path, run: Run) -> None:
        self._site = ReplaySite(path)
        self.base_url, self.first_ts = self._site.base_url, self._site.first_ts
        self.last_ts = self._site.last_ts
        length = self.last_ts - self.first_ts
        self.scored_from = self.first_ts + BASELINE_SHARE * length
        self.lost_at = self.first_ts + _LOST_SHARE * length
        urls = linked_of(truth_beside(path))
        self.articles = {page_key(url): at for url, at in urls.items()}
        self._run = run
        self._section = {
            page_key(url): url
            for url in urls
            if self._chance("section", page_key(url)) < run.without
        }
        self._changed: dict[tuple[str, bytes, bool, bool], bytes] = {}

    def answer(self, url: str, moment: float, etag: str | None = None) -> Answer:
        """Answer as the site does, without the links that are taken out."""
        lost = moment >= self.lost_at
        if self._run.without and page_key(url) == page_key(urljoin(self.base_url, _SECTION)):
            if lost or not self._shown(moment):
                return Answer(404, b"<title>Not found</title>", {"Content-Type": "text/html"})
            return self._tagged(self._list(moment), {"Content-Type": "text/html"}, etag)
        found = self._site.answer(url, moment)
        if found.code != 200 or not (self._run.without or self._run.thin):  # noqa: PLR2004 - HTTP
            return self._site.answer(url, moment, etag)
        return self._tagged(self._without_links(url, found.body, moment), found.headers, etag)

    def _tagged(self, body: bytes, headers: dict[str, str], etag: str | None) -> Answer:
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        headers = {**headers, "ETag": tag}
        return Answer(304, b"", headers) if etag == tag else Answer(200, body, headers)

    def _shown(self, moment: float) -> list[str]:
        there = [key for key in self._section if self.articles[key] <= moment]
        return sorted(there, key=self.articles.__getitem__, reverse=True)[:_SHOWN]

    def _list(self, moment: float) -> bytes:
        shown = self._shown(moment)
        rows = "".join(f'<li><a href="{self._section[key]}">{key[-40:]}</a></li>' for key in shown)
        return f"<html><title>World</title><body><ul>{rows}</ul></body></html>".encode()

    def _without_links(self, url: str, body: bytes, moment: float) -> bytes:
        lost, menu = moment >= self.lost_at, bool(self._shown(moment))
        known = (url, hashlib.sha256(body).digest(), lost, menu)
        if known not in self._changed:
            self._changed[known] = self._changing(url, body, lost=lost, menu=menu)
        return self._changed[known]

    def _changing(self, url: str, body: bytes, *, lost: bool, menu: bool) -> bytes:
        own = page_key(url)

        def hidden(address: bytes, kind: str) -> bool:
            key = page_key(urljoin(url, address.decode("utf-8", "replace")))
            thinned = lost and self._chance(kind, key) < self._run.thin
            return key != own and (key in self._section or (thinned and key in self.articles))

        if b"<urlset" in body or b"<rss" in body or b"<feed" in body:
            kind = "sitemap" if b"<urlset" in body else "feed"

            def kept(entry: re.Match[bytes]) -> bytes:
                addresses = _ADDRESS.findall(entry[0])
                return b"" if any(hidden(one, kind) for one in addresses) else entry[0]

            return _ENTRY.sub(kept, body)
        kind = "article" if own in self.articles else "list"
        body = _LINK.sub(
            lambda m: m[1] + m[2] + b"#" if hidden(m[3], kind) else m[0],
            body,
        )
        if menu and own == page_key(self.base_url):
            link = f'<ul><li><a href="{_SECTION}">World</a></li></ul>'.encode()
            body = re.sub(rb"<body[^>]*>", lambda m: m[0] + link, body, count=1)
        return body

    def _chance(self, kind: str, key: str) -> float:
        digest = hashlib.sha256(f"{self._run.seed} {kind} {key}".encode()).digest()
        return int.from_bytes(digest[:4]) / 2**32


def months(path: Path, run: Run) -> Iterator[dict[str, Any]]:
    """Crawl a recording; yield estimate and truth of each 30 days."""
    site = Changed(path, run)
    settings, clock = Settings(), SimulatedClock(site.first_ts)
    revisit = msgspec.structs.replace(settings.revisit, requests_per_day=run.requests_per_day)
    settings = msgspec.structs.replace(settings, revisit=revisit)
    with crawling(cast("ReplaySite", site), settings, clock) as (store, step):
        ends = [site.last_ts]
        while ends[0] - (DAYS + _LEAST_DAYS) * DAY > site.scored_from:
            ends.insert(0, ends[0] - DAYS * DAY)
        for number, stop in enumerate(ends, 1):
            while clock.now() < stop:
                clock.advance_to(min(step(), stop))
            if found := _month(store, site, stop):
                kinds = {"site": path.stem, **msgspec.to_builtins(run), "month": number}
                yield kinds | found


def _month(store: Store, site: Changed, now: float) -> dict[str, Any] | None:
    """Return what is estimated of the last 30 days, and what is true; None for too few articles."""
    begin, end = max(now - DAYS * DAY, site.scored_from), now - _GRACE
    wanted = {key for key, at in site.articles.items() if begin <= at < end}
    if len(wanted) < _FEWEST:
        return None
    rows = News.select(Page.url, News.found_at).join(Page, on=Page.id == News.page).tuples()
    found_at = {page_key(url): at for url, at in rows.execute(store.database)}
    in_time = [found_at.get(key, now) <= site.articles[key] + _IN_TIME for key in wanted]
    said = of_site(store, store.read.sites()[0].id, "", now, days=(now - begin) / DAY)
    return {
        "pages": said.pages,
        "estimate": said.share,
        "low": said.low,
        "high": said.high,
        "true": round(statistics.fmean(in_time), 3),
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


def _numbers(text: str) -> list[float]:
    return [float(one) for one in text.split(",")]


def main() -> int:
    """Run from the command line; exit 0."""
    parser = parser_of(__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.sqlite")
    for name, default, of in (
        ("--requests-per-day", "48", "budgets"),
        ("--without", "0", "shares of the articles whose list goes"),
        ("--thin", "0", "shares that each kind of hubs leaves out"),
    ):
        parser.add_argument(name, type=_numbers, default=default, metavar="N,N", help=of)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    runs = [
        (path, Run(budget, without, thin, options.seed))
        for path, budget, without, thin in product(
            options.files, options.requests_per_day, options.without, options.thin
        )
    ]
    found: list[dict[str, Any]] = []
    for path, run in track(runs, console=Console(stderr=True), description="runs"):
        found += months(path, run)
    result = figures(found)
    show({str(number): one for number, one in enumerate(found, 1)}, "completeness of each 30 days")
    show({name: value for name, value in result.items() if name != "months"})
    print_json(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
