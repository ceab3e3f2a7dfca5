"""The report of the harvest benchmark: shares on topic at each budget, as table, JSON and curves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from lab.cli import Panel

if TYPE_CHECKING:
    from harvest_crawl import Crawl
    from harvest_graph import Graph

# Points of a curve.
_STEPS = 60


@dataclass(frozen=True, slots=True)
class Result:
    """One crawl."""

    topic: str
    method: str
    draw: int
    crawl: Crawl

    def lines(self) -> Iterator[str]:
        """Return the log's lines: topic, method, draw, n from 1, url."""
        for number, url in enumerate(self.crawl.urls, 1):
            yield f"{self.topic}\t{self.method}\t{self.draw}\t{number}\t{url}\n"


@dataclass
class Cell:
    """The draws of one method on one topic."""

    labels: list[list[bool | None]] = field(default_factory=list)
    """Of each draw, of each fetched page in order; None = unlabelled."""
    seconds: float = 0.0

    @property
    def pages_per_second(self) -> float:
        """Pages ordered in a second, once they are read and cut into words."""
        return sum(map(len, self.labels)) / self.seconds if self.seconds else 0.0

    def pages_to(self, relevant: int) -> float | None:
        """Return the mean number of pages until so many on topic; None = a draw has fewer."""
        reached = [
            [number for number, label in enumerate(labels, 1) if label][relevant - 1 : relevant]
            for labels in self.labels
        ]
        return fmean(number for (number,) in reached) if all(reached) else None

    def harvest(self, pages: int, *, with_unlabelled: bool = False) -> float:
        """Return the mean over the draws of the share on topic among the first pages."""
        return fmean(_share(labels[:pages], with_unlabelled) for labels in self.labels)


def _share(labels: list[bool | None], with_unlabelled: bool) -> float:
    judged = len(labels) if with_unlabelled else sum(label is not None for label in labels)
    return labels.count(True) / judged if judged else 0.0


class Results:
    """All crawls of a run, by topic and method."""

    def __init__(self, budgets: list[int], relevant: int) -> None:
        self.budgets = budgets
        self.relevant = relevant
        """The pages on topic that are waited for (paper 002's time to N relevant pages)."""
        self.cells: dict[str, dict[str, Cell]] = {}

    def add(self, result: Result, graph: Graph) -> None:
        """Take a crawl in; the labels are read here."""
        cell = self.cells.setdefault(result.topic, {}).setdefault(result.method, Cell())
        cell.labels.append([graph.is_on_topic(url, result.topic) for url in result.crawl.urls])
        cell.seconds += result.crawl.seconds


def as_json(results: Results) -> dict[str, dict[str, dict[str, float]]]:
    """Return ``{topic: {method: {"300": harvest, ..., "pages_per_second": x}}}``."""
    report: dict[str, dict[str, dict[str, float]]] = {}
    for topic, methods in results.cells.items():
        report[topic] = {}
        for method, cell in methods.items():
            speed = {"pages_per_second": round(cell.pages_per_second, 1)}
            for suffix, with_unlabelled in (("", False), ("+unlabelled", True)):
                shares = {
                    str(pages): round(cell.harvest(pages, with_unlabelled=with_unlabelled), 4)
                    for pages in results.budgets
                }
                report[topic][method + suffix] = shares | speed
    return report


def panels(results: Results) -> list[Panel]:
    """Return the harvest against the pages fetched, a panel for each topic."""
    last = results.budgets[-1]
    steps = sorted({max(10, last * step // _STEPS) for step in range(1, _STEPS + 1)})
    return [
        Panel(
            {name: (steps, [cell.harvest(n) for n in steps]) for name, cell in methods.items()},
            *(topic, "pages fetched", "harvest", {"ylim": (0, 1)}),
        )
        for topic, methods in results.cells.items()
    ]
