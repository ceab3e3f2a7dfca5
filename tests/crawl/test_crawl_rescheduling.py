"""What sets the next visit besides visits themselves: signs, rests, hours, new sections."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, MINUTE, SPARING, START, FakeWeb, Reply, Watch, feed, page, watch
from lab.clocks import SimulatedClock

from incremental.schedule.allocation import YOUNG_SECONDS
from incremental.schedule.coverage import Coverage
from incremental.schedule.state import HubState
from incremental.settings import RevisitSettings, Settings, SiteSettings
from incremental.visit.visit import hub_task
from store.enums import HubStatus

HOME = "https://news.example/"
SECTION = HOME + "section/"


def _settings(**revisit: Any) -> Settings:
    return msgspec.structs.replace(SPARING, revisit=RevisitSettings(**revisit))


def _sitemap(lastmod: str) -> Reply:
    entry = f"<url><loc>{SECTION}</loc><lastmod>{lastmod}</lastmod></url>"
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0"?><urlset xmlns="{space}">{entry}</urlset>'
    return Reply(text.encode(), headers={"Content-Type": "application/xml"})


def test_a_newer_lastmod_in_a_sitemap_is_a_change_hint_for_the_hub_it_names(tmp_path: Path) -> None:
    """The sitemap moves with every minute: its say is counted, and what came of it."""

    def minute_ago(at: float) -> Reply:
        return _sitemap(datetime.fromtimestamp(at - MINUTE, UTC).isoformat())

    pages = {
        HOME: page("/section/", "/a.html"),
        HOME + "a.html": page(),
        SECTION: page("/section/x.html"),
        SECTION + "x.html": page(),
        HOME + "sitemap.xml": minute_ago,
    }
    with watch(tmp_path, pages, settings=_settings(requests_per_day=12)) as crawl:
        crawl.run(4 * DAY)
        section = crawl.hub(SECTION)
        assert section is not None
        state = HubState.from_text(section.revisit)
        assert state.hints >= 2
        assert state.hints_confirmed == 0


def _two_hubs(crawl: Watch) -> tuple[Any, Any, Any]:
    site = next(iter(crawl.crawler.frontier.watched))
    home, section = crawl.hub(HOME), crawl.hub(SECTION)
    assert home is not None
    assert section is not None
    return site, home, section


@pytest.fixture
def quiet(tmp_path: Path) -> Any:
    pages = {
        HOME: page("/section/", "/a.html"),
        HOME + "a.html": page(),
        SECTION: page("/section/x.html"),
        SECTION + "x.html": page(),
    }
    with watch(tmp_path, pages) as crawl:
        yield crawl.run(2 * DAY)


def test_what_a_user_calls_a_hub_is_never_covered_and_a_home_page_a_day_at_most(
    quiet: Watch,
) -> None:
    site, home, section = _two_hubs(quiet)
    site.coverage = Coverage({section.page_id: home.page_id, home.page_id: section.page_id})
    assert not site.is_covered(section.page_id, "user")
    state = site.hub_state(home)
    calm = replace(state, novel=0.0, first_at=START, visits=50)
    rest = site.due_at(home.page_id, home.role, calm, quiet.clock.now()) - state.visited_at
    assert rest == pytest.approx(DAY, abs=1)


def test_many_covered_sitemaps_are_read_less_than_daily(quiet: Watch) -> None:
    """A site in forty languages has as many, and a tenth of the requests for what is covered."""
    site, home, section = _two_hubs(quiet)
    site.coverage = Coverage({section.page_id: home.page_id, home.page_id: section.page_id})
    site.covered_daily = 40
    calm = replace(site.hub_state(home), novel=0.0, first_at=START, visits=50)
    rest = site.due_at(home.page_id, home.role, calm, quiet.clock.now()) - calm.visited_at
    assert rest == pytest.approx(2 * DAY, abs=1)


def test_a_covered_hubs_visit_is_none_that_the_price_asked_for(quiet: Watch) -> None:
    _, _, section = _two_hubs(quiet)
    covered = hub_task(replace(section, state=HubStatus.DORMANT))
    assert (hub_task(section).extra, covered.extra, covered.unread) == (False, True, False)
    assert hub_task(replace(section, visited_at=None)).unread


def test_covered_hubs_that_were_read_together_come_due_on_different_days(quiet: Watch) -> None:
    """A day with all of them would leave nothing for the lists that cover them."""
    site, home, section = _two_hubs(quiet)
    tags = range(1_000, 1_040)
    site.coverage = Coverage(dict.fromkeys(tags, home.page_id))
    read = replace(site.hub_state(section), novel=0.0, first_at=START, visits=50)
    days = [(site.due_at(tag, "list", read, 0.0) - read.visited_at) // DAY for tag in tags]
    assert len(set(days)) >= 4
    assert max(map(days.count, days)) <= len(tags) / 3


def test_a_site_is_asked_for_nothing_outside_its_hours(tmp_path: Path) -> None:
    pages = {HOME: page("/a.html"), HOME + "a.html": page()}
    settings = msgspec.structs.replace(
        _settings(hours=("00:00-01:00",), requests_per_day=48),
        site=(SiteSettings(url=HOME, hours=("22:00-04:30",)),),
    )
    with watch(tmp_path, pages, settings=settings) as crawl:
        crawl.run(4 * DAY)
        hours = {at % DAY / HOUR for at in crawl.web.times("news.example")}
    assert hours
    assert all(hour >= 22 or hour < 4.5 + 1 / 60 for hour in hours)


def test_after_the_clock_went_back_hubs_are_visited_as_if_it_had_not(quiet: Watch) -> None:
    """By two days: without planning again nothing would be due before these have passed again."""
    back = quiet.clock.now() - 2 * DAY
    wake_at = quiet.crawler.step(back)
    assert wake_at < back + HOUR + MINUTE
    home = quiet.hub(HOME)
    assert home is not None
    assert home.due_at <= back + DAY


def test_the_feed_of_a_section_that_comes_up_is_read_before_its_pages(tmp_path: Path) -> None:
    came_up = START + YOUNG_SECONDS + 8 * DAY
    feed_url, stories = HOME + "ko/index.xml", [f"{HOME}ko/p{n}.html" for n in range(12)]
    head = f'<link rel="alternate" type="application/rss+xml" href="{feed_url}">'
    pages: dict[str, Any] = {
        HOME: [(0.0, page("/a.html")), (came_up, page("/a.html", "/ko/"))],
        HOME + "a.html": page(),
        HOME + "ko/": page(stories[0], head=head),
        feed_url: feed(*((url, "") for url in stories)),
        **{url: page() for url in stories},
    }
    with watch(tmp_path, pages, settings=_settings(requests_per_day=24)) as crawl:
        crawl.run(came_up - START + 27 * HOUR)
        assert set(crawl.new()) >= {f"/ko/p{n}.html" for n in range(12)}


def test_a_translation_that_only_its_original_leads_to_is_found_with_it(tmp_path: Path) -> None:
    """``/guide.html`` is new and has a switch to ``/zh/guide.html``, which stands on no list."""
    later = START + 16 * DAY
    pages: dict[str, Any] = {
        HOME: [(0.0, page("/a.html", "/zh/")), (later, page("/a.html", "/zh/", "/guide.html"))],
        HOME + "a.html": page(),
        HOME + "zh/": page("/zh/old.html"),
        HOME + "zh/old.html": page(),
        HOME + "guide.html": page("/zh/guide.html"),
        HOME + "zh/guide.html": page("/guide.html"),
    }
    with watch(tmp_path, pages) as crawl:
        crawl.run(later - START + DAY)
        assert crawl.new() == ["/guide.html", "/zh/guide.html"]


def test_the_front_of_a_new_edition_is_read_before_the_pages_that_lead_on(tmp_path: Path) -> None:
    """Only a translated post leads to the edition; its pages link to one another, its feed has them all."""
    later = START + 20 * DAY
    names = [f"p{number}.html" for number in range(60)]
    head = f'<link rel="alternate" type="application/rss+xml" href="{HOME}ko/index.xml">'
    pages: dict[str, Any] = {
        HOME: [(0.0, page("/a.html")), (later, page("/a.html", "/b.html"))],
        HOME + "a.html": page(),
        HOME + "b.html": page("/ko/b.html"),
        HOME + "ko/": page("/ko/p0.html", head=head),
        HOME + "ko/b.html": page("/ko/", "/ko/p0.html", "/ko/p1.html", "/ko/p2.html"),
        HOME + "ko/index.xml": feed(*((f"{HOME}ko/{name}", "") for name in names)),
    }
    pages |= {
        f"{HOME}ko/{name}": page("/ko/", *(f"/ko/{one}" for one in names[number : number + 4]))
        for number, name in enumerate(names)
    }
    with watch(tmp_path, pages, settings=_settings(requests_per_day=24)) as crawl:
        crawl.run(later - START + 4 * HOUR)
        assert set(crawl.new()) >= {f"/ko/{name}" for name in names}
        since = [one for one in crawl.web.asked if one.at >= later]
        assert len(since) < len(names)


def test_pages_announced_when_verified_do_not_wait_for_the_share_of_verification(
    tmp_path: Path,
) -> None:
    later = START + 3 * DAY
    news = [f"/n{n}.html" for n in range(9)]
    pages: dict[str, Any] = {
        HOME: [(0.0, page("/a.html")), (later, page("/a.html", *news))],
        **{HOME + path[1:]: page() for path in news},
        HOME + "a.html": page(),
    }
    settings = msgspec.structs.replace(
        SPARING, news=msgspec.structs.replace(SPARING.news, verify_share=0.001)
    )
    crawl = Watch(tmp_path, FakeWeb(SimulatedClock(START), pages), HOME, settings=settings)
    with crawl:
        crawl.run(3 * DAY + 4 * HOUR + MINUTE)
        assert sorted(crawl.new()) == news
