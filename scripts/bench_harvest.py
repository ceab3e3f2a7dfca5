#!/usr/bin/env python3
"""Crawl a graph file for topics, by every method, and report the harvest: the share on topic.

    scripts/bench_harvest.py graph.sqlite --topics Science,Religion --budgets 300,1000 --json
    scripts/bench_harvest.py graph.sqlite.xz --topics ml --methods best_first_anchor,fused --plot ml.png

The graph has ``page(url, title, topic, html)`` and ``link(src, dst, anchor)``. Draw k = 0, 1, ... starts
from ``random.Random(k).sample(pool, seeds)``, pool = the topic's pages with more than two distinct
out-links, by URL; the seeds count in the budget. Unlabelled pages cost budget and are left out of the
denominator (``--json`` has the harvest with them under ``<method>+unlabelled``). No method but
``oracle`` and ``best_first_trained`` knows a label beyond the seeds'.

``--embeddings`` names the model whose vectors of pages and anchors ``fused`` uses, as the daemon does; by
default it is the one that is installed, ``none`` = words alone. ``--vectors`` keeps them in a file for the
next run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO

from harvest_crawl import crawl, draw
from harvest_graph import Graph, GraphError
from harvest_meanings import Meanings
from harvest_methods import METHODS, Labels, ordering, task_of
from harvest_report import Result, Results, as_json, panels
from harvest_trained import TrainedClassifiers
from kept_vectors import KeptVectors
from lab.cli import names, parser_of, plot, print_json, show, whole_numbers
from threadpoolctl import threadpool_limits

from classifier.embedding.embedder import EmbeddingError
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED, installed
from classifier.papers.semantic_tree import SemanticTree, TreeError
from classifier.papers.trees import read_tree
from classifier.words.errors import TopicError
from classifier.words.text import remember

_REMEMBERED_LINKS = 2_000_000


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        # One core, whatever the machine has: speeds of different machines can be compared.
        with threadpool_limits(1), Graph(options.graph) as graph:
            results = _run(graph, options)
    except (EmbeddingError, GraphError, TopicError, TreeError, _InputError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for topic, methods in as_json(results).items():
        show(methods, topic)
        needed = {
            name: one.pages_to(results.relevant) for name, one in results.cells[topic].items()
        }
        show(needed, f"pages to {results.relevant}")
    if options.plot:
        plot(panels(results), options.plot, columns=min(3, len(results.cells)))
    print_json(options, as_json(results))
    return 0


class _InputError(Exception):
    """The arguments cannot be run."""


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("graph", type=Path, metavar="GRAPH", help=".sqlite, or .sqlite.xz")
    parser.add_argument("--topics", required=True, type=names, metavar="A,B")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-draw", type=int, default=0, help="k of the first one")
    parser.add_argument("--budgets", type=whole_numbers, default=[300, 1000, 3000], metavar="N,N")
    parser.add_argument(
        "--relevant", type=int, default=50, metavar="N", help="report the pages to N on topic"
    )
    parser.add_argument("--start", choices=("examples", "keywords"), default="examples")
    parser.add_argument("--methods", type=names, default=list(METHODS), metavar="A,B")
    parser.add_argument("--tree", type=Path, metavar="FILE", help="semantic tree of `semantic`")
    parser.add_argument("--embeddings", choices=("auto", "none", *BUNDLED), default="auto")
    parser.add_argument("--vectors", type=Path, metavar="NPZ", help="keeps vectors between runs")
    parser.add_argument("--log", type=Path, metavar="FILE", help="TSV: topic method draw n url")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="harvest curves")
    return parser.parse_args(arguments)


def _run(graph: Graph, options: argparse.Namespace) -> Results:
    _check(graph, options)
    tree = read_tree(options.tree) if options.tree else None
    # Every draw and method goes through the same pages again: they are cut into words once.
    remember(pages=len(graph.topics), links=_REMEMBERED_LINKS)
    results = Results(options.budgets, options.relevant)
    embedder = _embedder(options)
    with _log(options.log) as log:
        for result in _progress(_results(graph, options, tree, embedder), options):
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
        raise _InputError(f"unknown methods: {', '.join(unknown)}; there are {', '.join(METHODS)}")
    if min(options.seeds, options.draws, options.relevant, *(options.budgets or [0])) < 1:
        raise _InputError("seeds, draws, budgets and relevant must be at least 1")
    for topic in options.topics:
        count = len(graph.pool(topic))
        if count < options.seeds:
            raise _InputError(
                f"topic {topic!r} has {count} pages to draw {options.seeds} seeds from"
            )


def _results(
    graph: Graph,
    options: argparse.Namespace,
    tree: SemanticTree | None,
    embedder: KeptVectors | None,
) -> Iterator[Result]:
    meanings = None if embedder is None else Meanings(embedder)
    classifiers = cache(lambda: TrainedClassifiers(graph))
    by_keywords = options.start == "keywords"
    for topic in options.topics:
        pool = graph.pool(topic)
        labels = Labels(graph, topic, classifiers)
        for number in range(options.first_draw, options.first_draw + options.draws):
            seeds = draw(pool, options.seeds, number)
            examples = [graph.fetch(url) for url in seeds]
            for method in options.methods:
                task = task_of(examples, by_keywords=by_keywords, tree=tree, meanings=meanings)
                found = crawl(graph, seeds, ordering(method, task, labels), options.budgets[-1])
                yield Result(topic, method, number, found)


def _progress(results: Iterator[Result], options: argparse.Namespace) -> Iterator[Result]:
    """Show how far it is, on stderr."""
    from rich.console import Console  # noqa: PLC0415 - loads slowly
    from rich.progress import track  # noqa: PLC0415 - likewise

    total = len(options.topics) * options.draws * len(options.methods)
    yield from track(results, "crawls", total=total, console=Console(stderr=True))


class _NoLog:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


def _log(path: Path | None) -> IO[str] | _NoLog:
    return _NoLog() if path is None else path.open("w", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
