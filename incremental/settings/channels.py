"""``[[notify]]`` in the settings: where messages go, about what, and when."""

from __future__ import annotations

import re
from datetime import time, tzinfo
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from incremental.base.errors import SettingsError
from incremental.base.texts import Text

# Hooks, and channels of features, are listed under these.
RESERVED = ("hook:", "feature:")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
GroupBy = Literal["", "site", "topic"]
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class ChannelSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message channel. Its address is a secret: it contains the service's key."""

    name: str
    """What the channel is called; unique."""
    url: str
    """``mailto://``, ``slack://``, ``tgram://``, ``json://`` and others of Apprise."""
    topic: str = ""
    """Only relevant and grey pages of this topic; empty = all new pages."""
    min_score: _Share = 0.0
    """With *topic*: minimum score."""
    search: str = ""
    """Only pages that match this saved search."""
    tag: str = ""
    """Only pages of the sites and topics with this tag."""
    include: tuple[str, ...] = ()
    """Only pages with one of these words or phrases in title or text."""
    exclude: tuple[str, ...] = ()
    """No pages with any of these words or phrases."""
    every_minutes: _NotNegative = 0.0
    """0 = each page at once; otherwise the minimum time between digests."""
    daily_at: str = ""
    """``08:00``: one digest a day at this time."""
    group_by: GroupBy = ""
    """Digests list pages under their ``site`` or their best ``topic``; empty = as they were found."""
    quiet_hours: str = ""
    """``22:00-07:00``: messages wait until they are over."""
    time_zone: str = ""
    """Such as ``Asia/Shanghai``; empty = this machine's."""
    max_per_hour: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 20
    """Messages; the excess is combined into one."""
    title: str = ""
    """Template (Jinja2) of the title; empty = default."""
    body: str = ""
    """Template of the text."""


def check_channel(channel: ChannelSettings, where: str) -> None:
    """Raise SettingsError for values that would fail only when the channel is used."""
    if not channel.name.strip():
        raise SettingsError(f"{where}.name", channel.name, "give the channel a name")
    if channel.name.startswith(RESERVED):
        way_out = f"names of channels do not begin with {' or '.join(RESERVED)}"
        raise SettingsError(f"{where}.name", channel.name, way_out)
    if "://" not in channel.url:
        raise SettingsError(
            f"{where}.url", "...", "must be an Apprise address like json://host/path"
        )
    if channel.daily_at:
        clock(channel.daily_at, f"{where}.daily_at")
    quiet_hours(channel.quiet_hours, f"{where}.quiet_hours")
    zone(channel.time_zone, f"{where}.time_zone")


def clock(text: str, field: str) -> time:
    """Read ``8:30``.

    Raises:
        SettingsError: not a time of day.
    """
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        raise SettingsError(field, text, Text("input.time_form"))
    return time(int(found[1]), int(found[2]))


def quiet_hours(text: str, field: str) -> tuple[time, time] | None:
    """Read ``22:00-07:00``; None for none.

    Raises:
        SettingsError: not two times of day.
    """
    if not text.strip():
        return None
    start, dash, end = text.partition("-")
    if not dash:
        raise SettingsError(field, text, Text("input.span_form"))
    return clock(start, field), clock(end, field)


def zone(name: str, field: str) -> tzinfo | None:
    """Return a time zone by its IANA name; None = the machine's.

    Raises:
        SettingsError: unknown name.
    """
    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        way_out = Text("input.zone_form")
        raise SettingsError(field, name, way_out) from None
