"""What the daemon does, and how each site fares: ``status``."""

import typer

from incremental.base.texts import named
from incremental.daemon.housekeeping import forgotten_in_words
from incremental.daemon.pulse import read_report
from incremental.interfaces.cli.common import now, print_table, printed_json, say, settings_of
from incremental.interfaces.results.schema import Row, utc, when
from incremental.interfaces.results.status import Status, health_of, status_of
from incremental.settings.storage import MEGABYTE, crawler_at_work, open_configured_store
from store.errors import StoreError

_MOST_WORDS = 5


def status(context: typer.Context) -> None:
    """Show what the daemon does, what is wrong, and each site's budget and last visits."""
    settings, folder = settings_of(context)
    at = now()
    running = crawler_at_work(settings, folder)
    # A killed daemon leaves its last report behind.
    daemon = health_of(read_report(folder / settings.store.folder), at, running=running)
    if running is None:
        running = daemon is not None and not daemon["silent"]
    try:
        with open_configured_store(settings, folder) as store:
            found = status_of(store, settings, daemon, crawling=running, now=at)
    except StoreError as error:
        if not printed_json(context, {"now": utc(at), "daemon": daemon, "error": str(error)}):
            _say_health(daemon, running=running)
        raise
    if printed_json(context, found):
        return
    if daemon is not None or not found.daemons:
        held_up = bool(found.quarantine) or any(one.problem or one.trouble for one in found.sites)
        _say_health(daemon, running=running, well=not held_up)
    else:
        say("each daemon reports its problems in its own folder; run hubwatch status there")
    _print_daemons(found)
    _print_sites(found)
    for said in found.words[:_MOST_WORDS]:
        say(f"{said['site']}: {said['says']}")
    done = found.housekeeping
    if done is not None:
        forgot = f"housekeeping {when(done['at'])} forgot {forgotten_in_words(done['forgotten'])}"
        say(f"database: {done['database_bytes'] / MEGABYTE:,.1f} MB; {forgot}")
    say(f"embeddings: {found.embeddings['in_words']}")


def _print_daemons(found: Status) -> None:
    """Print the daemons that share the store, and what met a bug."""
    if found.daemons:
        daemons = [
            (
                one["name"],
                one["sites"],
                f"{one['heartbeat_seconds']:.0f} s ago" + ("" if one["lives"] else ", lost"),
                "leader" if one["is_leader"] else "",
            )
            for one in found.daemons
        ]
        print_table("Daemons", ("name", "sites", "heartbeat", ""), daemons)
    if found.quarantine:
        held = [
            (
                one["url"] or one["key"],
                one["kind"],
                one["error"],
                one["times"],
                when(one["again_at"]),
            )
            for one in found.quarantine
        ]
        columns = ("what", "of", "error", "times", "again")
        print_table("Skipped for now because of a bug", columns, held)
        say("the traces, for a report: hubwatch status --json")


def _say_health(daemon: Row | None, *, running: bool, well: bool = False) -> None:
    """Print the daemon's health; *well* = nothing is known to be wrong with the sites."""
    if not running:
        ended = "" if daemon is None else f"; it was killed after {when(daemon['at'])}"
        say(f"no daemon is running{ended}: hubwatch run")
    elif daemon is None:
        say("the daemon is starting")
    elif daemon["silent"]:
        say(f"the daemon runs, but has not reported since {when(daemon['at'])}")
    else:
        said = "; all is well" if well and not daemon["problems"] else ""
        say(f"the daemon has been {daemon['state']} since {when(daemon['started_at'])}{said}")
    for one in daemon["problems"] if running and daemon is not None else ():
        say(f"since {when(one['since'])}: {one['detail']}")
    if running and daemon is not None and daemon["engine"] is not None:
        say(f"visits: {daemon['engine']['in_words']}")


def _print_sites(found: Status) -> None:
    rows = found.sites
    if not rows:
        say("no site yet; add one: hubwatch add https://example.org/")
        return
    table = [
        (
            row.name,
            row.state,
            f"{row.hubs}, and {row.candidates} not read yet" if row.candidates else row.hubs,
            row.new_pages,
            f"{row.requests_today:g} of {row.budget_per_day:g}",
            f"{row.requests_last_day:g}",
            ", ".join(
                f"{count} {named('fetch', name)}"
                for name, count in sorted(row.visits_by_status.items())
            ),
        )
        for row in rows
    ]
    for row in rows:
        if row.trouble and row.state == "active":
            named_in = "; to allow it, name it in [fetch] allowed_networks"
            trouble = named("fetch", row.trouble) + named_in * (row.trouble == "forbidden_address")
            say(f"hubwatch: {row.name}: the seed could not be fetched yet: {trouble}")
        if row.problem:
            say(f"hubwatch: {row.name}: {row.problem}")
    columns = ("site", "state", "hubs", "new", "today (UTC)", "in 24 h", "visits in 24 h")
    print_table("Status", columns, table)
