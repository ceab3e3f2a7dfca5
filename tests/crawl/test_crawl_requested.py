"""Visits that users ask for: first, over budget, within politeness, and never lost."""

from pathlib import Path

import msgspec
from fake_web import DAY, HOUR, START, FakeWeb, Reply, Watch, page, watch
from lab.clocks import SimulatedClock

from incremental.base.scope import Reach
from incremental.interfaces.site_editing import (
    edit_site,
    request_page,
    request_pages,
    request_site,
)
from incremental.settings import RevisitSettings, Settings
from incremental.settings.seeds import SeedTerms
from store.enums import SiteStatus

HOME = "https://news.example/"
LIST = HOME + "list/"
PAGES = {
    HOME: page("/list/", "/a.html"),
    LIST: page("/a.html", "/b.html"),
}
RARELY = msgspec.structs.replace(
    Settings(), revisit=RevisitSettings(requests_per_day=24, min_interval_minutes=600)
)


def ask(crawl: Watch, url: str, settings: Settings = RARELY) -> None:
    """Ask for a page as another process does, and let the daemon notice."""
    now = crawl.clock.now()
    (asked,) = request_page(crawl.store, settings, url, now=now)
    assert asked.refused == ""
    crawl.crawler.load(now)


def test_a_hub_is_visited_within_seconds_although_its_interval_is_hours(tmp_path: Path) -> None:
    with watch(tmp_path, PAGES, settings=RARELY) as crawl:
        crawl.run(DAY)
        before = crawl.clock.now()
        crawl.run(60)
        assert crawl.web.urls(since=before + 1) == []
        ask(crawl, HOME)
        crawl.run(30)
        assert crawl.web.urls(since=before + 1) == [HOME]
        crawl.run(HOUR)
        assert crawl.web.urls(since=before + 1).count(HOME) == 1
        assert crawl.store.editing.visit_requests() == {}


def test_a_request_outranks_a_spent_budget(tmp_path: Path) -> None:
    with watch(tmp_path, PAGES, terms=SeedTerms(requests_per_day=0.5)) as crawl:
        crawl.run(HOUR)
        (site,) = crawl.crawler.frontier.watched
        assert site.open_at(crawl.clock.now()) > crawl.clock.now() + HOUR
        before = crawl.clock.now()
        ask(crawl, HOME)
        crawl.run(60)
        assert crawl.web.urls(since=before) == [HOME]


def test_a_request_waits_for_the_pause_that_a_server_asked_for(tmp_path: Path) -> None:
    busy = Reply(code=503, headers={"Retry-After": "1800"})
    pages = {**PAGES, HOME: [(0, PAGES[HOME]), (START + HOUR, busy)]}
    with watch(tmp_path, pages, settings=RARELY) as crawl:
        crawl.run(2 * HOUR)
        ask(crawl, HOME)
        crawl.run(60)
        asked_at = crawl.web.asked[-1].at
        assert crawl.web.asked[-1].url == HOME
        ask(crawl, HOME)
        crawl.run(1700)
        assert crawl.web.asked[-1].at == asked_at
        crawl.run(300)
        assert crawl.web.asked[-1].at >= asked_at + 1800


def test_a_request_waits_for_the_allowed_hours(tmp_path: Path) -> None:
    hour = int(START % DAY / HOUR)
    with watch(tmp_path, PAGES, settings=RARELY) as crawl:
        crawl.run(DAY)
        (row,) = crawl.store.read.sites()
        hours = (f"{(hour + 2) % 24}:00-{(hour + 4) % 24}:00",)
        now = crawl.clock.now()
        edit_site(crawl.store, row, {"hours": hours}, RARELY, now=now)
        (asked,) = request_page(crawl.store, RARELY, HOME, now=now)
        assert now + HOUR < asked.at.timestamp() <= now + 2 * HOUR
        crawl.crawler.load(now)
        crawl.run(HOUR)
        assert crawl.web.urls(since=now + 1) == []
        crawl.run(2 * HOUR)
        assert HOME in crawl.web.urls(since=now + 1)


def test_a_request_survives_a_restart(tmp_path: Path) -> None:
    web = FakeWeb(SimulatedClock(START), PAGES)
    with Watch(tmp_path, web, HOME, settings=RARELY) as crawl:
        crawl.run(DAY)
        request_page(crawl.store, RARELY, LIST, now=crawl.clock.now())
    before = web.clock.now()
    with Watch(tmp_path, web, settings=RARELY) as crawl:
        crawl.run(120)
        assert web.urls(since=before) == [LIST]


def test_an_announced_page_and_one_of_the_baseline_are_refreshed_not_announced(
    tmp_path: Path,
) -> None:
    """A change of the text is recorded, and what was known stays known."""
    old, new = "The bridge is closed. " * 40, "The bridge is open again. " * 40
    pages = {
        HOME: page("/a.html"),
        HOME + "a.html": [
            (0, page(title="A", text=old)),
            (START + 2 * DAY, page(title="A", text=new)),
        ],
    }
    with watch(tmp_path, pages, settings=RARELY) as crawl:
        crawl.run(DAY)
        ask(crawl, HOME + "a.html")
        crawl.run(HOUR)
        crawl.run(DAY)
        ask(crawl, HOME + "a.html")
        crawl.run(HOUR)
        assert crawl.statuses(HOME + "a.html")[-2:] == ["fetched", "fetched"]
        (row,) = crawl.store.read.find_page(HOME + "a.html", "")
        assert [one.kind for one in crawl.store.answers.history(row["id"])] == ["changed"]
        assert crawl.new() == []


def test_a_paused_site_and_a_denied_page_are_refused_with_the_reason(tmp_path: Path) -> None:
    pages = {**PAGES, HOME + "robots.txt": Reply(b"User-agent: *\nDisallow: /list/")}
    with watch(tmp_path, pages, settings=RARELY) as crawl:
        crawl.run(HOUR)
        now = crawl.clock.now()
        (denied,) = request_page(crawl.store, RARELY, LIST, now=now)
        assert denied.refused == "denied by robots.txt"
        (row,) = crawl.store.read.sites()
        row = edit_site(crawl.store, row, {"state": SiteStatus.PAUSED}, RARELY, now=now)
        found = request_site(crawl.store, RARELY, row, now=now)
        assert {one.refused for one in found} == {"news.example is paused; resume it first"}
        assert crawl.store.editing.visit_requests() == {}
        assert request_pages(crawl.store, RARELY, [10**9], now=now) == []


def test_a_site_is_visited_hub_by_hub(tmp_path: Path) -> None:
    with watch(tmp_path, PAGES, settings=RARELY) as crawl:
        crawl.run(DAY)
        before = crawl.clock.now()
        (row,) = crawl.store.read.sites()
        found = request_site(crawl.store, RARELY, row, now=before)
        assert HOME in {one.url for one in found}
        crawl.crawler.load(before)
        crawl.run(10 * 60)
        assert set(crawl.web.urls(since=before)) == {one.url for one in found}


def test_a_request_waits_for_the_pause_of_another_host_of_the_site(tmp_path: Path) -> None:
    """The seed's host may be asked meanwhile; the request is not forgotten."""
    other = "https://press.news.example/list/"
    busy = Reply(code=503, headers={"Retry-After": "1800"})
    pages = {HOME: page(other, "/a.html"), other: [(0, page("/b.html")), (START + HOUR, busy)]}
    terms = SeedTerms(reach=Reach.DOMAIN)
    with watch(tmp_path, pages, settings=RARELY, terms=terms) as crawl:
        crawl.run(2 * HOUR)
        assert crawl.hub(other) is not None
        ask(crawl, other)
        crawl.run(60)
        first = [one.at for one in crawl.web.asked if one.url == other][-1]
        ask(crawl, other)
        crawl.run(1700)
        assert [one.at for one in crawl.web.asked if one.url == other][-1] == first
        assert crawl.store.editing.visit_requests() != {}
        crawl.run(300)
        assert [one.at for one in crawl.web.asked if one.url == other][-1] >= first + 1800
        assert crawl.store.editing.visit_requests() == {}
