"""Correcting the hub classifier: ``label``, ``labels export import``."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from incremental.base.errors import InputError
from incremental.base.readable_urls import readable
from incremental.interfaces.cli.common import Json, counted, now, open_store, print_json, say
from incremental.topics.training.corrections import correct
from incremental.topics.training.label_files import export_labels, import_labels


class Kind(StrEnum):
    """What a page is."""

    HUB = "hub"
    ARTICLE = "article"


def label(
    context: typer.Context,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Pages of watched sites.")],
    kind: Annotated[Kind, typer.Argument(metavar="hub|article", help="What the pages are.")],
    *,
    as_json: Json = False,
) -> None:
    """Label pages as hubs or articles; a label takes effect at once and trains the classifier.

    A hub is visited from now on and never dropped; an article is never a hub.
    """
    results: list[dict[str, Any]] = []
    with open_store(context) as store:
        for url in urls:
            try:
                done = correct(store, url, kind.value, now=now())
            except InputError as error:
                results.append({"url": url, "error": str(error)})
            else:
                results.append({"url": done.url, "label": done.label, "sites": list(done.sites)})
    if as_json:
        print_json(results)
    for result in results:
        if "error" in result:
            say(f"hubwatch: {result['error']}")
        elif not as_json:
            where = ", ".join(result["sites"]) or "no watched site, used for training only"
            say(f"labelled {readable(result['url'])} as {result['label']}: {where}")
    failed = sum("error" in result for result in results)
    if failed:
        raise typer.Exit(2 if failed == len(results) else 1)


def export_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="TSV file to write; overwritten.")],
    *,
    as_json: Json = False,
) -> None:
    """Write all labels to a file, one per page: yours first, then behaviour, then imported."""
    with open_store(context) as store:
        text, count = export_labels(store)
    draft = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError("file", str(file), f"cannot be written: {error.strerror}") from error
    if as_json:
        print_json({"written": str(file), "labels": count})
    else:
        say(f"wrote {counted(count, 'label')} to {file}")


def import_file(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="TSV file with columns label and url.")],
    *,
    as_json: Json = False,
) -> None:
    """Import labels from a file, for training; nothing is imported if a line is invalid."""
    with open_store(context) as store:
        count, changed = import_labels(store, file, now=now())
    if as_json:
        print_json({"read": str(file), "labels": count, "changed": changed})
    else:
        say(f"read {count} labels from {file}, {changed} new")
