#!/usr/bin/env python3
"""Print the tables and draw the chart of ``docs/how-hubs-are-found.md``.

    scripts/report_hub_classifier.py domains --train urls.tsv --test paperlike.tsv
    scripts/report_hub_classifier.py chart --model held/0001-... --out docs/images/hubs.svg
        --urls held/urls.tsv --pages held/pages.tsv --archive pages.tar.xz

``domains`` the scores on all rows of a file, uncapped, each judged by machines that
never saw its domain (five folds), ``chart`` the precision-recall curves and the errors by kind of site.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import numpy as np
from lab.hub.assessment import (
    Judged,
    judge_pages,
    judge_urls,
    score,
    scored_rows,
)
from lab.hub.files import read_captures
from lab.hub.url_training import Probes, TrainedUrlMachine, TrainingRows, train_url_machine

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.errors import HubClassifierError
from classifier.hub.labels import LabelRow, read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence


REPORTS = ("domains", "chart")


def main(arguments: list[str] | None = None) -> int:
    """Run one report; 0 = done, 2 = bad input."""
    options = _options(arguments)
    reports = {
        "domains": _domains,
        "chart": _chart,
    }
    try:
        reports[options.report](options)
    except HubClassifierError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", choices=REPORTS)
    parser.add_argument("--train", metavar="TSV")
    parser.add_argument("--test", metavar="TSV")
    parser.add_argument("--urls", metavar="TSV")
    parser.add_argument("--pages", metavar="TSV")
    parser.add_argument("--archive", metavar="TAR")
    parser.add_argument("--model", type=Path, metavar="DIR")
    parser.add_argument("--out", type=Path, metavar="FILE")
    return parser.parse_args(arguments)


def _load(options: argparse.Namespace) -> HubClassifier:
    return HubClassifier.load(options.model) if options.model else load_default()


def _capped(path: str) -> list[LabelRow]:
    rows = read_labels(path)
    return [rows[place] for place in scored_rows(rows)]


def _domains(options: argparse.Namespace) -> None:
    """Table: all rows of a file and those of each domain with errors, judged out of fold."""
    test = read_labels(options.test)
    trained = _judged_apart(options, test)
    judged = Judged(trained.probed > 0, trained.probed)
    print("| domain | rows | hubs | P | R | F1 |")
    print("| --- | --- | --- | --- | --- | --- |")
    domains = np.array([row.domain for row in test])
    wrong = Counter(domains[judged.hubs != np.array([row.is_hub for row in test])].tolist())
    for name in ("all", *(domain for domain, _ in wrong.most_common())):
        found = score(test, judged, (domains == name) | (name == "all"))
        figures = " | ".join(f"{found[key]:.3f}" for key in ("precision", "recall", "f1"))
        print(f"| {name} | {found['n']} | {found['hubs']} | {figures} |")


def _judged_apart(options: argparse.Namespace, test: Sequence[LabelRow]) -> TrainedUrlMachine:
    """Train on the rows of --train and *test*; what it says of *test* comes from other domains alone."""
    joined = list({row.url: row for row in (*read_labels(options.train), *test)}.values())
    learned = [joined[place] for place in scored_rows(joined)]
    pair = _load(options).model.pair("url")
    return train_url_machine(
        TrainingRows(
            [row.evidence for row in learned],
            np.array([row.is_hub for row in learned], dtype=np.bool_),
            [row.domain for row in learned],
        ),
        lambda *_: pair,
        probes=Probes([row.evidence for row in test], [row.domain for row in test]),
        report=lambda line: print(line, file=sys.stderr),
    )


def _chart(options: argparse.Namespace) -> None:
    """Draw precision-recall curves and the share of errors by source of the labels."""
    import matplotlib as mpl  # noqa: PLC0415 - the other reports need none

    mpl.use("Agg")
    # The same input gives the same file, so that a new chart is a new result.
    mpl.rcParams["svg.hashsalt"] = "hubs"
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of back end

    classifier = _load(options)
    rows = _capped(options.urls)
    judged = judge_urls(classifier, rows)
    pages = _capped(options.pages)
    judged_pages = judge_pages(classifier, read_captures(pages, options.archive))
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.6), layout="constrained")
    _curves(axes[0], "URLs of unseen domains", rows, judged)
    _curves(axes[1], "captured pages of unseen domains", pages, judged_pages)
    _errors(axes[2], rows, judged["url"])
    options.out.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out, metadata={"Date": None} if options.out.suffix == ".svg" else None)
    print(options.out)


def _curves(axis: Any, title: str, rows: Sequence[LabelRow], judged: dict[str, Judged]) -> None:  # noqa: ANN401 - matplotlib
    from sklearn.metrics import precision_recall_curve  # noqa: PLC0415 - heavy

    hubs = np.array([row.is_hub for row in rows], dtype=np.bool_)
    for method, found in judged.items():
        if len(set(found.scores.tolist())) > 2:  # noqa: PLR2004 - a rule is a point
            precision, recall, _ = precision_recall_curve(hubs, found.scores)
            axis.plot(recall[:-1], precision[:-1], label=method)
        else:
            hit = (found.hubs & hubs).sum()
            axis.plot(hit / hubs.sum(), hit / max(found.hubs.sum(), 1), "o", label=method)
    axis.set(title=title, xlabel="recall", ylabel="precision", xlim=(0, 1.02), ylim=(0.3, 1.02))
    axis.grid(alpha=0.3)
    axis.legend(loc="lower left")


def _errors(axis: Any, rows: Sequence[LabelRow], judged: Judged) -> None:  # noqa: ANN401 - matplotlib
    sizes = Counter((row.source, row.label) for row in rows)
    wrong = Counter(
        (row.source, row.label)
        for row, hub in zip(rows, judged.hubs, strict=True)
        if row.is_hub != bool(hub)
    )
    kinds = sorted((kind for kind in sizes if sizes[kind] >= 20), key=lambda k: wrong[k] / sizes[k])  # noqa: PLR2004 - fewer is noise
    axis.barh(
        [f"{source} ({label}, {sizes[source, label]})" for source, label in kinds],
        [100 * wrong[kind] / sizes[kind] for kind in kinds],
        color=["#4477aa" if label == "hub" else "#cc6677" for _, label in kinds],
    )
    axis.set(title="errors of the URL method by kind of site", xlabel="% wrong")
    axis.tick_params(labelsize=7)


if __name__ == "__main__":
    sys.exit(main())
