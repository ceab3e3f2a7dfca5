"""When messages go out: at once or gathered, never in quiet hours, never too many."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.features.messages.channels import per_hour
from incremental.features.messages.plan import (
    Rhythm,
    after_quiet,
    message_key,
    next_time,
    plan,
    retry_at,
)
from incremental.features.messages.settings import ChannelSettings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC).timestamp()
HOUR = 3600.0
NIGHT = (time(22), time(7))


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


def batches(waiting: list[Any], rhythm: Rhythm, **given: object) -> tuple[tuple[int, ...], ...]:
    known = {"sent": (), "last_sent_at": None, "now": NOON, **given}
    return plan(waiting, rhythm, **known).batches  # type: ignore[arg-type] # test data


def test_at_once_each_page_has_its_message() -> None:
    assert batches(entries(2), Rhythm()) == ((1,), (2,))


def test_what_is_over_the_cap_goes_together() -> None:
    assert batches(entries(5), Rhythm(per_hour=3)) == ((1,), (2,), (3, 4, 5))
    assert batches(entries(5), Rhythm(per_hour=1)) == ((1, 2, 3, 4, 5),)


def test_a_spent_cap_waits_for_its_hour() -> None:
    sent = (NOON - 3000, NOON - 10)
    waiting = plan(entries(1), Rhythm(per_hour=2), sent, NOON - 10, NOON)
    assert (waiting.batches, waiting.check_at) == ((), NOON - 3000 + HOUR)
    assert waiting.held_by == "cap"


@pytest.mark.parametrize(
    ("why", "rhythm", "fields"),
    [
        ("quiet", Rhythm(quiet=(time(11), time(13)), zone=UTC), {}),
        ("digest", Rhythm(daily_at=time(18), zone=UTC), {}),
        ("retry", Rhythm(), {"next_at": NOON + 60}),
        ("", Rhythm(), {}),
    ],
)
def test_what_is_held_back_says_why(why: str, rhythm: Rhythm, fields: dict[str, object]) -> None:
    planned = plan(entries(1, **fields), rhythm, (), None, NOON)
    assert (planned.held_by, planned.batches == ()) == (why, bool(why))


def test_nothing_holds_back_what_programs_read() -> None:
    mail, webhook = "mailto://example.org", "jsons://example.org/new"
    assert per_hour(ChannelSettings("mail", mail)) == 20
    assert per_hour(ChannelSettings("webhook", webhook)) > 1_000
    assert per_hour(ChannelSettings("webhook", webhook, max_per_hour=5)) == 5


def test_a_digest_gathers_until_its_time() -> None:
    rhythm = Rhythm(every_minutes=120)
    assert batches(entries(3), rhythm) == ((1, 2, 3),)
    early = plan(entries(3), rhythm, (), NOON - HOUR, NOON)
    assert (early.batches, early.check_at) == ((), NOON + HOUR)


def test_a_daily_digest_comes_at_its_hour() -> None:
    rhythm = Rhythm(daily_at=time(8), zone=UTC)
    early = plan(entries(2), rhythm, (), None, NOON)
    assert (early.batches, early.check_at) == ((), NOON + 20 * HOUR)
    assert batches(entries(2), rhythm, now=NOON + 20 * HOUR) == ((1, 2),)


def test_quiet_hours_put_off() -> None:
    rhythm = Rhythm(quiet=NIGHT, zone=UTC)
    midnight = NOON + 12 * HOUR
    late = plan(entries(1, queued_at=midnight), rhythm, (), None, midnight)
    assert (late.batches, late.check_at) == ((), midnight + 7 * HOUR)


def test_what_was_cut_off_is_repeated_as_it_was() -> None:
    cut = [Waiting(1, state="sending", message="m"), Waiting(2, state="sending", message="m")]
    assert batches([*cut, Waiting(3)], Rhythm()) == ((1, 2), (3,))


def test_what_failed_waits_for_its_next_attempt() -> None:
    later = plan(entries(1, next_at=NOON + 60), Rhythm(), (), None, NOON)
    assert (later.batches, later.check_at) == ((), NOON + 60)
    assert plan([], Rhythm(), (), None, NOON).check_at == math.inf


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
    out = batches(entries(count), Rhythm(per_hour=cap), sent=sent)
    assert len(out) <= max(cap - gone, 0)
    assert [one for batch in out for one in batch] in ([], list(range(1, count + 1)))


def test_the_key_of_a_message_is_that_of_its_entries() -> None:
    assert message_key("mail", [2, 1]) == message_key("mail", [1, 2])
    assert message_key("mail", [1]) != message_key("chat", [1])


@pytest.mark.parametrize(("attempts", "wait"), [(1, 60), (2, 120), (11, 6 * HOUR), (12, None)])
def test_attempts_come_later_and_later_and_end(attempts: int, wait: float | None) -> None:
    assert retry_at(attempts, NOON) == (None if wait is None else NOON + wait)
