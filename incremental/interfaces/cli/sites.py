"""Watched sites: ``init add remove pause resume list``."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from incremental.base.errors import InputError
from incremental.base.lookup import find_sites
from incremental.base.readable_urls import readable
from incremental.base.scope import Reach
from incremental.base.tagging import checked_tags, joined
from incremental.interfaces.cli.common import (
    Json,
    counted,
    now,
    open_store,
    print_json,
    print_table,
    say,
    settings_of,
)
from incremental.interfaces.results.schema import utc
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, add_seed, everything_below, folder_of, usable_seed
from incremental.settings.storage import daemon_at_work, open_configured_store
from incremental.settings.template import settings_template
from store import Store
from store.database.addresses import without_password
from store.database.home import make_file
from store.enums import SiteStatus

Names = Annotated[list[str], typer.Argument(metavar="SITE...", help="Name, seed URL or id.")]


def init(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="Where to write the settings.")] = Path(
        "hubwatch.toml"
    ),
    *,
    force: Annotated[bool, typer.Option(help="Replace an existing file.")] = False,
    new_store: Annotated[
        bool, typer.Option("--new-store", help="Make an empty store where one was lost, instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a commented settings file to start from."""
    if new_store:
        _make_store(context, as_json=as_json)
        return
    if path.exists() and not force:
        raise InputError("file", str(path), "already exists; --force replaces it")
    path.unlink(missing_ok=True)
    make_file(path)  # readable by the owner only: it will hold passwords
    path.write_text(settings_template(), encoding="utf-8")
    if as_json:
        print_json({"written": str(path)})
    else:
        say(f"wrote {path}; set a contact address in it, then: hubwatch add URL")


def _make_store(context: typer.Context, *, as_json: bool) -> None:
    """Make an empty database beside what is left of a store without one."""
    settings, folder = settings_of(context)
    with open_configured_store(settings, folder, make_new=True) as store:
        where = without_password(store.where)
        if store.read.sites():
            raise InputError(
                "--new-store", where, "is there already, with its sites; nothing was done"
            )
    if as_json:
        print_json({"made": where})
    else:
        say(f"{where} is empty; now: hubwatch add URL")


def add(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    urls: Annotated[
        list[str],
        typer.Argument(metavar="URL...", help="A page of the site, ideally its home page."),
    ],
    *,
    reach: Annotated[Reach, typer.Option(help="How far from the seed to go.")] = Reach.HOST,
    include: Annotated[
        list[str], typer.Option(help="Only URLs matching this glob (or re:REGEX).")
    ] = [],  # noqa: B006 - Typer's way
    exclude: Annotated[list[str], typer.Option(help="Skip URLs matching it.")] = [],  # noqa: B006
    requests_per_day: Annotated[
        float | None, typer.Option(min=0, help="Request budget of the site.")
    ] = None,
    min_interval_minutes: Annotated[float | None, typer.Option(min=0.01)] = None,
    max_interval_hours: Annotated[float | None, typer.Option(min=0.01)] = None,
    tag: Annotated[list[str], typer.Option(help="A tag of the sites; may be repeated.")] = [],  # noqa: B006
    look: Annotated[
        bool | None,
        typer.Option("--look/--no-look", help="Read them at once and say what is there."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Watch the sites of these URLs. Adding one again changes its options.

    At a terminal, what is there is said at once: feeds, sitemaps, likely lists, new pages a day.
    """
    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not as_json
    if at_terminal and len(urls) == 1 and not include and not exclude and reach is Reach.HOST:
        include = _asked_reach(usable_seed(urls[0]))
    terms = SeedTerms(
        reach=reach,
        include=tuple(include),
        exclude=tuple(exclude),
        requests_per_day=requests_per_day,
        min_interval_seconds=min_interval_minutes and min_interval_minutes * 60,
        max_interval_seconds=max_interval_hours and max_interval_hours * 3600,
    )
    settings, folder = settings_of(context)
    tags = checked_tags(tag)
    with open_store(context) as store:
        results = [_added(store, settings, url, terms, tags) for url in urls]
        if look if look is not None else at_terminal:
            _look(store, settings, folder, results, quiet=as_json)
        running = daemon_at_work(store, settings, folder)
    _finish(results, running=running, as_json=as_json)


def _finish(results: list[dict[str, Any]], *, running: bool, as_json: bool) -> None:
    """Print what was added, and what failed; exit with 1, or 2 if nothing was added."""
    if as_json:
        print_json(results)
    failed = [result for result in results if "error" in result]
    for result in failed:
        say(f"hubwatch: {result['error']}")
    if len(failed) < len(results) and not as_json:
        number = counted(len(results) - len(failed), "site")
        visits = "the daemon visits it within seconds"
        say(f"watching {number}; {visits if running else 'start the daemon with: hubwatch run'}")
    if failed:
        raise typer.Exit(2 if len(failed) == len(results) else 1)


def _added(
    store: Store, settings: Settings, url: str, terms: SeedTerms, tags: tuple[str, ...]
) -> dict[str, Any]:
    """Add one site; return its line of ``--json``."""
    try:
        site_id = add_seed(store, url, now=now(), terms=terms, fetch=settings.fetch)
    except InputError as error:
        return {"url": url, "error": str(error)}
    if tags:
        store.tags.set_site_tags(site_id, tags)
    return {"url": url, "site_id": site_id}


def _look(
    store: Store, settings: Settings, folder: Path, results: list[dict[str, Any]], *, quiet: bool
) -> None:
    """Say what is there, and note it in *results*."""
    # The classifier and the parser take half a second to load, which other commands need not wait for.
    from incremental.interfaces.cli.first_look import look_at, show  # noqa: PLC0415

    added = {result["site_id"]: result for result in results if "site_id" in result}
    for site_id, seen in look_at(store, settings, folder, list(added)).items():
        added[site_id]["found"] = asdict(seen)
        if not quiet:
            show(store, site_id, seen)


def _asked_reach(url: str) -> list[str]:
    """Ask whether the whole host is meant, if a seed lies deeper; return patterns to include."""
    below = folder_of(url)
    if not below:
        return []
    say(f"{readable(url)} is not the home page of its site.")
    only = typer.confirm(f"Watch only what is below {below}?", default=False, err=True)
    return [everything_below(below)] if only else []


def remove(
    context: typer.Context,
    names: Names,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Stop watching sites and delete everything found on them."""
    with open_store(context) as store:
        rows = find_sites(store, names)
        listed = ", ".join(row.name for row in rows)
        if not yes and not typer.confirm(f"Delete {listed} and everything found there?", err=True):
            raise typer.Exit(1)
        for row in rows:
            store.write.remove_site(row.id)
    if as_json:
        print_json({"removed": [row.seed_url for row in rows]})
    else:
        say(f"removed {listed}")


def pause(context: typer.Context, names: Names, *, as_json: Json = False) -> None:
    """Pause sites: nothing is fetched from them until they are resumed."""
    _set_state(context, names, "paused", as_json=as_json)


def resume(context: typer.Context, names: Names, *, as_json: Json = False) -> None:
    """Resume paused sites."""
    _set_state(context, names, "active", as_json=as_json)


def _set_state(context: typer.Context, names: list[str], to: str, *, as_json: bool) -> None:
    with open_store(context) as store:
        rows = find_sites(store, names)
        for row in rows:
            store.write.update_site(row.id, state=SiteStatus(to))
    if as_json:
        print_json({to: [row.seed_url for row in rows]})
    else:
        say(f"{to}: {', '.join(row.name for row in rows)}")


def list_sites(
    context: typer.Context,
    *,
    tag: Annotated[str | None, typer.Option(help="Only sites with this tag.")] = None,
    as_json: Json = False,
) -> None:
    """List the watched sites."""
    with open_store(context) as store:
        totals, tags = store.read.site_totals(), store.tags.of_sites()
        rows = [
            {
                "id": row.id,
                "name": row.name,
                "seed": row.seed_url,
                "state": row.state,
                "reach": json.loads(row.scope).get("reach", "host"),
                "tags": tags.get(row.id, []),
                "added": utc(row.added_at),
                "origin": json.loads(row.origin),
                **totals.get(row.id, {"pages": 0, "hubs": 0, "new_pages": 0}),
            }
            for row in store.read.sites()
            if tag is None or tag in tags.get(row.id, ())
        ]
    if as_json:
        print_json(rows)
    elif not rows and tag is not None:
        say(f"no site has the tag {tag}")
    elif not rows:
        say("no site yet; add one: hubwatch add https://example.org/")
    else:
        columns = ("id", "name", "seed", "state", "reach", "hubs", "pages", "new_pages")
        table = [
            [
                *(row[column] for column in columns),
                joined(row["tags"]),
                row["origin"].get("found_on", ""),
            ]
            for row in rows
        ]
        print_table("Sites", (*columns[:-1], "new", "tags", "found on"), table)
