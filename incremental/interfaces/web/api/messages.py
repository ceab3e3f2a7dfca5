"""Messages: channels, their state and their outboxes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from pydantic import Field, StringConstraints

from incremental.base.texts import read_text
from incremental.fetch.libraries import LibraryGate
from incremental.interfaces.notify.channels import put_channel, remove_channel
from incremental.interfaces.notify.overview import (
    ChannelStanding,
    channel_named,
    send_test,
    standings,
)
from incremental.interfaces.web.api.schemas import REFUSED, RequestSchema, ResponseSchema, shape_of
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of
from incremental.settings.channels import GroupBy
from incremental.settings.saved_channels import all_channels
from store.outbox import OutboxRow

router = APIRouter(
    prefix="/api/v1", tags=["messages"], route_class=ConditionalRoute, responses=REFUSED
)
_Name = Annotated[str, InPath(min_length=1, max_length=200, description="Channel name.")]


_Short = Annotated[str, StringConstraints(max_length=200)]
_CHANNELS: Any = list[shape_of(ChannelStanding)]  # type: ignore[misc]  # made of fields
_LEFT = ["message", "anchor", "site_id", "backfill_id", "change_id"]
_ENTRIES: Any = list[shape_of(OutboxRow, leave=_LEFT)]  # type: ignore[misc]  # likewise


_Words = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=50)
]


class ChannelChange(RequestSchema):
    """New values of a channel's fields; those left out stay, or have their defaults in a new one."""

    url: Annotated[str, StringConstraints(min_length=1, max_length=2_000)] = Field(
        default_factory=str
    )
    """An Apprise address; it holds the key of the service and is never shown again."""
    topic: _Short = ""
    min_score: Annotated[float, Field(ge=0, le=1)] = 0.0
    search: _Short = ""
    tag: _Short = ""
    include: _Words = Field(default_factory=list)
    """Only pages with one of these words or phrases."""
    exclude: _Words = Field(default_factory=list)
    """No pages with any of these words or phrases."""
    every_minutes: Annotated[float, Field(ge=0, le=1e6)] = 0.0
    daily_at: _Short = ""
    group_by: GroupBy = ""
    """Digests list pages under their site or their best topic."""
    quiet_hours: _Short = ""
    time_zone: _Short = ""
    max_per_hour: Annotated[int, Field(ge=1, le=1_000)] = 20
    title: Annotated[str, StringConstraints(max_length=10_000)] = ""
    body: Annotated[str, StringConstraints(max_length=10_000)] = ""


class Tried(ResponseSchema):
    """The result of a test."""

    sent: bool
    error: str
    """One line, with the service's key removed."""


class Retried(ResponseSchema):
    """The number of messages that wait again."""

    waiting: int


@router.get("/messages", response_model=_CHANNELS)
def list_channels(request: Request) -> list[ChannelStanding]:
    """List the channels: pages by state, and when they were last sent."""
    web = web_of(request)
    with web.store() as store:
        return standings(store, all_channels(store, web.settings))


@router.put("/messages/{channel}", response_model=_CHANNELS)
def add_channel(request: Request, channel: _Name, body: ChannelChange) -> list[ChannelStanding]:
    """Add a channel, or change one that was added; a running daemon follows within a minute."""
    web = web_of(request)
    given = body.model_dump(include=body.model_fields_set)
    with web.store() as store:
        put_channel(store, web.settings, channel, given, now=web.now())
        return standings(store, all_channels(store, web.settings))


@router.delete("/messages/{channel}", status_code=204)
def delete_channel(request: Request, channel: _Name) -> None:
    """Remove a channel that was added; those of the settings file are removed there."""
    web = web_of(request)
    with web.store() as store:
        remove_channel(store, web.settings, channel)


@router.get("/messages/{channel}/outbox", response_model=_ENTRIES)
def list_outbox(
    request: Request,
    channel: _Name,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum number.")] = 20,
) -> list[OutboxRow]:
    """List the sent, waiting and failed messages of a channel, latest first."""
    web = web_of(request)
    with web.store() as store:
        channel_named(all_channels(store, web.settings), channel)
        rows = store.outbox.recent(channel, limit=limit)
    return [replace(row, error=read_text(row.error)) for row in rows]


@router.post("/messages/{channel}/test")
def try_channel(request: Request, channel: _Name) -> Tried:
    """Send a test message with the channel's templates and return the result."""
    web = web_of(request)
    with web.store() as store:
        chosen = channel_named(all_channels(store, web.settings), channel)
    outcome = send_test(LibraryGate(web.settings.fetch, web.clock), chosen, now=web.now())
    return Tried(sent=outcome.ok, error=outcome.error)


@router.post("/messages/{channel}/retry")
def retry(request: Request, channel: _Name) -> Retried:
    """Queue a channel's failed messages again."""
    web = web_of(request)
    with web.store() as store:
        channel_named(all_channels(store, web.settings), channel)
        return Retried(waiting=store.outbox.retry(channel))
