"""Stories of announced pages that are refreshed: what changed, what went, what only seemed to."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, SPARING, START, FakeWeb, Reply, Watch, page, redirect, watch
from stories import announced_pages

from incremental.interfaces.explain.page_versions import difference, previous, version_at
from incremental.schedule.refreshing import next_refresh_at
from incremental.settings import Settings
from incremental.settings.sections import RefreshSettings
from store.answers import NewQuery

HOME = "https://news.example/"
PAGE = HOME + "2024/06/04/a.html"
NEWS = [(0, page("/z.html")), (START + 2 * HOUR, page("/2024/06/04/a.html", "/z.html"))]
SETTINGS = msgspec.structs.replace(SPARING, refresh=RefreshSettings(share=0.2))
BODY = "The council meets on Monday and decides on the budget of the town. " * 4


def article(body: str, *, views: int = 1, title: str = "A story") -> str:
    """A page whose furniture differs at every look."""
    return (
        f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>"
        f"<p>Updated {views} hours ago</p><p>{body}</p><p>{views} views</p></article>"
        f"<footer>Served in {views} ms</footer></body></html>"
    )


def story(tmp_path: Path, versions: Any, **more: Any) -> Watch:
    return watch(tmp_path, {HOME: NEWS, PAGE: versions}, **{"settings": SETTINGS, **more})


def kinds(crawl: Watch, url: str = PAGE) -> list[str]:
    """What happened to a page, the earliest first."""
    (found,) = crawl.store.read.find_page(url, "")
    return [entry.kind for entry in crawl.store.answers.history(found["id"])][::-1]


def test_a_text_that_changed_is_history_with_both_bodies(tmp_path: Path) -> None:
    old, new = article(BODY), article(BODY.replace("Monday", "Friday"), views=9)
    with story(tmp_path, [(0, old), (START + 3 * DAY, new)]) as crawl:
        assert kinds(crawl.run(9 * DAY)) == ["added", "changed"]
        (found,) = crawl.store.read.find_page(PAGE, "")
        (change, _) = crawl.store.answers.history(found["id"])
        assert change.detail == "+4 \u22124 words"
        bodies = [change.body_before, change.body_after]
        assert [crawl.store.cache.get(PAGE, str(md5)) for md5 in bodies] == [
            old.encode(),
            new.encode(),
        ]
        assert [version.body_md5 for version in crawl.store.answers.versions(found["id"])] == bodies


def test_versions_are_found_by_time_and_compared(tmp_path: Path) -> None:
    old, new = article(BODY), article(BODY.replace("Monday", "Friday"), views=9)
    with story(tmp_path, [(0, old), (START + 3 * DAY, new)]) as crawl:
        crawl.run(9 * DAY)
        (found,) = crawl.store.read.find_page(PAGE, "")
        versions = crawl.store.answers.versions(found["id"])
        assert version_at(versions, START + DAY) == version_at(versions, 0) == versions[0]
        last = version_at(versions, None)
        before = previous(versions, last)
        told = difference(crawl.store, found["id"], found["url"], before, last)
        was, is_now = told.lines
        assert (was[0], "Monday" in was, is_now[0], "Friday" in is_now) == ("-", True, "+", True)
        assert [reason for _, reason in told.ignored] == ["relative time", "counter"]


def test_the_new_text_is_found_and_the_old_is_not(tmp_path: Path) -> None:
    with story(
        tmp_path, [(0, article(BODY)), (START + 3 * DAY, article("Zebras! " * 40))]
    ) as crawl:
        crawl.run(9 * DAY)
        assert len(crawl.store.answers.new(NewQuery(text="zebras")).rows) == 1
        assert crawl.store.answers.new(NewQuery(text="council")).rows == ()


def test_noise_is_no_change_and_is_named_in_the_log(tmp_path: Path) -> None:
    def now(at: float) -> str:
        return article(BODY, views=int(at - START) // 60)

    with story(tmp_path, now) as crawl:
        assert kinds(crawl.run(9 * DAY)) == ["added"]
        (found,) = crawl.store.read.find_page(PAGE, "")
        details = {visit["detail"] for visit in crawl.store.read.visits(found["id"])}
        assert "only noise: counter, relative time" in details
        assert len(crawl.store.answers.versions(found["id"])) == 1


def test_a_page_that_goes_and_comes_back_says_so_once_each(tmp_path: Path) -> None:
    versions = [
        (0, article(BODY)),
        (START + 3 * DAY, Reply(code=404)),
        (START + 20 * DAY, article(BODY)),
    ]
    with story(tmp_path, versions) as crawl:
        assert kinds(crawl.run(15 * DAY)) == ["added", "gone"]
        assert kinds(crawl.run(30 * DAY)) == ["added", "gone", "back"]


def test_a_page_that_leads_elsewhere_has_moved_once(tmp_path: Path) -> None:
    pages = {HOME: NEWS, PAGE: [(0, article(BODY)), (START + 3 * DAY, redirect("/b.html"))]}
    with watch(tmp_path, {**pages, HOME + "b.html": article(BODY)}, settings=SETTINGS) as crawl:
        assert kinds(crawl.run(30 * DAY)) == ["added", "moved"]
        assert crawl.new() == ["/2024/06/04/a.html"]


def test_a_page_that_is_replaced_by_a_refresh_to_another_keeps_its_text(tmp_path: Path) -> None:
    """On a recorded site a release note became "Redirect", in the list of new pages as well."""
    to = '<meta http-equiv="refresh" content="0; url=/b.html">'
    stub = page(title="Redirect", head=to, text="Redirect")
    pages = {HOME: NEWS, PAGE: [(0, article(BODY)), (START + 3 * DAY, stub)]}
    with watch(tmp_path, {**pages, HOME + "b.html": article(BODY)}, settings=SETTINGS) as crawl:
        assert kinds(crawl.run(30 * DAY)) == ["added", "moved"]
        (row,) = announced_pages(crawl.store)
        assert row.title != "Redirect"
        assert "Redirect" not in row.excerpt


def test_a_server_in_trouble_says_nothing_of_its_pages(tmp_path: Path) -> None:
    versions = [
        (0, article(BODY)),
        (START + 3 * DAY, Reply(code=500)),
        (START + 6 * DAY, article(BODY)),
    ]
    with story(tmp_path, versions) as crawl:
        assert kinds(crawl.run(30 * DAY)) == ["added"]


def test_a_page_without_text_this_time_is_not_said_to_have_changed(tmp_path: Path) -> None:
    versions = [
        (0, article(BODY)),
        (START + 3 * DAY, "<html><body><script>1</script></body></html>"),
    ]
    with story(tmp_path, versions) as crawl:
        assert kinds(crawl.run(9 * DAY)) == ["added"]


def test_validators_are_sent_so_that_an_unchanged_page_costs_no_body(tmp_path: Path) -> None:
    reply = Reply(article(BODY).encode(), headers={"ETag": '"1"'})
    with story(tmp_path, [(0, reply), (START + DAY, Reply(code=304))]) as crawl:
        crawl.run(9 * DAY)
        sent = [
            asked.headers.get("If-None-Match") for asked in crawl.web.asked if asked.url == PAGE
        ]
        assert sent[0] is None
        assert set(sent[1:]) == {'"1"'}
        assert crawl.statuses(PAGE)[1:] == ["not_modified"] * (len(sent) - 1)


@pytest.mark.parametrize(("share", "least", "most"), [(0.0, 1, 1), (0.0005, 2, 5), (0.05, 8, 14)])
def test_refreshes_keep_to_their_share_and_fade(
    tmp_path: Path, share: float, least: int, most: int
) -> None:
    """In sixty days of 200 requests: none without a share, few at one in ten days, else about ten."""
    settings = msgspec.structs.replace(SETTINGS, refresh=RefreshSettings(share=share))
    with story(tmp_path, article(BODY), settings=settings) as crawl:
        refreshes = crawl.run(60 * DAY).web.urls().count(PAGE)
        assert least <= refreshes <= most


def test_hubs_that_take_the_whole_budget_leave_the_share(tmp_path: Path) -> None:
    """The policy fills the budget with revisits: after a week one request in twenty refreshes."""
    settings = msgspec.structs.replace(Settings(), refresh=RefreshSettings(share=0.05))
    with story(tmp_path, article(BODY), settings=settings) as crawl:
        asked = crawl.run(17 * DAY).web.urls()
        assert asked.count(HOME) > 500
        assert 4 <= asked.count(PAGE) <= 8


def test_news_goes_first(tmp_path: Path) -> None:
    """A site that has as many new pages as requests is never asked for an old page."""
    from incremental.settings import RevisitSettings

    def home(at: float) -> str:
        hours = int((at - START) / HOUR)
        return page(*(f"/n{n}.html" for n in range(hours * 2, 0, -1)), "/z.html")

    tight = RevisitSettings(requests_per_day=24)
    settings = msgspec.structs.replace(SETTINGS, revisit=tight)
    with watch(tmp_path, {HOME: home}, settings=settings) as crawl:
        asked = crawl.run(10 * DAY).web.urls(since=START + DAY)
        again = len(asked) - len(set(asked)) - (asked.count(HOME) - 1)
        assert again <= 0.2 * len(asked)


def test_a_announced_page_that_was_taken_for_a_hub_is_read_as_well(tmp_path: Path) -> None:
    """Its text is found and compared, although it was fetched as a hub."""
    versions = [(0, page("/z.html")), (START + 2 * HOUR, page("/b/", "/z.html"))]
    pages = {HOME: versions, HOME + "b/": article(BODY)}
    with watch(tmp_path, pages, settings=SETTINGS) as crawl:
        assert crawl.run(2 * DAY).new() == ["/b/"]
        (row,) = crawl.store.answers.new(NewQuery(text="council budget")).rows
        assert crawl.store.refreshes.row(row.page_id) is not None


def test_a_page_that_changed_is_refreshed_sooner() -> None:
    assert next_refresh_at(START, START) == START + DAY
    assert next_refresh_at(START, START + 30 * DAY) == START + 45 * DAY
    assert next_refresh_at(START, START + 90 * DAY) is None


def test_a_restart_is_no_reason_to_refresh(tmp_path: Path) -> None:
    web = FakeWeb(_clock(), {HOME: NEWS, PAGE: article(BODY)})
    with Watch(tmp_path, web, HOME, settings=SETTINGS) as crawl:
        crawl.run(1.2 * DAY)
        before = web.urls().count(PAGE)
    for _ in range(5):
        with Watch(tmp_path, web, settings=SETTINGS) as crawl:
            crawl.crawler.step(web.clock.now())
    assert web.urls().count(PAGE) == before


def _clock() -> Any:
    from lab.clocks import SimulatedClock

    return SimulatedClock(START)
