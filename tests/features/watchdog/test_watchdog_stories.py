"""Sites that answer every visit and yet are not well, and what the watchdog says of each."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import requests
from cli_runner import Run
from fake_web import DAY, HOUR, MINUTE, SPARING, START, FakeWeb, Reply, Watch, feed, page
from lab.clocks import SimulatedClock
from web_served import Served

from incremental.features.watchdog.finding import Fault, SiteFacts, findings
from incremental.features.watchdog.showing import problems_of
from incremental.features.watchdog.watching import Watchdog
from incremental.settings import RevisitSettings, Settings
from incremental.settings.seeds import add_seed
from incremental.settings.storage import open_configured_store
from store import Store
from store.enums import ChangeKind
from store.models import Change
from store.problems import FoundPage, ProblemKey, WatchedHub
from store.values import HostRow

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

    def __init__(self, folder: Path, pages: dict[str, Any], settings: Settings = SPARING) -> None:
        clock = SimulatedClock(START)
        self.crawl = Watch(folder, FakeWeb(clock, pages), HOME, settings=settings)
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
def town_watch(tmp_path: Path) -> Any:
    made = list[Watched]()

    def make(pages: dict[str, Any], settings: Settings = SPARING) -> Watched:
        made.append(Watched(tmp_path, pages, settings))
        return made[-1]

    yield make
    for one in made:
        one.crawl.store.close()


LOGIN = page(title="Sign in", text="Please sign in to go on.")
FOR_SALE = page("https://ads.example/1", title="news.example is for sale", text="Buy this domain.")


@pytest.mark.parametrize(("body", "title"), [(LOGIN, "Sign in"), (FOR_SALE, "for sale")])
def test_a_list_that_becomes_a_form_is_told_until_it_is_back(
    town_watch: Any, body: str, title: str
) -> None:
    """Nothing is lost, and nothing is announced twice."""
    site = town_watch(town(lambda _: body))
    assert site.run(SICK - HOUR) == []
    assert site.run(DAY) == [Fault.LINKS_GONE]
    assert title in site.says()
    assert site.run(3 * DAY + 12 * HOUR) == []
    assert len(site.crawl.new()) >= 4 * 14 - 2
    assert announced_twice(site.crawl.store) == []
    (ended,) = site.crawl.store.problems.all(ended=True)
    assert ended.ended_at is not None


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (Reply(b"<title>no</title>", 403), "blocked"),
        (Reply(error=requests.exceptions.SSLError), "TLS"),
    ],
)
def test_a_site_that_refuses_every_visit_is_told(
    town_watch: Any, reply: Reply, status: str
) -> None:
    site = town_watch(town(lambda _: reply))
    assert site.run(SICK - HOUR) == []
    assert site.run(3 * DAY) == [Fault.UNREACHABLE]
    assert status in site.says()
    assert site.run(4 * DAY) == []


def test_a_site_that_moved_to_another_host_is_told_with_the_address_to_add(town_watch: Any) -> None:
    moved = Reply(b"", 301, headers={"Location": "https://paper.example/"})
    site = town_watch(town(lambda _: moved))
    assert site.run(SICK - HOUR) == []
    assert site.run(3 * DAY) == [Fault.MOVED]
    assert "hubwatch add https://paper.example/" in site.says()
    assert site.run(4 * DAY) == []


def test_robots_that_close_a_site_are_told(town_watch: Any) -> None:
    def robots(now: float) -> Reply:
        closed = SICK <= now - START < WELL
        body = b"User-agent: *\nDisallow: /\n" if closed else b""
        return Reply(body, headers={"Content-Type": "text/plain"})

    site = town_watch(town(listing, **{HOME + "robots.txt": robots}))
    assert site.run(SICK - HOUR) == []
    assert site.run(3 * DAY) == [Fault.UNREACHABLE]
    assert "robots" in site.says()


def test_sections_that_robots_close_are_no_trouble_of_the_site(town_watch: Any) -> None:
    sections = [f"/closed/{name}/" for name in "abcdef"]
    rules = "".join(f"Disallow: {path}\n" for path in sections)

    def robots(now: float) -> Reply:
        closed = f"User-agent: *\n{rules}" if now - START >= SICK else ""
        return Reply(closed.encode(), headers={"Content-Type": "text/plain"})

    pages = town(listing, **{HOME + "robots.txt": robots})
    pages |= {HOME: lambda now: listing(now, *sections)}
    pages |= {HOME + path[1:]: listing for path in sections}
    few = msgspec.structs.replace(SPARING, revisit=RevisitSettings(requests_per_day=6))
    site = town_watch(pages, few)
    assert {kind for _ in range(18 * 24) for kind in site.run(HOUR)} == set()


def with_feed(feed_now: Callable[[float], float], home: Callable[[float], Any]) -> dict[str, Any]:
    """Return a site with a feed of its latest stories, as of another time."""

    def feed_of(now: float) -> Reply:
        urls = [line.partition("|")[0] for line in stories(feed_now(now))[:10]]
        return feed(*((HOME + url[1:], "") for url in urls))

    head = f'<link rel="alternate" type="application/rss+xml" href="{FEED}">'
    pages = town(home, **{FEED: feed_of})
    return {**pages, HOME: lambda now: page(*stories(home(now)), title="News", head=head)}


def test_a_feed_that_stands_still_while_the_list_moves_is_told(town_watch: Any) -> None:
    """A feed that serves yesterday's batch looks like a quiet day; the site's list tells it apart."""
    site = town_watch(with_feed(lambda now: min(now, START + SICK), lambda now: now))
    assert site.run(SICK) == []
    assert site.run(2 * DAY) == [Fault.STANDSTILL]
    assert "feed" in site.says()
    assert len(site.crawl.new()) >= 4 * 12 - 2


def test_a_list_that_stands_still_while_the_feed_moves_is_told(town_watch: Any) -> None:
    site = town_watch(with_feed(lambda now: now, lambda now: min(now, START + SICK)))
    assert site.run(SICK) == []
    assert site.run(2 * DAY) == [Fault.STANDSTILL]


def test_silence_is_told_once_it_is_far_longer_than_ever_before(town_watch: Any) -> None:
    """The gap that no pause before comes near."""
    site = town_watch(town(lambda _: listing(START + SICK)))
    assert site.run(SICK + DAY) == []
    asked = len(site.crawl.web.asked)
    assert site.run(2 * DAY) == [Fault.SILENT]
    assert len(site.crawl.web.asked) > asked
    assert site.run(2 * DAY) == []
    assert announced_twice(site.crawl.store) == []


def test_pages_that_are_all_the_same_form_are_told(town_watch: Any) -> None:
    """A wall before the articles: the list goes on, and every page asks to log in."""
    wall = page(title="Members only", text="Log in to read this article. " * 30)
    pages = town(listing)
    for n in range(60, 120):
        pages[f"{HOME}a-{n}.html"] = wall
    site = town_watch(pages)
    assert site.run(9 * DAY) == []
    assert Fault.TEXTLESS in site.run(4 * DAY)


@pytest.mark.parametrize("word", ["Gr\udc80\udc81e", "Gr\u00c3\u00bc\u00c3\u0178e"])
def test_titles_that_are_decoded_wrongly_are_told(town_watch: Any, word: str) -> None:
    pages = town(listing)
    for n in range(60, 120):
        broken = story(n).replace("<title>Story", f"<title>{word}")
        pages[f"{HOME}a-{n}.html"] = Reply(broken.encode("utf-8", "surrogateescape"))
    site = town_watch(pages)
    assert site.run(9 * DAY) == []
    assert Fault.GARBLED in site.run(4 * DAY)


def test_a_burst_is_told(town_watch: Any) -> None:
    def bursting(now: float) -> str:
        return listing(now, *(f"/b-{n}.html|Story number {n} of elsewhere" for n in range(80)))

    site = town_watch(town(bursting, **{f"{HOME}b-{n}.html": story(1000 + n) for n in range(80)}))
    assert site.run(SICK) == []
    site.run(12 * HOUR)
    told = {row.kind for row in site.crawl.store.problems.all(ended=True)}
    assert Fault.BURST in told


def test_a_site_that_is_well_is_left_alone(town_watch: Any) -> None:
    site = town_watch(with_feed(lambda now: now, lambda now: now))
    assert site.run(20 * DAY) == []
    assert site.crawl.store.problems.all(ended=True) == []


def test_every_interface_says_what_is_wrong(
    served: Served,
) -> None:
    """The command, the page and the answer for programs; the page in the reader's language."""
    seed = "https://quiet.example/"
    site = add_seed(served.store, seed, now=START)
    found = {ProblemKey(Fault.SILENT): {"days": 3.5, "longest": 1.0}}
    served.store.problems.update(site, found, now=START)
    client = served.client()
    assert "Nothing new for 3.5 days" in client.get("/problems").text
    for path in ("/problems", "/sites", "/status"):
        shown = client.get(path, headers={"Accept-Language": "zh"}).text
        assert "已 3.5 天没有新页面" in shown, path
    (told,) = client.get("/api/v1/problems").json()
    assert (told["kind"], told["hub_url"], told["ended_at"]) == ("silent", "", None)


def test_the_command_lists_problems(hubwatch: Run, tmp_path: Path) -> None:
    hubwatch("add", "https://quiet.example/")
    assert hubwatch("problems").err.strip() == "no problems"
    with open_configured_store(Settings(), tmp_path) as store:
        found = {ProblemKey(Fault.SILENT): {"days": 3.5, "longest": 1.0}}
        store.problems.update(1, found, now=START)
    assert "Nothing new for 3.5 days" in " ".join(hubwatch("problems").out.split())
    assert hubwatch("problems", "--json").json[0]["kind"] == "silent"
    assert "Nothing new for 3.5 days" in hubwatch("status").err


def test_a_site_is_checked_every_two_hours(town_watch: Any) -> None:
    """It is checked every two hours, however often the job is called."""
    site = town_watch(town(listing))
    checked = list[float]()
    site.dog.check = lambda _, now: checked.append(now)
    for minute in range(0, 5 * 60, 10):
        site.dog.step(START + minute * 60)
    assert checked == [START, START + 2 * HOUR, START + 4 * HOUR]


def announced_twice(store: Store) -> list[int]:
    """Pages with more than one announcement in the log of changes."""
    added = Change.select(Change.page).where(Change.kind == ChangeKind.ADDED)
    counts = Counter(page for (page,) in added.tuples().execute(store.database))
    return [page for page, count in counts.items() if count > 1]


def test_a_bug_at_one_site_does_not_stop_the_others(town_watch: Any) -> None:
    site = town_watch(town(listing))
    add_seed(site.crawl.store, "https://other.example/", now=START)
    done = list[int]()

    def check(number: int, _: float) -> None:
        done.append(number)
        if number == 1:
            raise ZeroDivisionError

    site.dog.check = check
    with pytest.raises(ZeroDivisionError):
        site.dog.step(START)
    site.dog.step(START + MINUTE)
    assert done == [1, 2]


def page_found(number: int, at: float) -> FoundPage:
    return FoundPage(number, at, f"Page {number}", 100 + number)


def hub_of(at: float, **more: Any) -> WatchedHub:
    shown = {"last_status": "fetched", "shown_links": 20, "shows": frozenset(range(99)), "lost": 0}
    return WatchedHub(7, HOME, "News", is_seed=True, visited_at=at, **{**shown, **more})


def facts_of(hub: WatchedHub, **more: Any) -> SiteFacts:
    pages = [page_found(n, START + n * DAY / 4) for n in range(40)]
    usual = {"visits": [], "today": 4, "before": 32}
    return SiteFacts(pages, [hub], **{**usual, **more})


def test_time_in_which_nothing_was_read_is_no_silence() -> None:
    """A daemon that was off for ten days has seen nothing of them."""
    last = START + 10 * DAY
    off, on = facts_of(hub_of(last)), facts_of(hub_of(last + 10 * DAY))
    assert findings(off, last + 10 * DAY).problems == {}
    assert [key.kind for key in findings(on, last + 10 * DAY).problems] == [Fault.SILENT]


def test_a_certificate_that_nobody_renews_is_named_until_it_is(tmp_path: Path) -> None:
    """Its end is noted with each answer; one that is renewed ends the problem by itself."""
    watched = Watched(tmp_path, town(listing))
    assert watched.run(10 * DAY) == []
    put, now = watched.crawl.store.write.put_host, watched.crawl.clock.now()
    host = HostRow("news.example", 0.0, 0, None, None, now + 3 * DAY)
    put(host)
    assert watched.run(12 * HOUR) == []
    assert watched.run(18 * HOUR) == [Fault.EXPIRING]
    assert "The certificate of news.example ends at 2024-06-" in watched.says()
    put(replace(host, certificate_until=now + 90 * DAY))
    assert watched.run(3 * HOUR) == []
    watched.crawl.store.close()


def test_a_site_that_was_not_read_before_catches_up_without_a_burst() -> None:
    after = findings(facts_of(hub_of(START + 10 * DAY), today=60, before=0), START + 10 * DAY)
    assert after.problems == {}
    burst = findings(facts_of(hub_of(START + 10 * DAY), today=60, before=32), START + 10 * DAY)
    assert [key.kind for key in burst.problems] == [Fault.BURST]


def test_a_site_that_is_busy_from_its_first_day_has_no_burst() -> None:
    at = START + 2 * DAY
    busy = replace(facts_of(hub_of(at), today=96, before=4), days=0.2)
    assert findings(busy, at).problems == {}
    assert findings(replace(busy, days=0.0), at).problems == {}
    flooded = replace(facts_of(hub_of(at), today=96, before=4), days=1.0)
    assert [key.kind for key in findings(flooded, at).problems] == [Fault.BURST]


@pytest.mark.parametrize(
    ("statuses", "unreachable"),
    [({"gone": 9, "redirected": 2}, False), ({"blocked": 2}, False), ({"blocked": 3}, True)],
)
def test_pages_that_end_or_move_make_no_site_unreachable(
    statuses: dict[str, int], *, unreachable: bool
) -> None:
    now = START + 11 * DAY
    visits = [(7, status, "") for status, count in statuses.items() for _ in range(count)]
    found = findings(facts_of(hub_of(START + 10 * DAY), visits=visits), now)
    assert (ProblemKey(Fault.UNREACHABLE) in found.problems) is unreachable
    assert (Fault.SILENT in found.open) is unreachable
