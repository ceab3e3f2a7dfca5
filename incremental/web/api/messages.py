"""Messages: channels, their state and their outboxes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from incremental.fetch.libraries import LibraryGate
from incremental.notify.overview import ChannelStanding, channel_named, send_test, standings
from incremental.web.api.schemas import REFUSED, ResponseSchema, shape_of
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from store.outbox import OutboxRow

router = APIRouter(
    prefix="/api/v1", tags=["messages"], route_class=ConditionalRoute, responses=REFUSED
)
_Name = Annotated[
    str, InPath(min_length=1, max_length=200, description="Channel name from the settings.")
]


_CHANNELS: Any = list[shape_of(ChannelStanding)]  # type: ignore[misc]  # made of fields
_ENTRIES: Any = list[shape_of(OutboxRow, leave=["message", "anchor", "site_id", "backfill_id"])]  # type: ignore[misc]  # likewise


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
        return standings(store, web.settings.channels)


@router.get("/messages/{channel}/outbox", response_model=_ENTRIES)
def list_outbox(
    request: Request,
    channel: _Name,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum number.")] = 20,
) -> list[OutboxRow]:
    """List the sent, waiting and failed messages of a channel, latest first."""
    web = web_of(request)
    channel_named(web.settings.channels, channel)
    with web.store() as store:
        return store.outbox.recent(channel, limit=limit)


@router.post("/messages/{channel}/test")
def try_channel(request: Request, channel: _Name) -> Tried:
    """Send a test message with the channel's templates and return the result."""
    web = web_of(request)
    chosen = channel_named(web.settings.channels, channel)
    outcome = send_test(LibraryGate(web.settings.fetch, web.clock), chosen, now=web.now())
    return Tried(sent=outcome.ok, error=outcome.error)


@router.post("/messages/{channel}/retry")
def retry(request: Request, channel: _Name) -> Retried:
    """Queue a channel's failed messages again."""
    web = web_of(request)
    channel_named(web.settings.channels, channel)
    with web.store() as store:
        return Retried(waiting=store.outbox.retry(channel))
