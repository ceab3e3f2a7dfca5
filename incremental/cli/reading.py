"""What was found: ``new hubs status``."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incremental.cli.backfilled import (
    backfilled,
    refuse_narrowing,
    show_backfilled,
    show_events,
)
from incremental.cli.common import (
    Json,
    State,
    dated,
    find_sites,
    now,
    print_csv,
    print_json,
    print_table,
    say,
    utc,
    when,
)
from incremental.cli.judged import shown_score, told_pages, topic_fields
from incremental.errors import InputError
from incremental.plain_text import clean
from incremental.readable_urls import readable
from incremental.times import moment

if TYPE_CHECKING:
    from incremental.settings import Settings
    from store.answers import NewsRow

_BAR_WIDTH = 48


class Format(StrEnum):
    """How to print new pages."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    URLS = "urls"


def new(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    since: Annotated[str | None, typer.Option(help="A span (90m, 3h, 1d, 2w) or a date.")] = None,
    until: Annotated[str | None, typer.Option(help="A span or a date.")] = None,
    site: Annotated[list[str], typer.Option(help="Only this site; may be repeated.")] = [],  # noqa: B006 - Typer's way
    topic: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only what is, or may be, on this topic.")
    ] = None,
    min_score: Annotated[
        float | None, typer.Option(min=0, max=1, help="With --topic: at least this score.")
    ] = None,
    irrelevant: Annotated[
        bool, typer.Option("--irrelevant", help="With --topic: also what it rejected.")
    ] = False,
    language: Annotated[str | None, typer.Option(help="Only this language, such as zh.")] = None,
    unread: Annotated[bool, typer.Option("--unread", help="Only what is unread.")] = False,
    starred: Annotated[bool, typer.Option("--starred", help="Only what is starred.")] = False,
    backfill: Annotated[
        bool, typer.Option("--backfill", help="Instead: older pages that lists gained, one by one.")
    ] = False,
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only what came after this cursor, oldest first.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
    as_json: Json = False,
) -> None:
    """List new pages, the newest first."""
    from incremental.topics.editing import find_topic  # noqa: PLC0415 - quick --help
    from store.answers import NewQuery  # noqa: PLC0415 - likewise
    from store.backfills import BackfillQuery  # noqa: PLC0415 - likewise

    state: State = context.obj
    at = now()
    if topic is None and (min_score is not None or irrelevant):
        raise InputError("--min-score or --irrelevant", "", "needs --topic NAME: a topic judges")
    with state.open() as store:
        gained = BackfillQuery(
            since=moment(since, at) if since else None,
            until=moment(until, at) if until else None,
            sites=tuple(row.id for row in find_sites(store, site)) if site else None,
        )
        if backfill:
            refuse_narrowing(topic=topic, language=language, unread=unread, starred=starred)
            older = backfilled(store, gained, limit, after)
            show_backfilled(older, Format.JSON.value if as_json else form.value)
            return
        query = NewQuery(
            since=gained.since,
            until=gained.until,
            after=after,
            sites=gained.sites,
            topic=find_topic(store, topic).id if topic else None,
            min_score=min_score,
            hidden_verdict=None if irrelevant else "irrelevant",
            language=language,
            read=False if unread else None,
            starred=True if starred else None,
            order="newest" if after is None else "oldest",
        )
        pages = told_pages(store, query, limit)
        narrowed = topic or language or starred or after is not None
        events = [] if narrowed else store.backfills.events(replace(gained, unread=unread))
    rows = [_page(page) | topic_fields(page, query.topic) for page in pages]
    form = Format.JSON if as_json else form
    if form is Format.JSON:
        print_json(rows)
    elif form is Format.URLS:
        for row in rows:
            print(row["url"])  # noqa: T201 - canonical URLs hold no control characters
    elif form is Format.CSV:
        columns = ["cursor", "found", "published", "site", "title", "url", "hub"]
        columns += ["score", "verdict", "guess"] if topic else []
        print_csv(columns, [[row[column] for column in columns] for row in rows])
    elif not rows:
        say("nothing new yet" + (f" since {since}" if since else ""))
        show_events(events)
    else:
        table = [[when(p.found_at), p.site, p.title or p.anchor, readable(p.url)] for p in pages]
        columns = ["found", "site", "title", "url"]
        if topic:
            columns.append("score")
            table = [[*cells, shown_score(row)] for row, cells in zip(rows, table, strict=True)]
        print_table(f"{len(rows)} new pages", columns, table)
        say(f"what comes after these: --after {max(row.cursor for row in pages)}")
        show_events(events)


def _page(page: NewsRow) -> dict[str, Any]:
    return {
        "cursor": page.cursor,
        "url": page.url,
        "title": clean(page.title or page.anchor),
        "site": page.site,
        "found": utc(page.found_at),
        "published": utc(page.published_at),
        "hub": page.hub_url,
        "language": page.language,
        "state": page.state,
        "read": utc(page.read_at),
        "starred": utc(page.starred_at),
        "copies": page.copies,
        "cluster": page.cluster,
    }


def hubs(
    context: typer.Context,
    site: Annotated[
        list[str] | None, typer.Argument(metavar="[SITE]...", help="Default: all.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1)] = 100,
    hours: Annotated[
        str | None, typer.Option(metavar="URL", help="When new links come up on this one hub.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List hub pages: what each brought, how often it is visited, and why."""
    from incremental.explain.page import hub_rows  # noqa: PLC0415 - loads the policy

    state: State = context.obj
    settings, _ = state.settings()
    if hours is not None:
        _show_hours(state, settings, hours, as_json=as_json)
        return
    with state.open() as store:
        rows = hub_rows(store, settings, find_sites(store, site or []), now=now())[:limit]
    if as_json:
        print_json([dated(row) for row in rows])
        return
    if not rows:
        say("no hubs yet; they are found when the daemon runs: hubwatch run")
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


def _show_hours(state: State, settings: Settings, url: str, *, as_json: bool) -> None:
    """Draw a bar for each hour of the day."""
    from incremental.explain.hours import hours_of  # noqa: PLC0415 - loads the policy

    with state.open() as store:
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
    zone = "UTC" if offset is None else f"UTC{offset:+d}, as the site's rhythm suggests"
    columns = ("hour", "new links", "")
    print_table(f"{readable(answer['url'])}: expected by hour, {zone}", columns, rows)


def _trouble(status: str) -> str:
    """Return a status of a fetch for people, with the way out where a setting is one."""
    if status == "forbidden_address":
        way_out = "to allow it, name it in [fetch] allowed_hosts or allowed_networks"
        return f"its address is not public; {way_out}"
    return status.replace("_", " ")


def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Say how the watching goes: budget and price, visits of the last day, trouble."""
    from incremental.explain.page import budget_of  # noqa: PLC0415 - loads the policy

    state: State = context.obj
    settings, _ = state.settings()
    at = now()
    with state.open() as store:
        totals, counts = store.read.site_totals(), store.read.visit_counts(at - 86_400)
        unread = store.monitor.unread_seeds()
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
        whole = settings.revisit.whole_requests_per_day or None
        print_json({"now": utc(at), "whole_requests_per_day": whole, "sites": rows})
        return
    if not rows:
        say("no site is watched yet; add one: hubwatch add https://example.org/")
        return
    table = [
        (
            row["site"],
            row["state"],
            row["hubs"],
            row["new_pages"],
            f"{row['requests_today']:g} of {row['budget_per_day']:g}",
            f"{row['requests_last_day']:g}",
            "-" if row["price_minutes"] is None else f"{row['price_minutes']:.3g} min",
            ", ".join(f"{name} {count}" for name, count in sorted(row["visits_by_status"].items())),
        )
        for row in rows
    ]
    for row in rows:
        if row["trouble"] and row["state"] == "active":
            say(
                f"hubwatch: {row['site']}: the seed could not be read yet: {_trouble(row['trouble'])}"
            )
    columns = ("site", "state", "hubs", "new", "today (UTC)", "in 24 h", "price", "visits in 24 h")
    print_table("Status", columns, table)
    if settings.revisit.whole_requests_per_day:
        used = sum(row["requests_last_day"] for row in rows)
        say(f"all sites: {used:g} of {settings.revisit.whole_requests_per_day:g} requests in 24 h")
