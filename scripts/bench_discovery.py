#!/usr/bin/env python3
"""Find pages of a topic from five of them: four operators, the bandit over them, and rivals.

    scripts/bench_discovery.py wikispeedia.sqlite,zh.sqlite --topics Science,security
    scripts/bench_discovery.py graph.sqlite --topics IT --draws 2 --pages 500 --json --plot it.png

The graphs lie side by side, hosts apart; a local search server (SearXNG's JSON, BM25, ten results a
query, ``link:`` for who links where) stands in for the web's. Draw k takes
``random.Random(k).sample(pool, seeds)`` of the topic's pages with more than two out-links, by URL. The
seeds are given and count nowhere. Harvest is the share of pages on topic among those read that are
labelled; sites are hosts with a page on topic that was read;
``by_fifth`` gives both for each fifth of the pages that a run may read. ``ache`` is a best-first crawl
whose order is learned online, with at most 20 pages a site. Rankers order what the bandit's run read.
The last tables are means over topics; spread is the standard deviation of the harvest over topics, and
of the harvest as a part of what the four operators have there on the mean: topics differ in size.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from lab.cli import Panel, names, parser_of, plot, print_json, show, whole_number
from lab.discovery_world import SearchIndex, SearchServer, World, host_of
from lab.harvest_graph import Graph, GraphError
from rich.console import Console
from rich.progress import Progress
from threadpoolctl import threadpool_limits

from classifier.papers.bandit import Bandit
from classifier.papers.page_ranking import NAMES, PageRanking
from classifier.words.background import Background
from incremental.base.clock import SystemClock
from incremental.features.discovery.exploration import Exploration, ExplorationState
from incremental.features.discovery.operators import KnownPage, Sources, operators
from incremental.features.discovery.search_provider import SearxngProvider
from incremental.fetch.options import FetchSettings
from incremental.fetch.session import Fetcher

SINGLE = ("forward", "backward", "keyword", "related")
STRATEGIES = (*SINGLE, "bandit", "random", "ache")
FIFTHS = 5
ACHE_PAGES_PER_SITE = 20
# Relevant pages whose median rank is reported, and the first N of P@N; the paper's numbers.
FIRST = 17
SECOND = 35


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
        show({name: found[name] for name in ("operators", "rankers")}, topic)
    show(_over_topics(report), "means over topics")
    show(_averaged([found["rankers"] for found in report.values()]), "rankers, all topics")
    if options.plot:
        plot(_panels(report, options.pages), options.plot, columns=len(report), thick="bandit")
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
    parser.add_argument("--plot", type=Path, metavar="FILE", help="harvest and sites per fifth")
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
        reading = bar.add_task("indexing", total=sum(len(graph.topics) for graph in graphs))
        server = stack.enter_context(SearchServer(SearchIndex(_counted(world, bar, reading))))
        total = len(options.topics) * options.draws * len(options.strategies)
        running = bar.add_task("runs", total=total)
        for topic in options.topics:
            runs: dict[str, list[Run]] = {}
            for name in options.strategies:
                runs[name] = []
                for draw in range(options.draws):
                    seeds = _seeds(world, topic, draw, options.seeds)
                    crawl = _Crawl(world, seeds, options.pages)
                    run = _run(crawl, server, name=name, draw=draw)
                    runs[name].append(run)
                    bar.advance(running)
                    for number, url in enumerate(run.read, 1):
                        if log is not None:
                            log.write(f"{topic}\t{name}\t{draw}\t{number}\t{url}\n")
            report[topic] = _report(world, topic, runs, options)
    return report


def _counted(world: World, bar: Progress, task: Any) -> Iterator[Any]:  # noqa: ANN401 - rich's id of a task
    for document in world.documents():
        bar.advance(task)
        yield document


def _seeds(world: World, topic: str, draw: int, count: int) -> list[str]:
    return random.Random(draw).sample(world.pool(topic), count)


def _run(crawl: _Crawl, server: SearchServer, *, name: str, draw: int) -> Run:
    before = server.requests
    if name == "ache":
        crawl.best_first()
    else:
        crawl.explore(_chooser(name, draw), server.url)
    return Run(crawl.read, server.requests - before)


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
            provider=SearxngProvider(fetcher.fetch, search, linkers_query="link:{url}"),
        )
        pages = [self._known(url) for url in self._seeds]
        words = list(dict.fromkeys(term for page in pages for term in page.terms[:4]))
        names = list(SINGLE)
        state = ExplorationState(Bandit.over(names))
        ways = operators(sources, words, _description(pages), state.asked)
        run = Exploration(ways, state, pages, read=self._fetch, rank=self._ranked, choose=choose)
        while len(self.read) < self._pages:
            if run.step(self._pages - len(self.read)) is None:
                break
        fetcher.close()

    def _ranked(self, urls: Sequence[str]) -> list[str]:
        wanted = set(urls)
        ranked = self._ranking.ranked("combined_f")
        return [url for url in ranked if url in wanted]

    def best_first(self) -> None:
        """Crawl along links, those first whose words led to pages like the seeds before."""
        OnlineCrawl(self._world, self._ranking, self._fetch, self._seeds).run(
            lambda: len(self.read) < self._pages
        )


class OnlineCrawl:
    """The rival: a best-first crawl with an online link classifier, few pages of each site."""

    def __init__(
        self,
        world: World,
        ranking: PageRanking,
        fetch: Callable[[Sequence[str]], list[KnownPage]],
        seeds: Sequence[str],
    ) -> None:
        self._world = world
        self._fetch = fetch
        self._ranking = ranking
        self._queue: dict[str, set[str]] = {}
        self._words: dict[str, list[float]] = {}
        self._per_site: dict[str, int] = {}
        self._done = set(seeds)
        for url in seeds:
            self._learn(world.known(url))

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Read the best link until nothing is left, or the budget is spent."""
        while goes_on() and self._queue:
            url = max(self._queue, key=self._promise)
            words = self._queue.pop(url)
            host = host_of(url)
            if self._per_site.get(host, 0) >= ACHE_PAGES_PER_SITE:
                continue
            self._done.add(url)
            for page in self._fetch([url]):
                self._per_site[host] = self._per_site.get(host, 0) + 1
                self._reward(words, page.url)
                self._learn(page)

    def _promise(self, url: str) -> float:
        """Return the mean relevance of pages to which links with these words led."""
        known = [self._words[word] for word in self._queue[url] if word in self._words]
        return sum(one[0] for one in known) / (sum(one[1] for one in known) + 1.0)

    def _reward(self, words: set[str], url: str) -> None:
        place = self._ranking.urls.index(url)
        score = float(self._ranking.scores(["centroid"])["centroid"][place])
        for word in words:
            total = self._words.setdefault(word, [0.0, 0.0])
            total[0] += score
            total[1] += 1.0

    def _learn(self, page: KnownPage) -> None:
        for link in page.links:
            if link.url not in self._done:
                spoken = f"{link.anchor} {link.url.rsplit('/', 1)[-1]}".lower().replace("_", " ")
                self._queue.setdefault(link.url, set()).update(spoken.split())


def _description(pages: Sequence[KnownPage]) -> str:
    """Return the words that most seeds share: what a user would call the topic."""
    said: dict[str, float] = {}
    for page in pages:
        for place, term in enumerate(page.terms):
            said[term] = said.get(term, 0.0) + 1.0 / (place + 1)
    best = sorted(said, key=lambda term: -said[term])
    return " ".join(best[:2])


# What comes of it.


def _report(
    world: World, topic: str, runs: dict[str, list[Run]], options: argparse.Namespace
) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: _averaged([_measured(world, topic, run, options.pages) for run in several])
        for name, several in runs.items()
    }
    ranked = [
        _ranked(world, topic, run, _seeds(world, topic, draw, options.seeds))
        for draw, run in enumerate(runs.get("bandit", []))
    ]
    names = ranked[0] if ranked else {}
    rankers = {name: _averaged([one[name] for one in ranked]) for name in names}
    return {"operators": found, "rankers": rankers, "hosts": len(world.hosts(topic))}


def _measured(world: World, topic: str, run: Run, pages: int) -> dict[str, Any]:
    fifth = max(pages // FIFTHS, 1)
    parts = [run.read[start : start + fifth] for start in range(0, fifth * FIFTHS, fifth)]
    sites: set[str] = set()
    by_fifth = []
    for part in parts:
        sites |= _sites(world, topic, part)
        by_fifth.append({"harvest": _harvest(world, topic, part), "sites": len(sites)})
    labels = [world.is_on_topic(url, topic) for url in run.read]
    return {
        "harvest": _harvest(world, topic, run.read),
        "harvest_of_all": labels.count(True) / max(len(labels), 1),
        "relevant": labels.count(True),
        "read": len(run.read),
        "sites": len(_sites(world, topic, run.read)),
        "by_fifth": by_fifth,
        "requests": run.requests,
    }


def _harvest(world: World, topic: str, urls: Sequence[str]) -> float:
    labels = [world.is_on_topic(url, topic) for url in urls]
    judged = [label for label in labels if label is not None]
    return sum(judged) / len(judged) if judged else 0.0


def _sites(world: World, topic: str, urls: Sequence[str]) -> set[str]:
    return {host_of(url) for url in urls if world.is_on_topic(url, topic)}


def _ranked(
    world: World, topic: str, run: Run, seeds: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Rank what a run read by each ranker; unlabelled pages and seeds are left out of the lists."""
    background = Background()
    ranking = PageRanking(background, {url: world.terms(url) for url in seeds})
    for url in run.read:
        background.observe(world.terms(url))
        ranking.add(url, world.terms(url), [link.url for link in world.known(url).links])
    scores = ranking.scores()
    judged = [
        (place, url)
        for place, url in enumerate(ranking.urls)
        if url not in seeds and world.is_on_topic(url, topic) is not None
    ]
    found = {}
    for name in NAMES:
        ordered = sorted(judged, key=lambda one, by=scores[name]: -by[one[0]])  # type: ignore[misc]  # bound at once
        hits = [
            number for number, (_, url) in enumerate(ordered, 1) if world.is_on_topic(url, topic)
        ]
        found[name] = {
            f"P@{FIRST}": sum(hit <= FIRST for hit in hits) / FIRST,
            f"P@{SECOND}": sum(hit <= SECOND for hit in hits) / SECOND,
            "mean_rank": fmean(hits) if hits else 0.0,
            "median_rank": float(hits[:FIRST][len(hits[:FIRST]) // 2]) if hits else 0.0,
        }
    return found


def _panels(report: dict[str, Any], pages: int) -> list[Panel]:
    """Return the harvest in each fifth (above) and the sites found up to its end (below), by topic."""
    ends = [pages / FIFTHS * number for number in range(1, FIFTHS + 1)]
    return [
        Panel(
            {
                name: (ends, [one[value] for one in row["by_fifth"]])
                for name, row in found["operators"].items()
            },
            *(topic, "pages read", value),
        )
        for value in ("harvest", "sites")
        for topic, found in report.items()
    ]


def _averaged(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of each number, lists place by place and dictionaries key by key."""
    first = several[0]
    found: dict[str, Any] = {}
    for name, value in first.items():
        values = [one[name] for one in several]
        if isinstance(value, dict):
            found[name] = _averaged(values)
        elif isinstance(value, list):
            found[name] = [_averaged([one[place] for one in values]) for place in range(len(value))]
        else:
            found[name] = fmean(values)
    return found


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
