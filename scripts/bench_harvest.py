#!/usr/bin/env python3
"""Crawl a graph file for topics, by every method, and report the harvest: the share on topic.

    scripts/bench_harvest.py graph.sqlite --topics Science,Religion --budgets 300,1000 --json
    scripts/bench_harvest.py graph.sqlite.xz --topics ml --methods best_first_anchor,fused

The graph has ``page(url, title, topic, html)`` and ``link(src, dst, anchor)``. Draw k = 0, 1, ... starts
from ``random.Random(k).sample(pool, seeds)``, pool = the topic's pages with more than two distinct
out-links, by URL; the seeds count in the budget. Unlabelled pages cost budget and are left out of the
denominator (``--json`` has the harvest with them under ``<method>+unlabelled``). No method but
``oracle`` knows a label beyond the seeds'.

``--embeddings`` names the model whose vectors of pages and anchors ``fused`` uses, as the daemon does; by
default it is the one that is installed, ``none`` = words alone. ``--vectors`` keeps them in a file for the
next run.
"""

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from lab.cli import names, parser_of, print_json, show, whole_numbers
from lab.harvest_graph import Crawl, Graph, GraphError, crawl, draw
from lab.harvest_methods import METHODS, Task, ordering
from lab.kept_vectors import KeptVectors, Meanings
from threadpoolctl import threadpool_limits

from classifier.embedding.embedder import EmbeddingError
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED, installed
from classifier.words import text
from classifier.words.errors import TopicError


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

    def harvest(self, pages: int, *, with_unlabelled: bool = False) -> float:
        """Return the mean over the draws of the share on topic among the first pages."""
        return fmean(_share(labels[:pages], with_unlabelled) for labels in self.labels)


def _share(labels: list[bool | None], with_unlabelled: bool) -> float:
    judged = len(labels) if with_unlabelled else sum(label is not None for label in labels)
    return labels.count(True) / judged if judged else 0.0


class Results:
    """All crawls of a run, by topic and method."""

    def __init__(self, budgets: list[int]) -> None:
        self.budgets = budgets
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


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        # One core, whatever the machine has: speeds of different machines can be compared.
        with threadpool_limits(1), Graph(options.graph) as graph:
            results = _run(graph, options)
    except (EmbeddingError, GraphError, TopicError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for topic, methods in as_json(results).items():
        show(methods, topic)
    print_json(options, as_json(results))
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("graph", type=Path, metavar="GRAPH", help=".sqlite, or .sqlite.xz")
    parser.add_argument("--topics", required=True, type=names, metavar="A,B")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-draw", type=int, default=0, help="k of the first one")
    parser.add_argument("--budgets", type=whole_numbers, default=[300, 1000, 3000], metavar="N,N")
    parser.add_argument("--methods", type=names, default=list(METHODS), metavar="A,B")
    parser.add_argument("--embeddings", choices=("auto", "none", *BUNDLED), default="auto")
    parser.add_argument("--vectors", type=Path, metavar="NPZ", help="keeps vectors between runs")
    parser.add_argument("--log", type=Path, metavar="FILE", help="TSV: topic method draw n url")
    return parser.parse_args(arguments)


def _run(graph: Graph, options: argparse.Namespace) -> Results:
    _check(graph, options)
    # Every draw and method goes through the same pages again: they are cut into words once.
    text.remembered = lru_cache(len(graph.topics))(text.remembered.__wrapped__)
    results = Results(options.budgets)
    embedder = _embedder(options)
    with options.log.open("w", encoding="utf-8") if options.log else nullcontext() as log:
        for result in _progress(_results(graph, options, embedder), options):
            results.add(result, graph)
            if log is not None:
                log.writelines(result.lines())
    if embedder is not None:
        embedder.keep()
    return results


def _embedder(options: argparse.Namespace) -> KeptVectors | None:
    # Nothing else but fused asks for vectors.
    wanted = options.embeddings != "none" and "fused" in options.methods
    if not wanted or (options.embeddings == "auto" and installed("auto") is None):
        return None
    return KeptVectors(LocalEmbedder(options.embeddings), options.vectors)


def _check(graph: Graph, options: argparse.Namespace) -> None:
    unknown = sorted(set(options.methods) - set(METHODS))
    if unknown:
        raise ValueError(f"unknown methods: {', '.join(unknown)}; there are {', '.join(METHODS)}")
    if min(options.seeds, options.draws, *(options.budgets or [0])) < 1:
        raise ValueError("seeds, draws and budgets must be at least 1")
    for topic in options.topics:
        count = len(graph.pool(topic))
        if count < options.seeds:
            raise ValueError(
                f"topic {topic!r} has {count} pages to draw {options.seeds} seeds from"
            )


def _results(
    graph: Graph, options: argparse.Namespace, embedder: KeptVectors | None
) -> Iterator[Result]:
    meanings = None if embedder is None else Meanings(embedder)
    for topic in options.topics:
        pool = graph.pool(topic)
        for number in range(options.first_draw, options.first_draw + options.draws):
            seeds = draw(pool, options.seeds, number)
            task = Task(tuple(graph.fetch(url).text for url in seeds), meanings)
            for method in options.methods:
                order = ordering(method, task, graph, topic)
                yield Result(topic, method, number, crawl(graph, seeds, order, options.budgets[-1]))


def _progress(results: Iterator[Result], options: argparse.Namespace) -> Iterator[Result]:
    """Show how far it is, on stderr."""
    from rich.console import Console  # noqa: PLC0415 - loads slowly
    from rich.progress import track  # noqa: PLC0415 - likewise

    total = len(options.topics) * options.draws * len(options.methods)
    yield from track(results, "crawls", total=total, console=Console(stderr=True))


if __name__ == "__main__":
    raise SystemExit(main())
