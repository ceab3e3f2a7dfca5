"""The soak run in small: a week of two sites, with a restart, faults, messages and web clients."""

from pathlib import Path

import pytest
from bench_soak import Sample, Soak, Tally, report, slope
from soak_server import served
from soak_world import DAY, START, World


def test_a_week_finds_every_page_once_and_measures_each_day(tmp_path: Path) -> None:
    world = World(seed=1, days=7, sites=2)
    with served(world) as web:
        soak = Soak(world, web, tmp_path, restart_days=4, topic=False)
        result = report(soak.run(lambda _: None), world, web.told())
    assert result["days"] == 7
    assert result["found"] == result["published"] > 5
    assert result["announced_twice"] == 0
    assert result["messages_about"] > 0
    assert result["faults"]["restarts"] == 1
    assert result["faults"]["clock changes"] >= 2
    assert min(result["rss_start_mb"], result["handles_start"], result["threads_start"]) > 0
    assert result["held"]["told once"]


def test_growth_is_seen() -> None:
    """A run whose memory, handles and store grow is said not to hold."""
    world = World(seed=1, days=40, sites=2)
    tally = Tally({host: bytearray(len(times)) for host, times in world.times.items()})
    tally.until, tally.visits = world.end, 40
    tally.samples = [Sample(day, day, 100 + day, 20 + day, 9, day, 1, 1) for day in range(1, 41)]
    result = report(tally, world, tally.statuses)
    assert result["rss_slope_mb_per_day"] == pytest.approx(1)
    held = result["held"]
    assert {name for name, good in held.items() if not good} == {"memory", "handles", "store"}


def test_the_slope_is_not_moved_by_a_peak() -> None:
    days = [float(day) for day in range(20)]
    assert slope(days, [5 + 2 * day for day in days]) == pytest.approx(2)
    assert slope(days, [90 if day == 7 else 5 + 2 * day for day in days]) == pytest.approx(2)


def test_both_processes_know_the_same_year() -> None:
    one, other = World(seed=3, days=60), World(seed=3, days=60)
    for at in (START, START + 30 * DAY, START + 59 * DAY):
        for host in one.sites:
            for path in ("/", "/robots.txt", "/feed.xml", "/sitemap.xml", "/news/?page=2"):
                assert one.answer(host, path, at) == other.answer(host, path, at)
