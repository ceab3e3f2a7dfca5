"""Why: ``check hubs``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from incremental.cli.common import Json, now, open_store, print_json, print_table, say, settings_of
from incremental.explain.hours import hours_of
from incremental.explain.hub import in_short
from incremental.explain.page import explain, hub_rows
from incremental.readable_urls import readable
from incremental.results.lookup import find_sites
from incremental.results.schema import dated, when
from incremental.settings import Settings
from incremental.storage import models_folder

_BAR_WIDTH = 48


def check(
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="Any URL.")],
    *,
    as_json: Json = False,
) -> None:
    """Explain how Hubwatch treats a URL and why it was (not) found. Nothing is fetched."""
    settings, folder = settings_of(context)
    models = models_folder(settings, folder)
    with open_store(context) as store:
        answer = explain(store, settings, url, now=now(), models=models)
    answer |= {key: [dated(row) for row in answer[key]] for key in ("sites", "labels", "topics")}
    if as_json:
        print_json(answer)
        return
    classified = in_short(answer.pop("classifier"))
    rows = [
        (key.replace("_", " "), _shown(value)) for key, value in {**answer, **classified}.items()
    ]
    print_table("", ("", ""), rows)


def _shown(value: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    """Return a value of an explanation for people: nothing is left out as JSON would name it."""
    if isinstance(value, list):
        return "\n".join(_shown(one) for one in value) or "-"
    if isinstance(value, dict):
        facts = {key.replace("_", " "): _shown(one) for key, one in value.items()}
        return "; ".join(f"{key}: {one}" for key, one in facts.items() if one != "-")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value in (None, "") else str(value)


def hubs(
    context: typer.Context,
    site: Annotated[
        list[str] | None, typer.Argument(metavar="[SITE]...", help="Default: all.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1)] = 100,
    hours: Annotated[
        str | None, typer.Option(metavar="URL", help="Expected new links of this hub by hour.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List hubs: new pages, next visit and the reason."""
    settings, _ = settings_of(context)
    if hours is not None:
        _show_hours(context, settings, hours, as_json=as_json)
        return
    with open_store(context) as store:
        rows = hub_rows(store, settings, find_sites(store, site or []), now=now())[:limit]
    if as_json:
        print_json([dated(row) for row in rows])
        return
    if not rows:
        say("no hubs yet; run the daemon to find them: hubwatch run")
        return
    table = [
        (
            readable(row["url"]),
            row["kind"],
            row["state"],
            row["visits"],
            row["new_pages"],
            f"{row['rate_per_day']:.3g}",
            when(row["due_at"]),
            row["why"],
        )
        for row in rows
    ]
    columns = ("hub", "kind", "state", "visits", "new", "new/day", "next visit", "why")
    print_table("Hubs", columns, table)


def _show_hours(context: typer.Context, settings: Settings, url: str, *, as_json: bool) -> None:
    """Draw one bar per hour of the day."""
    with open_store(context) as store:
        answer = hours_of(store, settings, url)
    if as_json:
        print_json(answer)
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
