"""Messages: channels, outboxes, test messages."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.base.tagging import joined, parted
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
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.views import page, problem_of, see
from store import Store

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
        channels = standings(store, all_channels(store, web.settings), now=web.now())
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
def add_channel(
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
def delete_channel(web: Web, store: Store, channel: _Name) -> Response:
    """Remove a channel that was added."""
    remove_channel(store, web.settings, channel)
    return see("/messages")


@router.post("/messages/test")
def try_channel(request: Request, web: Web, channel: _Name) -> Response:
    """Send a test message and show the result."""
    with web.store() as store:
        chosen = channel_named(all_channels(store, web.settings), channel)
    outcome = send_test(chosen, web.settings.fetch, web.clock)
    if "hx-request" in request.headers:
        return page(request, "messages/outcome.html", {"outcome": outcome})
    return _messages(request, {channel: outcome})


@router.post("/messages/retry")
def retry(web: Web, store: Store, channel: _Name) -> Response:
    """Queue the failed messages of a channel again."""
    channel_named(all_channels(store, web.settings), channel)
    store.outbox.retry(channel)
    return see("/messages")
