#!/usr/bin/env python3
"""Tries revisit policies on timelines of real hubs, at equal numbers of fetches.

Examples::

    scripts/bench_revisit.py --timelines ../shared/timelines/timelines.tsv.gz --fetches-per-hour 8
    scripts/bench_revisit.py --timelines FILE --fetches-per-hour 8 --policies price,sqrt_true --json
    scripts/bench_revisit.py --timelines FILE --fetches-per-hour 2,4,8,16,24 --plot curves.png

Time advances in slots of 1/B h from the earliest first_seen; in each slot a policy names one hub, and a
fetch at t sees the links with ``first_seen <= t < visible_until``. Links there at the start are known.
Scored are links that first appear between day 14 and the last day; their delay is capped at 24 h.

Exit codes: 0 done, 2 wrong arguments or file.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from lab import rivals, simulation
from lab.cli import Panel, parser_of, plot, print_json, show
from lab.simulation import Crowd, Score
from lab.world import Row, World

from incremental.schedule.price import PricePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lab.simulation import Policy

    from incremental.schedule.state import Terms

POLICIES = (
    "price",
    "round_robin",
    "nutch",
    "stormcrawler",
    "news_crawl",
    "miniflux",
    "mediacloud",
    "proportional_true",
    "sqrt_true",
)
_COLUMNS = ("hub", "link", "first_seen", "visible_until")


def policy_of(name: str, rates: Mapping[str, float]) -> Callable[[str, Terms], Policy]:
    """Return what makes the policy of a site; *rates*: the hubs' true ones, for two rivals."""
    if name == "price":
        return lambda _site, terms: PricePolicy(terms)
    made: dict[str, Callable[[], Policy]] = {
        "round_robin": rivals.round_robin,
        "nutch": rivals.nutch,
        "stormcrawler": rivals.stormcrawler,
        "news_crawl": rivals.news_crawl,
        "miniflux": rivals.MinifluxPolicy,
        "mediacloud": rivals.mediacloud,
        "proportional_true": lambda: rivals.by_true_rate("proportional_true", rates, 1.0),
        "sqrt_true": lambda: rivals.by_true_rate("sqrt_true", rates, 0.5),
    }
    rival = made[name]()
    return lambda _site, _terms: rival


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    args = _arguments().parse_args(argv)
    try:
        results = _timelines(args)
    except (OSError, ValueError) as problem:
        print(f"bench_revisit: {problem}", file=sys.stderr)
        return 2
    if args.plot:
        plot([_panel(results)], args.plot, thick="price")
    _print(results, args)
    return 0


def _arguments() -> argparse.ArgumentParser:
    parser = parser_of(__doc__)
    parser.add_argument(
        "--timelines", type=Path, metavar="FILE", required=True, help="TSV, plain or .gz"
    )
    parser.add_argument(
        "--fetches-per-hour",
        type=_budgets,
        default=[8.0],
        metavar="B[,B...]",
        help="over all hubs; with several, JSON has one level more (default: 8)",
    )
    parser.add_argument(
        "--policies", type=_names, default=list(POLICIES), metavar="A,B", help="default: all"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="FILE.png", help="draw mean delay against budget"
    )
    return parser


def _budgets(text: str) -> list[float]:
    values = [float(part) for part in text.split(",")]
    if not all(0 < value < float("inf") for value in values):
        raise argparse.ArgumentTypeError("give numbers above zero, such as 8 or 4,8,24")
    return values


def _names(text: str) -> list[str]:
    names = text.split(",")
    unknown = [name for name in names if name not in POLICIES]
    if unknown:
        known = ", ".join(POLICIES)
        raise argparse.ArgumentTypeError(f"no policy {', '.join(unknown)}; there are: {known}")
    return names


def read_rows(path: Path) -> Iterator[Row]:
    """Read a timelines file; a wrong line is a :class:`ValueError` that names it."""
    opened: Callable[..., IO[str]] = gzip.open if path.suffix == ".gz" else open
    with opened(path, mode="rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            fields = tuple(line.rstrip("\n").split("\t"))
            if number == 1 and fields == _COLUMNS:
                continue
            try:
                hub, link, first, last = fields
                yield Row(hub, link, float(first), float(last))
            except ValueError:
                raise ValueError(
                    f"{path} line {number}: want four columns {_COLUMNS}, times in unix seconds"
                ) from None


Results = dict[float, dict[str, Score]]
"""By fetches an hour, then by policy."""


def _timelines(args: argparse.Namespace) -> Results:
    world = World(read_rows(args.timelines))
    sites = {hub: hub.split(":")[0] for hub in world.hubs}
    results: Results = {}
    for budget in args.fetches_per_hour:
        results[budget] = {}
        for name in args.policies:
            world.forget()
            crowd = Crowd(policy_of(name, world.true_rates()), sites, budget)
            fetches = sum(1 for _ in simulation.run(world, crowd))
            results[budget][name] = simulation.score(world, fetches)
    return results


def _print(results: Results, args: argparse.Namespace) -> None:
    for budget, scores in results.items():
        best_first = sorted(scores.items(), key=lambda item: item[1].mean_minutes)
        rows = {name: asdict(score) for name, score in best_first}
        show(rows, f"{budget:g} fetches an hour")
    plain = {f"{b:g}": {n: asdict(s) for n, s in r.items()} for b, r in results.items()}
    print_json(args, plain if len(plain) > 1 else next(iter(plain.values())))


def _panel(results: Results) -> Panel:
    """Return mean delay against fetches an hour, both on logarithmic axes."""
    budgets = sorted(results)
    lines = {
        name: (budgets, [results[budget][name].mean_minutes for budget in budgets])
        for name in results[budgets[0]]
    }
    axes = {"xscale": "log", "yscale": "symlog", "ylim": (0, None), "xticks": budgets}
    names = ("fetches an hour, all hubs together", "mean discovery delay, minutes")
    return Panel(lines, "", *names, axes)


if __name__ == "__main__":
    sys.exit(main())
