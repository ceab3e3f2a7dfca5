"""The channels: those of the settings, those added while Hubwatch runs, and how each of them stands.

A channel of the file is changed in the file. The address of a channel holds the key of its service: it is
stored, and never shown.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from incremental.base.errors import InputError, NotFoundError
from incremental.base.findings import Finding, settings_checked
from incremental.base.tagging import checked_name, checked_words
from incremental.base.texts import Text, read_text
from incremental.base.times import HOUR
from incremental.features.messages.plan import Plan, plan
from incremental.features.messages.settings import (
    ChannelSettings,
    MessagesSettings,
    check_channel,
    check_program,
    hook_channels,
)
from incremental.settings import Settings
from incremental.settings.checks import checked_entry
from store import Store
from store.enums import OutboxState
from store.outbox import OutboxRow

logger = logging.getLogger("hubwatch.messages")

MAX_ADDED = 200
# States of an outbox entry, in this order.
STATES = tuple(OutboxState)
# What people see of a channel: everything but its address.
SHOWN = tuple(one for one in ChannelSettings.__struct_fields__ if one != "url")


def given_channels(settings: Settings) -> tuple[ChannelSettings, ...]:
    """Return the channels of the settings file, then hooks and the channels of features."""
    given = settings.of(MessagesSettings)
    return (*given.channel, *hook_channels(given.hook, settings.enabled.on))


def added_channels(store: Store, settings: Settings) -> list[ChannelSettings]:
    """Return the channels that are not in the settings file, which outranks them, oldest first."""
    names = {one.name for one in given_channels(settings)}
    found = []
    for name, text, topic in store.outbox.added_channels():
        if name in names:
            continue
        try:
            channel = msgspec.json.decode(text, type=ChannelSettings)
        except msgspec.MsgspecError as error:
            logger.warning("channel %s cannot be read: %s", name, error)
            continue
        # It follows its topic to another name.
        found.append(msgspec.structs.replace(channel, topic=topic or channel.topic))
    return found


def all_channels(store: Store, settings: Settings) -> list[ChannelSettings]:
    """Return all channels, those of the settings file first."""
    return [*given_channels(settings), *added_channels(store, settings)]


def names(store: Store, settings: Settings) -> list[str]:
    """Return the names of all channels."""
    return [one.name for one in all_channels(store, settings)]


def put_channel(
    store: Store, settings: Settings, name: str, given: Mapping[str, Any], *, now: float
) -> ChannelSettings:
    """Add a channel, or change fields of one that was added; return it.

    A new channel gets the pages announced from *now* on.

    Raises:
        InputError: a value is not usable, or the channel stands in the settings file. Nothing was changed.
    """
    name = checked_name("name", name)
    _refuse_file(settings, name)
    stored = {one.name: one for one in added_channels(store, settings)}
    if name not in stored and len(stored) >= MAX_ADDED:
        raise InputError("channels", len(stored), Text("input.at_most", n=MAX_ADDED))
    before = msgspec.structs.asdict(stored[name]) if name in stored else {}
    given = {**given}
    for field in ("include", "exclude"):
        if field in given:
            given[field] = list(checked_words(given[field], field))
    typed = {**before, **given, "name": name}
    if not typed.get("url"):
        raise InputError("url", "", Text("messages.address"))
    channel = checked_entry(ChannelSettings, "messages.channel", typed, _check)
    topic = store.topics.topic(channel.topic) if channel.topic else None
    if channel.topic and topic is None:
        raise InputError("topic", channel.topic, Text("input.no_topic"))
    if channel.search and store.answers.search(channel.search) is None:
        raise InputError("search", channel.search, Text("input.no_search"))
    text = msgspec.json.encode(channel).decode()
    store.outbox.put_channel(name, text, now=now, topic_id=None if topic is None else topic.id)
    return channel


def _check(channel: ChannelSettings) -> None:
    check_channel(channel, "messages.channel")
    check_sending(channel, "messages.channel.")


def remove_channel(store: Store, settings: Settings, name: str) -> None:
    """Remove a channel that was added.

    Raises:
        NotFoundError: there is none of this name.
        InputError: it stands in the settings file.
    """
    _refuse_file(settings, name)
    if not store.outbox.remove_channel(name):
        channel_named(added_channels(store, settings), name)  # says which there are


def _refuse_file(settings: Settings, name: str) -> None:
    if any(one.name == name for one in settings.of(MessagesSettings).channel):
        raise InputError("channel", name, Text("messages.in_file"))


def standings(
    store: Store, channels: Sequence[ChannelSettings], *, now: float
) -> list[dict[str, Any]]:
    """Return how the channels stand, in the order of the settings, with what people see of their settings.

    ``counts`` has the number of pages by each of :data:`STATES`; ``last_error`` that of a message not sent
    yet, or why no page is queued any more; what waits is sent after ``held_until``, ``held_by`` as in
    :class:`~incremental.features.messages.plan.Plan`.
    """
    counts, errors = store.outbox.counts(), store.outbox.errors()
    found = []
    for one in channels:
        planned = plan_of(store, one, store.outbox.open(one.name), now)
        found.append(
            {name: getattr(one, name) for name in SHOWN}
            | {
                "max_per_hour": one.per_hour,
                "counts": {state: counts.get(one.name, {}).get(state, 0) for state in STATES},
                "last_sent_at": store.outbox.last_sent_at(one.name),
                "last_error": gone(store, one) or read_text(errors.get(one.name, "")),
                "held_until": planned.check_at if planned.held_by else None,
                "held_by": planned.held_by,
            }
        )
    return found


def gone(store: Store, channel: ChannelSettings) -> Text | None:
    """Say why a channel gets no page any more; None = it does."""
    if channel.topic and store.topics.topic(channel.topic) is None:
        return Text("messages.topic_gone", name=channel.topic)
    if channel.search and store.answers.search(channel.search) is None:
        return Text("messages.search_gone", name=channel.search)
    return None


def plan_of(
    store: Store, channel: ChannelSettings, entries: Sequence[OutboxRow], now: float
) -> Plan:
    """Return what a channel sends now of its open *entries*, and what holds the others back."""
    sent = store.outbox.messages_since(channel.name, now - HOUR)
    return plan(entries, channel, sent, store.outbox.last_sent_at(channel.name), now)


def channel_named(channels: Sequence[ChannelSettings], name: str) -> ChannelSettings:
    """Return a channel by its name, or raise :class:`NotFoundError` with the known names."""
    for one in channels:
        if one.name == name:
            return one
    name, known = name[:100], ", ".join(one.name for one in channels)
    if not known:
        raise NotFoundError(Text("messages.no_channel", name=name))
    raise NotFoundError(Text("messages.no_such_channel", name=name, known=known))


def check_channels(settings: Settings) -> None:
    """Raise SettingsError for the first channel of the file that cannot be used."""
    for number, channel in enumerate(settings.of(MessagesSettings).channel):
        check_sending(channel, f"messages.channel[{number}].")


def findings(settings: Settings) -> list[Finding]:
    """Return what is wrong with channels and hooks of the file."""
    given, wrong = settings.of(MessagesSettings), list[Finding]()
    for number, channel in enumerate(given.channel):
        with settings_checked(wrong):
            check_sending(channel, f"messages.channel[{number}].")
    for number, hook in enumerate(given.hook):
        with settings_checked(wrong):
            check_program(hook, f"messages.hook[{number}]")
    return wrong


def check_sending(channel: ChannelSettings, where: str) -> None:
    """Raise SettingsError for an address that cannot be used."""
    # The library of messages loads for a second; many have no channel.
    from incremental.features.messages.hooks import service_of  # noqa: PLC0415

    service_of(channel.url, f"{where}url")
