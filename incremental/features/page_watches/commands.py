"""Pages watched for changes: ``watch-page`` and ``changes``."""

from typing import Annotated, Any

import typer

from incremental.base.lookup import find_sites
from incremental.base.plain_text import clean
from incremental.base.readable_urls import readable
from incremental.base.texts import named
from incremental.base.times import moment
from incremental.features.page_watches.watching import (
    named_watch,
    pause_watch,
    watch_page,
)
from incremental.interfaces.cli.common import (
    now,
    open_store,
    print_list,
    printed_json,
    report,
    say,
    settings_of,
)
from incremental.interfaces.results.schema import change_result, dated, when
from incremental.settings.storage import daemon_at_work
from store.page_watches import WatchRow
from store.watched_changes import ChangeQuery, WatchedChangeRow

Which = Annotated[
    str, typer.Argument(metavar="URL|ID", help="As `hubwatch watch-page list` shows it.")
]
_SPAN = "Such as 30m, 6h or 2d."


def add(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    url: Annotated[str, typer.Argument(help="A page, of any site.")],
    *,
    every: Annotated[
        str,
        typer.Option(metavar="SPAN", help=f"Check at this interval, whatever it finds. {_SPAN}"),
    ] = "",
    channel: Annotated[
        list[str] | None,
        typer.Option(
            help="Send changes there; may be repeated; default: every channel for all pages."
        ),
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="Only changes with one of these.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="WORD", help="No changes with any of these.")
    ] = None,
) -> None:
    """Watch a page for changes of its text.

    Dates, counters, adverts and other noise are left out. Adding it again replaces its options.
    """
    settings, folder = settings_of(context)
    wish = {"channels": channel, "include": include, "exclude": exclude}
    given = {name: [one for one in words or () if one] for name, words in wish.items()}
    with open_store(context) as store:
        watch = watch_page(store, settings, url, now=now(), every=every, **given)
        running = daemon_at_work(store, settings, folder)
    who = "" if running else "; start the daemon: hubwatch run"
    report(context, dated(watch), f"watching {readable(watch.url)} for changes{who}")


def list_watches(context: typer.Context) -> None:
    """List the pages watched for changes: last check, last change."""
    with open_store(context) as store:
        watches = store.page_watches.watches()
    result, rows = [dated(one) for one in watches], [_row(one) for one in watches]
    columns = ["id", "page", "state", "last visit", "checked", "changed", "to"]
    empty = "nothing is watched for changes yet; hubwatch watch-page add URL"
    print_list(context, result, "watched for changes", columns, rows, empty=empty)


def _row(watch: WatchRow) -> list[Any]:
    return [
        *(watch.id, readable(watch.url), watch.state),
        named("fetch", watch.status) if watch.status else "",
        *(when(watch.checked_at), when(watch.changed_at)),
        ", ".join(watch.receivers) or "every channel",
    ]


def pause(context: typer.Context, target: Which) -> None:
    """Stop checking a page until it is resumed."""
    _set(context, target, paused=True)


def resume(context: typer.Context, target: Which) -> None:
    """Check a paused page again."""
    _set(context, target, paused=False)


def _set(context: typer.Context, target: str, *, paused: bool) -> None:
    with open_store(context) as store:
        watch = named_watch(store, target)
        pause_watch(store, watch, paused=paused, now=now())
    done = "paused" if paused else "resumed"
    state = {"id": watch.id, "state": "paused" if paused else "active"}
    report(context, state, f"{done} {readable(watch.url)}")


def remove(context: typer.Context, target: Which) -> None:
    """Stop watching a page for changes. What was recorded stays in `hubwatch changes`."""
    with open_store(context) as store:
        watch = named_watch(store, target)
        store.page_watches.remove(watch.id, now=now())
    said = f"no longer watching {readable(watch.url)} for changes"
    report(context, {"removed": watch.url}, said)


def changes(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    watch: Annotated[str | None, typer.Option(metavar="URL|ID", help="Only of this watch.")] = None,
    site: Annotated[str | None, typer.Option(help="Only of this site.")] = None,
    since: Annotated[
        str | None, typer.Option(help="From a span ago (3h, 1d) or a date on.")
    ] = None,
    after: Annotated[
        int | None, typer.Option(min=0, help="Only later than this id; oldest first.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number.")] = 20,
) -> None:
    """Show the changes of watched pages, with what came and went; newest first."""
    with open_store(context) as store:
        query = ChangeQuery(
            after=after,
            since=None if since is None else moment(since, now()),
            site_id=None if site is None else find_sites(store, [site])[0].id,
            watch_id=None if watch is None else named_watch(store, watch).id,
            limit=limit,
            oldest_first=after is not None,
        )
        found = store.watched_changes.changes(query)
    if printed_json(context, [change_result(change) for change in found]):
        return
    if not found:
        say("no change yet of a page that is watched (hubwatch watch-page list)")
    for change in found:
        _print(change)


def _print(change: WatchedChangeRow) -> None:
    shown = change_result(change)
    typer.echo(f"{when(change.at)}  {shown.title}  ({change.site})")
    typer.echo(f"  {clean(readable(change.url))}")
    for line in shown.lines:
        typer.echo(f"  {line}")
