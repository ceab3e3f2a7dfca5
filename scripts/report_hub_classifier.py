#!/usr/bin/env python3
"""Print the tables and draw the chart of ``docs/how-hubs-are-found.md``.

    scripts/report_hub_classifier.py costs --pages pages.tsv --archive pages.tar.xz
    scripts/report_hub_classifier.py context --replays DIR
    scripts/report_hub_classifier.py domains --train urls.tsv --test paperlike.tsv
    scripts/report_hub_classifier.py chart --model held/0001-... --out docs/images/hubs.svg
        --urls held/urls.tsv --pages held/pages.tsv --archive pages.tar.xz

``costs`` is paper 003's table 5 (time, memory, processor of
1,000 pages, each method in a process of its own), ``context`` what the site's other URLs add on
recorded sites, ``domains`` the scores on all rows of a file, uncapped, each judged by machines that
never saw its domain (five folds), ``chart`` the precision-recall curves and the errors by kind of site.
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # runs from a checkout, not installed

import numpy as np
from lab.hub.assessment import (
    Judged,
    judge_pages,
    judge_urls,
    page_features,
    score,
    scored_rows,
)
from lab.hub.files import read_captures
from lab.hub.rivals import Rivals, paper_content_rows
from lab.hub.url_training import Probes, TrainedUrlMachine, TrainingRows, train_url_machine

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.context import SiteIndex
from classifier.hub.errors import HubClassifierError
from classifier.hub.evidence import LinkEvidence
from classifier.hub.labels import LabelRow, read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

REPORTS = ("costs", "cost", "context", "domains", "chart")
COST_PAGES = 1000
COST_METHODS = ("heuristic", "paper_content", "content", "cascade", "paper_url", "url")


def main(arguments: list[str] | None = None) -> int:
    """Run one report; 0 = done, 2 = bad input."""
    options = _options(arguments)
    reports = {
        "costs": _costs,
        "cost": _cost,
        "context": _context,
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
    parser.add_argument("--replays", type=Path, metavar="DIR", help="*.sqlite and truth/*.tsv")
    parser.add_argument("--model", type=Path, metavar="DIR")
    parser.add_argument("--method", choices=COST_METHODS)
    parser.add_argument("--out", type=Path, metavar="FILE")
    return parser.parse_args(arguments)


def _load(options: argparse.Namespace) -> HubClassifier:
    return HubClassifier.load(options.model) if options.model else load_default()


def _capped(path: str) -> list[LabelRow]:
    rows = read_labels(path)
    return [rows[place] for place in scored_rows(rows)]


def _costs(options: argparse.Namespace) -> None:
    """Table: seconds, peak memory and processor share of each method on 1,000 pages."""
    print("| method | pages | seconds | of them processor | memory, MB | share |")
    print("| --- | --- | --- | --- | --- | --- |")
    for method in COST_METHODS:
        command = [sys.executable, __file__, "cost", "--method", method]
        command += ["--pages", options.pages, "--archive", options.archive]
        command += ["--model", str(options.model)] if options.model else []
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - this file
        cost = json.loads(done.stdout)
        print(
            f"| {method} | {cost['pages']} | {cost['seconds']:.2f}"
            f" | {cost['processor'] * cost['seconds']:.2f} | {cost['megabytes']:.0f}"
            f" (+{cost['megabytes_added']:.0f}) | {cost['processor']:.0%} |",
            flush=True,
        )


def _cost(options: argparse.Namespace) -> None:
    """Print one method's cost as JSON; a process of its own, so that peak memory is its own."""
    classifier = _load(options)
    rows = read_labels(options.pages)[:COST_PAGES]
    captures = read_captures(rows, options.archive) if "url" not in options.method else []
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    _run_method(options.method, classifier, rows, captures)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cost = {
        "pages": len(rows),
        "seconds": seconds,
        "megabytes": after.ru_maxrss / 1024,
        "megabytes_added": (after.ru_maxrss - before.ru_maxrss) / 1024,
        "processor": spent / seconds,
    }
    print(json.dumps(cost))


def _run_method(
    method: str, classifier: HubClassifier, rows: Sequence[LabelRow], captures: Sequence[Any]
) -> None:
    model = classifier.model
    links = [LinkEvidence(row.url) for row in rows]
    if method == "url":
        classifier.score(links)
    elif method == "paper_url":
        Rivals.of(model).paper_url.decide_links(links)
    elif method == "cascade":
        for link, capture in zip(links, captures, strict=True):
            classifier.score_page(link, capture.body, encoding=capture.row.encoding or None)
    else:
        features = page_features(captures)
        if method == "content":
            model.content.log_odds(features)
        elif method == "paper_content":
            Rivals.of(model).paper_content.decide(paper_content_rows(features))
        else:
            Rivals.of(model).heuristic.decide(features)


def _context(options: argparse.Namespace) -> None:
    """Table: share of a recorded site's new URLs judged rightly: alone, and among its other URLs.

    The last column has other weights: learned on the other sites, so that they never saw this one.
    """
    classifier = _load(options)
    truths = sorted(options.replays.glob("truth/*.tsv"))
    sites = {truth.stem: _recorded_site(truth, classifier) for truth in truths}
    print("| site | URLs | URL alone | with context | weights of the other sites |")
    print("| --- | --- | --- | --- | --- |")
    for name, site in sites.items():
        others = [other for other in sites if other != name]
        learned = _learned_context([sites[other] for other in others])
        values = (site.alone, site.among, learned.decision_function(site.evidence))
        shares = " | ".join(f"{np.mean((value > 0) == site.lists):.3f}" for value in values)
        print(f"| {name} | {len(site.lists)} | {shares} |")
    learned = _learned_context(list(sites.values()))
    weights = learned.coef_[0] / learned.coef_[0][0]
    print(f"weights of all: urls_below {weights[1]:.2f}, template_siblings {weights[2]:.2f}")


@dataclass(frozen=True, slots=True)
class _RecordedSite:
    """New URLs of one site; every field has one entry a URL."""

    lists: NDArray[np.bool_]
    alone: NDArray[np.float64]
    """Log-odds by the URL alone."""
    among: NDArray[np.float64]
    """Log-odds with the site's context."""
    evidence: NDArray[np.float64]
    """Log-odds alone, and the logarithms of URLs below and of template siblings."""


def _recorded_site(truth: Path, classifier: HubClassifier) -> _RecordedSite:
    rows = [line.split("\t") for line in truth.read_text("utf-8").splitlines()[1:]]
    rows = [row for row in rows if row[3]]  # reachable by a link
    with closing(sqlite3.connect(truth.parents[1] / f"{truth.stem}.sqlite")) as database:
        known = [url for (url,) in database.execute("select url from page")]
    index = SiteIndex.build([(u, None) for u in known if not u.endswith((".xml", ".txt"))])
    links = [LinkEvidence(row[0]) for row in rows]
    among = [index.add_context(link) for link in links]
    alone = classifier.log_odds(links)
    counts = [(link.urls_below or 0, link.template_siblings or 0) for link in among]
    return _RecordedSite(
        np.array([row[1] == "list" for row in rows], dtype=np.bool_),
        alone,
        classifier.log_odds(among),
        np.column_stack([alone, np.log1p(np.minimum(counts, 1000))]),
    )


def _learned_context(sites: Sequence[_RecordedSite]) -> Any:  # noqa: ANN401 - scikit-learn has no types
    """Fit the weights of the context by logistic regression, each site as heavy as another."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    weights = np.concatenate([np.full(len(site.lists), 1 / len(site.lists)) for site in sites])
    evidence = np.vstack([site.evidence for site in sites])
    lists = np.concatenate([site.lists for site in sites])
    return LogisticRegression(C=10.0).fit(evidence, lists, sample_weight=100 * weights)


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
