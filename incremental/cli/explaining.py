"""Why: ``check hubs status``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from incremental.cli.common import Json, now, open_store, print_json, print_table, say, settings_of
from incremental.explain.hours import hours_of
from incremental.explain.hub import in_short
from incremental.explain.page import budget_of, explain, hub_rows
from incremental.housekeeping import forgotten_in_words, last_done, space_in_words
from incremental.readable_urls import readable
from incremental.results.lookup import find_sites
from incremental.results.schema import dated, utc, when
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


def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Show budget and price of each site, visits of the last day, and failures."""
    settings, _ = settings_of(context)
    at = now()
    with open_store(context) as store:
        totals, counts = store.read.site_totals(), store.read.visit_counts(at - 86_400)
        unread = store.monitor.unread_seeds()
        kept = last_done(store)
        rows = [
            {
                "site": row.name,
                "state": row.state,
                **totals.get(row.id, {"pages": 0, "hubs": 0, "new_pages": 0}),
                **budget_of(settings, row, now=at),
                "visits_by_status": counts.get(row.id, {}),
                "trouble": unread.get(row.id),
                "next_due": utc(store.read.next_due_at(row.id)),
                "events": [dated(e) for e in store.read.site_changes(row.id, limit=5)],
            }
            for row in store.read.sites()
        ]
    if as_json:
        whole = settings.revisit.total_requests_per_day or None
        housekeeping = None if kept is None else {**asdict(kept), "at": utc(kept.at)}
        answer = {"now": utc(at), "total_requests_per_day": whole, "sites": rows}
        print_json(answer | {"housekeeping": housekeeping})
        return
    if not rows:
        say("no site yet; add one: hubwatch add https://example.org/")
        return
    table = [
        (
            row["site"],
            row["state"],
            row["hubs"],
            row["new_pages"],
            f"{row['requests_today']:g} of {row['budget_per_day']:g}",
            f"{row['requests_last_day']:g}",
            "-" if row["price_minutes"] is None else f"{row['price_minutes']:,.2f} min",
            ", ".join(f"{name} {count}" for name, count in sorted(row["visits_by_status"].items())),
        )
        for row in rows
    ]
    for row in rows:
        if row["trouble"] and row["state"] == "active":
            say(
                f"hubwatch: {row['site']}: the seed could not be fetched yet: {_trouble(row['trouble'])}"
            )
    columns = ("site", "state", "hubs", "new", "today (UTC)", "in 24 h", "price", "visits in 24 h")
    print_table("Status", columns, table)
    if settings.revisit.total_requests_per_day:
        used = sum(row["requests_last_day"] for row in rows)
        say(f"all sites: {used:g} of {settings.revisit.total_requests_per_day:g} requests in 24 h")
    if kept is not None:
        done = f"housekeeping {when(kept.at)} forgot {forgotten_in_words(kept.forgotten)}"
        say(f"store: {space_in_words(kept)}; {done}")


def _trouble(status: str) -> str:
    """Return a fetch status in words, with the setting that helps if there is one."""
    if status == "forbidden_address":
        way_out = "to allow it, add it to [fetch] allowed_hosts or allowed_networks"
        return f"its address is not public; {way_out}"
    return status.replace("_", " ")
