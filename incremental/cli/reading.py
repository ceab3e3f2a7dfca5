"""What was found: ``new hubs history show status``."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from incremental.cli.common import (
    Json,
    State,
    clean,
    dated,
    find_sites,
    moment,
    now,
    print_csv,
    print_json,
    print_table,
    say,
    utc,
    when,
)
from incremental.errors import InputError, NotFoundError
from incremental.urls import identity, normalize, readable

if TYPE_CHECKING:
    from store import Store

Address = Annotated[str, typer.Argument(help="A page's URL.")]
_MANY = 1_000_000


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
    limit: Annotated[int, typer.Option(min=1, help="At most so many, the newest.")] = 100,
    after: Annotated[
        int | None, typer.Option(help="Only what came after this cursor, oldest first.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
    as_json: Json = False,
) -> None:
    """List new pages, the newest first."""
    state: State = context.obj
    at = now()
    with state.open() as store:
        pages = store.read.new_pages(
            since=moment(since, at) if since else None,
            until=moment(until, at) if until else None,
            site_ids=[row.id for row in find_sites(store, site)] if site else None,
            after_cursor=after,
            oldest_first=after is not None,
            limit=limit,
        )
    rows = [_page(page) for page in pages]
    form = Format.JSON if as_json else form
    if form is Format.JSON:
        print_json(rows)
    elif form is Format.URLS:
        for row in rows:
            print(row["url"])  # noqa: T201 - canonical URLs hold no control characters
    elif form is Format.CSV:
        columns = ("found", "published", "site", "title", "url", "hub")
        print_csv(columns, [[row[column] for column in columns] for row in rows])
    elif not rows:
        say("nothing new yet" + (f" since {since}" if since else ""))
    else:
        table = [(when(p.found_at), p.site, p.title or p.anchor, readable(p.url)) for p in pages]
        print_table(f"{len(rows)} new pages", ("found", "site", "title", "url"), table)


def _page(page: Any) -> dict[str, Any]:  # noqa: ANN401 - a NewPage
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
    }


def hubs(
    context: typer.Context,
    site: Annotated[
        list[str] | None, typer.Argument(metavar="[SITE]...", help="Default: all.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1)] = 100,
    as_json: Json = False,
) -> None:
    """List hub pages: what each brought, how often it is visited, and why."""
    from incremental.explain import hub_rows  # noqa: PLC0415 - loads the policy

    state: State = context.obj
    settings, _ = state.settings()
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


def history(context: typer.Context, url: Address, *, as_json: Json = False) -> None:
    """Say what happened to a page: changes, where it was seen, visits."""
    state: State = context.obj
    with state.open() as store:
        page = _find(store, url)
        changes = [dated(row) for row in store.read.changes(page["id"])]
        sightings = [dated(row) for row in store.read.sightings(page["id"])]
        visits = [dated(row) for row in store.read.visits(page["id"])]
    if as_json:
        facts = {key: page[key] for key in ("id", "url", "title", "state", "site_name")}
        print_json({"page": facts, "changes": changes, "sightings": sightings, "visits": visits})
        return
    rows = [(row["at"], row["kind"], row["detail"]) for row in changes]
    rows += [(row["first_seen_at"], "seen on", row["hub_url"]) for row in sightings]
    rows += [(row["at"], f"visit: {row['status']}", row["detail"]) for row in visits]
    print_table(readable(page["url"]), ("when", "what", "detail"), sorted(rows))


def _find(store: Store, url: str) -> dict[str, Any]:
    """Return the page of a URL.

    Raises:
        InputError: it is no URL.
        NotFoundError: no hub has shown it.
    """
    address = normalize(url)
    if address is None:
        raise InputError("url", url, "not a web address")
    found = store.read.find_page(address, identity(address))
    if not found:
        raise NotFoundError(f"{url} was never seen; `hubwatch check` says why that may be")
    return found[0]


def show(context: typer.Context, url: Address, *, as_json: Json = False) -> None:
    """Show what is kept of a page: its facts and the text of its latest body."""
    from incremental.fetch.decoding import decode_body  # noqa: PLC0415 - only this command parses
    from incremental.parse import parse  # noqa: PLC0415

    state: State = context.obj
    with state.open() as store:
        row = _find(store, url)
        hub = store.read.hub(row["id"])
        digest = row["body_md5"] or (hub.body_md5 if hub else None)
        body = store.cache.get(row["url"], digest) if digest else None
    parsed = parse(body, row["url"], decode=decode_body, want_text=True) if body else None
    answer = dated({key: value for key, value in row.items() if key not in ("site", "moved_to")})
    answer["text"] = parsed.text if parsed else None
    if as_json:
        print_json(answer)
        return
    print_table("", ("", ""), [(k, v) for k, v in answer.items() if k != "text" and v is not None])
    print("\n".join(clean(line) for line in (answer["text"] or "(no body kept)").splitlines()))  # noqa: T201


def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Say how the watching goes: budget and price, visits of the last day, trouble."""
    from incremental.explain import budget_of  # noqa: PLC0415 - loads the policy

    state: State = context.obj
    settings, _ = state.settings()
    at = now()
    with state.open() as store:
        totals, counts = store.read.site_totals(), store.read.visit_counts(at - 86_400)
        rows = [
            {
                "site": row.name,
                "state": row.state,
                **totals.get(row.id, {"pages": 0, "hubs": 0, "new_pages": 0}),
                **budget_of(settings, row, now=at),
                "visits_by_status": counts.get(row.id, {}),
                "next_due": utc(store.read.next_due_at(row.id)),
                "events": [dated(e) for e in store.read.site_changes(row.id, limit=5)],
            }
            for row in store.read.sites()
        ]
    if as_json:
        print_json({"now": utc(at), "sites": rows})
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
            f"{row['requests_last_day']:g} of {row['budget_per_day']:g}",
            "-" if row["price_minutes"] is None else f"{row['price_minutes']:.3g} min",
            ", ".join(f"{name} {count}" for name, count in sorted(row["visits_by_status"].items())),
        )
        for row in rows
    ]
    columns = ("site", "state", "hubs", "new", "requests in 24 h", "price", "visits in 24 h")
    print_table("Status", columns, table)
