#!/usr/bin/env python3
"""Find pages of a topic from five of them: four operators, and the bandit over them.

    scripts/bench_discovery.py wikispeedia.sqlite,zh.sqlite --topics Science,security
    scripts/bench_discovery.py graph.sqlite --topics IT --draws 2 --pages 500 --json

The graphs lie side by side, hosts apart; a local search server (SearXNG's JSON, BM25, ten results a
query, ``link:`` for who links where) stands in for the web's. Draw k takes
``random.Random(k).sample(pool, seeds)`` of the topic's pages with more than two out-links, by URL. The
seeds are given and count nowhere. Harvest is the share of pages on topic among those read that are
labelled; sites are hosts with a page on topic that was read.
The last tables are means over topics; spread is the standard deviation of the harvest over topics, and
of the harvest as a part of what the four operators have there on the mean: topics differ in size.
"""

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from lab.cli import names, parser_of, print_json, show, whole_number
from lab.discovery_world import SearchIndex, SearchServer, World, host_of
from lab.harvest_graph import Graph, GraphError
from lab.harvest_graph import draw as draw_seeds
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from classifier.papers.bandit import Bandit
from classifier.papers.page_ranking import PageRanking
from classifier.words.background import Background
from incremental.base.clock import SystemClock
from incremental.features.discovery.exploration import Exploration
from incremental.features.discovery.operators import KnownPage, Sources, operators
from incremental.features.discovery.search_provider import searxng
from incremental.fetch.options import FetchSettings
from incremental.fetch.session import Fetcher

SINGLE = ("forward", "backward", "keyword", "related")
STRATEGIES = (*SINGLE, "bandit", "random")


@dataclass
class Run:
    """What one strategy read for one topic and draw."""

    read: list[str] = field(default_factory=list)
    """In order, without the seeds."""
    requests: int = 0
    """Questions to the search server."""


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        # One core, whatever the machine has: speeds of different machines can be compared.
        with ExitStack() as stack, threadpool_limits(1):
            graphs = [stack.enter_context(Graph(path)) for path in options.graphs]
            report = _benchmark(graphs, options)
    except (GraphError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for topic, found in report.items():
        show(found["operators"], topic)
    show(_over_topics(report), "means over topics")
    print_json(options, report)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("graphs", metavar="GRAPH[,GRAPH2...]", type=_paths)
    parser.add_argument("--topics", required=True, type=names)
    parser.add_argument("--seeds", type=whole_number, default=5)
    parser.add_argument("--draws", type=whole_number, default=5)
    parser.add_argument("--pages", type=whole_number, default=1000)
    parser.add_argument("--strategies", type=names, default=list(STRATEGIES))
    parser.add_argument("--log", type=Path, metavar="FILE", help="TSV: topic strategy draw n url")
    return parser.parse_args(arguments)


def _paths(text: str) -> list[Path]:
    return [Path(part) for part in text.split(",")]


def _benchmark(graphs: Sequence[Graph], options: argparse.Namespace) -> dict[str, Any]:
    world = World(graphs, Background())
    for topic in options.topics:
        if len(world.pool(topic)) < options.seeds:
            known = ", ".join(
                sorted({name for g in graphs for names in g.topics.values() for name in names})
            )
            raise ValueError(f"topic {topic!r} has too few pages to draw from (there are: {known})")
    report = {}
    with ExitStack() as stack:
        bar = stack.enter_context(Progress(console=Console(stderr=True), transient=True))
        log = stack.enter_context(options.log.open("w")) if options.log else None
        server = stack.enter_context(SearchServer(SearchIndex(world.documents())))
        total = len(options.topics) * options.draws * len(options.strategies)
        running = bar.add_task("runs", total=total)
        for topic in options.topics:
            runs: dict[str, list[Run]] = {}
            for name in options.strategies:
                runs[name] = []
                for draw in range(options.draws):
                    seeds = draw_seeds(world.pool(topic), options.seeds, draw)
                    crawl = _Crawl(world, seeds, options.pages)
                    before = server.requests
                    crawl.explore(_chooser(name, draw), server.url)
                    run = Run(crawl.read, server.requests - before)
                    runs[name].append(run)
                    bar.advance(running)
                    for number, url in enumerate(run.read, 1):
                        if log is not None:
                            log.write(f"{topic}\t{name}\t{draw}\t{number}\t{url}\n")
            means = {name: _means(world, topic, several) for name, several in runs.items()}
            report[topic] = {"operators": means, "hosts": len(world.hosts(topic))}
    return report


def _chooser(name: str, draw: int) -> Callable[[Bandit, Sequence[str]], str | None]:
    """Return what chooses the operator of a round."""
    if name == "bandit":
        return Bandit.choose
    if name == "random":
        dice = random.Random(draw)
        return lambda _, available: dice.choice(list(available)) if available else None
    return lambda _, available: name if name in available else None


class _Crawl:
    """One run: reads pages of the world up to a number."""

    def __init__(self, world: World, seeds: Sequence[str], pages: int) -> None:
        self.read: list[str] = []
        self._world = world
        self._seeds = list(seeds)
        self._pages = pages
        self._background = Background()
        self._linkers: dict[str, list[str]] = {}
        self._ranking = PageRanking(self._background, {url: world.terms(url) for url in seeds})
        for url in seeds:
            self._take(url)

    def _known(self, url: str) -> KnownPage:
        """Return a page with what it says, as operators begin from it."""
        text = self._world.fetch(url).text
        return replace(
            self._world.known(url), text=" ".join([text.meta, *text.headings, text.body])
        )

    def _take(self, url: str) -> KnownPage:
        """Count a page as read by the crawl: its terms, its links."""
        page = self._known(url)
        terms = self._world.terms(url)
        targets = [link.url for link in page.links]
        for target in targets:
            self._linkers.setdefault(target, []).append(url)
        self._background.observe(terms)
        self._ranking.add(url, terms, targets)
        return page

    def _fetch(self, urls: Sequence[str]) -> list[KnownPage]:
        """Read pages that are there, as far as the budget goes; those read before cost nothing."""
        found = []
        known = {*self.read, *self._seeds}
        for url in urls:
            if not self._world.holds(url):
                continue
            if url in known:
                found.append(self._known(url))
            elif len(self.read) < self._pages:
                self.read.append(url)
                known.add(url)
                found.append(self._take(url))
        return found

    def explore(self, choose: Callable[[Bandit, Sequence[str]], str | None], search: str) -> None:
        """Run the operators."""
        fetcher = Fetcher(FetchSettings(allowed_networks=("127.0.0.0/8",)), clock=SystemClock())
        sources = Sources(
            linkers=lambda url, count: self._linkers.get(url, [])[:count],
            read=self._fetch,
            search=partial(searxng, fetcher.fetch, search),
            linkers_query="link:{url}",
        )
        pages = [self._known(url) for url in self._seeds]
        words = list(dict.fromkeys(term for page in pages for term in page.terms[:4]))
        ways = operators(sources, words, _description(pages))
        run = Exploration(ways, pages, read=self._fetch, rank=self._ranked, choose=choose)
        while len(self.read) < self._pages:
            if run.step(self._pages - len(self.read)) is None:
                break
        fetcher.close()

    def _ranked(self, urls: Sequence[str]) -> list[str]:
        wanted = set(urls)
        ranked = self._ranking.ranked()
        return [url for url in ranked if url in wanted]


def _description(pages: Sequence[KnownPage]) -> str:
    """Return the words that most seeds share: what a user would call the topic."""
    said: dict[str, float] = {}
    for page in pages:
        for place, term in enumerate(page.terms):
            said[term] = said.get(term, 0.0) + 1.0 / (place + 1)
    best = sorted(said, key=lambda term: -said[term])
    return " ".join(best[:2])


# What comes of it.


def _means(world: World, topic: str, runs: Sequence[Run]) -> dict[str, float]:
    """Return the mean figures of a strategy's runs."""
    found = [_measured(world, topic, run) for run in runs]
    return {name: fmean(one[name] for one in found) for name in found[0]}


def _measured(world: World, topic: str, run: Run) -> dict[str, float]:
    labels = [world.is_on_topic(url, topic) for url in run.read]
    return {
        "harvest": _harvest(world, topic, run.read),
        "harvest_of_all": labels.count(True) / max(len(labels), 1),
        "relevant": labels.count(True),
        "read": len(run.read),
        "sites": len({host_of(url) for url in run.read if world.is_on_topic(url, topic)}),
        "requests": run.requests,
    }


def _harvest(world: World, topic: str, urls: Sequence[str]) -> float:
    labels = [world.is_on_topic(url, topic) for url in urls]
    judged = [label for label in labels if label is not None]
    return sum(judged) / len(judged) if judged else 0.0


def _over_topics(report: dict[str, Any]) -> dict[str, dict[str, float]]:
    """Return, by strategy, means over topics and their spread."""
    means = {}
    rows = [found["operators"] for found in report.values()]
    for name in rows[0]:
        harvest = [row[name]["harvest"] for row in rows]
        means[name] = {"harvest": fmean(harvest), "spread": pstdev(harvest)}
        singles = [[row[one]["harvest"] for one in SINGLE if one in row] for row in rows]
        relative = [0.0]
        if all(any(topic) for topic in singles):
            relative = [one / fmean(topic) for one, topic in zip(harvest, singles, strict=True)]
        means[name] |= {"relative harvest": fmean(relative), "its spread": pstdev(relative)}
        means[name]["sites"] = fmean(row[name]["sites"] for row in rows)
    return means


if __name__ == "__main__":
    sys.exit(main())
