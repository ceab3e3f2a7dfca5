#!/usr/bin/env python3
"""Train the hub classifier and write a versioned model folder.

    scripts/train_hub_classifier.py --labels urls.tsv --pages pages.tsv --archive pages.tar.xz

    scripts/train_hub_classifier.py ... --search --models held/models --hold-out held

    scripts/train_hub_classifier.py ... --pairs held/models/0001-12345678

    scripts/train_hub_classifier.py --labels mine.tsv --models DIR --update

``--search`` finds C and gamma of every machine on the rows it trains on: each pair of a coarse grid is
judged by folds of whole domains, about ``--coarse-rows`` rows of them, then each pair of a fine grid
around the best by all rows, on all cores; the manifest keeps both grids. Without it every machine takes
the pair of the shipped model, or that of ``--pairs MODEL``, with the grids they were found in: so what
was found with the held-out sixth apart trains the model of all domains.

With ``--update`` the active model of DIR (or the shipped one) learns the labels; the original
training set is not needed. Several ``--labels`` are joined, the first row of a URL wins. With
``--hold-out DIR`` a sixth of the domains is left out of training, and its rows are written to DIR
under the files' own names, for ``scripts/evaluate_hub_classifier.py``. The new version becomes the
active one unless the active one is better on held-out domains; ``--force`` makes it active anyway.
"""

import argparse
import os
import sys
from pathlib import Path

from lab.cli import parser_of
from lab.hub.files import PAGE_COLUMNS, Said, check_two_classes, read_captures, read_labels
from lab.hub.grid import Search
from lab.hub.training import TrainingOptions, train_model
from threadpoolctl import threadpool_limits

from classifier.hub.classifier import load_default
from classifier.hub.errors import HubClassifierError
from classifier.hub.labels import LABEL_COLUMNS, LabelRow, labels_hash, write_labels
from classifier.hub.model import HubModel, load_model
from classifier.hub.registry import ActiveClassifier, ModelRegistry, next_version, refusal
from classifier.hub.updating import fold_of, update_model
from incremental.topics.training.model_versions import adopt_shipped

# One domain in so many is held out.
HOLD_OUT = 6
MODELS = Path(__file__).parents[1] / "classifier" / "hub" / "models"


def main(arguments: list[str] | None = None) -> int:
    """Train, report, save; 0 = active, 3 = saved but not active, 2 = bad input."""
    options = _options(arguments)
    try:
        # One thread a process, whatever the machine has: the same input gives the same bytes.
        with threadpool_limits(1):
            return _train(options)
    except HubClassifierError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("--labels", action="append", required=True, metavar="TSV")
    parser.add_argument("--pages", metavar="TSV", help="labels of captured pages")
    parser.add_argument("--archive", metavar="TAR", help="the captured pages")
    parser.add_argument("--update", action="store_true", help="train the active model further")
    parser.add_argument("--models", type=Path, default=MODELS, metavar="DIR")
    parser.add_argument("--search", action="store_true", help="search C and gamma of every machine")
    parser.add_argument(
        "--pairs", type=Path, metavar="MODEL", help="take C and gamma of the model that found them"
    )
    parser.add_argument(
        "--coarse-rows", type=int, default=Search().coarse_rows, metavar="N", help="0 = all rows"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--hold-out", type=Path, metavar="DIR", help="where held-out rows go")
    parser.add_argument("--force", action="store_true", help="replace a better model")
    options = parser.parse_args(arguments)
    if options.update and options.search:
        parser.error(
            "--update learns with the C and gamma of its base; --search is for full training"
        )
    if options.pairs and (options.search or options.update):
        parser.error("--pairs is for full training without a search")
    if not options.update and not (options.pages and options.archive):
        parser.error("give --pages and --archive, or --update to learn from labels alone")
    return options


def _train(options: argparse.Namespace) -> int:
    registry = ModelRegistry(options.models)
    model = _update(options) if options.update else _retrain(options)
    for part in ("urls", "pages"):
        for name, score in model.metrics[part].items():
            print(part, name, *(f"{key} {value}" for key, value in score.items()))
    if "update" in model.metrics:
        print("update", *(f"{key} {value}" for key, value in model.metrics["update"].items()))
    why_not = "" if options.force else _refusal(model, registry)
    registry.add(model, use=not why_not)
    print(f"{options.models / model.version}: {'saved' if why_not else 'active'}")
    if why_not:
        print(f"{why_not}; --force replaces it anyway")
    return 3 if why_not else 0


def _refusal(model: HubModel, registry: ModelRegistry) -> str:
    """Return why a model should not become active; a whole one needs the higher F1 on held-out domains."""
    if "update" in model.metrics:
        return refusal(model)
    models = [info.metrics for info in registry.models() if info.active]
    own, *best = (
        one.get("urls", {}).get("all", {}).get("f1", 0.0) for one in (model.metrics, *models)
    )
    return (
        ""
        if 0.0 < own >= max(best, default=0.0)
        else "the active model is better on held-out domains"
    )


def _retrain(options: argparse.Namespace) -> HubModel:
    rows = _joined(options)
    pages = _read(options.pages, options)
    captures = read_captures(pages, options.archive)
    version = next_version(options.models, labels_hash([*rows, *pages]))
    if options.search:
        how = Search(options.coarse_rows, options.processes)
        chosen = TrainingOptions(report=_report, search=how)
    else:
        earlier = load_model(options.pairs) if options.pairs else load_default().model
        chosen = TrainingOptions(report=_report, found=earlier.search)
    return train_model(rows, captures, version, chosen)


def _update(options: argparse.Namespace) -> HubModel:
    rows = _joined(options)
    base = ActiveClassifier(options.models).current().model
    registry = ModelRegistry(options.models)
    if registry.active() is None:
        registry.use(adopt_shipped(options.models).version)
    return update_model(base, rows, next_version(options.models, labels_hash(rows)))


def _joined(options: argparse.Namespace) -> list[LabelRow]:
    joined: dict[str, LabelRow] = {}
    said: dict[str, Said] | None = {} if options.update else None
    for path in options.labels:
        for row in _read(path, options, said):
            joined.setdefault(row.url, row)
    return list(joined.values())


def _read(
    path: str, options: argparse.Namespace, said: dict[str, Said] | None = None
) -> list[LabelRow]:
    """Read a label file; with --hold-out, write its held-out rows and return the others."""
    rows = read_labels(path, said)
    if options.hold_out and rows:
        columns = PAGE_COLUMNS if path == options.pages else LABEL_COLUMNS
        held = [row for row in rows if fold_of(row.domain, HOLD_OUT) == HOLD_OUT - 1]
        options.hold_out.mkdir(parents=True, exist_ok=True)
        (options.hold_out / Path(path).name).write_text(write_labels(held, columns), "utf-8")
        rows = [row for row in rows if fold_of(row.domain, HOLD_OUT) != HOLD_OUT - 1]
    if not options.update:
        check_two_classes(rows, path)
    return rows


def _report(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
