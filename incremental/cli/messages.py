"""Messages: ``notify list``, ``test``, ``outbox`` and ``retry``."""

from __future__ import annotations

from typing import Annotated

import typer

from incremental.cli.common import (
    Json,
    counted,
    now,
    open_store,
    print_json,
    print_table,
    say,
    settings_of,
)
from incremental.clock import SystemClock
from incremental.fetch.libraries import LibraryGate
from incremental.notify.overview import STATES, ChannelStanding, channel_named, send_test, standings
from incremental.results.schema import utc, when
from store.outbox import OutboxRow

Name = Annotated[str, typer.Argument(metavar="CHANNEL", help="Name in the settings.")]


def list_channels(context: typer.Context, *, as_json: Json = False) -> None:
    """List the channels: what they announce, when, and their counts."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        found = standings(store, settings.channels)
    rows = [
        {"channel": one.name, "about": _about(one), "when": _rhythm(one), **one.counts}
        for one in found
    ]
    if as_json:
        more = [{"last_sent_at": utc(one.last_sent_at), "error": one.last_error} for one in found]
        print_json([{**row, **further} for row, further in zip(rows, more, strict=True)])
        return
    if not rows:
        say(
            "no channel configured; add [[notify]] or [[hook]] to the settings (hubwatch init shows how)"
        )
        return
    columns = ["channel", "about", "when", *STATES, "last sent", "error"]
    pairs = zip(rows, found, strict=True)
    cells = [[*row.values(), when(one.last_sent_at), one.last_error] for row, one in pairs]
    print_table(counted(len(rows), "channel"), columns, cells)


def try_channel(context: typer.Context, name: Name, *, as_json: Json = False) -> None:
    """Send a test message to a channel now, and report the result."""
    settings, _ = settings_of(context)
    channel = channel_named(settings.channels, name)
    outcome = send_test(LibraryGate(settings.fetch, SystemClock()), channel, now=now())
    if as_json:
        print_json({"channel": name, "sent": outcome.ok, "error": outcome.error})
    elif outcome.ok:
        typer.echo(f"sent to {name}")
    if not outcome.ok:
        say(f"hubwatch: channel {name}: {outcome.error}")
        raise typer.Exit(1)


def outbox(
    context: typer.Context,
    name: Name,
    *,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Maximum number.")] = 20,
    as_json: Json = False,
) -> None:
    """Show the latest messages of a channel: sent, waiting or failed."""
    settings, _ = settings_of(context)
    channel_named(settings.channels, name)
    with open_store(context) as store:
        rows = store.outbox.recent(name, limit=limit)
    if as_json:
        print_json(
            [
                {
                    "url": row.url,
                    "title": _title(row),
                    "state": row.state,
                    "queued_at": utc(row.queued_at),
                    "sent_at": utc(row.sent_at),
                    "attempts": row.attempts,
                    "error": row.error,
                }
                for row in rows
            ]
        )
        return
    cells = [
        (when(row.queued_at), row.state, when(row.sent_at), row.attempts, _title(row), row.error)
        for row in rows
    ]
    columns = ["queued", "state", "sent", "attempts", "title", "error"]
    print_table(f"channel {name}", columns, cells)


def retry(context: typer.Context, name: Name, *, as_json: Json = False) -> None:
    """Retry messages that failed for good."""
    settings, _ = settings_of(context)
    channel_named(settings.channels, name)
    with open_store(context) as store:
        count = store.outbox.retry(name)
    if as_json:
        print_json({"waiting": count})
    else:
        typer.echo(f"{counted(count, 'message')} queued again")


def _title(row: OutboxRow) -> str:
    return row.title or row.anchor or row.url


def _about(channel: ChannelStanding) -> str:
    parts = [f"topic {channel.topic}"] if channel.topic else []
    parts += [f"search {channel.search}"] if channel.search else []
    return ", ".join(parts) or "all new pages"


def _rhythm(channel: ChannelStanding) -> str:
    if channel.daily_at:
        text = f"daily at {channel.daily_at}"
    else:
        text = f"every {channel.every_minutes:g} min" if channel.every_minutes else "at once"
    return f"{text}, not {channel.quiet_hours}" if channel.quiet_hours else text
