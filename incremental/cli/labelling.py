"""Correcting the hub classifier: ``label``, ``labels export import``, ``models list learn use rollback``."""

from __future__ import annotations

import os
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from incremental.cli.common import Json, State, now, print_json, print_table, say
from incremental.errors import InputError
from incremental.readable_urls import readable

labels = typer.Typer(
    help="Take labels from one machine to another, or train with them.", no_args_is_help=True
)
models = typer.Typer(help="The versions of the hub classifier.", no_args_is_help=True)


class Kind(StrEnum):
    """What a page is."""

    HUB = "hub"
    TOPIC = "topic"


def label(
    context: typer.Context,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Pages of watched sites.")],
    kind: Annotated[
        Kind, typer.Argument(metavar="hub|topic", help="A page that leads to others, or not.")
    ],
    *,
    as_json: Json = False,
) -> None:
    """Say what pages are: it acts at once, outranks all else, and teaches the classifier.

    A hub is visited from now on and never dropped; a topic page is no hub any more.
    """
    from incremental.training.corrections import correct  # noqa: PLC0415 - quick --help

    state: State = context.obj
    results: list[dict[str, Any]] = []
    with state.open() as store:
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
            where = ", ".join(result["sites"]) or "no watched site, so it only trains"
            say(f"{readable(result['url'])} is a {result['label']} page of {where}")
    failed = sum("error" in result for result in results)
    if failed:
        raise typer.Exit(2 if failed == len(results) else 1)


@labels.command("export")
def export(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="TSV to write; it is replaced.")],
    *,
    as_json: Json = False,
) -> None:
    """Write all labels to a file, one a page: yours before behaviour's before imported ones."""
    from incremental.training.label_files import export_labels  # noqa: PLC0415 - quick --help

    state: State = context.obj
    with state.open() as store:
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
        say(f"wrote {count} labels to {file}")


@labels.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="TSV with the columns label and url at least.")],
    *,
    as_json: Json = False,
) -> None:
    """Read labels from a file, for training: all of them, or none if a line is wrong."""
    from incremental.training.label_files import import_labels  # noqa: PLC0415 - quick --help

    state: State = context.obj
    with state.open() as store:
        count, changed = import_labels(store, file, now=now())
    if as_json:
        print_json({"read": str(file), "labels": count, "changed": changed})
    else:
        say(f"read {count} labels from {file}, {changed} of them new")


def _root(context: typer.Context) -> Path:
    from incremental.storage import models_folder  # noqa: PLC0415 - quick --help

    state: State = context.obj
    return models_folder(*state.settings())


@models.command("list")
def list_(context: typer.Context, *, as_json: Json = False) -> None:
    """List the versions, the oldest first, and which one is used."""
    from incremental.training.model_versions import list_models  # noqa: PLC0415 - loads the classifier

    rows = list_models(_root(context))
    if as_json:
        print_json(rows)
        return
    table = [
        (
            row["version"],
            "in use" if row["active"] else row["problem"],
            row["origin"],
            "-" if row["f1"] is None else f"{row['f1']:.3f}",
            row["rows"] or "-",
            row["learned_labels"] or "-",
            _learned(row["update"]),
        )
        for row in rows
    ]
    columns = ("version", "state", "origin", "F1", "trained on", "labels learned", "labels right")
    print_table("Models", columns, table)


def _learned(note: dict[str, float] | None) -> str:
    """Return how many of the learned labels were judged rightly before and after."""
    if not note:
        return "-"
    return f"{note['base_right']:.0%} before, {note['right']:.0%} after"


@models.command()
def learn(context: typer.Context, *, as_json: Json = False) -> None:
    """Learn all labels now: yours, and what the pages' behaviour says. For those who run with cron.

    The new version is used at once unless it is worse than the one it was made from.
    """
    from incremental.training.nightly_training import learn_now  # noqa: PLC0415 - loads the classifier

    state: State = context.obj
    with state.open() as store:
        learned = learn_now(store, _root(context), now())
    if as_json:
        print_json(None if learned is None else asdict(learned))
    elif learned is None:
        say("there are no labels that were not learned yet")
    else:
        say(
            f"{learned.version} learned {learned.labels} labels: {learned.right:.0%} of them right,"
            f" {learned.base} had {learned.base_right:.0%};"
            f" it is {'in use' if learned.active else 'kept aside'}"
        )


@models.command()
def use(
    context: typer.Context,
    version: Annotated[str, typer.Argument(help="As `hubwatch models list` shows it.")],
    *,
    as_json: Json = False,
) -> None:
    """Use a version from now on; a running daemon takes it up by itself."""
    from incremental.training.model_versions import use_model  # noqa: PLC0415 - loads the classifier

    use_model(_root(context), version)
    _tell(version, as_json=as_json)


@models.command()
def rollback(context: typer.Context, *, as_json: Json = False) -> None:
    """Return to the version that was used before."""
    from classifier.hub.registry import ModelRegistry  # noqa: PLC0415 - loads the classifier

    _tell(ModelRegistry(_root(context)).rollback(), as_json=as_json)


def _tell(version: str, *, as_json: bool) -> None:
    if as_json:
        print_json({"active": version})
    else:
        say(f"{version} is in use")
