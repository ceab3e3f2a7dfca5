"""Messages, on the web page and for programs: channels, outboxes, test messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, get_type_hints

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response
from pydantic import Field, StringConstraints, create_model

from incremental.base.errors import InputError
from incremental.base.tagging import joined, parted
from incremental.base.texts import read_text
from incremental.features.messages.channels import (
    SHOWN,
    added_channels,
    all_channels,
    channel_named,
    put_channel,
    remove_channel,
    standings,
)
from incremental.features.messages.hooks import Delivered
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
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.routes.forms import see
from incremental.interfaces.web.views import page, problem_of
from store import Store
from store.outbox import OutboxRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
# Outbox entries shown per channel.
_LATEST = 10
# What the form shows of a channel; its address is typed again, and the others stay as they are.
_FIELDS = [one for one in SHOWN if one not in {"min_score", "max_per_hour"}]
_MOST_CHARS = 5_000
_Name = Annotated[str, Form(min_length=1, max_length=200)]


@router.get("/messages")
def messages_page(
    request: Request, web: Web, store: Store, edit: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Show the channels with their latest outbox entries, and one that was added in the form."""
    known = {one.name: one for one in added_channels(store, web.settings)} if edit else {}
    return _messages(request, {}, typed=_typed(known[edit]) if edit in known else None)


def _typed(channel: ChannelSettings) -> dict[str, str]:
    """Return what would be typed for a channel, without its address."""
    lists = {"include": joined(channel.include), "exclude": joined(channel.exclude)}
    every = f"{channel.every_minutes:g}" if channel.every_minutes else ""
    return {name: getattr(channel, name) for name in _FIELDS} | lists | {"every_minutes": every}


def _messages(
    request: Request,
    outcomes: Mapping[str, Delivered],
    *,
    problem: str = "",
    typed: Mapping[str, str] | None = None,
) -> Response:
    web = web_of(request)
    with web.store() as store:
        channels = [
            one.shown()
            for one in standings(store, all_channels(store, web.settings), now=web.now())
        ]
        added = {one.name for one in added_channels(store, web.settings)}
        tags = [one.name for one in store.tags.tags()]
        searches = [row.name for row in store.answers.searches()]
        latest = {one["name"]: store.outbox.recent(one["name"], limit=_LATEST) for one in channels}
        topics = {row.name: row.id for row in store.topics.topics()}
    values = {
        "channels": channels,
        "latest": latest,
        "topics": topics,
        "outcomes": outcomes,
        "added": added,
        "searches": searches,
        "tags": tags,
        "problem": problem,
        "form": dict.fromkeys(_FIELDS, "") | dict(typed or {}),
    }
    return page(request, "messages/messages.html", values)


async def _typed_in(request: Request) -> dict[str, str]:
    """Return the fields of the form, an empty text for each that is missing."""
    form = await request.form()
    return {name: str(form.get(name, ""))[:_MOST_CHARS] for name in (*_FIELDS, "url")}


@router.post("/messages/add")
def add_form(
    request: Request, web: Web, store: Store, typed: Annotated[dict[str, str], Depends(_typed_in)]
) -> Response:
    """Add a channel, or change one that was added; an empty address leaves it as it is."""
    given: dict[str, Any] = {
        **typed,
        "include": parted(typed["include"]),
        "exclude": parted(typed["exclude"]),
        "every_minutes": typed["every_minutes"] or "0",
    }
    if not typed.pop("url").strip():
        del given["url"]
    try:
        put_channel(store, web.settings, given.pop("name"), given, now=web.now())
    except InputError as error:
        # The address is typed again: it is a secret, and never sent back.
        return _messages(request, {}, problem=problem_of(request, error), typed=typed)
    return see("/messages")


@router.post("/messages/remove")
def remove_form(web: Web, store: Store, channel: _Name) -> Response:
    """Remove a channel that was added."""
    remove_channel(store, web.settings, channel)
    return see("/messages")


@router.post("/messages/test")
def test_form(request: Request, web: Web, channel: _Name) -> Response:
    """Send a test message and show the result."""
    with web.store() as store:
        chosen = channel_named(all_channels(store, web.settings), channel)
    outcome = send_test(LibraryGate(web.settings.fetch, web.clock), chosen, now=web.now())
    if "hx-request" in request.headers:
        return page(request, "messages/outcome.html", {"outcome": outcome})
    return _messages(request, {channel: outcome})


@router.post("/messages/retry")
def retry_form(web: Web, store: Store, channel: _Name) -> Response:
    """Queue the failed messages of a channel again."""
    channel_named(all_channels(store, web.settings), channel)
    store.outbox.retry(channel)
    return see("/messages")


api = api_router("messages", "/messages")
_ChannelName = Annotated[str, InPath(min_length=1, max_length=200, description="Channel name.")]


_LEFT = ["message", "anchor", "site_id", "backfill_id", "change_id"]
_ENTRIES: Any = list[shape_of(OutboxRow, leave=_LEFT)]  # type: ignore[misc]  # made of fields
_SHOWN = {"counts": dict[str, int], "last_sent_at": Moment, "last_error": str}
_SHOWN |= {"held_until": Moment, "held_by": str}
_CHANNELS: Any = list[shape_of(ChannelSettings, leave=("url",), **_SHOWN)]  # type: ignore[misc]  # likewise
_Text = Annotated[str, StringConstraints(max_length=10_000)]
_Number = Annotated[float, Field(ge=0, le=1e6)]
_TAKEN = {str: _Text, float: _Number, tuple[str, ...]: WordList}
# A channel is checked as a whole when it is put.
_CHANGES: dict[str, Any] = {
    name: (_TAKEN.get(hint, hint), getattr(ChannelSettings(name="", url=""), name))
    for name, hint in get_type_hints(ChannelSettings).items()
    if name != "name"
}
ChannelChange: Any = create_model("ChannelChange", __base__=RequestSchema, **_CHANGES)
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


@api.get("", response_model=_CHANNELS)
def list_channels(web: Web, store: Store) -> list[dict[str, Any]]:
    """List the channels: pages by state, and when they were last sent."""
    found = standings(store, all_channels(store, web.settings), now=web.now())
    return [one.shown() for one in found]


@api.put("/{channel}", response_model=_CHANNELS)
def add_channel(
    web: Web, store: Store, channel: _ChannelName, body: ChannelChange
) -> list[dict[str, Any]]:
    """Add a channel, or change one that was added; a running daemon follows within a minute."""
    given = body.model_dump(include=body.model_fields_set)
    put_channel(store, web.settings, channel, given, now=web.now())
    return list_channels(web, store)


@api.delete("/{channel}", status_code=204)
def delete_channel(web: Web, store: Store, channel: _ChannelName) -> None:
    """Remove a channel that was added; those of the settings file are removed there."""
    remove_channel(store, web.settings, channel)


@api.get("/{channel}/outbox", response_model=_ENTRIES)
def list_outbox(
    web: Web,
    store: Store,
    channel: _ChannelName,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum number.")] = 20,
) -> list[OutboxRow]:
    """List the sent, waiting and failed messages of a channel, latest first."""
    channel_named(all_channels(store, web.settings), channel)
    rows = store.outbox.recent(channel, limit=limit)
    return [replace(row, error=read_text(row.error)) for row in rows]


@api.post("/{channel}/test")
def try_channel(web: Web, channel: _ChannelName) -> Tried:
    """Send a test message with the channel's templates and return the result."""
    with web.store() as store:
        chosen = channel_named(all_channels(store, web.settings), channel)
    outcome = send_test(LibraryGate(web.settings.fetch, web.clock), chosen, now=web.now())
    return Tried(sent=outcome.ok, error=outcome.error)


@api.post("/{channel}/retry")
def retry(web: Web, store: Store, channel: _ChannelName) -> Retried:
    """Queue a channel's failed messages again."""
    channel_named(all_channels(store, web.settings), channel)
    return Retried(waiting=store.outbox.retry(channel))
