"""Changing what is watched: ``edit``, ``visit``, ``label``."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

import typer

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import find_sites
from incremental.base.readable_urls import readable
from incremental.base.scope import Reach
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_table,
    printed_json,
    replaced,
    say,
    say_failed,
    settings_of,
)
from incremental.interfaces.results.schema import when
from incremental.interfaces.results.sites import Site, site_results
from incremental.interfaces.site_editing import (
    TERMS,
    Visit,
    edit_site,
    hours_typed,
    number_typed,
    request_page,
    request_site,
    site_in_file,
)
from incremental.settings import Settings
from incremental.settings.storage import daemon_at_work
from incremental.topics.training.corrections import correct_all
from store import Store


def edit(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    site: Annotated[str, typer.Argument(metavar="SITE", help="Name, seed URL or id.")],
    *,
    name: Annotated[str | None, typer.Option(help="New name, unique among sites.")] = None,
    reach: Annotated[Reach | None, typer.Option(help="How far from the seed to go.")] = None,
    include: Annotated[
        list[str] | None, typer.Option(help='Only URLs matching; replaces all; "" = none.')
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help='Skip URLs matching; replaces all; "" = none.')
    ] = None,
    requests_per_day: Annotated[
        str | None, typer.Option(metavar="N|default", help="Request budget of the site.")
    ] = None,
    min_interval_minutes: Annotated[
        str | None, typer.Option(metavar="N|default", help="Minimum time between visits of a hub.")
    ] = None,
    max_interval_hours: Annotated[
        str | None, typer.Option(metavar="N|default", help="Maximum time between visits of a hub.")
    ] = None,
    hours: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SPAN|always|default", help="Hours (UTC) in which it may be fetched: 22-06:30."
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help='A tag; replaces all; may be repeated; "" = none.')
    ] = None,
) -> None:
    """Change a site: name, scope, budget, intervals, hours, tags. Without options, show them."""
    settings, _ = settings_of(context)
    given: dict[str, Any] = {"name": name, "reach": reach}
    given |= {"include": replaced(include), "exclude": replaced(exclude), "tags": replaced(tag)}
    given = {field: value for field, value in given.items() if value is not None}
    numbers = {
        "requests_per_day": requests_per_day,
        "min_interval_minutes": min_interval_minutes,
        "max_interval_hours": max_interval_hours,
    }
    given |= {
        field: number_typed(field, text) for field, text in numbers.items() if text is not None
    }
    if hours is not None:
        given["hours"] = hours_typed(hours)
    with open_store(context) as store:
        (row,) = find_sites(store, [site])
        if given:
            row = edit_site(store, row, given, settings, now=now())
        (shown,) = site_results(store, [row])
    if printed_json(context, shown):
        return
    if given:
        say(f"{row.name} was changed; a running daemon picks it up within seconds")
    _show(shown, settings)
    if site_in_file(row, settings) is not None:
        say("its terms are set by [[site]] in the settings file")


def _show(site: Site, settings: Settings) -> None:
    rows = [("name", site.name), ("seed", readable(site.seed)), ("state", site.state)]
    for name in ("tags", *TERMS):
        value, default = getattr(site, name), getattr(settings.revisit, name, ())
        own = default if value is None else value
        shown = (
            ", ".join(own) or ("always" if name == "hours" else "-")
            if isinstance(own, list | tuple)
            else str(own)
        )
        rows.append((name.replace("_", " "), shown + (" (default)" if value is None else "")))
    print_table("", ("", ""), rows)


def visit(
    context: typer.Context,
    names: Annotated[
        list[str], typer.Argument(metavar="URL|SITE...", help="Pages, hubs, or whole sites.")
    ],
) -> None:
    """Visit pages, hubs or sites now, as soon as politeness allows, even over the budget.

    Of a site, every active hub is visited. The daemon does it, or the next
    `hubwatch run`.
    """
    settings, folder = settings_of(context)
    with open_store(context) as store:
        asked = [one for name in names for one in _requested(store, settings, name, names)]
        found = list({(one.site, one.url): one for one in asked}.values())
        running = daemon_at_work(store, settings, folder)
    times = [one.at for one in found if not one.refused]
    if not printed_json(context, found) and times:
        begin = f"at {when(min(times))} or later" if min(times).timestamp() > now() + 60 else "now"
        who = "the daemon does it" if running else "start the daemon: hubwatch run"
        say(f"{counted(len(times), 'page')} to be visited {begin}; {who}")
    refused = [f"{readable(one.url)}: {one.refused}" for one in found if one.refused]
    say_failed(refused, len(found))


def _requested(store: Store, settings: Settings, name: str, names: Sequence[str]) -> list[Visit]:
    """Ask for what one of *names* means: a site of that name or host, else a page.

    Among others, what cannot be found is refused by itself.
    """
    at = now()
    try:
        rows = [row for row in store.read.sites() if name in (row.name, str(row.id))]
        if rows or "/" not in name.rstrip("/"):
            (row,) = rows or find_sites(store, [name])
            return request_site(store, settings, row, now=at)
        return request_page(store, settings, name, now=at)
    except (InputError, NotFoundError) as error:
        if len(names) == 1:
            raise
        return [Visit(name, "", datetime.fromtimestamp(at, UTC), str(error))]


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
