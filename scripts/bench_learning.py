#!/usr/bin/env python3
"""Measure how many answers a user gives until a new site brings hardly anything but news.

    scripts/bench_learning.py ../shared/replay/truth/*.tsv ../shared/replay/validation/truth/*.tsv --json

Each file lists what a recorded site published (TSV with ``url`` and ``published``, unix seconds). The user of
a trial wants a site without one of its parts: a part is all that lies below one first folder (pages at the
root are one part), with at least three pages and at most half. The trial begins with the earlier half of
the site's new pages, announced and not looked at. The user answers about them one by one: "not news", or
reads the page, which accepts it. Precision is the share of news among the pages of the later half that
would still be announced, by ``incremental.decide.not_news`` as the crawler asks it. Only the form of address
can teach: the files do not say which list showed a page first, or by which rule.

``clicks`` are answers until precision reaches 95 % of that after all answers, where the product chooses the
pages (``worth_asking``, asked again after each answer); ``clicks_random``, in random order, the mean of
five orders. Trials that begin there are left out. Each site is new to every trial: nothing is learned
across sites.

JSON, the last line: ``{"clicks", "clicks_random", "ratio", "trials", "sites", "precision_before",
"precision_after", "recall_after", "by_site": {name: {...}}}``; clicks are means over the trials.
"""

import csv
import random
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from lab.cli import parser_of, print_json

from incremental.decide.not_news import (
    Announced,
    Aspects,
    Objection,
    first_folder,
    is_not_news,
    objection,
    withheld,
    worth_asking,
)

ORDERS = 5
ENOUGH = 0.95
_LEAST_PAGES, _LARGEST_SHARE = 3, 0.5
Figures = dict[str, float]
Choose = Callable[[Sequence[Announced], Sequence[Objection]], str | None]


@dataclass(frozen=True)
class Trial:
    """A site one part of which its user does not want."""

    site: str
    early: Sequence[str]
    late: Sequence[str]
    unwanted: str


def trials_of(path: Path) -> list[Trial]:
    """Return the trials of one site."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: float(row["published"]))
    urls = list(dict.fromkeys(row["url"] for row in rows))
    early, late = urls[: len(urls) // 2], urls[len(urls) // 2 :]
    found = []
    for part in sorted({first_folder(url) for url in early}):
        counts = [sum(first_folder(url) == part for url in half) for half in (early, late)]
        if min(counts) >= _LEAST_PAGES and sum(counts) <= _LARGEST_SHARE * len(urls):
            found.append(Trial(path.stem, early, late, part))
    return found


def course(trial: Trial, choose: Choose) -> list[tuple[float, float]]:
    """Return precision and recall of the later half after 0, 1, ... answers."""
    pages = {url: Announced(url, Aspects.of(url, None, None), seen=False) for url in trial.early}
    said: list[Objection] = []
    path = [_figures(trial, said)]
    while (url := choose(list(pages.values()), said)) is not None:
        if first_folder(url) == trial.unwanted:
            said.append(objection(url, pages[url].aspects, pages.values(), said, 0.0))
        pages[url] = replace(pages[url], seen=True)
        # Only an objection that withholds something changes what is announced.
        changed = first_folder(url) == trial.unwanted and said[-1].withholds
        path.append(_figures(trial, said) if changed else path[-1])
    return path


def _figures(trial: Trial, said: Sequence[Objection]) -> tuple[float, float]:
    learned = withheld(said)
    kept = [url for url in trial.late if not is_not_news(url, None, None, learned)]
    news = sum(first_folder(url) != trial.unwanted for url in kept)
    wanted = sum(first_folder(url) != trial.unwanted for url in trial.late)
    return news / len(kept) if kept else 1.0, news / wanted


def by_product(pages: Sequence[Announced], said: Sequence[Objection]) -> str | None:
    """Choose as the product does; what it does not ask about comes last."""
    asked = worth_asking(pages, said)
    return next(iter([*asked, *(one.url for one in pages if not one.seen)]), None)


def at_random(seed: int) -> Choose:
    """Return a choice in random order."""
    drawn = random.Random(seed)

    def choose(pages: Sequence[Announced], _: Sequence[Objection]) -> str | None:
        left = [one.url for one in pages if not one.seen]
        return drawn.choice(left) if left else None

    return choose


def clicks(path: Sequence[tuple[float, float]], goal: float) -> int:
    """Return after how many answers the precision is enough, and stays so."""
    short = [number for number, (precision, _) in enumerate(path) if precision < goal]
    return short[-1] + 1 if short else 0


def measured(trial: Trial) -> Figures | None:
    """Return the figures of one trial; None = it begins where it ends."""
    own = course(trial, by_product)
    goal = ENOUGH * own[-1][0]
    if own[0][0] >= goal:
        return None
    others = [course(trial, at_random(seed)) for seed in range(ORDERS)]
    return {
        "clicks": clicks(own, goal),
        "clicks_random": fmean(clicks(path, ENOUGH * path[-1][0]) for path in others),
        "precision_before": own[0][0],
        "precision_after": own[-1][0],
        "recall_after": own[-1][1],
    }


def summary(rows: Sequence[Figures]) -> Figures:
    """Return the means over trials, and the ratio of the clicks."""
    means = {name: fmean(row[name] for row in rows) for name in rows[0]}
    means["ratio"] = means["clicks"] / means["clicks_random"]
    return {name: round(value, 3) for name, value in means.items()} | {"trials": len(rows)}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = nothing to measure."""
    parser = parser_of(__doc__)
    parser.add_argument("files", type=Path, nargs="+", metavar="TSV")
    options = parser.parse_args(arguments)
    found: dict[str, list[Figures]] = {}
    for trial in (trial for path in options.files for trial in trials_of(path)):
        if figures := measured(trial):
            found.setdefault(trial.site, []).append(figures)
    if not found:
        print("error: no site has a part to do without", file=sys.stderr)
        return 2
    for site, rows in found.items():
        print(site, summary(rows))
    whole = summary([row for rows in found.values() for row in rows])
    print("all", whole)
    by_site = {site: summary(rows) for site, rows in found.items()}
    print_json(options, {**whole, "sites": len(found), "by_site": by_site})
    return 0


if __name__ == "__main__":
    sys.exit(main())
