"""The channels in use: those of the settings file, and those that were added while Hubwatch runs."""

from __future__ import annotations

import logging

import msgspec

from incremental.settings import Settings
from incremental.settings.channels import ChannelSettings
from store import Store

logger = logging.getLogger("hubwatch.notify")


def all_channels(store: Store, settings: Settings) -> list[ChannelSettings]:
    """Return all channels, those of the settings file first."""
    return [*settings.channels, *added_channels(store, settings)]


def added_channels(store: Store, settings: Settings) -> list[ChannelSettings]:
    """Return the channels that are not in the settings file, which outranks them, oldest first."""
    names = {one.name for one in settings.channels}
    found = []
    for name, text in store.editing.channels().items():
        if name in names:
            continue
        try:
            found.append(msgspec.json.decode(text, type=ChannelSettings))
        except msgspec.MsgspecError as error:
            logger.warning("channel %s cannot be read: %s", name, error)
    return found
