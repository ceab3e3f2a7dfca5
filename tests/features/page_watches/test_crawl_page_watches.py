"""Stories of pages that a user watches for changes of their text."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, SPARING, START, FakeWeb, Reply, Watch, page, watch
from lab.clocks import SimulatedClock

from incremental.base.errors import InputError
from incremental.features.page_watches.watching import (
    named_watch,
    pause_watch,
    watch_page,
)
from incremental.settings.sections import RefreshSettings
from store.values import RefreshRow
from store.watched_changes import ChangeQuery, WatchedChangeRow

HOME = "https://news.example/"
PRICE = HOME + "prices/tea.html"
NOTES = " ".join(f"Note {n}: the tea is grown in the hills and picked by hand." for n in range(6))


def offer(price: str, *, views: int = 1, session: str = "a1") -> str:
    """A page of a shop whose furniture differs at every look."""
    return (
        f"<html><head><title>Green tea</title></head><body><nav><a href='/?sid={session}'>Home</a></nav>"
        f"<article><h1>Green tea</h1><p>Updated {views} minutes ago</p><p>The price is {price} a box.</p>"
        f"<p>{NOTES}</p><p>{views} views</p><p>Advertisement</p></article></body></html>"
    )


def shop(tmp_path: Path, versions: Any, **more: Any) -> Watch:
    crawl = watch(tmp_path, {HOME: page("/prices/tea.html"), PRICE: versions}, **more)
    crawl.run(HOUR)
    return crawl


def follow(crawl: Watch, text: str = PRICE, **wish: Any) -> None:
    watch_page(crawl.store, SPARING, text, now=crawl.clock.now(), **wish)
    crawl.crawler.load(crawl.clock.now())


def changes(crawl: Watch, **query: Any) -> list[WatchedChangeRow]:
    return crawl.store.watched_changes.changes(ChangeQuery(**{"oldest_first": True, **query}))


def watched(crawl: Watch, url: str = PRICE) -> RefreshRow:
    (found,) = crawl.store.read.find_page(url, "")
    row = crawl.store.refreshes.row(found["id"])
    assert row is not None
    return row


def test_a_new_price_is_recorded_once_with_its_difference(tmp_path: Path) -> None:
    versions = [(0, offer("12 euros")), (START + DAY, offer("14 euros", views=9))]
    with shop(tmp_path, versions) as crawl:
        follow(crawl)
        crawl.run(5 * DAY)
        (change,) = changes(crawl)
        assert change.lines == (
            ("-", "The price is 12 euros a box."),
            ("+", "The price is 14 euros a box."),
        )
        assert (change.title, change.words_added, change.words_removed) == ("Green tea", 1, 1)
        assert watched(crawl).changed_at == change.at
        bodies = [
            crawl.store.cache.get(PRICE, str(md5))
            for md5 in (change.body_before, change.body_after)
        ]
        assert b"12 euros" in (bodies[0] or b"")
        assert b"14 euros" in (bodies[1] or b"")


def test_noise_is_no_change(tmp_path: Path) -> None:
    def now(at: float) -> str:
        minutes = int(at - START) // 60
        return offer("12 euros", views=minutes, session=f"s{minutes}")

    with shop(tmp_path, now) as crawl:
        follow(crawl)
        crawl.run(5 * DAY)
        assert changes(crawl) == []
        assert watched(crawl).checks > 5


def test_a_page_that_goes_and_returns_the_same_is_no_change(tmp_path: Path) -> None:
    versions = [
        (0, offer("12 euros")),
        (START + DAY, Reply(code=404)),
        (START + 4 * DAY, offer("12 euros")),
    ]
    with shop(tmp_path, versions) as crawl:
        follow(crawl)
        crawl.run(3 * DAY)
        assert watched(crawl).gone_at is not None
        crawl.run(5 * DAY)
        assert watched(crawl).gone_at is None
        assert changes(crawl) == []
        kinds = [entry.kind for entry in crawl.store.answers.history(watched(crawl).page_id)]
        assert kinds == ["back", "gone"]


def test_a_page_that_returns_with_another_text_has_changed(tmp_path: Path) -> None:
    versions = [
        (0, offer("12 euros")),
        (START + DAY, Reply(code=404)),
        (START + 4 * DAY, offer("9 euros")),
    ]
    with shop(tmp_path, versions) as crawl:
        follow(crawl)
        crawl.run(9 * DAY)
        (change,) = changes(crawl)
        assert change.lines[1] == ("+", "The price is 9 euros a box.")


def test_a_server_in_trouble_changes_nothing(tmp_path: Path) -> None:
    versions = [
        (0, offer("12 euros")),
        (START + DAY, Reply(code=500)),
        (START + 2 * DAY, offer("12 euros")),
    ]
    with shop(tmp_path, versions) as crawl:
        follow(crawl)
        crawl.run(5 * DAY)
        assert changes(crawl) == []
        assert watched(crawl).gone_at is None


def test_the_given_interval_is_kept(tmp_path: Path) -> None:
    with shop(tmp_path, offer("12 euros")) as crawl:
        follow(crawl, every="2h")
        asked = len(crawl.statuses(PRICE))
        crawl.run(DAY)
        assert len(crawl.statuses(PRICE)) - asked == pytest.approx(12, abs=1)


def test_a_page_that_changes_often_is_visited_more_often_than_one_that_does_not(
    tmp_path: Path,
) -> None:
    def hourly(at: float) -> str:
        return offer(f"{int(at // HOUR)} euros")

    pages = {
        HOME: page("/a.html", "/b.html"),
        HOME + "a.html": hourly,
        HOME + "b.html": offer("1 euro"),
    }
    with watch(tmp_path, pages) as crawl:
        crawl.run(HOUR)
        follow(crawl, HOME + "a.html")
        follow(crawl, HOME + "b.html")
        crawl.run(9 * DAY)
        before = [watched(crawl, HOME + name).checks for name in ("a.html", "b.html")]
        crawl.run(9 * DAY)
        after = [watched(crawl, HOME + name).checks for name in ("a.html", "b.html")]
        assert after[0] - before[0] > 1.5 * (after[1] - before[1])


def test_watched_pages_leave_the_lists_their_visits(tmp_path: Path) -> None:
    names = [f"/p/{number}.html" for number in range(60)]
    pages = {HOME: page(*names)} | {HOME + name[1:]: offer("1 euro") for name in names}
    with watch(tmp_path, pages) as crawl:
        crawl.run(HOUR)
        for name in names:
            follow(crawl, HOME + name[1:], every="1m")
        before = len(crawl.statuses(HOME))
        crawl.run(2 * DAY)
        assert len(crawl.statuses(HOME)) - before > 4


def test_a_page_of_no_watched_site_is_watched_alone(tmp_path: Path) -> None:
    there = "https://shop.example/tea"
    pages = {
        there: [(0, offer("12 euros")), (START + DAY, offer("14 euros"))],
        "https://shop.example/robots.txt": Reply(b"Sitemap: https://shop.example/map.xml"),
        HOME: page("/a.html"),
    }
    with watch(tmp_path, pages) as crawl:
        follow(crawl, there)
        crawl.run(5 * DAY)
        assert [change.url for change in changes(crawl)] == [there]
        asked = {one for one in crawl.web.urls() if "shop.example" in one}
        assert asked == {there}
        assert crawl.new() == []


def test_a_hub_may_be_watched_as_well(tmp_path: Path) -> None:
    home = [
        (0, page("/a.html", text=f"We sell tea. {NOTES}")),
        (START + DAY, page("/a.html", text=f"We sell rice. {NOTES}")),
    ]
    with watch(tmp_path, {HOME: home}) as crawl:
        crawl.run(HOUR)
        follow(crawl, HOME)
        crawl.run(5 * DAY)
        (change,) = changes(crawl)
        assert "rice" in change.text
        assert crawl.hub(HOME) is not None


def test_after_a_restart_it_goes_on_with_what_it_knew(tmp_path: Path) -> None:
    web = FakeWeb(
        SimulatedClock(START),
        {
            HOME: page("/prices/tea.html"),
            PRICE: [(0, offer("12 euros")), (START + DAY, offer("14 euros"))],
        },
    )
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(HOUR)
        follow(crawl)
        crawl.run(6 * HOUR)
    for _ in range(3):
        with Watch(tmp_path, web) as crawl:
            crawl.run(DAY)
            assert len(changes(crawl)) <= 1
    with Watch(tmp_path, web) as crawl:
        assert len(changes(crawl)) == 1


def test_paused_it_is_not_visited_and_resumed_it_is_compared_with_before(tmp_path: Path) -> None:
    versions = [(0, offer("12 euros")), (START + DAY, offer("14 euros"))]
    with shop(tmp_path, versions) as crawl:
        follow(crawl)
        crawl.run(6 * HOUR)
        row = named_watch(crawl.store, PRICE)
        pause_watch(crawl.store, row, paused=True, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        checks = watched(crawl).checks
        crawl.run(5 * DAY)
        assert (watched(crawl).checks, changes(crawl)) == (checks, [])
        pause_watch(crawl.store, row, paused=False, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(HOUR)
        assert len(changes(crawl)) == 1


def test_an_active_watch_that_is_resumed_is_checked_at_once(tmp_path: Path) -> None:
    with shop(tmp_path, offer("12 euros")) as crawl:
        follow(crawl, every="30d")
        crawl.run(HOUR)
        checks = watched(crawl).checks
        watch = named_watch(crawl.store, PRICE)
        pause_watch(crawl.store, watch, paused=False, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(HOUR)
        assert watched(crawl).checks == checks + 1


@pytest.mark.parametrize(
    ("text", "wish", "error"),
    [
        ("ftp://x.example/a", {}, "not a web address"),
        (PRICE, {"every": "0m"}, "1 minute to 365 days"),
        (PRICE, {"every": "400d"}, "1 minute to 365 days"),
        (PRICE, {"channels": ["nobody"]}, "no channel has that name"),
        (PRICE, {"include": ["!"]}, "give a word"),
        ("http://127.0.0.1/a", {}, "allowed_hosts"),
    ],
)
def test_what_cannot_be_watched_is_refused_and_changes_nothing(
    tmp_path: Path, text: str, wish: dict[str, Any], error: str
) -> None:
    with shop(tmp_path, offer("12 euros")) as crawl:
        sites = len(crawl.store.read.sites())
        with pytest.raises(InputError, match=error):
            follow(crawl, text, **wish)
        assert crawl.store.page_watches.watches() == []
        assert len(crawl.store.read.sites()) == sites


def test_a_page_that_robots_deny_is_not_fetched(tmp_path: Path) -> None:
    pages = {
        HOME: page("/prices/tea.html"),
        PRICE: offer("12 euros"),
        HOME + "robots.txt": Reply(b"User-agent: *\nDisallow: /prices/"),
    }
    with watch(tmp_path, pages) as crawl:
        follow(crawl)
        crawl.run(2 * DAY)
        assert watched(crawl).status == "robots_denied"
        assert PRICE not in crawl.web.urls()


def test_a_page_given_to_be_watched_is_no_news_later(tmp_path: Path) -> None:
    home = [(0, page("/z.html")), (START + DAY, page("/z.html", "/prices/tea.html"))]
    with watch(tmp_path, {HOME: home, PRICE: offer("1 euro")}) as crawl:
        crawl.run(HOUR)
        follow(crawl)
        crawl.run(3 * DAY)
        assert crawl.new() == []


def test_an_announced_page_has_one_schedule_its_watchs_while_that_stands(tmp_path: Path) -> None:
    home = [(0, page("/z.html")), (START + HOUR, page("/z.html", "/prices/tea.html"))]
    refreshing = msgspec.structs.replace(SPARING, refresh=RefreshSettings(share=0.2))
    with watch(tmp_path, {HOME: home, PRICE: offer("1 euro")}, settings=refreshing) as crawl:
        crawl.run(6 * HOUR)
        assert crawl.new() == ["/prices/tea.html"]
        planned = watched(crawl)
        assert planned.watch_id is None
        follow(crawl, every="2h")
        asked = len(crawl.statuses(PRICE))
        crawl.run(DAY)
        assert len(crawl.statuses(PRICE)) - asked == pytest.approx(12, abs=1)
        row = named_watch(crawl.store, PRICE)
        pause_watch(crawl.store, row, paused=True, now=crawl.clock.now())
        assert watched(crawl).next_at is None
        crawl.store.page_watches.remove(row.id, now=crawl.clock.now())
        crawl.crawler.load(crawl.clock.now())
        crawl.run(DAY)
        again = watched(crawl)
        assert again.watch_id is None
        assert again.due_at - crawl.clock.now() > 4 * HOUR


def test_pages_of_a_removed_site_are_forgotten(tmp_path: Path) -> None:
    versions = [(0, offer("12 euros")), (START + DAY, offer("14 euros"))]
    with shop(tmp_path, versions) as crawl:
        follow(crawl)
        crawl.run(4 * DAY)
        crawl.store.write.remove_site(1)
        assert changes(crawl) == []
        assert crawl.store.page_watches.watches() == []
