"""One story for each cause that only the site, a rule or a topic can bring about."""

from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any

import msgspec
from fake_web import DAY, SPARING, START, FakeWeb, Reply, Watch, feed, page
from lab.clocks import SimulatedClock

from incremental.features.completeness.showing import Completeness, Late, of_site
from incremental.settings import Settings

HOME = "https://news.example/"


def story(n: int, at: float) -> str:
    date = datetime.fromtimestamp(at, UTC).isoformat()
    dated = f'<meta property="article:published_time" content="{date}">'
    return page(title=f"Story {n}", text=f"Story {n} says much. " * 40, head=dated)


def said_of(
    folder: Path, site: dict[str, Any], days: float, settings: Settings = SPARING
) -> Completeness:
    web = FakeWeb(SimulatedClock(START), site)
    with Watch(folder, web, HOME, settings=settings) as watch:
        watch.run(days * DAY)
        return of_site(watch.store, 1, "news.example", watch.clock.now())


def a_day(now: float) -> list[str]:
    """Return the addresses of the latest ten stories: one a day."""
    last = int((now - START) // DAY) + 10
    return [f"/story-{n}.html" for n in range(last, last - 10, -1)]


STORIES = {f"{HOME}story-{n}.html": story(n, START + (n - 10) * DAY) for n in range(40)}


def test_robots_that_close_a_list_for_three_days_are_the_cause(tmp_path: Path) -> None:
    def robots(now: float) -> bytes:
        closed = 10 * DAY <= now - START < 13 * DAY
        return b"User-agent: *\nDisallow: /news/" if closed else b""

    site = {
        HOME: page("/news/|News", title="Home"),
        f"{HOME}news/": lambda now: page(*a_day(now), title="News"),
        f"{HOME}robots.txt": robots,
        **STORIES,
    }
    said = said_of(tmp_path, site, 18)
    assert {one.cause for one in said.late} == {Late.ROBOTS}
    assert said.missed == len(said.late) > 0
    assert "robots.txt closed https://news.example/news/" in said.late[0].says


def test_stories_that_a_short_list_dropped_before_the_next_visit_have_scrolled_off(
    tmp_path: Path,
) -> None:
    """Thirty stories come within an hour on a list of five; the archive shows them three days later."""
    bursts_at = START + 10 * DAY

    def home(now: float) -> str:
        last = 200 + 30 if now >= bursts_at else 200
        return page("/archive/|Archive", *(f"/story-{n}.html" for n in range(last, last - 5, -1)))

    def archive(now: float) -> str:
        last = 200 + 30 if now >= bursts_at + 3 * DAY else 200
        return page(*(f"/story-{n}.html" for n in range(last, last - 60, -1)))

    site = {
        HOME: home,
        f"{HOME}archive/": archive,
        **{
            f"{HOME}story-{n}.html": story(n, bursts_at if n > 200 else START - DAY)
            for n in range(100, 240)
        },
    }
    said = said_of(tmp_path, site, 22)
    assert {one.cause for one in said.late} == {Late.SCROLLED_OFF}
    assert "had scrolled off" in said.late[0].says


def test_stories_that_came_with_a_burst_are_withheld(tmp_path: Path) -> None:
    """A feed shows three hundred stories of one day at once: they are told as one event."""
    bursts_at = START + 10 * DAY

    def entries(now: float) -> Reply:
        many = range(300) if now >= bursts_at else range(0)
        old = [(f"{HOME}story-{n}.html", formatdate(START - DAY)) for n in range(30)]
        date = formatdate(bursts_at)
        return feed(*((f"{HOME}late-{n}.html", date) for n in many), *old)

    menu = f'<link rel="alternate" type="application/rss+xml" href="{HOME}feed.xml">'
    site = {
        HOME: page("/about.html", title="News", head=menu),
        f"{HOME}feed.xml": entries,
        **{f"{HOME}late-{n}.html": story(n, bursts_at) for n in range(300)},
    }
    few = msgspec.structs.replace(
        SPARING, news=msgspec.structs.replace(SPARING.news, max_per_day=100)
    )
    said = said_of(tmp_path, site, 16, few)
    assert Late.WITHHELD in {one.cause for one in said.late}
    withheld = [one for one in said.late if one.cause is Late.WITHHELD]
    assert all(one.delay_minutes is None for one in withheld)
