"""One page: ``history diff show``."""

from typing import Annotated, Any

import typer
from rich.text import Text

from incremental.base.errors import NotFoundError
from incremental.base.lookup import find_page
from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.base.texts import named
from incremental.base.times import moment
from incremental.interfaces.cli.common import (
    console,
    counted,
    now,
    open_store,
    print_table,
    printed_json,
    say,
)
from incremental.interfaces.explain.page_versions import (
    compared,
    difference,
    text_of,
    version_at,
)
from incremental.interfaces.results.schema import (
    dated,
    utc,
    when,
)
from store import Store

Address = Annotated[str, typer.Argument(help="A page's URL.")]
At = Annotated[str | None, typer.Option(help="As of a span ago (3h, 1d) or a date.")]
_COLOURS = {"-": "red", "+": "green"}
# What people are shown of a page; programs get every column.
_FACTS = (
    *("title", "url", "site", "state", "language", "published_at", "first_seen_at", "announced_at"),
    *("verified_at", "version_at", "read_at", "starred_at", "copies"),
)


def history(
    context: typer.Context,
    url: Address,
    *,
    limit: Annotated[int, typer.Option(min=1, max=500, help="Maximum changes.")] = 100,
) -> None:
    """Show the history of a page: changes and their cause, sightings, visits."""
    with open_store(context) as store:
        page = find_page(store, url)
        changes = store.answers.history(page["id"], limit=limit)
        versions = store.answers.versions(page["id"])
        sightings = store.read.sightings(page["id"])
        visits = store.read.visits(page["id"])
        check = store.refreshes.row(page["id"])
    facts = {key: page[key] for key in ("id", "url", "title", "state")}
    answer = {
        "page": facts | {"site": page["site_name"]},
        "changes": list(map(dated, changes[::-1])),
        "changes_from": utc(page["changes_from"]),
        "versions": list(map(dated, versions)),
        "sightings": list(map(dated, sightings)),
        "visits": list(map(dated, visits)),
        "next_refresh": utc(check.next_at) if check else None,
    }
    if printed_json(context, answer):
        return
    rows = [(row.at, row.kind, _cause(row.detail, row.hub_url, page["url"])) for row in changes]
    rows += [(row["first_seen_at"], "seen on", row["hub_url"]) for row in sightings]
    rows += [
        (one["at"], f"visit: {named('fetch', one['status'])}", one["detail"]) for one in visits
    ]
    if page["changes_from"] is not None:
        forgotten = "changes until then ([store] change_days)"
        rows.append((page["changes_from"], "forgotten", forgotten))
    shown = [(when(at), what, detail) for at, what, detail in sorted(rows)]
    print(clean(readable(page["url"])))  # noqa: T201 - a table would break it
    print_table("", ("when", "what", "detail"), shown)


def _cause(detail: str, hub_url: str | None, url: str) -> str:
    by = "" if hub_url is None or hub_url == url else f"shown by {hub_url}"
    return "; ".join(filter(None, (detail, by)))


def diff(
    context: typer.Context,
    url: Address,
    *,
    start: Annotated[str | None, typer.Option("--from", help="Compare from this time.")] = None,
    end: Annotated[str | None, typer.Option("--to", help="Compare to this time.")] = None,
    noise: Annotated[bool, typer.Option("--noise", help="Show ignored lines as well.")] = False,
) -> None:
    """Show what changed in the text of a page; dates, counters and other noise are ignored.

    Without --from, the last change up to --to. Times are spans ago (3h, 1d) or dates.
    """
    with open_store(context) as store:
        page = find_page(store, url)
        versions = store.answers.versions(page["id"])
        times = [moment(text, now()) if text else None for text in (start, end)]
        before, after = compared(versions, *times)
        found = difference(store, page["id"], page["url"], before, after)
    if printed_json(context, dated(found, url=page["url"])):
        return
    say(f"{when(found.before_at)} -> {when(found.after_at)}: {found.summary}")
    out = console()
    for line in found.lines:
        out.print(Text(clean(line), _COLOURS[line[0]]), soft_wrap=True)
    for text, reason in found.ignored if noise else ():
        print(f"~ [{reason}] {clean(text)}")  # noqa: T201
    if found.ignored and not noise:
        say(f"{counted(len(found.ignored), 'line')} ignored as noise; --noise to show")


def show(context: typer.Context, url: Address, *, at: At = None) -> None:
    """Show the stored facts and text of a page, now or at a given time."""
    with open_store(context) as store:
        row = find_page(store, url)
        detail = store.answers.page(row["id"], most=1)
        answer = {k: v for k, v in row.items() if k not in ("site_name", "moved_to")}
        answer |= {"site": row["site_name"], "site_id": row["site"]}
        answer |= _text_at(store, row, at)
    if detail is not None and detail.news is not None:
        marks = ("read_at", "starred_at", "copies")
        answer |= {name: getattr(detail.news, name) for name in marks}
    if printed_json(context, dated(answer)):
        return
    rows = [
        (name.replace("_", " "), when(answer[name]) if name.endswith("_at") else answer[name])
        for name in _FACTS
        if answer.get(name)
    ]
    print_table("", ("", ""), rows)
    print("\n".join(clean(line) for line in (answer["text"] or "(no body kept)").splitlines()))  # noqa: T201


def _text_at(store: Store, row: dict[str, Any], at: str | None) -> dict[str, Any]:
    """Return the text of a page and the time of its version; None for a page never read as one.

    Raises:
        NotFoundError: nothing is kept for the requested time.
    """
    try:
        version = version_at(store.answers.versions(row["id"]), moment(at, now()) if at else None)
        return {"version_at": version.at, "text": text_of(store, row, version)[1]}
    except NotFoundError:
        if at is not None:
            raise
        return {"text": None}
