"""Correcting the hub classifier: ``label``, ``labels export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from incremental.base.readable_urls import readable
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    printed_json,
    report,
    say,
    write_whole,
)
from incremental.topics.training.corrections import correct_all
from incremental.topics.training.label_files import export_labels


def label(
    context: typer.Context,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Pages of watched sites.")],
    kind: Annotated[
        Literal["hub", "article"], typer.Argument(metavar="hub|article", help="What the pages are.")
    ],
) -> None:
    """Label pages as hubs or articles; a label takes effect at once and trains the classifier.

    A hub is visited from now on and never dropped; an article is never a hub.
    """
    with open_store(context) as store:
        results = correct_all(store, urls, kind, now=now())
    in_json = printed_json(context, results)
    for result in results:
        if result.error:
            say(f"hubwatch: {result.error}")
        elif not in_json:
            where = ", ".join(result.sites) or "no watched site, used for training only"
            say(f"labelled {readable(result.url)} as {result.label}: {where}")
    failed = sum(result.error is not None for result in results)
    if failed:
        raise typer.Exit(2 if failed == len(results) else 1)


def export_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="TSV file to write; overwritten.")],
) -> None:
    """Write all labels to a file, one per page: yours before those of behaviour."""
    with open_store(context) as store:
        text, count = export_labels(store)
    write_whole(file, "file", lambda out: out.write(text.encode()))
    said = f"wrote {counted(count, 'label')} to {file}"
    report(context, {"written": str(file), "labels": count}, said)
