"""How well the product's own threshold decides: by kind of evidence, and while a user corrects it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_recall_curve

from classifier.embedding.meaning import Meaning
from classifier.topic.fitting import Fit, fit_topic
from classifier.topic.methods import Setting
from classifier.words.background import Background
from classifier.words.batch import PageBatch, sample_of
from classifier.words.evidence import Evidence, spoken
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import Vector
from incremental.topics.embedding.page_embedder import meanings_of
from lab.labelled_texts import LabelledText

if TYPE_CHECKING:
    from classifier.embedding.embedder import Embedder

KINDS = ("examples", "sentence", "words", "both", "crosslingual")
SHARES = (0.10, 0.03, 0.01)
# A topic corrected by a user starts with so many examples.
STARTING_WITH = 5
JUMP = 0.25
PRECISION, RECALL, SHORT_OF_BEST = 0.9, 0.7, 0.05
_BINS = 10
Figures = dict[str, float]
ByMethod = dict[str, dict[str, Figures]]
"""Figures by method and number of examples."""
Flags = NDArray[np.bool_]
Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Placed:
    """A text as the topics know it."""

    terms: Vector
    meaning: Meaning | None
    topics: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """A topic in a sentence and in key words."""

    sentence: str
    words: tuple[str, ...]


def read_descriptions(path: Path) -> dict[str, Description]:
    """Read a TSV with the header ``topic sentence words``; the words are parted by commas."""
    lines = path.read_text(encoding="utf-8").splitlines()
    if lines[:1] != ["topic\tsentence\twords"]:
        raise ValueError(f"{path}: the first line must be: topic, sentence, words, parted by tabs")
    rows = [line.split("\t") for line in lines[1:] if line]
    return {
        topic: Description(sentence, tuple(word.strip() for word in words.split(",")))
        for topic, sentence, words in rows
    }


def placed_of(texts: Sequence[LabelledText], embedder: Embedder | None) -> list[Placed]:
    """Embed texts; without an embedder words alone judge."""
    pages = [text.page for text in texts]
    found = meanings_of(pages, embedder) if embedder else [None] * len(pages)
    return [
        Placed(weighted_terms(text.page), meaning, text.topics)
        for text, meaning in zip(texts, found, strict=True)
    ]


class Stream:
    """Texts that a crawler has seen, and what topics may learn from."""

    def __init__(self, seen: Sequence[Placed]) -> None:
        self.background = Background()
        for one in seen:
            self.background.observe(one.terms)
        self.background.learn_concepts()
        self.know(seen)

    def know(self, texts: Sequence[Placed]) -> None:
        """Let the vectors of texts be known, which the crawler need not have seen."""
        for one in texts:
            self.background.meanings.put(one.terms, one.meaning)

    def batch(self, texts: Sequence[Placed]) -> PageBatch:
        """Prepare texts for scoring."""
        return PageBatch([one.terms for one in texts], self.background)

    def fit(self, evidence: Evidence, method: str = "fused") -> Fit:
        """Learn a topic, by the product's own method or by another."""
        setting = Setting(self.background, sample_of(self.background))
        return fit_topic(method, evidence.with_negatives_of(self.background.sample), setting)

    def described(self, description: Description, kind: str, embedder: Embedder | None) -> Evidence:
        """Return a sentence, key words or both as evidence."""
        evidence = Evidence(keywords=description.words if kind != "sentence" else ())
        pages = {}
        if evidence.keywords:
            pages["words"] = (spoken(evidence.keywords), evidence.keyword_page)
        if kind != "words":
            page = PageText("", title=description.sentence)
            pages["sentence"] = (page, weighted_terms(page))
            evidence = replace(
                evidence, examples=(weighted_terms(page),), example_urls=("sentence",)
            )
        if embedder is not None:
            for page, terms in pages.values():
                self.background.meanings.put(terms, meanings_of([page], embedder)[0])
        return evidence


def of_examples(
    chosen: Sequence[Placed], relevant: Sequence[Placed] = (), irrelevant: Sequence[Placed] = ()
) -> Evidence:
    """Return texts as examples and as marked pages."""

    def terms(texts: Sequence[Placed]) -> tuple[Vector, ...]:
        return tuple(dict(one.terms) for one in texts)

    urls = tuple(map(str, range(len(chosen))))
    return Evidence(
        examples=terms(chosen),
        relevant=terms(relevant),
        irrelevant=terms(irrelevant),
        example_urls=urls,
    )


# By kind of evidence.


@dataclass(frozen=True)
class Trial:
    """What is measured by kind of evidence, on which texts."""

    texts: Sequence[Placed]
    foreign: Sequence[Placed]
    """Examples in another language, under the same labels."""
    descriptions: Mapping[str, Description]
    counts: Sequence[int]
    """Numbers of examples."""
    draws: int
    embedder: Embedder | None

    def by_evidence(self, kinds: Sequence[str], topics: Sequence[str]) -> dict[str, Figures]:
        """Return mean figures by kind: ``examples_5``, ``sentence``, ``crosslingual_5`` and so on."""
        stream = Stream(self.texts)
        stream.know(self.foreign)
        found: dict[str, list[Figures]] = {}
        for topic in topics:
            for kind in kinds:
                for name, evidence, chosen in self._evidence(stream, kind, topic):
                    figures = judged(stream, stream.fit(evidence), self._others(chosen), topic)
                    found.setdefault(name, []).append(figures)
        return {
            name: mean | {"ratio": mean["f1"] / max(mean["f1_best"], 1e-9)}
            for name, mean in ((name, _means(figures)) for name, figures in found.items())
        }

    def by_method(self, methods: Sequence[str], topics: Sequence[str]) -> dict[str, ByMethod]:
        """Return mean figures by topic, method and number of examples."""
        stream = Stream(self.texts)
        report: dict[str, ByMethod] = {}
        for topic in topics:
            found: dict[str, dict[str, list[Figures]]] = {method: {} for method in methods}
            for name, evidence, chosen in self._evidence(stream, "examples", topic):
                count, ranked = name.rpartition("_")[2], self._others(chosen)
                for method in methods:
                    figures = judged(stream, stream.fit(evidence, method), ranked, topic)
                    kept = {key: figures[key] for key in ("ap", "f1", "recall_at_95")}
                    found[method].setdefault(count, []).append(kept)
            report[topic] = {
                method: {count: _means(figures) for count, figures in counts.items()}
                for method, counts in found.items()
            }
        return report

    def _others(self, chosen: set[int]) -> list[Placed]:
        """Return the labelled texts that are no examples."""
        return [one for n, one in enumerate(self.texts) if one.topics and n not in chosen]

    def _evidence(
        self, stream: Stream, kind: str, topic: str
    ) -> list[tuple[str, Evidence, set[int]]]:
        if kind not in {"examples", "crosslingual"}:
            said = self.descriptions.get(topic, Description(topic, (topic,)))
            return [(kind, stream.described(said, kind, self.embedder), set())]
        source = self.texts if kind == "examples" else self.foreign
        pool = [number for number, one in enumerate(source) if topic in one.topics]
        drawn = []
        for count in self.counts:
            for draw in range(self.draws if len(pool) > count else 0):
                chosen = random.Random(draw).sample(pool, count)
                evidence = of_examples([source[number] for number in chosen])
                own = set(chosen) if kind == "examples" else set()
                drawn.append((f"{kind}_{count}", evidence, own))
        return drawn


def judged(stream: Stream, fit: Fit, texts: Sequence[Placed], topic: str) -> Figures:
    """Score texts; F1 is at the topic's own threshold, ``f1_best`` at the best one afterwards."""
    scores = fit.scores(stream.batch(texts))
    truth = np.array([topic in one.topics for one in texts])
    shown = np.array([fit.decision.score(score) for score in scores.tolist()])
    return {
        "ap": float(average_precision_score(truth, scores)),
        "f1": f1_of(truth, scores >= fit.decision.value),
        "f1_best": best_f1(truth, scores, np.ones(len(truth))),
        "recall_at_95": recall_at(truth, scores, np.ones(len(truth)), 0.95),
        "ece": calibration_error(truth, shown),
        "share": float(truth.mean()),
        "accepted": float((scores >= fit.decision.value).mean()),
    }


def f1_of(truth: Flags, said: Flags) -> float:
    """Return F1; 0 if nothing is relevant."""
    return float(2 * (truth & said).sum() / max(truth.sum() + said.sum(), 1))


def best_f1(truth: Flags, scores: Scores, weights: Scores) -> float:
    """Return the highest F1 of any threshold, weighted."""
    precision, recall, _ = precision_recall_curve(truth, scores, sample_weight=weights)
    return float((2 * precision * recall / np.maximum(precision + recall, 1e-9)).max())


def recall_at(truth: Flags, scores: Scores, weights: Scores, precision: float) -> float:
    """Return the largest recall of all thresholds with at least this precision; 0 = there is none."""
    precisions, recalls, _ = precision_recall_curve(truth, scores, sample_weight=weights)
    # The curve's last point is made up: nothing chosen, precision 1.
    return float(max(recalls[:-1][precisions[:-1] >= precision], default=0.0))


def calibration_error(truth: Flags, shown: Scores) -> float:
    """Return the expected calibration error over ten bins of equal width."""
    places = (shown * _BINS).astype(int).clip(0, _BINS - 1)
    weights = np.bincount(places, minlength=_BINS)
    gaps = np.abs(
        np.bincount(places, shown, _BINS) - np.bincount(places, truth.astype(float), _BINS)
    )
    return float(gaps.sum() / max(weights.sum(), 1))


def _means(figures: Sequence[Figures]) -> Figures:
    return {name: float(np.mean([one[name] for one in figures])) for name in figures[0]}


def mean_over(topics: Sequence[ByMethod]) -> ByMethod:
    """Return the mean over topics."""
    return {
        method: {count: _means([one[method][count] for one in topics]) for count in counts}
        for method, counts in topics[0].items()
    }


# While a user corrects it.


def by_feedback(
    texts: Sequence[Placed], topics: Sequence[str], clicks: int, draws: int
) -> dict[str, dict[str, Any]]:
    """Mark the worst mistake of the seen half, up to *clicks* times, at each share of the topic.

    Figures are of the other half, whose relevant texts are weighted to the share.
    """
    report = {}
    for share in SHARES:
        paths = [
            path
            for topic in topics
            for draw in range(draws)
            if (path := _corrected(texts, topic, share, clicks, draw))
        ]
        if paths:
            report[f"{share:.2f}"] = _summary(paths, clicks)
    return report


@dataclass(frozen=True)
class Step:
    """The unseen half after some clicks."""

    precision: float
    recall: float
    accepted: float
    f1: float
    f1_best: float
    best_recall: float
    """At the precision wanted, of any threshold."""

    @property
    def reached(self) -> bool:
        """Whether it is what is wanted, or nearly the best of any threshold."""
        if self.precision >= PRECISION and self.recall >= RECALL:
            return True
        return self.best_recall < RECALL and self.f1 >= self.f1_best - SHORT_OF_BEST


def _corrected(
    texts: Sequence[Placed], topic: str, share: float, clicks: int, draw: int
) -> list[Step]:
    drawn = random.Random(draw)
    own = [one for one in texts if topic in one.topics]
    others = [one for one in texts if one.topics and topic not in one.topics]
    drawn.shuffle(own)
    drawn.shuffle(others)
    examples, own = own[:STARTING_WITH], own[STARTING_WITH:]
    half = len(others) // 2
    count = max(round(share * half / (1 - share)), 1)
    seen, unseen = [*own[:count], *others[:half]], [*own[count:], *others[half:]]
    if len(own) < 2 * count or len(own) - count < STARTING_WITH:
        return []
    stream = Stream(seen)
    stream.know([*unseen, *examples])
    batches = stream.batch(seen), stream.batch(unseen)
    relevant = np.array([topic in one.topics for one in seen])
    truth = np.array([topic in one.topics for one in unseen])
    weights = np.where(truth, share / truth.sum(), (1 - share) / (~truth).sum())
    marked: list[int] = []
    path = []
    for _ in range(clicks + 1):
        evidence = of_examples(
            examples,
            relevant=[seen[number] for number in marked if relevant[number]],
            irrelevant=[seen[number] for number in marked if not relevant[number]],
        )
        fit = stream.fit(evidence)
        path.append(_step(fit.scores(batches[1]), fit.decision.value, truth, weights))
        beyond = fit.scores(batches[0]) - fit.decision.value
        wrong = np.where((beyond >= 0) != relevant, np.abs(beyond), -1.0)
        wrong[marked] = -1.0
        if wrong.max() < 0:
            break
        marked.append(int(wrong.argmax()))
    return path


def _step(scores: Scores, threshold: float, truth: Flags, weights: Scores) -> Step:
    said = scores >= threshold
    right, accepted = float(weights[said & truth].sum()), float(weights[said].sum())
    share = float(weights[truth].sum())
    return Step(
        precision=right / accepted if accepted else 0.0,
        recall=right / share,
        accepted=accepted,
        f1=2 * right / (accepted + share),
        f1_best=best_f1(truth, scores, weights),
        best_recall=recall_at(truth, scores, weights, PRECISION),
    )


def _summary(paths: Sequence[Sequence[Step]], clicks: int) -> dict[str, Any]:
    moves = [pair for path in paths for pair in pairwise(path)]
    recalls = [abs(after.recall - before.recall) for before, after in moves]
    shares = [abs(after.accepted - before.accepted) for before, after in moves]
    needed = [
        next((number for number, step in enumerate(path) if step.reached), clicks + 1)
        for path in paths
    ]
    last = [path[-1] for path in paths]
    return {
        "largest_jump_recall": max(recalls, default=0.0),
        "largest_jump_share": max(shares, default=0.0),
        "jumps": sum(max(pair) > JUMP for pair in zip(recalls, shares, strict=True)),
        "clicks_to_goal": float(np.median(needed)),
        "reached_within_12": float(np.mean([count <= 12 for count in needed])),  # noqa: PLR2004
        "streams": len(paths),
        "precision": float(np.mean([step.precision for step in last])),
        "recall": float(np.mean([step.recall for step in last])),
        "f1_before": float(np.mean([path[0].f1 for path in paths])),
        "f1": float(np.mean([step.f1 for step in last])),
        "f1_best": float(np.mean([step.f1_best for step in last])),
    }
