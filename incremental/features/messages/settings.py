"""``[messages]`` in the settings: where messages go, about what, and when; hooks; features' channels."""

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from datetime import time, tzinfo
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from incremental.base.errors import SettingsError
from incremental.base.features import Feature
from incremental.base.texts import Text
from incremental.settings.sections import SECRET, example

# Hooks, and channels of features, are listed under these.
RESERVED = HOOK, FEATURE = ("hook:", "feature:")
_UNBOUNDED = 1_000_000_000
_MOST_PER_HOUR = 20
# Hooks and webhooks: what reads them is a program, which no number of messages disturbs.
_PROGRAMS = (HOOK, *(f"{name}{tail}://" for name in ("json", "xml", "form") for tail in ("", "s")))
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)")
_Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
_NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1e6)]


class Wanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which new pages a channel or a hook gets."""

    topic: Annotated[str, example("bridges")] = ""
    """Only relevant and doubtful pages of this topic; empty = all new pages."""
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


class ChannelSettings(Wanted, frozen=True):
    """A message channel. Its address is a secret: it contains the service's key."""

    name: Annotated[str, example("mail")]
    """What the channel is called; unique."""
    url: Annotated[str, SECRET, example("mailto://user:password@example.org?to=you@example.org")]
    """``mailto://``, ``slack://``, ``tgram://``, ``json://`` and others of Apprise."""
    every_minutes: _NotNegative = 0.0
    """0 = each page at once; otherwise the minimum time between digests."""
    daily_at: Annotated[str, example("08:00")] = ""
    """``08:00``: one digest a day at this time."""
    quiet_hours: Annotated[str, example("22:00-07:00")] = ""
    """``22:00-07:00``: messages wait until they are over."""
    time_zone: Annotated[str, example("Asia/Shanghai")] = ""
    """Such as ``Asia/Shanghai``; empty = this machine's."""
    max_per_hour: Annotated[Annotated[int, msgspec.Meta(ge=1, le=1_000)] | None, example(20)] = None
    """Messages; the excess is combined into one. Not set = 20, and none for `json://`, `xml://`, `form://`."""

    @property
    def per_hour(self) -> int:
        """The most messages in an hour."""
        return self.max_per_hour or (
            _UNBOUNDED if self.url.startswith(_PROGRAMS) else _MOST_PER_HOUR
        )


class HookSettings(Wanted, frozen=True):
    """One hook. A program gets one JSON object on standard input, or an address gets it by POST."""

    name: Annotated[str, example("archive")]
    """What it is called in lists and errors, after `hook:`."""
    command: Annotated[tuple[str, ...], example(("/usr/local/bin/archive", "--new"))] = ()
    """The program and its arguments; no shell reads them."""
    url: Annotated[str, SECRET] = ""
    """Instead of *command*: the object is sent to this address, `https://` or `http://`."""
    secret: Annotated[str, SECRET] = ""
    """With *url*: the header `X-Hubwatch-Signature` is `sha256=` and the HMAC of the body under it."""
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=3_600)] = 60.0
    """The program or the request is ended after this long, and called again later."""


class HookChannel(ChannelSettings, frozen=True, kw_only=True):
    """A hook, or a channel of a feature: the same filters, retries and outbox; *url* is not an address."""

    hook: HookSettings


class MessagesSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How long messages are kept; channels and hooks follow."""

    channel: tuple[ChannelSettings, ...] = ()
    hook: tuple[HookSettings, ...] = ()
    keep_days: Annotated[float, msgspec.Meta(ge=7, le=1e9)] = 90
    """Messages that were sent or given up are kept so long, and those that wait on a removed channel."""

    def __post_init__(self) -> None:
        """Refuse values that would fail only when they are used, and names that are used twice."""
        for number, channel in enumerate(self.channel):
            check_channel(channel, f"channel[{number}]")
        for number, hook in enumerate(self.hook):
            check_hook(hook, f"hook[{number}]")
        for kind, entries in (("channel", self.channel), ("hook", self.hook)):
            names = [one.name for one in entries]
            for number, name in enumerate(names):
                if name in names[:number]:
                    raise SettingsError(
                        f"{kind}[{number}].name", name, f"is used by another {kind}"
                    )


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
    time_zone(channel.time_zone, f"{where}.time_zone")


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


def time_zone(name: str, field: str) -> tzinfo | None:
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


def check_hook(hook: HookSettings, where: str) -> None:
    """Raise SettingsError for values that would fail only when the hook is called."""
    if not hook.name.strip():
        raise SettingsError(f"{where}.name", hook.name, "give the hook a name")
    if hook.url:
        if hook.command:
            raise SettingsError(f"{where}.command", list(hook.command), "give command or url")
        if not hook.url.startswith(("https://", "http://")):
            raise SettingsError(f"{where}.url", "...", "must begin with https:// or http://")
    elif hook.secret:
        raise SettingsError(f"{where}.secret", "...", "signs what is sent to a url; give one")
    elif not hook.command or not hook.command[0].strip():
        way_out = (
            'write the program and its arguments as a list: ["/bin/archive", "--new"], or give url'
        )
        raise SettingsError(f"{where}.command", list(hook.command), way_out)


def check_program(hook: HookSettings, where: str) -> None:
    """Raise SettingsError if there is no such program now."""
    # Not when settings are loaded: it may lie on a disk that comes later, and calls are repeated.
    if hook.command and shutil.which(hook.command[0]) is None:
        way_out = "no such program can be run; give its full path, and make it executable"
        raise SettingsError(f"{where}.command", hook.command[0], way_out)


def hook_channels(
    hooks: Sequence[HookSettings], features: Sequence[Feature]
) -> Iterator[HookChannel]:
    """Yield *hooks*, then the channels of *features*."""
    for hook in hooks:
        filters = {name: getattr(hook, name) for name in Wanted.__struct_fields__}
        yield HookChannel(HOOK + hook.name, HOOK, hook=hook, **filters)
    for name, target in ((n, t) for feature in features for n, t in feature.channels.items()):
        # Unbuffered, so that what it prints stands before the error it ends with.
        command = (sys.executable, "-u", "-m", "incremental.features.messages.calling", target)
        yield HookChannel(FEATURE + name, HOOK, hook=HookSettings(name=name, command=command))
