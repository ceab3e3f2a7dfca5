"""Messages: channels, their state and their outboxes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, get_type_hints

from fastapi import Path as InPath
from fastapi import Query
from pydantic import Field, StringConstraints, create_model

from incremental.base.texts import read_text
from incremental.features.messages.channels import (
    all_channels,
    channel_named,
    put_channel,
    remove_channel,
    standings,
)
from incremental.features.messages.notifier import send_test
from incremental.features.messages.settings import ChannelSettings
from incremental.fetch.libraries import LibraryGate
from incremental.interfaces.web.api.schemas import (
    Moment,
    RequestSchema,
    ResponseSchema,
    WordList,
    api_router,
    shape_of,
)
from incremental.interfaces.web.context import Web
from store import Store
from store.outbox import OutboxRow

router = api_router("messages", "/messages")
_Name = Annotated[str, InPath(min_length=1, max_length=200, description="Channel name.")]


_LEFT = ["message", "anchor", "site_id", "backfill_id", "change_id"]
_ENTRIES: Any = list[shape_of(OutboxRow, leave=_LEFT)]  # type: ignore[misc]  # made of fields
_SHOWN = {"counts": dict[str, int], "last_sent_at": Moment, "last_error": str}
_SHOWN |= {"held_until": Moment, "held_by": str}
_CHANNELS: Any = list[shape_of(ChannelSettings, leave=("url",), **_SHOWN)]  # type: ignore[misc]  # likewise
_Text = Annotated[str, StringConstraints(max_length=10_000)]
_Number = Annotated[float, Field(ge=0, le=1e6)]
_TAKEN = {str: _Text, float: _Number, tuple[str, ...]: WordList}
# A channel is checked as a whole when it is put.
_FIELDS: dict[str, Any] = {
    name: (_TAKEN.get(hint, hint), getattr(ChannelSettings(name="", url=""), name))
    for name, hint in get_type_hints(ChannelSettings).items()
    if name != "name"
}
ChannelChange: Any = create_model("ChannelChange", __base__=RequestSchema, **_FIELDS)
ChannelChange.__doc__ = (
    """New values; those left out stay, or have their defaults in a new channel."""
)


class Tried(ResponseSchema):
    """The result of a test."""

    sent: bool
    error: str
    """One line, with the service's key removed."""


class Retried(ResponseSchema):
    """The number of messages that wait again."""

    waiting: int


@router.get("", response_model=_CHANNELS)
def list_channels(web: Web, store: Store) -> list[dict[str, Any]]:
    """List the channels: pages by state, and when they were last sent."""
    found = standings(store, all_channels(store, web.settings), now=web.now())
    return [one.shown() for one in found]


@router.put("/{channel}", response_model=_CHANNELS)
def add_channel(
    web: Web, store: Store, channel: _Name, body: ChannelChange
) -> list[dict[str, Any]]:
    """Add a channel, or change one that was added; a running daemon follows within a minute."""
    given = body.model_dump(include=body.model_fields_set)
    put_channel(store, web.settings, channel, given, now=web.now())
    return list_channels(web, store)


@router.delete("/{channel}", status_code=204)
def delete_channel(web: Web, store: Store, channel: _Name) -> None:
    """Remove a channel that was added; those of the settings file are removed there."""
    remove_channel(store, web.settings, channel)


@router.get("/{channel}/outbox", response_model=_ENTRIES)
def list_outbox(
    web: Web,
    store: Store,
    channel: _Name,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum number.")] = 20,
) -> list[OutboxRow]:
    """List the sent, waiting and failed messages of a channel, latest first."""
    channel_named(all_channels(store, web.settings), channel)
    rows = store.outbox.recent(channel, limit=limit)
    return [replace(row, error=read_text(row.error)) for row in rows]


@router.post("/{channel}/test")
def try_channel(web: Web, channel: _Name) -> Tried:
    """Send a test message with the channel's templates and return the result."""
    with web.store() as store:
        chosen = channel_named(all_channels(store, web.settings), channel)
    outcome = send_test(LibraryGate(web.settings.fetch, web.clock), chosen, now=web.now())
    return Tried(sent=outcome.ok, error=outcome.error)


@router.post("/{channel}/retry")
def retry(web: Web, store: Store, channel: _Name) -> Retried:
    """Queue a channel's failed messages again."""
    channel_named(all_channels(store, web.settings), channel)
    return Retried(waiting=store.outbox.retry(channel))
