"""The channels as all interfaces show them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from incremental.base.errors import NotFoundError, SettingsError
from incremental.base.lookup import unknown
from incremental.base.texts import read_text
from incremental.fetch.libraries import LibraryGate
from incremental.interfaces.notify.delivery import Delivered, deliver
from incremental.interfaces.notify.hooks import call, call_for_page
from incremental.interfaces.notify.message import SAMPLE, compose, of_page
from incremental.settings.channels import ChannelSettings
from incremental.settings.hooks import HookChannel
from store import Store
from store.enums import OutboxState

# States of an outbox entry, in this order.
STATES = tuple(OutboxState)
# One test at a time per process, so that a hanging receiver blocks one thread, not all.
_trying = threading.Lock()


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """A channel without its address, with the state of its messages."""

    # The address contains the key of its service.

    name: str
    topic: str
    search: str
    min_score: float
    tag: str
    include: Sequence[str]
    exclude: Sequence[str]
    every_minutes: float
    daily_at: str
    group_by: str
    quiet_hours: str
    time_zone: str
    max_per_hour: int
    counts: Mapping[str, int]
    """Pages by each of :data:`STATES`."""
    last_sent_at: float | None
    last_error: str
    """Last error of a message not sent yet; empty = none."""


def standings(store: Store, channels: Sequence[ChannelSettings]) -> list[ChannelStanding]:
    """Return the channels in the order of the settings."""
    counts, errors = store.outbox.counts(), store.outbox.last_errors()
    return [
        ChannelStanding(
            name=one.name,
            topic=one.topic,
            search=one.search,
            min_score=one.min_score,
            tag=one.tag,
            include=list(one.include),
            exclude=list(one.exclude),
            every_minutes=one.every_minutes,
            daily_at=one.daily_at,
            group_by=one.group_by,
            quiet_hours=one.quiet_hours,
            time_zone=one.time_zone,
            max_per_hour=one.max_per_hour,
            counts={state: counts.get(one.name, {}).get(state, 0) for state in STATES},
            last_sent_at=store.outbox.last_sent_at(one.name),
            last_error=read_text(errors.get(one.name, "")),
        )
        for one in channels
    ]


def channel_named(channels: Sequence[ChannelSettings], name: str) -> ChannelSettings:
    """Return a channel by its name, or raise :class:`NotFoundError` with the known names."""
    for one in channels:
        if one.name == name:
            return one
    raise NotFoundError(unknown("channel", name[:100], [one.name for one in channels]))


def send_test(gate: LibraryGate, channel: ChannelSettings, *, now: float) -> Delivered:
    """Send a test message now, with the channel's templates; it is not in the outbox."""
    if not _trying.acquire(blocking=False):
        return Delivered(ok=False, error="another test is running")
    try:
        sample, key = replace(SAMPLE, found_at=now), f"test-{now:.0f}"
        if isinstance(channel, HookChannel):
            return call(channel, call_for_page(channel, sample, key, kind="test"))
        message = compose(
            [of_page(sample, channel.topic)],
            channel.title,
            channel.body,
            group_by=channel.group_by,
        )
        return deliver(gate, channel.url, message, key)
    except SettingsError as error:
        return Delivered(ok=False, error=str(error))
    finally:
        _trying.release()
