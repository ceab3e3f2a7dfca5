"""``[messages]`` in the settings: what is read, and what is refused."""

from typing import Any

import pytest

from incremental.base.errors import SettingsError
from incremental.features.messages.settings import MessagesSettings
from incremental.settings import build_settings
from incremental.settings.reference import reference


def test_the_written_file_has_an_example_of_a_channel_and_a_hook() -> None:
    written = {one.name: one for one in reference()}
    entries = {
        kind: {one.name: one.example for one in written[f"messages.{kind}"].settings}
        for kind in ("channel", "hook")
    }
    given = build_settings({"messages": {kind: [one] for kind, one in entries.items()}})
    assert given.of(MessagesSettings).channel[0].quiet_hours == "22:00-07:00"
    assert given.of(MessagesSettings).hook[0].command == ("/usr/local/bin/archive", "--new")


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({}, "messages.channel[0].name"),
        ({"name": "a"}, "messages.channel[0].url"),
        ({"name": " ", "url": "json://x"}, "messages.channel[0].name"),
        ({"name": "a", "url": "token-without-scheme"}, "messages.channel[0].url"),
        ({"name": "a", "url": "json://x", "daily_at": "25:00"}, "messages.channel[0].daily_at"),
        (
            {"name": "a", "url": "json://x", "quiet_hours": "22:00"},
            "messages.channel[0].quiet_hours",
        ),
        ({"name": "a", "url": "json://x", "time_zone": "Mars"}, "messages.channel[0].time_zone"),
        ({"name": "a", "url": "json://x", "time_zone": "../etc"}, "messages.channel[0].time_zone"),
        ({"name": "a", "url": "json://x", "max_per_hour": 0}, "messages.channel[0].max_per_hour"),
        ({"name": "a", "url": "json://x", "chanel": "x"}, "messages.channel[0].chanel"),
    ],
)
def test_a_channel_that_cannot_speak_is_refused(fields: dict[str, Any], named: str) -> None:
    with pytest.raises(SettingsError) as caught:
        build_settings({"messages": {"channel": [fields]}})
    assert caught.value.field == named
    assert "token-without-scheme" not in str(caught.value)


def test_two_channels_of_one_name_are_refused() -> None:
    channel = {"name": "mail", "url": "json://x"}
    with pytest.raises(SettingsError, match="is used by another channel"):
        build_settings({"messages": {"channel": [channel, channel]}})
