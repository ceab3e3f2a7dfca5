"""Why: ``check hubs``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer
from rich.table import Column, Table

from incremental.base.errors import NotFoundError
from incremental.base.lookup import find_sites
from incremental.base.readable_urls import readable
from incremental.base.texts import Words
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.sites import watch
from incremental.interfaces.cli.common import (
    console,
    counted,
    now,
    open_store,
    print_table,
    printed_json,
    safe,
    say,
    settings_of,
)
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.hubs import Hub, hub_results
from incremental.interfaces.results.schema import dated, when
from incremental.interfaces.web.explanation import explanation
from incremental.schedule.profile import by_hour_of_day, utc_offset_hours
from incremental.schedule.rates import hub_shape, rate_of
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store

_BAR_WIDTH = 48
# Longer than any explanation.
_WHOLE = 100_000


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
    lists = {key: [dated(row) for row in answer[key]] for key in ("sites", "labels", "topics")}
    if printed_json(context, answer | lists):
        return
    words = Words(language)
    out = console()
    out.print(safe(words.said(answer["verdict"]), _WHOLE), style="bold")
    # A grid wraps and never cuts.
    grid = Table.grid(Column(no_wrap=False), Column(overflow="fold"), padding=(0, 2, 0, 0))
    for label, text in explanation(answer, words):
        grid.add_row(safe(label), safe(text, _WHOLE))
    out.print(grid)


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
    hours: Annotated[
        str | None, typer.Option(metavar="URL", help="Expected new links of this hub by hour.")
    ] = None,
) -> None:
    """List hubs: new pages, next visit and the reason."""
    settings, _ = settings_of(context)
    if hours is not None:
        _show_hours(context, settings, hours)
        return
    with open_store(context) as store:
        found = hub_results(store, settings, find_sites(store, site or []), now=now())
    if printed_json(context, [hub for hub in found if hub.candidate or not candidates][:limit]):
        return
    rows = [hub for hub in found if hub.candidate == candidates][:limit]
    if not rows:
        say(
            "no candidates"
            if candidates
            else "no hubs yet; run the daemon to find them: hubwatch run"
        )
    others = sum(hub.candidate for hub in found)
    if others and not candidates:
        say(f"{counted(others, 'candidate')} not visited yet: hubwatch hubs --candidates")
    if not rows:
        return
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
    print_table("Hubs", columns, table)


def _rate(hub: Hub) -> str:
    if hub.rate_per_day is None:
        return "-"
    return f"{hub.rate_per_day:.3g}" + (" (guess)" if hub.rate_is_guess else "")


def _show_hours(context: typer.Context, settings: Settings, url: str) -> None:
    """Draw one bar per hour of the day."""
    with open_store(context) as store:
        answer = _hours_of(store, settings, url)
    if printed_json(context, answer):
        return
    values = answer["by_hour"]
    most = max(values) or 1.0
    rows = [
        (f"{hour:02}", f"{value:.3g}", "█" * round(_BAR_WIDTH * value / most))
        for hour, value in enumerate(values)
    ]
    offset = answer["utc_offset"]
    zone = "UTC" if offset is None else f"UTC{offset:+d}, estimated from the site's activity"
    columns = ("hour", "new links", "")
    print_table(f"{readable(answer['url'])}: expected by hour, {zone}", columns, rows)


def _hours_of(store: Store, settings: Settings, url: str) -> dict[str, Any]:
    """Return a hub's expected new links by hour of the day, for JSON.

    ``by_hour`` has 24 values (links in that hour of an average day) at ``utc_offset``: whole hours,
    estimated from the site's activity; None (UTC) if it shows no daily pattern.

    Raises:
        NotFoundError: no watched site has a hub at *url*.
    """
    address = normalize(url)
    wanted = canonical_key(address) if address else ""
    for row in store.read.sites():
        for hub in store.read.hubs(row.id):
            if hub.canonical_key == wanted:
                site = watch(row, settings)
                state = site.hub_state(hub)
                shape, rate = hub_shape(state, site.state), rate_of(state, site.state)
                offset = utc_offset_hours(shape.hours, sum(state.hours))
                ahead = None if offset is None else round(offset)
                by_hour = by_hour_of_day([rate * value for value in shape.hours], ahead or 0)
                return {
                    "url": hub.url,
                    "utc_offset": ahead,
                    "learned_from_links": round(sum(state.hours), 1),
                    "by_hour": [round(value, 4) for value in by_hour],
                }
    raise NotFoundError(f"{url} is no hub of a watched site; `hubwatch hubs` lists them")
