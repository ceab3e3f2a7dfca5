"""Messages: channels, outboxes, test messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from incremental.fetch.libraries import LibraryGate
from incremental.notify.delivery import Delivered
from incremental.notify.overview import channel_named, send_test, standings
from incremental.web.context import web_of
from incremental.web.routes.forms import see
from incremental.web.views import page

router = APIRouter(include_in_schema=False)
# Outbox entries shown per channel.
_LATEST = 10
_Name = Annotated[str, Form(min_length=1, max_length=200)]


@router.get("/messages")
def messages_page(request: Request) -> Response:
    """Show the channels with their latest outbox entries."""
    return _messages(request, {})


def _messages(request: Request, outcomes: Mapping[str, Delivered]) -> Response:
    web = web_of(request)
    with web.store() as store:
        channels = standings(store, web.settings.channels)
        latest = {one.name: store.outbox.recent(one.name, limit=_LATEST) for one in channels}
        topics = {row.name: row.id for row in store.topics.topics()}
    values = {"channels": channels, "latest": latest, "topics": topics, "outcomes": outcomes}
    return page(request, "messages.html", values)


@router.post("/messages/test")
def try_channel(request: Request, channel: _Name) -> Response:
    """Send a test message and show the result."""
    web = web_of(request)
    chosen = channel_named(web.settings.channels, channel)
    outcome = send_test(LibraryGate(web.settings.fetch, web.clock), chosen, now=web.now())
    if "hx-request" in request.headers:
        return page(request, "_outcome.html", {"outcome": outcome})
    return _messages(request, {channel: outcome})


@router.post("/messages/retry")
def retry(request: Request, channel: _Name) -> Response:
    """Queue the failed messages of a channel again."""
    web = web_of(request)
    channel_named(web.settings.channels, channel)
    with web.store() as store:
        store.outbox.retry(channel)
    return see("/messages")
