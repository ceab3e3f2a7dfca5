"""Why: ``check hubs``."""

import re
from typing import Annotated, Literal

import typer
from rich.cells import cell_len
from rich.table import Column, Table
from rich.text import Text

from incremental.base.lookup import find_sites
from incremental.base.readable_urls import readable
from incremental.base.texts import Words
from incremental.interfaces.cli.common import (
    console,
    counted,
    now,
    open_store,
    print_list,
    printed_json,
    safe,
    say,
    settings_of,
    wants_json,
)
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.schema import when
from incremental.interfaces.results.status import Hub, hub_results
from incremental.interfaces.web.explanation import explanation
from incremental.settings.storage import models_folder

# Longer than any explanation.
_WHOLE = 100_000
# What no line of Chinese text is broken in: a Latin word, or a character, with what closes it.
_TOGETHER = re.compile(r"(?:[!-~]+|[^!-~\s])[，。；：、！？）》”]*\s*|\s+")


def check(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Any URL.")],
    *,
    language: Annotated[
        Literal["en", "zh"], typer.Option(help="Of the explanation.", case_sensitive=False)
    ] = "en",
) -> None:
    """Explain how Hubwatch treats a URL and why it was (not) found. Nothing is fetched."""
    settings, folder = settings_of(context)
    models = models_folder(settings, folder)
    with open_store(context) as store:
        answer = explain(store, settings, url, now=now(), models=models)
    if printed_json(context, answer):
        return
    words = Words(language)
    out = console()
    out.print(safe(words.said(answer["verdict"]), _WHOLE), style="bold")
    # A grid wraps and never cuts.
    grid = Table.grid(Column(no_wrap=False), Column(overflow="fold"), padding=(0, 2, 0, 0))
    lines = explanation(answer, words)
    beside = out.width - max(cell_len(label) for label, _ in lines) - 2
    for label, text in lines:
        shown = safe(text, _WHOLE)
        if language == "zh":
            shown = Text(broken(shown.plain, beside))
        grid.add_row(safe(label), shown)
    out.print(grid)


def broken(text: str, width: int) -> str:
    """Return Chinese text in lines of at most *width* cells; a longer Latin word has a line of its own."""
    # Rich breaks at blanks alone, so that a line ended before each date.
    lines = [""]
    for part in _TOGETHER.findall(text):
        if cell_len(lines[-1] + part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def hubs(
    context: typer.Context,
    site: Annotated[
        list[str] | None, typer.Argument(metavar="[SITE]...", help="Default: all.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1)] = 100,
    candidates: Annotated[
        bool,
        typer.Option("--candidates", help="Addresses that look like hubs, not visited yet."),
    ] = False,
) -> None:
    """List hubs: new pages, next visit and the reason."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        found = hub_results(store, settings, find_sites(store, site or []), now=now())
    listed = [hub for hub in found if hub.candidate or not candidates]
    rows = [hub for hub in found if hub.candidate == candidates][:limit]
    others = sum(hub.candidate for hub in found)
    if others and not (candidates or wants_json(context)):
        say(f"{counted(others, 'candidate')} not visited yet: hubwatch hubs --candidates")
    table = [
        (
            hub.kind if hub.way == "plain" else f"{hub.kind} ({hub.way})",
            hub.state,
            hub.visits,
            hub.new_pages,
            _rate(hub),
            when(hub.due_at),
            hub.why,
            readable(hub.url),
        )
        for hub in rows
    ]
    columns = ("kind", "state", "visits", "new", "new/day", "next visit", "why", "url")
    none = (
        "no candidates" if candidates else "no hubs yet; run the daemon to find them: hubwatch run"
    )
    print_list(context, listed[:limit], "Hubs", columns, table, empty=none)


def _rate(hub: Hub) -> str:
    if hub.rate_per_day is None:
        return "-"
    return f"{hub.rate_per_day:.3g}" + (" (guess)" if hub.rate_is_guess else "")
