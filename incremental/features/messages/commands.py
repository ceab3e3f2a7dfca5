"""Messages: ``notify list``, ``add``, ``remove``, ``test`` and ``retry``."""

from collections.abc import Iterator, Mapping
from inspect import Parameter
from typing import Annotated, Any

import typer

from incremental.base.clock import SystemClock
from incremental.base.texts import Words
from incremental.features.messages.channels import (
    STATES,
    added_channels,
    all_channels,
    channel_named,
    put_channel,
    remove_channel,
    standings,
)
from incremental.features.messages.settings import ChannelSettings
from incremental.interfaces.cli.common import (
    counted,
    now,
    open_store,
    print_list,
    printed_json,
    report,
    say,
    settings_of,
    with_options,
)
from incremental.interfaces.results.schema import utc, when
from incremental.settings import Settings
from incremental.settings.reference import reference
from store import Store

Name = Annotated[str, typer.Argument(metavar="CHANNEL", help="As `hubwatch notify list` shows it.")]


def list_channels(context: typer.Context) -> None:
    """List the channels: what they announce, when, and their counts."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        channels = all_channels(store, settings)
        found = standings(store, channels, now=now())
    facts, cells = [], []
    for channel, one in zip(channels, found, strict=True):
        about, rhythm = _about(channel), _rhythm(channel)
        named = {"channel": channel.name, "about": about, "when": rhythm, **one["counts"]}
        held = {"held_until": utc(one["held_until"]), "held_by": one["held_by"]}
        sent = {"last_sent_at": utc(one["last_sent_at"]), "error": one["last_error"]}
        facts.append(named | sent | held)
        cells.append([*named.values(), when(one["last_sent_at"]), _held(one), one["last_error"]])
    columns = ["channel", "about", "when", *STATES, "last sent", "held back", "error"]
    empty = (
        "no channel yet; add one: hubwatch notify add NAME, or [[messages.channel]] in the settings"
    )
    print_list(context, facts, counted(len(cells), "channel"), columns, cells, empty=empty)


def _held(one: Mapping[str, Any]) -> str:
    """Say until when what waits is held back, and why."""
    if one["held_until"] is None:
        return ""
    why = Words("en")(f"messages.held_{one['held_by']}")
    return f"until {when(one['held_until'])}: {why}"


def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="CHANNEL", help="Its name.")],
    url: Annotated[
        str, typer.Argument(metavar="[URL]", help="An Apprise address; without it you are asked.")
    ] = "",
    **options: str | list[str] | None,
) -> None:
    """Add a message channel, or change one that was added; a running daemon follows within a minute.

    Its address holds the key of the service. Leave it out to type it unseen, away from the history of
    your shell.
    """
    settings, _ = settings_of(context)
    # Those that are not given stay as they are; one empty word = none.
    given: dict[str, object] = {
        field: value if isinstance(value, str) else [word for word in value if word]
        for field, value in options.items()
        if value is not None
    }
    with open_store(context) as store:
        if url := _address(store, settings, name, url):
            given["url"] = url
        channel = put_channel(store, settings, name, given, now=now())
    said = f"channel {channel.name} is ready; test it: hubwatch notify test {channel.name}"
    report(context, {"channel": channel.name}, said)


def _options() -> Iterator[Parameter]:
    """Yield an option for each setting of a channel but its name and its address."""
    (about,) = (one for one in reference() if one.name == "messages.channel")
    for one in about.settings:
        if one.name not in {"name", "url"}:
            several = isinstance(one.default, tuple)
            metavar = "WORD" if several else "NUMBER" if "number" in one.kind else "TEXT"
            option = typer.Option(help=one.says.replace("`", ""), metavar=metavar)
            kind: Any = Annotated[(list[str] if several else str) | None, option]
            yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)


with_options(add, add, list(_options()), "options")


def _address(store: Store, settings: Settings, name: str, url: str) -> str:
    """Return a channel's address, asked for if it is a new one; empty = it keeps its own."""
    if url or any(one.name == name for one in added_channels(store, settings)):
        return url
    asked: str = typer.prompt("Apprise address", hide_input=True, err=True)
    return asked


def remove(context: typer.Context, name: Name) -> None:
    """Remove a channel that was added; those of the settings file are removed there."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        remove_channel(store, settings, name)
    report(context, {"removed": name}, f"removed channel {name}")


def try_channel(context: typer.Context, name: Name) -> None:
    """Send a test message to a channel now, and report the result."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        channel = channel_named(all_channels(store, settings), name)
    # What sends loads an HTTP library, and lists need none.
    from incremental.features.messages.notifier import send_test  # noqa: PLC0415

    outcome = send_test(channel, settings.fetch, SystemClock())
    if printed_json(context, {"channel": name, "sent": outcome.ok, "error": outcome.error}):
        return
    if outcome.ok:
        typer.echo(f"sent to {name}")
    else:
        say(f"hubwatch: channel {name}: {outcome.error}")
        raise typer.Exit(1)


def retry(context: typer.Context, name: Name) -> None:
    """Retry messages that failed for good."""
    settings, _ = settings_of(context)
    with open_store(context) as store:
        channel_named(all_channels(store, settings), name)
        count = store.outbox.retry(name)
    if not printed_json(context, {"waiting": count}):
        typer.echo(f"{counted(count, 'message')} queued again")


def _about(channel: ChannelSettings) -> str:
    parts = [f"topic {channel.topic}"] if channel.topic else []
    parts += [f"search {channel.search}"] if channel.search else []
    parts += [f"tag {channel.tag}"] if channel.tag else []
    parts += [f"with {' or '.join(channel.include)}"] if channel.include else []
    parts += [f"without {', '.join(channel.exclude)}"] if channel.exclude else []
    return ", ".join(parts) or "all new pages"


def _rhythm(channel: ChannelSettings) -> str:
    if channel.daily_at:
        text = f"daily at {channel.daily_at}"
    else:
        text = f"every {channel.every_minutes:g} min" if channel.every_minutes else "at once"
    return f"{text}, not {channel.quiet_hours}" if channel.quiet_hours else text
