"""Correcting the hub classifier: ``label``."""

from typing import Annotated, Literal

import typer

from incremental.base.readable_urls import readable
from incremental.interfaces.cli.common import (
    now,
    open_store,
    printed_json,
    say,
    say_failed,
)
from incremental.topics.training.corrections import correct_all


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
    for result in results if not printed_json(context, results) else ():
        if not result.error:
            where = ", ".join(result.sites) or "no watched site, used for training only"
            say(f"labelled {readable(result.url)} as {result.label}: {where}")
    say_failed([result.error for result in results if result.error], len(results))
