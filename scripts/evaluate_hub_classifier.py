#!/usr/bin/env python3
"""Score the hub classifier and its rivals on labelled URLs and captured pages.

    scripts/evaluate_hub_classifier.py --urls urls.tsv
    scripts/evaluate_hub_classifier.py --pages pages.tsv --archive pages.tar.xz --json
    scripts/evaluate_hub_classifier.py --urls urls.tsv --predictions out.tsv --cap 0

Hub is the positive class. Of each domain and label the first 10 rows in file order are scored
(``--cap``). Scores are only worth something on domains that the model was not trained on; see
``scripts/train_hub_classifier.py --hold-out``. Speeds are of processor time on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from lab.cli import parser_of, print_json, show
from lab.hub.assessment import (
    Judged,
    judge_pages,
    judge_urls,
    page_features,
    score,
    score_sections,
    scored_rows,
)
from lab.hub.files import Capture, read_captures, read_labels
from threadpoolctl import threadpool_limits

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.errors import HubClassifierError
from classifier.hub.evidence import LinkEvidence
from classifier.hub.labels import LabelRow

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# Links scored at once when the speed is measured.
BATCH = 10_000


def main(arguments: list[str] | None = None) -> int:
    """Run the evaluation; 0 = done, 2 = bad input."""
    options = _options(arguments)
    try:
        # One core, whatever the machine has: speeds of different machines can be compared.
        with threadpool_limits(1):
            report = _evaluate(options)
    except HubClassifierError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    show(report)
    print_json(options, report)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__)
    parser.add_argument("--urls", metavar="TSV", help="label url anchor domain lang source")
    parser.add_argument("--pages", metavar="TSV", help="label url domain lang md5 encoding source")
    parser.add_argument("--archive", metavar="TAR", help="pages/<md5>.html of --pages")
    parser.add_argument("--model", type=Path, metavar="DIR", help="default: the shipped model")
    parser.add_argument(
        "--predictions", type=Path, metavar="FILE", help="TSV: url method label score"
    )
    parser.add_argument("--cap", type=int, default=10, help="rows a domain and label; 0 = all")
    options = parser.parse_args(arguments)
    if not options.urls and not options.pages:
        parser.error("give --urls, or --pages with --archive, or both")
    if bool(options.pages) != bool(options.archive):
        parser.error("--pages and --archive belong together")
    return options


def _evaluate(options: argparse.Namespace) -> dict[str, Any]:
    classifier = HubClassifier.load(options.model) if options.model else load_default()
    report: dict[str, Any] = {"model": classifier.version}
    written: list[str] = []
    if options.urls:
        rows = _capped(read_labels(options.urls), options.cap)
        judged = judge_urls(classifier, rows)
        report["urls"] = {name: score_sections(rows, found) for name, found in judged.items()}
        report["urls_per_second"] = _urls_per_second(classifier, [row.evidence for row in rows])
        written += _prediction_lines(rows, judged)
    if options.pages:
        rows = _capped(read_labels(options.pages), options.cap)
        captures = read_captures(rows, options.archive)
        _warn_of_missing(captures)
        features, speed = _timed_features(classifier, captures)
        judged = judge_pages(classifier, captures, features)
        report["pages"] = {name: score(rows, found) for name, found in judged.items()}
        links = [LinkEvidence(row.url) for row in rows]
        report["pages_per_second"] = {"url": _urls_per_second(classifier, links), "content": speed}
        written += _prediction_lines(rows, judged)
    if options.predictions:
        lines = ["url\tmethod\tlabel\tscore", *written]
        options.predictions.parent.mkdir(parents=True, exist_ok=True)
        options.predictions.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return report


def _capped(rows: list[LabelRow], cap: int) -> list[LabelRow]:
    return [rows[place] for place in scored_rows(rows, cap)]


def _warn_of_missing(captures: Sequence[Capture]) -> None:
    missing = [capture.row.url for capture in captures if not capture.body]
    if missing:
        print(
            f"warning: {len(missing)} pages are not in the archive and count as empty,"
            f" the first is {missing[0]}",
            file=sys.stderr,
        )


def _prediction_lines(rows: Sequence[LabelRow], judged: dict[str, Judged]) -> list[str]:
    return [
        f"{row.url}\t{method}\t{'hub' if hub else 'article'}\t{value:.6g}"
        for method, found in judged.items()
        for row, hub, value in zip(rows, found.hubs, found.scores, strict=True)
    ]


def _timed_features(
    classifier: HubClassifier, captures: Sequence[Capture]
) -> tuple[np.ndarray[Any, Any], float]:
    """Content features of all pages, and pages a second of the whole content method."""
    started = time.process_time()
    features = page_features(captures)
    classifier.model.content.log_odds(features)
    return features, len(captures) / (time.process_time() - started)


def _urls_per_second(classifier: HubClassifier, links: Sequence[LinkEvidence]) -> float:
    """Links a second in full batches; a short file is repeated. The best of three runs."""
    batch = list(links)
    while len(batch) < BATCH:
        batch += batch
    seconds = min(_seconds(lambda: classifier.score(batch[:BATCH])) for _ in range(3))
    return BATCH / seconds


def _seconds(action: Callable[[], object]) -> float:
    """Processor time of the one thread at work: what else the machine does hardly counts."""
    started = time.process_time()
    action()
    return time.process_time() - started


if __name__ == "__main__":
    sys.exit(main())
