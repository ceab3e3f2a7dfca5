"""The urgent queue: what goes first, how much of it at once, and what becomes of the rest."""

from functools import partial
from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, MINUTE, START, FakeWeb, Watch, page, watch
from lab.clocks import SimulatedClock
from stories import announced_pages

from incremental.base.texts import read_text
from incremental.crawl.sites import MAX_URGENT_PAGES, UrgentQueue
from incremental.schedule.allocation import Share
from incremental.schedule.coverage import Coverage
from incremental.schedule.state import HubState
from incremental.settings import Settings
from store.enums import SiteEventKind

HOME = "https://news.example/"


# --- the queue ---------------------------------------------------------------------------------


def test_hubs_go_before_pages_however_many_pages_wait(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/a.html")}) as crawl:
        crawl.crawler.step(START)
        (site,) = crawl.crawler.frontier.watched
        queue = site.urgent
        queue.verify(*range(100, 120))
        queue.push(1, 2)
        queue.push_first(3)
        assert (queue.room, len(queue.pages)) == (0, MAX_URGENT_PAGES)
        order = []
        while (first := site.first_urgent(START)) is not None:
            queue.take(first)
            order.append(first)
        assert order == [3, 1, 2, *range(100, 108)]
        assert site.urgent_at(START) == float("inf")


def test_each_is_queued_once() -> None:
    queue = UrgentQueue()
    queue.push(1, 2, 1)
    queue.push(2, 3)
    queue.push_first(3)
    assert list(queue.hubs) == [3, 1, 2]
    assert queue.take(1)
    assert not queue.take(1)


def test_pages_do_not_wait_for_the_share_of_hubs(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/a.html")}) as crawl:
        crawl.crawler.step(START)
        (site,) = crawl.crawler.frontier.watched
        site.urgent.push(*range(100))
        while site.allows_at(Share.URGENT, START) <= START:
            site.allocation.draw(Share.URGENT)
        assert site.first_urgent(START) is None
        assert site.urgent_at(START) > START
        site.urgent.verify(100)
        assert (site.first_urgent(START), site.urgent_at(START)) == (100, START)


# --- stories -----------------------------------------------------------------------------------

STORIES = [f"/story-{n}.html" for n in range(200)]


def listing(now: float, first: int, *, came: int) -> str:
    """Ten stories of a list that goes on, newest first; *came* new ones since a day after START."""
    newest = 100 + came if now >= START + DAY else 100
    shown = STORIES[:newest][::-1][first : first + 10]
    return page(*shown, text=f'<a rel="next" href="/page/{first // 10 + 2}/">Older</a>')


def paged(came: int) -> dict[str, Any]:
    pages: dict[str, Any] = {HOME: partial(listing, first=0, came=came)}
    return pages | {
        f"{HOME}page/{n}/": partial(listing, first=10 * n - 10, came=came) for n in range(2, 20)
    }


def test_next_pages_are_followed_as_far_as_all_on_them_is_new(tmp_path: Path) -> None:
    with watch(tmp_path, paged(45)) as crawl:
        assert set(crawl.run(1.5 * DAY).new()) == set(STORIES[100:145])
        assert crawl.events() == []


def test_a_list_that_goes_on_beyond_the_bound_says_so(tmp_path: Path) -> None:
    """Six pages are read, the first and five more; a hundred came, forty were never seen."""
    with watch(tmp_path, paged(100)) as crawl:
        assert len(crawl.run(1.5 * DAY).new()) == 60
        (site,) = crawl.store.read.sites()
        (event,) = crawl.store.read.site_changes(site.id)
        assert event["kind"] == SiteEventKind.OVERFLOW
        said = read_text(event["detail"])
        assert "5 further pages" in said
        assert HOME + "page/7/" in said


def test_a_next_page_that_is_owed_is_read_after_a_restart(tmp_path: Path) -> None:
    web = FakeWeb(SimulatedClock(START), {HOME: page("/a.html"), HOME + "page/2/": page("/b.html")})
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(2 * HOUR)
        hub = crawl.hub(HOME)
        assert hub is not None
        upkeep = crawl.crawler._upkeep
        site = next(iter(crawl.crawler.frontier.watched))
        upkeep.owe([hub.page_id], site, web.clock.now() + HOUR)
    web.clock.advance_to(web.clock.now() + HOUR)
    asked = len([url for url in web.urls() if url == HOME])
    with Watch(tmp_path, web, HOME, settings=Settings()) as crawl:
        crawl.run(60)
        assert len([url for url in web.urls() if url == HOME]) == asked + 1
        hub = crawl.hub(HOME)
        assert hub is not None
        assert HubState.from_text(hub.revisit).owed_at == 0


def test_lists_that_follow_another_are_read_when_it_brings_news(tmp_path: Path) -> None:
    deployed = START + 2 * DAY + HOUR
    old = [f"/story-{n}.html" for n in range(9)]
    pages: dict[str, Any] = {
        HOME: page("/news/", "/packages/"),
        HOME + "news/": [(0, page(*old)), (deployed, page("/a.html", *old))],
        HOME + "packages/": [(0, page(*old)), (deployed, page("/b.html", *old))],
        HOME + "a.html": page(title="A"),
        HOME + "b.html": page(title="B"),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(2 * DAY).new() == []
        (site,) = crawl.crawler.frontier.watched
        news, packages = (crawl.hub(HOME + name) for name in ("news/", "packages/"))
        assert news is not None
        assert packages is not None
        site.coverage_at = crawl.clock.now()
        site.coverage = Coverage(
            {packages.page_id: news.page_id}, followers={news.page_id: (packages.page_id,)}
        )
        crawl.store.write.update_hub(packages.page_id, due_at=START + 3 * DAY)
        assert crawl.run(2 * DAY).new() == ["/a.html", "/b.html"]
        first, second = (one.found_at for one in announced_pages(crawl.store, order="oldest"))
        assert second - first < 10 * MINUTE
