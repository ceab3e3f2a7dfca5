"""The clock over a long run: set back or far ahead and right again, with and without a restart; summer time.

The machine's clock may be wrong when the daemon starts and be set right while it runs, or while it is
down. Pages come every two hours by the true time.
"""

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import msgspec
import pytest
from fake_web import DAY, HOUR, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.settings import RevisitSettings, Settings
from store.answers import NewQuery

HOME = "https://news.example/"
BUDGET = 30
SETTINGS = msgspec.structs.replace(
    Settings(), revisit=RevisitSettings(requests_per_day=BUDGET, first_requests=0)
)
MOST_IN_AN_HOUR = 6
"""Four times the mean, or what a small budget may ask in a row."""
JUMPS = {"an hour back": -HOUR, "a day back": -DAY, "a month ahead": 30 * DAY}


class WrongClock(SimulatedClock):
    """Shows the true time plus what it is wrong by."""

    off = 0.0

    def now(self) -> float:
        return self._now + self.off

    def advance_to(self, moment: float) -> None:
        self._now = max(self._now, moment - self.off)

    @property
    def true(self) -> float:
        return self._now


def magazine(clock: WrongClock) -> FakeWeb:
    """Return a site with a new page every two hours of the true time."""

    def shown(_: float) -> str:
        number = int((clock.true - START) // (2 * HOUR)) + 20
        return page(*(f"/story-{n}.html" for n in range(number, number - 20, -1)))

    return FakeWeb(clock, {HOME: shown})


def late(crawl: Watch, clock: WrongClock, since: float) -> list[str]:
    """Return the stories that came after *since* and at least a day ago, and were not announced."""
    first, last = (int((at - START) // (2 * HOUR)) + 20 for at in (since, clock.true - DAY))
    told = set(crawl.new())
    return [f"/story-{n}.html" for n in range(first + 1, last) if f"/story-{n}.html" not in told]


@pytest.mark.parametrize("restart", [True, False], ids=["restarted", "running"])
@pytest.mark.parametrize("jump", JUMPS)
def test_a_clock_that_was_wrong_for_a_day_costs_a_day_at_most(
    jump: str, tmp_path: Path, *, restart: bool
) -> None:
    clock = WrongClock(START)
    web = magazine(clock)
    crawl = Watch(tmp_path, web, HOME, settings=SETTINGS)
    crawl.run(4 * DAY)
    for off in (JUMPS[jump], 0.0):
        if restart:
            crawl.store.close()
        clock.off = off
        if restart:
            crawl = Watch(tmp_path, web, settings=SETTINGS)
        crawl.run(DAY)
    right = clock.true
    crawl.run(3 * DAY)
    assert late(crawl, clock, right) == []
    assert len(crawl.new()) == len(set(crawl.new()))
    crawl.store.close()


@pytest.mark.parametrize("jump", JUMPS)
def test_no_jump_of_the_clock_makes_a_burst(jump: str, tmp_path: Path) -> None:
    """In no hour more than the limits of the two hours of the clock that it may touch."""
    clock = WrongClock(START)
    web = magazine(clock)
    asked: Counter[int] = Counter()
    with Watch(tmp_path, web, HOME, settings=SETTINGS) as crawl:
        for off in (0.0, JUMPS[jump], 0.0, JUMPS[jump], 0.0):
            clock.off = off
            for _ in range(24):
                before = len(web.asked)
                crawl.run(HOUR)
                asked[len(asked)] = len(web.asked) - before
    assert sum(asked.values()) > BUDGET
    # The first day's requests are those of a new site.
    assert max(list(asked.values())[24:]) <= 2 * MOST_IN_AN_HOUR


def test_robots_txt_read_while_the_clock_was_ahead_is_read_again(tmp_path: Path) -> None:
    clock = WrongClock(START)
    web = magazine(clock)
    web.pages[HOME + "robots.txt"] = b"User-agent: *\nDisallow: /secret/"
    clock.off = 30 * DAY
    with Watch(tmp_path, web, HOME, settings=SETTINGS) as crawl:
        crawl.run(HOUR)
    clock.off = 0.0
    asked = len(web.asked)
    with Watch(tmp_path, web, settings=SETTINGS) as crawl:
        crawl.run(2 * DAY)
    assert any(one.url == HOME + "robots.txt" for one in web.asked[asked:])


@pytest.mark.parametrize("change", [date(2024, 3, 31), date(2024, 10, 27)])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Asia/Shanghai"])
def test_summer_time_brings_no_burst_and_no_silence(
    zone: str, change: date, tmp_path: Path
) -> None:
    """Three pages at nine, twelve and six o'clock of the site's own zone: its hours move by one."""
    here = ZoneInfo(zone)
    begin = datetime(change.year, change.month, change.day, tzinfo=UTC).timestamp() - 9 * DAY
    days = [datetime.fromtimestamp(begin, here).date() + timedelta(days=n) for n in range(-20, 40)]
    times = [
        datetime(day.year, day.month, day.day, hour, tzinfo=here).timestamp()
        for day in days
        for hour in (9, 12, 18)
    ]

    def shown(now: float) -> str:
        there = [n for n, at in enumerate(times) if at <= now]
        return page(*(f"/story-{n}.html" for n in reversed(there[-20:])))

    web = FakeWeb(SimulatedClock(begin), {HOME: shown})
    with Watch(tmp_path, web, HOME, settings=SETTINGS) as crawl:
        crawl.run(14 * DAY)
        told = {
            urlsplit(row.url).path: row.found_at
            for row in crawl.store.answers.new(NewQuery(limit=1_000)).rows
        }
    visits = Counter(int(one.at // DAY) for one in web.asked)
    assert max(visits.values()) <= BUDGET + 2
    waits = [
        told[f"/story-{n}.html"] - at
        for n, at in enumerate(times)
        if begin + 5 * DAY < at < begin + 13 * DAY
    ]
    assert max(waits) <= 6 * HOUR
