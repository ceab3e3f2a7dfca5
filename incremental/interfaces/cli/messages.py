"""Messages: ``notify list``, ``add``, ``remove``, ``test``, ``outbox`` and ``retry``."""

from __future__ import annotations

from typing import Annotated

import typer

from incremental.base.clock import SystemClock
from incremental.base.texts import read_text
from incremental.fetch.libraries import LibraryGate
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
from incremental.interfaces.notify.channels import put_channel, remove_channel
from incremental.interfaces.notify.overview import (
    STATES,
    ChannelStanding,
    channel_named,
    send_test,
    standings,
)
from incremental.interfaces.results.schema import utc, when
from incremental.settings.saved_channels import all_channels
from store import Store
from store.outbox import OutboxRow

Name = Annotated[str, typer.Argument(metavar="CHANNEL", help="As `hubwatch notify list` shows it.")]


def list_channels(context: typer.Context, *, as_json: Json = False) -> None:
    """List the channels: what they announce, when, and their counts."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        found = standings(store, all_channels(store, settings))
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
            "no channel yet; add one: hubwatch notify add NAME, or [[notify]] or [[hook]] in the settings"
        )
        return
    columns = ["channel", "about", "when", *STATES, "last sent", "error"]
    pairs = zip(rows, found, strict=True)
    cells = [[*row.values(), when(one.last_sent_at), one.last_error] for row, one in pairs]
    print_table(counted(len(rows), "channel"), columns, cells)


_Include = Annotated[
    list[str] | None, typer.Option(metavar="WORD", help="Only pages with one of these.")
]
_Exclude = Annotated[
    list[str] | None, typer.Option(metavar="WORD", help="No pages with any of these.")
]


def add(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="CHANNEL", help="Its name.")],
    url: Annotated[
        str, typer.Argument(metavar="[URL]", help="An Apprise address; without it you are asked.")
    ] = "",
    *,
    topic: Annotated[str | None, typer.Option(help="Only pages of this topic.")] = None,
    min_score: Annotated[float | None, typer.Option(help="With a topic: minimum score.")] = None,
    search: Annotated[str | None, typer.Option(help="Only pages of this saved search.")] = None,
    tag: Annotated[
        str | None, typer.Option(help="Only pages of the sites and topics with this tag.")
    ] = None,
    include: _Include = None,
    exclude: _Exclude = None,
    every_minutes: Annotated[
        float | None, typer.Option(help="Time between digests; 0 = each page at once.")
    ] = None,
    daily_at: Annotated[str | None, typer.Option(help="One digest a day, at 08:00.")] = None,
    group_by: Annotated[
        str | None, typer.Option(metavar="site|topic", help='Group digests; "" = as found.')
    ] = None,
    quiet_hours: Annotated[
        str | None, typer.Option(help="Messages wait until they are over: 22:00-07:00.")
    ] = None,
    time_zone: Annotated[str | None, typer.Option(help="Such as Asia/Shanghai.")] = None,
    max_per_hour: Annotated[int | None, typer.Option(help="Messages an hour.")] = None,
    title: Annotated[str | None, typer.Option(help="Template of the title.")] = None,
    body: Annotated[str | None, typer.Option(help="Template of the text.")] = None,
    as_json: Json = False,
) -> None:
    """Add a message channel, or change one that was added; a running daemon follows within a minute.

    Its address holds the key of the service. Leave it out to type it unseen, away from the history of
    your shell.
    """
    settings, _ = settings_of(context)
    given = _given(
        topic=topic,
        min_score=min_score,
        search=search,
        tag=tag,
        include=_words(include),
        exclude=_words(exclude),
        every_minutes=every_minutes,
        daily_at=daily_at,
        group_by=group_by,
        quiet_hours=quiet_hours,
        time_zone=time_zone,
        max_per_hour=max_per_hour,
        title=title,
        body=body,
    )
    with open_store(context) as store:
        given |= _given(url=_address(store, name, url) or None)
        channel = put_channel(store, settings, name, given, now=now())
    if as_json:
        print_json({"channel": channel.name})
    else:
        say(f"channel {channel.name} is ready; test it: hubwatch notify test {channel.name}")


def _given(**options: object) -> dict[str, object]:
    """Return the options that were given; the others stay as they are."""
    return {field: value for field, value in options.items() if value is not None}


def _words(words: list[str] | None) -> list[str] | None:
    """Return what an option replaces; one empty word = none."""
    return None if words is None else [word for word in words if word]


def _address(store: Store, name: str, url: str) -> str:
    """Return a channel's address, asked for if it is a new one; empty = it keeps its own."""
    if url or name in store.editing.channels():
        return url
    asked: str = typer.prompt("Apprise address", hide_input=True, err=True)
    return asked


def remove(context: typer.Context, name: Name, *, as_json: Json = False) -> None:
    """Remove a channel that was added; those of the settings file are removed there."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        remove_channel(store, settings, name)
    if as_json:
        print_json({"removed": name})
    else:
        say(f"removed channel {name}")


def try_channel(context: typer.Context, name: Name, *, as_json: Json = False) -> None:
    """Send a test message to a channel now, and report the result."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        channel = channel_named(all_channels(store, settings), name)
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
    with open_store(context) as store:
        channel_named(all_channels(store, settings), name)
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
                    "error": read_text(row.error),
                }
                for row in rows
            ]
        )
        return
    cells = [
        (
            when(row.queued_at),
            row.state,
            when(row.sent_at),
            row.attempts,
            _title(row),
            read_text(row.error),
        )
        for row in rows
    ]
    columns = ["queued", "state", "sent", "attempts", "title", "error"]
    print_table(f"channel {name}", columns, cells)


def retry(context: typer.Context, name: Name, *, as_json: Json = False) -> None:
    """Retry messages that failed for good."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        channel_named(all_channels(store, settings), name)
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
    parts += [f"tag {channel.tag}"] if channel.tag else []
    parts += [f"with {' or '.join(channel.include)}"] if channel.include else []
    parts += [f"without {', '.join(channel.exclude)}"] if channel.exclude else []
    return ", ".join(parts) or "all new pages"


def _rhythm(channel: ChannelStanding) -> str:
    if channel.daily_at:
        text = f"daily at {channel.daily_at}"
    else:
        text = f"every {channel.every_minutes:g} min" if channel.every_minutes else "at once"
    text += f", by {channel.group_by}" if channel.group_by else ""
    return f"{text}, not {channel.quiet_hours}" if channel.quiet_hours else text
