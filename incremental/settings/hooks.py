"""Settings of hooks: programs that are called for each new page."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec

from incremental.base.errors import SettingsError
from incremental.base.features import Feature
from incremental.settings.channels import RESERVED, ChannelSettings

HOOK, FEATURE = RESERVED
_FEATURE_SECONDS = 60.0
# There is one call for each page, however many pages are new.
_UNBOUNDED = 1_000_000_000


class HookSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One hook. The program gets one JSON object on standard input."""

    name: str
    """What it is called in lists and errors, after `hook:`."""
    command: tuple[str, ...]
    """The program and its arguments; no shell reads them."""
    topic: str = ""
    """Only relevant and grey pages of this topic; empty = all new pages."""
    min_score: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    """With *topic*: minimum score."""
    search: str = ""
    """Only pages that match this saved search."""
    tag: str = ""
    """Only pages of the sites and topics with this tag."""
    include: tuple[str, ...] = ()
    """Only pages with one of these words or phrases."""
    exclude: tuple[str, ...] = ()
    """No pages with one of these words or phrases."""
    timeout_seconds: Annotated[float, msgspec.Meta(gt=0, le=3_600)] = 60.0
    """The program is ended after this long, and called again later."""


class HookChannel(ChannelSettings, frozen=True, forbid_unknown_fields=True):
    """A hook, or a channel of a feature: the same filters, retries and outbox; *url* is not an address."""

    command: tuple[str, ...] = ()
    timeout_seconds: float = _FEATURE_SECONDS


def check_hook(hook: HookSettings, where: str) -> None:
    """Raise SettingsError for values that would fail only when the hook is called."""
    if not hook.name.strip():
        raise SettingsError(f"{where}.name", hook.name, "give the hook a name")
    if not hook.command or not hook.command[0].strip():
        way_out = (
            'write the program and its arguments as a list: ["/usr/local/bin/archive", "--new"]'
        )
        raise SettingsError(f"{where}.command", list(hook.command), way_out)
    if any("\0" in part for part in hook.command):
        raise SettingsError(f"{where}.command", "...", "leave out the NUL character")


def check_program(hook: HookSettings, where: str) -> None:
    """Raise SettingsError if there is no such program now."""
    # Not when settings are loaded: it may lie on a disk that comes later, and calls are repeated.
    if shutil.which(hook.command[0]) is None:
        way_out = "no such program can be run; give its full path, and make it executable"
        raise SettingsError(f"{where}.command", hook.command[0], way_out)


def hook_channels(
    hooks: Sequence[HookSettings], features: Sequence[Feature]
) -> Iterator[HookChannel]:
    """Yield *hooks*, then the channels of *features*."""
    for hook in hooks:
        fields = msgspec.structs.asdict(hook) | {"name": HOOK + hook.name, "url": HOOK}
        yield HookChannel(**fields, max_per_hour=_UNBOUNDED)
    for name, target in ((n, t) for feature in features for n, t in feature.channels.items()):
        # Unbuffered, so that what it prints stands before the error it ends with.
        command = (sys.executable, "-u", "-m", "incremental.interfaces.notify.calling", target)
        yield HookChannel(name=FEATURE + name, url=HOOK, max_per_hour=_UNBOUNDED, command=command)
