"""Versions of the hub classifier: ``models list learn use labels``."""

from pathlib import Path
from typing import Annotated

import typer

from classifier.hub.registry import ModelRegistry
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_list,
    report,
    settings_of,
    write_whole,
)
from incremental.settings.storage import models_folder
from incremental.topics.training.label_files import export_labels
from incremental.topics.training.model_versions import list_models, use_model
from incremental.topics.training.nightly_training import in_words, learn_now


def _root(context: typer.Context) -> Path:
    return models_folder(*settings_of(context))


def list_versions(context: typer.Context) -> None:
    """List the versions, oldest first, and the one in use."""
    rows = list_models(_root(context))
    table = [
        (
            row.version,
            "in use" if row.active else row.problem,
            row.origin,
            "-" if row.f1 is None else f"{row.f1:.3f}",
            row.rows or "-",
            row.learned_labels or "-",
        )
        for row in rows
    ]
    columns = ("version", "state", "origin", "F1", "trained on", "labels learned")
    print_list(context, rows, "Models", columns, table)


def learn(context: typer.Context) -> None:
    """Train on all labels now: yours, and those from page behaviour. For use with cron.

    The new version is used at once unless it is worse than its base.
    """
    with open_store(context) as store:
        learned = learn_now(store, _root(context), now())
    report(context, learned, in_words(learned))


def use(
    context: typer.Context,
    version: Annotated[
        str | None,
        typer.Argument(help="As `hubwatch models list` shows it; default: the previous."),
    ] = None,
) -> None:
    """Switch to a version, or to the one before; a running daemon picks it up."""
    root = _root(context)
    if version is None:
        version = ModelRegistry(root).rollback()
    else:
        use_model(root, version)
    report(context, {"active": version}, f"{version} is in use")


def labels(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="TSV file to write; overwritten.")],
) -> None:
    """Write all labels to a file for the training scripts, one per page: yours before those of behaviour."""
    with open_store(context) as store:
        text, count = export_labels(store)
    write_whole(file, "file", lambda out: out.write(text.encode()))
    report(
        context,
        {"written": str(file), "labels": count},
        f"wrote {counted(count, 'label')} to {file}",
    )
