#!/usr/bin/env python3
"""The first week of a new site, without a pack and with one that was learned before.

    scripts/bench_pack.py ../shared/replay/kubaik.sqlite ../shared/replay/weichiachang.sqlite --json
    scripts/bench_pack.py FILE.sqlite --starts 0.5,0.7

At each start, a share of the recording, what a crawl has learned by then is written as a pack, signed, read
and checked as from a file, and the site is added again: with nothing, and with the pack. Both crawls go on
for a week. The delay is that of the articles linked in it; one that was not announced counts with the time
until the week's end.

JSON: ``{"sites": [{"site", "starts", "articles", "hubs", "pack_bytes", "cold": {"mean_minutes",
"median_minutes", "missed"}, "warm": {...}, "ratio"}], "mean_ratio"}``; ``ratio`` is the mean delay with the
pack as a share of that without.
"""

import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from lab.cli import parser_of, print_json, show
from lab.clocks import SimulatedClock
from replay import DAY, linked_of, page_key, truth_beside
from replay_place import crawling
from replay_site import ReplaySite
from rich.console import Console
from rich.progress import track

from incremental.features.exchange.packing import pack_of, take_pack
from incremental.features.exchange.packs import read_pack, signed
from incremental.settings import Settings
from store import Store
from store.models import News, Page

WEEK = 7 * DAY


def crawl(
    site: ReplaySite, begin: float, stops: Sequence[float], content: bytes = b""
) -> tuple[list[bytes], dict[str, float]]:
    """Crawl from *begin*, with a pack or without; return a pack at each stop, and when pages were found."""
    settings, clock = Settings(), SimulatedClock(begin)
    key, packs = Ed25519PrivateKey.generate(), []

    def take(store: Store) -> None:
        pack, _ = read_pack(content)
        done = take_pack(store, pack, settings.fetch, now=begin, dry_run=False)
        assert not done.problems, done.problems

    with crawling(site, settings, clock, take if content else None) as (store, step):
        for stop in stops:
            while clock.now() < stop:
                clock.advance_to(min(step(), stop))
            packs.append(signed(pack_of(store, stop), key))
        rows = News.select(Page.url, News.found_at).join(Page, on=Page.id == News.page).tuples()
        found = {page_key(url): at for url, at in rows.execute(store.database)}
    return packs, found


def measure(path: Path, starts: Sequence[float]) -> dict[str, Any]:
    """Compare the two first weeks, over all starts of a recording."""
    site = ReplaySite(path)
    linked = {page_key(url): at for url, at in linked_of(truth_beside(path)).items()}
    begins = [site.first_ts + share * (site.last_ts - site.first_ts) for share in starts]
    packs, _ = crawl(site, site.first_ts, begins)
    delays: dict[str, list[float]] = {"cold": [], "warm": []}
    missed = dict.fromkeys(delays, 0)
    for begin, content in zip(begins, packs, strict=True):
        end = min(begin + WEEK, site.last_ts)
        wanted = {key: at for key, at in linked.items() if begin <= at < end}
        for name, given in (("cold", b""), ("warm", content)):
            _, found = crawl(site, begin, [end], given)
            missed[name] += sum(key not in found for key in wanted)
            delays[name] += [(found.get(key, end) - at) / 60 for key, at in wanted.items()]
    hubs = sum(len(one.hubs) for one in read_pack(packs[-1])[0].sites)
    result = {"site": path.stem, "starts": len(begins), "articles": len(delays["cold"])}
    return {
        **result,
        "hubs": hubs,
        "pack_bytes": len(packs[-1]),
        **{name: _figures(delays[name], missed[name]) for name in delays},
        "ratio": round(statistics.fmean(delays["warm"]) / statistics.fmean(delays["cold"]), 3),
    }


def _figures(delays: Sequence[float], missed: int) -> Mapping[str, float]:
    return {
        "mean_minutes": round(statistics.fmean(delays), 1),
        "median_minutes": round(statistics.median(delays), 1),
        "missed": missed,
    }


def main() -> int:
    """Run from the command line; exit 0."""
    parser = parser_of(__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE.sqlite")
    parser.add_argument("--starts", default="0.4,0.55,0.7", metavar="N,N", help="shares of it")
    options = parser.parse_args()
    starts = [float(one) for one in options.starts.split(",")]
    console = Console(stderr=True)
    sites = [measure(path, starts) for path in track(options.files, console=console)]
    for one in sites:
        show(one, str(one["site"]))
    result = {"sites": sites, "mean_ratio": statistics.fmean(one["ratio"] for one in sites)}
    print_json(options, result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
