"""What the daemon does, and how each site fares: ``status``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import typer

from incremental.base.readable_urls import readable
from incremental.base.texts import named
from incremental.daemon.housekeeping import forgotten_in_words, last_done, space_in_words
from incremental.daemon.pulse import read_report
from incremental.interfaces.cli.common import Json, now, print_json, print_table, say, settings_of
from incremental.interfaces.explain.embeddings import embedding_facts, embeddings_in_words
from incremental.interfaces.explain.health import (
    daemons_facts,
    health_facts,
    quarantine_facts,
    site_notes,
)
from incremental.interfaces.explain.page import budget_of
from incremental.interfaces.results.schema import dated, utc, when
from incremental.settings import Settings
from incremental.settings.storage import crawler_at_work, open_configured_store
from store import Store
from store.errors import StoreError


def status(context: typer.Context, *, as_json: Json = False) -> None:
    """Show what the daemon does, what is wrong, and each site's budget and last visits."""
    settings, folder = settings_of(context)
    at = now()
    report = read_report(folder / settings.store.folder)
    daemon = health_facts(report, at)
    running = crawler_at_work(settings, folder)
    if daemon is not None:
        # A killed daemon leaves its last report behind.
        running = not daemon["silent"] if running is None else running
        daemon["running"] = running
        if not running:
            daemon |= {"state": "killed", "well": False}
    try:
        with open_configured_store(settings, folder) as store:
            sites = _site_rows(store, settings, at)
            held = quarantine_facts(store)
            daemons = daemons_facts(store.daemons.all())
            kept = last_done(store)
            vectors = embedding_facts(store, settings.embeddings)
    except StoreError as error:
        if as_json:
            print_json({"now": utc(at), "daemon": _shown(daemon), "error": str(error)})
        else:
            _say_health(daemon, running=bool(running), skipped=False, unread=False)
        raise
    if as_json:
        whole = settings.revisit.total_requests_per_day or None
        answer: dict[str, Any] = {
            "now": utc(at),
            "total_requests_per_day": whole,
            "daemon": _shown(daemon),
        }
        housekeeping = None if kept is None else {**asdict(kept), "at": utc(kept.at)}
        answer |= {"daemons": daemons}
        answer |= {"quarantine": [dated(one) for one in held], "housekeeping": housekeeping}
        print_json({**answer, "embeddings": asdict(vectors), "sites": sites})
        return
    if daemon is not None or not daemons:
        unread = any(one["trouble"] for one in sites)
        _say_health(daemon, running=bool(running), skipped=bool(held), unread=unread)
    else:
        say("what is wrong with a daemon is known in its own folder: run hubwatch status there")
    _print_daemons(daemons)
    _print_quarantine(held)
    _print_sites(sites, settings)
    if kept is not None:
        done = f"housekeeping {when(kept.at)} forgot {forgotten_in_words(kept.forgotten)}"
        say(f"store: {space_in_words(kept)}; {done}")
    say(f"embeddings: {embeddings_in_words(vectors)}")


def _shown(daemon: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the health with its times in words of ISO 8601."""
    if daemon is None:
        return None
    jobs = [{**dated(job), "ended_at": utc(job["ended_at"] or None)} for job in daemon["jobs"]]
    problems = [{**one, "since": utc(one["since"])} for one in daemon["problems"]]
    return {**dated(daemon), "at": utc(daemon["at"]), "jobs": jobs, "problems": problems}


def _say_health(
    daemon: dict[str, Any] | None, *, running: bool, skipped: bool, unread: bool
) -> None:
    """Print the daemon's health.

    *skipped*: something is skipped because of a bug; *unread*: a seed could not be fetched yet.
    """
    if not running:
        killed = daemon is not None
        ended = f"; it was killed after {when(daemon['at'])}" if killed and daemon else ""
        say(f"no daemon is running{ended}: hubwatch run")
        return
    if daemon is None:
        say("the daemon is starting")
        return
    if daemon["silent"]:
        say(f"the daemon runs, but has not reported since {when(daemon['at'])}")
    for one in daemon["problems"]:
        say(f"since {when(one['since'])}: {one['detail']}")
    if daemon["well"] and not daemon["problems"]:
        state, since = daemon["state"], when(daemon["started_at"])
        found = "not every seed could be fetched" if unread else "all is well"
        if skipped:
            found = "a bug holds up what is listed below"
        say(f"the daemon has been {state} since {since}; {found}")
    if daemon["engine"] is not None:
        say(f"visits: {daemon['engine']['in_words']}")


def _print_daemons(daemons: list[dict[str, Any]]) -> None:
    """Print the daemons that share a PostgreSQL store."""
    if not daemons:
        return
    rows = [
        (
            one["name"],
            one["shard"] or "automatic",
            one["sites"],
            f"{one['heartbeat_seconds']:.0f} s ago" + ("" if one["lives"] else ", lost"),
            "leader" if one["is_leader"] else "",
        )
        for one in daemons
    ]
    print_table("Daemons", ("name", "shard", "sites", "heartbeat", ""), rows)


def _print_quarantine(held: list[dict[str, Any]]) -> None:
    if not held:
        return
    rows = [
        (
            readable(one["url"]) if one["url"] else f"{one['kind']} {one['key']}",
            one["purpose"] or one["kind"],
            one["error"],
            one["times"],
            when(one["again_at"]),
        )
        for one in held
    ]
    print_table("Skipped for now because of a bug", ("what", "of", "error", "times", "again"), rows)
    say("the traces, for a report: hubwatch status --json")


def _site_rows(store: Store, settings: Settings, at: float) -> list[dict[str, Any]]:
    totals, counts = store.read.site_totals(), store.read.visit_counts(at - 86_400)
    unread, notes = store.monitor.unread_seeds(), site_notes(store, settings.enabled)
    return [
        {
            "site": row.name,
            "state": row.state,
            **totals.get(row.id, {"pages": 0, "hubs": 0, "new_pages": 0}),
            **budget_of(settings, row, now=at),
            "visits_by_status": counts.get(row.id, {}),
            "trouble": unread.get(row.id),
            "problem": notes.get(row.id),
            "next_due": utc(store.read.due_times(row.id).first),
            "events": [dated(e) for e in store.read.site_changes(row.id, limit=5)],
        }
        for row in store.read.sites()
    ]


def _print_sites(rows: list[dict[str, Any]], settings: Settings) -> None:
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
            ", ".join(
                f"{count} {named('fetch', name)}"
                for name, count in sorted(row["visits_by_status"].items())
            ),
        )
        for row in rows
    ]
    for row in rows:
        if row["trouble"] and row["state"] == "active":
            say(
                f"hubwatch: {row['site']}: the seed could not be fetched yet: {_trouble(row['trouble'])}"
            )
        if row["problem"]:
            say(f"hubwatch: {row['site']}: {row['problem']}")
    columns = ("site", "state", "hubs", "new", "today (UTC)", "in 24 h", "visits in 24 h")
    print_table("Status", columns, table)
    if settings.revisit.total_requests_per_day:
        used = sum(row["requests_last_day"] for row in rows)
        say(f"all sites: {used:g} of {settings.revisit.total_requests_per_day:g} requests in 24 h")


def _trouble(status: str) -> str:
    """Return a fetch status in words, with the setting that helps if there is one."""
    if status == "forbidden_address":
        way_out = "to allow it, add it to [fetch] allowed_hosts or allowed_networks"
        return f"its address is not public; {way_out}"
    return named("fetch", status)
