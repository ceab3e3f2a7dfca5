"""Stopping, going on, and being killed: nothing is lost, nothing is announced twice."""

from pathlib import Path

import pytest
from fake_web import DAY, HOUR, MINUTE, START, FakeWeb, Watch, page, watch
from lab.clocks import SimulatedClock

from incremental.fetch.guard import ForbiddenAddressError
from store.crawl.record import Recorder
from store.enums import SiteStatus

HOME = "https://news.example/"


def growing(now: float) -> str:
    """A list of ten that gets a page every six hours."""
    newest = int((now - START) / (6 * HOUR)) + 10
    return page(*(f"/story-{n}.html" for n in range(newest, newest - 10, -1)))


def test_a_restarted_crawler_goes_on_where_it_was(tmp_path: Path) -> None:
    web = FakeWeb(SimulatedClock(START), {HOME: growing})
    for _ in range(4):
        with Watch(tmp_path, web, HOME) as crawl:
            crawl.run(12 * HOUR)
    with Watch(tmp_path, web, HOME) as crawl:
        announced = crawl.run(0).new()
    assert len(announced) == len(set(announced))
    assert set(announced) >= {f"/story-{n}.html" for n in range(11, 17)}
    # robots.txt is remembered too.
    assert sum(a.url.endswith("/robots.txt") for a in web.asked) <= 2


def test_a_restart_keeps_the_host_its_pause(tmp_path: Path) -> None:
    web = FakeWeb(
        SimulatedClock(START),
        {HOME: growing, HOME + "robots.txt": b"User-agent: *\nCrawl-delay: 3600\n"},
    )
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(10)
    count = len(web.asked)
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(HOUR / 2)
    assert len(web.asked) == count


def test_an_address_that_was_refused_is_asked_again_after_a_restart(tmp_path: Path) -> None:
    """Who allows it in the settings starts again, and should not wait for what stood there before."""

    def refused(_: float) -> str:
        raise ForbiddenAddressError("not public")

    web = FakeWeb(SimulatedClock(START), {HOME: growing, HOME + "robots.txt": refused})
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(MINUTE)
    assert not web.urls()
    web.pages[HOME + "robots.txt"] = b""
    with Watch(tmp_path, web, HOME + "news/") as crawl:
        crawl.run(MINUTE)
    assert web.urls() == [HOME + "news/"]


@pytest.mark.parametrize("step", ["_put_sightings", "_announce", "_record_page", "put_host"])
def test_killed_in_the_middle_of_recording_nothing_is_lost_or_announced_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    web = FakeWeb(SimulatedClock(START), {HOME: growing})
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(DAY)
        before = crawl.new()

    class KilledError(BaseException):
        pass

    def die(*_: object, **__: object) -> None:
        raise KilledError

    with Watch(tmp_path, web, HOME) as crawl, monkeypatch.context() as patch:
        patch.setattr(Recorder, step, die)
        with pytest.raises(KilledError):
            crawl.run(DAY)
        assert crawl.new() == before
    with Watch(tmp_path, web, HOME) as crawl:
        announced = crawl.run(DAY).new()
    assert announced[: len(before)] == before
    assert len(announced) == len(set(announced)) > len(before)


def test_a_paused_site_is_left_alone_and_goes_on_when_resumed(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: growing}) as crawl:
        crawl.run(DAY)
        (site,) = crawl.store.read.sites()
        crawl.store.write.update_site(site.id, state=SiteStatus.PAUSED)
        crawl.crawler.frontier.load(crawl.clock.now())
        crawl.run(DAY)
        assert crawl.web.urls(since=START + DAY + 1) == []
        crawl.store.write.update_site(site.id, state=SiteStatus.ACTIVE)
        crawl.crawler.frontier.load(crawl.clock.now())
        announced = crawl.run(DAY).new()
        assert "/story-20.html" in announced


def test_a_site_removed_while_it_is_visited_leaves_nothing_behind(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: growing}) as crawl:
        (site,) = crawl.store.read.sites()

        def removing(now: float) -> str:
            crawl.store.write.remove_site(site.id)
            return growing(now)

        crawl.web.pages[HOME] = removing
        crawl.run(HOUR)
        crawl.crawler.frontier.load(crawl.clock.now())
        crawl.run(HOUR)
        assert crawl.store.read.sites() == []
        assert crawl.hubs() == set()


def test_a_site_added_while_it_runs_is_watched(tmp_path: Path) -> None:
    other = "https://other.example/"
    pages = {HOME: growing, other: [(0, page("/a.html")), (START + 2 * DAY, page("/b.html"))]}
    web = FakeWeb(SimulatedClock(START), pages)
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(DAY)
        with Watch(tmp_path, web, other):
            pass
        crawl.crawler.frontier.load(crawl.clock.now())
        assert "/b.html" in crawl.run(3 * DAY).new()


def test_a_clock_that_was_set_back_stops_nothing(tmp_path: Path) -> None:
    web = FakeWeb(SimulatedClock(START + 30 * DAY), {HOME: growing})
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(DAY)
    web.clock = SimulatedClock(START)
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(32 * DAY)
        assert len(crawl.web.urls(since=START + 31 * DAY)) > 0
        announced = crawl.new()
        assert len(announced) == len(set(announced))
