"""Adding, changing and removing channels while Hubwatch runs.

A channel of the file is changed in the file. The address of a channel holds the key of its service: it is
stored, and never shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from incremental.base.errors import InputError, NotFoundError, SettingsError
from incremental.base.lookup import unknown
from incremental.base.tagging import checked_words
from incremental.base.texts import Text
from incremental.settings import Settings
from incremental.settings.channels import ChannelSettings, check_channel
from store import Store

MAX_NAME = 80
MAX_ADDED = 200


def put_channel(
    store: Store, settings: Settings, name: str, given: Mapping[str, Any], *, now: float
) -> ChannelSettings:
    """Add a channel, or change fields of one that was added; return it.

    A new channel gets the pages announced from *now* on.

    Raises:
        InputError: a value is not usable, or the channel stands in the settings file. Nothing was changed.
    """
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or not name.isprintable():
        raise InputError("name", name[:MAX_NAME], Text("input.name_length", n=MAX_NAME))
    _refuse_file(settings, name)
    stored = store.editing.channels()
    if name not in stored and len(stored) >= MAX_ADDED:
        raise InputError("channels", len(stored), Text("input.at_most", n=MAX_ADDED))
    before = json.loads(stored.get(name, "{}"))
    given = {**given}
    for field in ("include", "exclude"):
        if field in given:
            given[field] = list(checked_words(given[field], field))
    channel = _checked({**before, **given, "name": name})
    if channel.topic and store.topics.topic(channel.topic) is None:
        raise InputError("topic", channel.topic, Text("input.no_topic"))
    if channel.search and store.answers.search(channel.search) is None:
        raise InputError("search", channel.search, Text("input.no_search"))
    store.editing.put_channel(name, msgspec.json.encode(channel).decode(), now=now)
    return channel


def _checked(fields: dict[str, Any]) -> ChannelSettings:
    """Return a channel whose values can be used."""
    if not fields.get("url"):
        raise InputError("url", "", Text("input.channel_address"))
    # Loading Apprise takes a while.
    from incremental.interfaces.notify.delivery import check_service  # noqa: PLC0415
    from incremental.interfaces.notify.message import check_template  # noqa: PLC0415

    try:
        channel = msgspec.convert(fields, ChannelSettings, strict=False)
        check_channel(channel, "channel")
        check_service(channel.url, "channel.url")
        check_template("channel.title", channel.title)
        check_template("channel.body", channel.body)
    except msgspec.ValidationError as error:
        message, _, where = str(error).partition(" - at `$.")
        field = where.rstrip("`")
        raise InputError(field or "channel", fields.get(field, ""), message) from None
    except SettingsError as error:
        field = error.field.removeprefix("channel.")
        # Never the address, which holds a key.
        shown = "" if field == "url" else error.value
        raise InputError(field, shown, error.way_out) from None
    return channel


def remove_channel(store: Store, settings: Settings, name: str) -> None:
    """Remove a channel that was added.

    Raises:
        NotFoundError: there is none of this name.
        InputError: it stands in the settings file.
    """
    _refuse_file(settings, name)
    stored = store.editing.channels()
    if not store.editing.remove_channel(name):
        raise NotFoundError(unknown("channel", name[:100], list(stored)))


def _refuse_file(settings: Settings, name: str) -> None:
    if any(one.name == name for one in settings.notify):
        raise InputError("channel", name, Text("input.channel_in_file"))
