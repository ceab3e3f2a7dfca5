"""When messages go out: at once or gathered, never in quiet hours, never too many."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.features.messages.plan import (
    after_quiet,
    message_key,
    next_time,
    plan,
    retry_at,
)
from incremental.features.messages.settings import ChannelSettings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
HOUR = 3600.0


@dataclass
class Waiting:
    """An entry of the outbox."""

    id: int
    queued_at: float = NOON
    state: str = "waiting"
    message: str = ""
    next_at: float | None = None


def entries(count: int, **fields: Any) -> list[Any]:
    return [Waiting(number, **fields) for number in range(1, count + 1)]


def rhythm(**fields: Any) -> ChannelSettings:
    return ChannelSettings("mail", "mailto://example.org", **fields)


def messages(
    waiting: list[Any],
    channel: ChannelSettings,
    *,
    sent: tuple[float, ...] = (),
    last_sent_at: float | None = None,
    now: float = NOON,
) -> list[tuple[int, ...]]:
    """Return what goes out at once, one message after the other."""
    found = list[tuple[int, ...]]()
    while out := plan(waiting, channel, sent, last_sent_at, now).entries:
        found.append(out)
        waiting = [one for one in waiting if one.id not in out]
        sent, last_sent_at = (*sent, now), now
    return found


def test_at_once_each_page_has_its_message() -> None:
    assert messages(entries(2), rhythm()) == [(1,), (2,)]


def test_what_is_over_the_cap_goes_together() -> None:
    assert messages(entries(5), rhythm(max_per_hour=3)) == [(1,), (2,), (3, 4, 5)]
    assert messages(entries(5), rhythm(max_per_hour=1)) == [(1, 2, 3, 4, 5)]


def test_a_spent_cap_waits_for_its_hour() -> None:
    sent = (NOON - 3000, NOON - 10)
    waiting = plan(entries(1), rhythm(max_per_hour=2), sent, NOON - 10, NOON)
    assert (waiting.entries, waiting.check_at) == ((), NOON - 3000 + HOUR)
    assert waiting.held_by == "cap"


@pytest.mark.parametrize(
    ("why", "channel", "fields"),
    [
        ("quiet", rhythm(quiet_hours="11:00-13:00", time_zone="UTC"), {}),
        ("digest", rhythm(daily_at="18:00", time_zone="UTC"), {}),
        ("retry", rhythm(), {"next_at": NOON + 60}),
        ("", rhythm(), {}),
    ],
)
def test_what_is_held_back_says_why(
    why: str, channel: ChannelSettings, fields: dict[str, object]
) -> None:
    planned = plan(entries(1, **fields), channel, (), None, NOON)
    assert (planned.held_by, planned.entries == ()) == (why, bool(why))


def test_nothing_holds_back_what_programs_read() -> None:
    mail, webhook = "mailto://example.org", "jsons://example.org/new"
    assert ChannelSettings("mail", mail).per_hour == 20
    assert ChannelSettings("webhook", webhook).per_hour > 1_000
    assert ChannelSettings("webhook", webhook, max_per_hour=5).per_hour == 5


def test_a_digest_gathers_until_its_time() -> None:
    channel = rhythm(every_minutes=120)
    assert messages(entries(3), channel) == [(1, 2, 3)]
    early = plan(entries(3), channel, (), NOON - HOUR, NOON)
    assert (early.entries, early.check_at) == ((), NOON + HOUR)


def test_a_daily_digest_comes_at_its_hour() -> None:
    channel = rhythm(daily_at="08:00", time_zone="UTC")
    early = plan(entries(2), channel, (), None, NOON)
    assert (early.entries, early.check_at) == ((), NOON + 20 * HOUR)
    assert messages(entries(2), channel, now=NOON + 20 * HOUR) == [(1, 2)]


def test_quiet_hours_put_off() -> None:
    channel = rhythm(quiet_hours="22:00-07:00", time_zone="UTC")
    midnight = NOON + 12 * HOUR
    late = plan(entries(1, queued_at=midnight), channel, (), None, midnight)
    assert (late.entries, late.check_at) == ((), midnight + 7 * HOUR)


def test_what_was_cut_off_is_repeated_as_it_was() -> None:
    cut = [Waiting(1, state="sending", message="m"), Waiting(2, state="sending", message="m")]
    assert messages([*cut, Waiting(3)], rhythm()) == [(1, 2), (3,)]


def test_what_failed_waits_for_its_next_attempt() -> None:
    later = plan(entries(1, next_at=NOON + 60), rhythm(), (), None, NOON)
    assert (later.entries, later.check_at) == ((), NOON + 60)
    assert plan([], rhythm(), (), None, NOON).check_at == math.inf


def test_eight_o_clock_is_the_users_eight_o_clock() -> None:
    zone = ZoneInfo("Europe/Berlin")
    before_summer = datetime(2026, 3, 28, 12, tzinfo=zone).timestamp()
    assert datetime.fromtimestamp(next_time(before_summer, time(8), zone), zone).hour == 8
    missing = datetime.fromtimestamp(next_time(before_summer, time(2, 30), zone), zone)
    assert (missing.day, missing.hour) == (29, 3)


@given(st.floats(0, 4e9), st.times(), st.times(), st.integers(-720, 720))
def test_nothing_goes_out_in_quiet_hours(at: float, start: time, end: time, shift: int) -> None:
    zone = timezone(timedelta(minutes=shift))
    start, end = start.replace(second=0, microsecond=0), end.replace(second=0, microsecond=0)
    moment = after_quiet(at, (start, end), zone)
    wall = datetime.fromtimestamp(moment, zone).time()
    inside = start <= wall < end if start < end else start != end and (wall >= start or wall < end)
    assert not inside
    assert at <= moment <= at + 24 * HOUR


@given(st.integers(1, 60), st.integers(1, 20), st.integers(0, 20))
def test_every_entry_goes_out_once_and_within_the_cap(count: int, cap: int, gone: int) -> None:
    sent = tuple(NOON - 60.0 for _ in range(gone))
    out = messages(entries(count), rhythm(max_per_hour=cap), sent=sent)
    assert len(out) <= max(cap - gone, 0)
    assert [one for message in out for one in message] in ([], list(range(1, count + 1)))


def test_the_key_of_a_message_is_that_of_its_entries() -> None:
    assert message_key("mail", [2, 1]) == message_key("mail", [1, 2])
    assert message_key("mail", [1]) != message_key("chat", [1])


@pytest.mark.parametrize(("attempts", "wait"), [(1, 60), (2, 120), (11, 6 * HOUR), (12, None)])
def test_attempts_come_later_and_later_and_end(attempts: int, wait: float | None) -> None:
    assert retry_at(attempts, NOON) == (None if wait is None else NOON + wait)
