"""Checks of message settings that would otherwise fail only in use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from incremental.base.errors import SettingsError
from incremental.base.findings import Finding, problem
from incremental.features.messages.settings import ChannelSettings, MessagesSettings, check_program
from incremental.settings import Settings


def check_channels(settings: Settings) -> None:
    """Raise SettingsError for the first channel of the file that cannot be used."""
    for number, channel in enumerate(settings.of(MessagesSettings).channel):
        check_sending(channel, f"messages.channel[{number}].")


def findings(settings: Settings) -> list[Finding]:
    """Return what is wrong with channels and hooks of the file."""
    given, wrong = settings.of(MessagesSettings), list[SettingsError]()
    for number, channel in enumerate(given.channel):
        with _kept(wrong):
            check_sending(channel, f"messages.channel[{number}].")
    for number, hook in enumerate(given.hook):
        with _kept(wrong):
            check_program(hook, f"messages.hook[{number}]")
    return [problem("settings", f"{one.field} = {one.value!r}", one.way_out) for one in wrong]


@contextmanager
def _kept(wrong: list[SettingsError]) -> Iterator[None]:
    try:
        yield
    except SettingsError as error:
        wrong.append(error)


def mentions(settings: Settings, topic: str) -> list[str]:
    """Return the channels and hooks of the file that name a topic."""
    given = settings.of(MessagesSettings)
    return [
        *(f"channel {one.name}" for one in given.channel if one.topic == topic),
        *(f"hook {one.name}" for one in given.hook if one.topic == topic),
    ]


def check_sending(channel: ChannelSettings, where: str) -> None:
    """Raise SettingsError for an address or a template that cannot be used."""
    # The library of messages loads for a second; many have no channel.
    from incremental.features.messages.delivery import check_service  # noqa: PLC0415
    from incremental.features.messages.message import check_template  # noqa: PLC0415

    check_service(channel.url, f"{where}url")
    check_template(f"{where}title", channel.title)
    check_template(f"{where}body", channel.body)
