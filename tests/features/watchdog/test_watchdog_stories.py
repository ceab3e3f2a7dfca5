"""Sites that answer every visit and yet are not well, and what the watchdog says of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import requests
from fake_web import DAY, HOUR, START, FakeWeb, Reply, Watch, feed, page

from incremental.base.clock import SimulatedClock
from incremental.features.watchdog.finding import Fault
from incremental.features.watchdog.showing import problems_of
from incremental.features.watchdog.watching import Watchdog
from incremental.interfaces.results.status import site_notes
from incremental.settings import Settings

HOME, FEED = "https://news.example/", "https://news.example/feed.xml"
SICK, WELL = 10 * DAY, 14 * DAY
"""The fault begins and ends so long after START."""


def stories(now: float) -> list[str]:
    """Return the latest twenty stories: one every six hours."""
    last = int((now - START) // (6 * HOUR))
    return [f"/a-{n}.html|Story number {n} of this town" for n in range(last + 20, last, -1)]


def listing(now: float, *more: str) -> str:
    return page(*stories(now), *more, title="News")


def story(number: int) -> str:
    return page(title=f"Story {number}", text=f"On day {number} the town met again. " * 30)


def town(sick: Callable[[float], Any], **pages: Any) -> dict[str, Any]:
    """Return a site whose home page is *sick* for four days."""

    def home(now: float) -> Any:
        return sick(now) if SICK <= now - START < WELL else listing(now)

    texts = {f"{HOME}a-{n}.html": story(n) for n in range(120)}
    return {HOME: home, **texts, **pages}


class Watched:
    """A site that is watched, with its watchdog."""

    def __init__(self, folder: Path, pages: dict[str, Any]) -> None:
        clock = SimulatedClock(START)
        self.crawl = Watch(folder, FakeWeb(clock, pages), HOME)
        self.dog = Watchdog(self.crawl.store)

    def run(self, seconds: float) -> list[str]:
        """Let so much time pass; return the kinds of the problems that last."""
        end = self.crawl.clock.now() + seconds
        while self.crawl.clock.now() < end:
            self.crawl.run(min(HOUR, end - self.crawl.clock.now()))
            self.dog.step(self.crawl.clock.now())
        return [row.kind for row in self.crawl.store.problems.all()]

    def says(self) -> str:
        (one,) = problems_of(self.crawl.store)
        return one.says


@pytest.fixture
def watched(tmp_path: Path) -> Any:
    made = list[Watched]()

    def make(pages: dict[str, Any]) -> Watched:
        made.append(Watched(tmp_path, pages))
        return made[-1]

    yield make
    for one in made:
        one.crawl.store.close()


LOGIN = page(title="Sign in", text="Please sign in to go on.")
FOR_SALE = page("https://ads.example/1", title="news.example is for sale", text="Buy this domain.")


@pytest.mark.parametrize(("body", "title"), [(LOGIN, "Sign in"), (FOR_SALE, "for sale")])
def test_a_list_that_becomes_a_form_is_told_until_it_is_back(
    watched: Any, body: str, title: str
) -> None:
    """Nothing is lost, and nothing is announced twice."""
    site = watched(town(lambda _: body))
    assert site.run(SICK - HOUR) == []
    assert site.run(DAY) == [Fault.LINKS_GONE]
    assert title in site.says()
    assert site.run(3 * DAY + 12 * HOUR) == []
    new = site.crawl.new()
    assert len(new) == len(set(new)) >= 4 * 14 - 2
    (ended,) = site.crawl.store.problems.all(ended=True)
    assert ended.ended_at is not None


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(b"<title>no</title>", 403), "blocked"),
        (Reply(error=requests.exceptions.SSLError), "TLS"),
    ],
)
def test_a_site_that_refuses_every_visit_is_told(watched: Any, reply: Reply, status: str) -> None:
    site = watched(town(lambda _: reply))
    assert site.run(SICK - HOUR) == []
    assert site.run(3 * DAY) == [Fault.UNREACHABLE]
    assert status in site.says()
    assert site.run(4 * DAY) == []


def test_robots_that_close_a_site_are_told(watched: Any) -> None:
    def robots(now: float) -> Reply:
        closed = SICK <= now - START < WELL
        body = b"User-agent: *\nDisallow: /\n" if closed else b""
        return Reply(body, headers={"Content-Type": "text/plain"})

    site = watched(town(listing, **{HOME + "robots.txt": robots}))
    assert site.run(SICK - HOUR) == []
    assert site.run(3 * DAY) == [Fault.UNREACHABLE]
    assert "robots" in site.says()


def with_feed(feed_now: Callable[[float], float], home: Callable[[float], Any]) -> dict[str, Any]:
    """Return a site with a feed of its latest stories, as of another time."""

    def feed_of(now: float) -> Reply:
        urls = [line.partition("|")[0] for line in stories(feed_now(now))[:10]]
        return feed(*((HOME + url[1:], "") for url in urls))

    head = f'<link rel="alternate" type="application/rss+xml" href="{FEED}">'
    pages = town(home, **{FEED: feed_of})
    return {**pages, HOME: lambda now: page(*stories(home(now)), title="News", head=head)}


def test_a_feed_that_stands_still_while_the_list_moves_is_told(watched: Any) -> None:
    """A feed that serves yesterday's batch looks like a quiet day; the site's list tells it apart."""
    site = watched(with_feed(lambda now: min(now, START + SICK), lambda now: now))
    assert site.run(SICK) == []
    assert site.run(2 * DAY) == [Fault.STANDSTILL]
    assert "feed" in site.says()
    assert len(site.crawl.new()) >= 4 * 12 - 2


def test_a_list_that_stands_still_while_the_feed_moves_is_told(watched: Any) -> None:
    site = watched(with_feed(lambda now: now, lambda now: min(now, START + SICK)))
    assert site.run(SICK) == []
    assert site.run(2 * DAY) == [Fault.STANDSTILL]


def test_silence_is_told_once_it_is_far_longer_than_ever_before(watched: Any) -> None:
    """And all hubs are visited at once: another may show what one does not."""
    site = watched(town(lambda _: listing(START + SICK)))
    assert site.run(SICK + DAY) == []
    assert site.run(2 * DAY) == [Fault.SILENT]
    assert site.run(2 * DAY) == []
    new = site.crawl.new()
    assert len(new) == len(set(new))


def test_pages_that_are_all_the_same_form_are_told(watched: Any) -> None:
    """A wall before the articles: the list goes on, and every page asks to log in."""
    wall = page(title="Members only", text="Log in to read this article. " * 30)
    pages = town(listing)
    for n in range(60, 120):
        pages[f"{HOME}a-{n}.html"] = wall
    site = watched(pages)
    assert site.run(9 * DAY) == []
    assert Fault.TEXTLESS in site.run(4 * DAY)


def test_titles_that_cannot_be_decoded_are_told(watched: Any) -> None:
    pages = town(listing)
    for n in range(60, 120):
        broken = (
            story(n)
            .replace("<title>Story", "<title>Gr\udc80\udc81e")
            .encode("utf-8", "surrogateescape")
        )
        pages[f"{HOME}a-{n}.html"] = Reply(broken)
    site = watched(pages)
    assert site.run(9 * DAY) == []
    assert Fault.GARBLED in site.run(4 * DAY)


def test_a_burst_is_told(watched: Any) -> None:
    def bursting(now: float) -> str:
        return listing(now, *(f"/b-{n}.html|Story number {n} of elsewhere" for n in range(80)))

    site = watched(town(bursting, **{f"{HOME}b-{n}.html": story(1000 + n) for n in range(80)}))
    assert site.run(SICK) == []
    site.run(12 * HOUR)
    told = {row.kind for row in site.crawl.store.problems.all(ended=True)}
    assert Fault.BURST in told


def test_a_site_that_is_well_is_left_alone(watched: Any) -> None:
    site = watched(with_feed(lambda now: now, lambda now: now))
    assert site.run(20 * DAY) == []
    assert site.crawl.store.problems.all(ended=True) == []


def test_the_site_and_the_status_say_what_is_wrong(watched: Any) -> None:
    site = watched(town(lambda _: LOGIN))
    site.run(SICK + DAY)
    notes = site_notes(site.crawl.store, Settings().enabled)
    assert "Sign in" in str(notes[1])
    assert "登" not in str(notes[1])


def test_a_site_is_checked_every_two_hours(watched: Any) -> None:
    """It is checked every two hours, however often the job is called."""
    site = watched(town(listing))
    checked = list[float]()
    site.dog.check = lambda _, now: checked.append(now)
    for minute in range(0, 5 * 60, 10):
        site.dog.step(START + minute * 60)
    assert checked == [START, START + 2 * HOUR, START + 4 * HOUR]
