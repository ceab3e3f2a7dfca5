"""A year of messages with summer time, and on machines whose clock is wrong for a while."""

import os
import random
import time as system_time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from incremental.features.messages.plan import MAX_ATTEMPTS, plan, retry_at
from incremental.features.messages.settings import ChannelSettings, quiet_hours

MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
START = datetime(2024, 1, 1, tzinfo=UTC).timestamp()
"""A leap year."""
POLL = 30 * MINUTE
ZONES = ("Europe/Berlin", "Asia/Shanghai")
RHYTHMS: dict[str, dict[str, Any]] = {
    "at once": {},
    "quiet nights": {"quiet_hours": "22:00-07:00"},
    "quiet until the hour that comes twice": {"quiet_hours": "22:00-02:30"},
    "daily": {"daily_at": "08:00"},
    "daily in the hour that comes twice": {"daily_at": "02:30"},
    "every four hours, quiet nights": {"every_minutes": 240, "quiet_hours": "22:00-07:00"},
}


def rhythm(zone: str = "", **fields: Any) -> ChannelSettings:
    return ChannelSettings("mail", "mailto://example.org", time_zone=zone, **fields)


@dataclass
class Entry:
    """A page that waits in the outbox."""

    id: int
    queued_at: float
    came: float
    """The true time, when the clock is wrong."""
    state: str = "waiting"
    message: str = ""
    next_at: float | None = None


@dataclass
class Channel:
    """The outbox of one channel, as the notifier keeps it, and what it has sent."""

    settings: ChannelSettings
    waiting: list[Any] = field(default_factory=list)
    sent: list[tuple[float, float, list[Entry]]] = field(default_factory=list)
    """Messages: the true time, what the clock showed, the entries."""

    def poll(self, at: float, shown: float) -> None:
        """Send what is due, one message after the other."""
        while self.waiting:
            clocks = [one for _, one, _ in self.sent[-100:]]
            recent = sorted(one for one in clocks if one >= shown - HOUR)
            self.waiting.sort(key=lambda one: (one.queued_at, one.id))
            planned = plan(self.waiting, self.settings, recent, max(clocks, default=None), shown)
            if not planned.entries:
                return
            ids = set(planned.entries)
            self.sent.append((at, shown, [one for one in self.waiting if one.id in ids]))
            self.waiting = [one for one in self.waiting if one.id not in ids]


def year(
    settings: ChannelSettings,
    off: Callable[[float], float] = lambda _: 0.0,
    *,
    days: int = 366,
    a_day: int = 3,
) -> Channel:
    """Let pages come at any time of a year; *off*: what the clock is wrong by, by the true time."""
    chance = random.Random(0)
    times = sorted(chance.uniform(0, days * DAY) for _ in range(days * a_day))
    channel, number, at = Channel(settings), 0, START
    while at < START + (days + 2) * DAY:
        shown = at + off(at - START)
        while number < len(times) and START + times[number] <= at:
            channel.waiting.append(Entry(number, shown, at))
            number += 1
        channel.poll(at, shown)
        at += POLL
    return channel


def waits(channel: Channel) -> list[float]:
    return [at - one.came for at, _, entries in channel.sent for one in entries]


@pytest.mark.parametrize("name", RHYTHMS)
@pytest.mark.parametrize("zone", ZONES)
def test_a_year_with_summer_time_tells_each_page_once_and_in_time(zone: str, name: str) -> None:
    channel = year(rhythm(zone, **RHYTHMS[name]))
    told = Counter(one.id for _, _, entries in channel.sent for one in entries)
    assert set(told) == set(range(366 * 3))
    assert set(told.values()) == {1}
    assert max(waits(channel)) <= 25 * HOUR + POLL
    quiet = quiet_hours(channel.settings.quiet_hours, "")
    for at, _, _ in channel.sent:
        wall = datetime.fromtimestamp(at, ZoneInfo(zone)).time()
        assert quiet is None or not (wall >= quiet[0] or wall < quiet[1])


@pytest.mark.parametrize("at", ["08:00", "02:30"])
@pytest.mark.parametrize("zone", ZONES)
def test_a_daily_digest_comes_once_on_each_day_of_the_year(zone: str, at: str) -> None:
    """Also on the day of 25 hours, on which half past two comes twice, and on the day without it."""
    here = ZoneInfo(zone)
    channel = year(rhythm(zone, daily_at=at), a_day=30)
    days = Counter(datetime.fromtimestamp(one, here).date() for one, _, _ in channel.sent)
    assert set(days.values()) == {1}
    assert len(days) >= 366


def test_half_past_two_comes_twice_and_the_digest_once() -> None:
    """What comes in the second hour of the two waits for the next day's digest; quiet hours end then."""
    zone = ZoneInfo("Europe/Berlin")
    first = datetime(2024, 10, 27, 2, 30, tzinfo=zone).timestamp()
    second = first + HOUR
    page: Any = Entry(1, second - 10 * MINUTE, second)
    daily = rhythm("Europe/Berlin", daily_at="02:30")
    assert plan([page], daily, (first,), first, second).check_at == second + DAY
    quiet = rhythm("Europe/Berlin", quiet_hours="22:00-02:30")
    assert plan([page], quiet, (), None, page.queued_at).check_at == second


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the machine's zone be Berlin's."""
    monkeypatch.setitem(os.environ, "TZ", "Europe/Berlin")
    system_time.tzset()
    yield
    monkeypatch.undo()
    system_time.tzset()


@pytest.mark.usefixtures("in_berlin")
def test_the_machines_zone_has_summer_time_as_well() -> None:
    channel = year(rhythm(daily_at="02:30"), a_day=30)
    here = ZoneInfo("Europe/Berlin")
    days = Counter(datetime.fromtimestamp(one, here).date() for one, _, _ in channel.sent)
    assert set(days.values()) == {1}
    walls = {datetime.fromtimestamp(one, here).time() for one, _, _ in channel.sent}
    assert max(walls) <= time(3, 50)


WRONG: dict[str, Callable[[float], float]] = {
    "an hour back": lambda at: -HOUR if at > 20 * DAY else 0.0,
    "a day back": lambda at: -DAY if at > 20 * DAY else 0.0,
    "a month ahead for an hour": lambda at: 30 * DAY if 20 * DAY < at < 20 * DAY + HOUR else 0.0,
    "a month ahead for a day": lambda at: 30 * DAY if 20 * DAY < at < 21 * DAY else 0.0,
    "a year behind until day 20": lambda at: -365 * DAY if at < 20 * DAY else 0.0,
}


@pytest.mark.parametrize("name", RHYTHMS)
@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_clock_delays_no_message_by_more_than_two_days(wrong: str, name: str) -> None:
    channel = year(rhythm("Europe/Berlin", **RHYTHMS[name]), WRONG[wrong], days=40, a_day=2)
    told = Counter(one.id for _, _, entries in channel.sent for one in entries)
    assert set(told) == set(range(40 * 2))
    assert set(told.values()) == {1}
    assert max(waits(channel)) <= 2 * DAY
    hours = Counter(int(at // HOUR) for at, _, _ in channel.sent)
    assert max(hours.values()) <= channel.settings.per_hour


def test_what_failed_while_the_clock_was_ahead_is_tried_again() -> None:
    """However often it failed: the longest wait between two attempts is known."""
    ahead = START + 30 * DAY
    again = retry_at(MAX_ATTEMPTS - 1, ahead)
    entry: Any = Entry(1, START - HOUR, START, next_at=again)
    assert plan([entry], rhythm(), (), None, START).entries == (1,)
    assert plan([entry], rhythm(), (), None, ahead).entries == ()
