"""What hosts are owed, read from the log of what they were asked."""

import threading
from concurrent.futures import Executor, Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import requests
from fake_web import (
    DAY,
    HOUR,
    MINUTE,
    SPARING,
    START,
    FakeWeb,
    Reply,
    Watch,
    feed,
    gaps,
    page,
    redirect,
    watch,
)
from lab.clocks import SimulatedClock
from stories import announced_pages

from incremental.base.scope import Reach
from incremental.settings import RevisitSettings, Settings
from incremental.settings.seeds import SeedTerms

HOME = "https://news.example/"
ROBOTS = HOME + "robots.txt"


def busy_site(now: float) -> str:
    """A page of ten links, one of them new every hour."""
    newest = int((now - START) / HOUR) + 10
    return page("/sport/", "/city/", *(f"/story-{n}.html" for n in range(newest, newest - 10, -1)))


SITE = {HOME: busy_site, HOME + "sport/": page("/s.html"), HOME + "city/": page("/c.html")}


class OnePerTurn(Executor):
    """Runs what it was given when it is told to: a pool whose threads are slow."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Future[Any], Any, tuple[Any, ...]]] = []

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.waiting.append((future, fn, args))
        return future

    def finish(self) -> None:
        """Let all that is under way come to its end."""
        under_way, self.waiting = self.waiting, []
        for future, fn, args in under_way:
            future.set_result(fn(*args))


# --- robots.txt -------------------------------------------------------------------------------


def test_robots_txt_is_asked_first_and_once_a_day(tmp_path: Path) -> None:
    with watch(tmp_path, SITE) as crawl:
        crawl.run(3 * DAY)
        asked = [a.at for a in crawl.web.asked if a.url == ROBOTS]
        assert crawl.web.asked[0].url == ROBOTS
        assert len(asked) in (3, 4)
        assert min(gaps(asked)) >= DAY


def test_what_robots_txt_denies_is_never_asked_for_and_announced_all_the_same(
    tmp_path: Path,
) -> None:
    pages = {
        HOME: [
            (0, page("/a.html", "/private/")),
            (START + HOUR, page("/private/b.html", "/a.html")),
        ],
        ROBOTS: b"User-agent: *\nDisallow: /private\n",
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(2 * DAY).new() == ["/private/b.html"]
        assert not [url for url in crawl.web.urls() if "/private" in url]


def test_a_seed_that_robots_txt_denies_says_so_and_is_tried_when_the_rules_change(
    tmp_path: Path,
) -> None:
    rules = [(0, b"User-agent: *\nDisallow: /\n"), (START + 2 * DAY, b"User-agent: *\nAllow: /\n")]
    with watch(tmp_path, {HOME: page("/a.html"), ROBOTS: rules}) as crawl:
        crawl.run(DAY)
        hub = crawl.hub(HOME)
        assert hub is not None
        assert (hub.last_status, crawl.web.urls()) == ("robots_denied", [])
        crawl.run(3 * DAY)
        assert HOME in crawl.hubs()


def test_while_robots_txt_cannot_be_reached_nothing_is_fetched(tmp_path: Path) -> None:
    answers = [(0, Reply(code=503)), (START + 5 * HOUR, Reply(code=404))]
    with watch(tmp_path, {HOME: page("/a.html"), ROBOTS: answers}) as crawl:
        crawl.run(4 * HOUR)
        hub = crawl.hub(HOME)
        assert hub is not None
        assert (hub.last_status, crawl.web.urls()) == ("robots_unreachable", [])
        crawl.run(DAY)
        assert HOME in crawl.hubs()


def test_rules_that_are_known_hold_while_robots_txt_cannot_be_reached(tmp_path: Path) -> None:
    rules = [(0, b"User-agent: *\nDisallow: /city\n"), (START + HOUR, Reply(code=500))]
    with watch(tmp_path, {**SITE, ROBOTS: rules}) as crawl:
        crawl.run(3 * DAY)
        late = set(crawl.web.urls(since=START + 2 * DAY))
        assert HOME in late
        assert HOME + "city/" not in crawl.web.urls()


def test_a_crawl_delay_of_a_day_slows_a_host_and_never_drops_it(tmp_path: Path) -> None:
    rules = b"User-agent: *\nCrawl-delay: 86400\n"
    with watch(tmp_path, {**SITE, ROBOTS: rules}) as crawl:
        crawl.run(20 * DAY)
        pages = [a.at for a in crawl.web.asked if a.url != ROBOTS]
        assert min(gaps(pages)) >= DAY
        assert len([at for at in pages if at > START + 10 * DAY]) >= 4
        assert crawl.new()


def test_a_crawl_delay_is_kept_between_all_requests(tmp_path: Path) -> None:
    with watch(tmp_path, {**SITE, ROBOTS: b"User-agent: *\nCrawl-delay: 300\n"}) as crawl:
        crawl.run(DAY)
        times = [a.at for a in crawl.web.asked if a.url != ROBOTS]
        assert len(times) > 10
        assert min(gaps(times)) >= 300


def test_a_redirect_onto_a_denied_path_brings_nothing(tmp_path: Path) -> None:
    pages = {
        HOME: [(0, page("/a.html")), (START + HOUR, page("/b.html", "/a.html"))],
        ROBOTS: b"User-agent: *\nDisallow: /secret\n",
        HOME + "b.html": redirect("/secret/b.html"),
        HOME + "secret/b.html": page(title="Secret"),
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(DAY).new() == ["/b.html"]
        assert crawl.statuses(HOME + "b.html") == ["robots_denied"]
        assert "Secret" not in {news.title for news in announced_pages(crawl.store)}


# --- one at a time ----------------------------------------------------------------------------


def test_between_two_requests_to_a_host_five_seconds_pass(tmp_path: Path) -> None:
    with watch(tmp_path, SITE) as crawl:
        crawl.run(DAY)
        assert len(crawl.web.asked) > 20
        assert min(gaps(crawl.web.times("news.example"))) >= 5


def test_a_host_is_asked_one_thing_at_a_time_whatever_the_number_of_seeds(tmp_path: Path) -> None:
    """Two sites share a host: while one is visited the other waits, and then has its turn."""
    pages = {HOME + "one/": busy_site, HOME + "two/": page("/two/a.html")}
    slow = OnePerTurn()
    terms = SeedTerms(reach=Reach.PREFIX)
    crawl = Watch(
        tmp_path, FakeWeb(SimulatedClock(START), pages), *pages, executor=slow, terms=terms
    )
    with crawl:
        for _ in range(60):
            wake_at = crawl.crawler.step(crawl.clock.now())
            assert len(slow.waiting) <= 1
            if not slow.waiting:
                crawl.clock.advance_to(wake_at)
            slow.finish()
        crawl.crawler.drain(crawl.clock.now())
        assert crawl.hubs() >= set(pages)


def test_two_seeds_on_one_host_share_its_delay_and_both_are_watched(tmp_path: Path) -> None:
    pages = {
        HOME + "one/": [
            (0, page("/one/a.html")),
            (START + DAY, page("/one/b.html", "/one/a.html")),
        ],
        HOME + "two/": [
            (0, page("/two/a.html")),
            (START + DAY, page("/two/b.html", "/two/a.html")),
        ],
    }
    terms = SeedTerms(reach=Reach.PREFIX)
    with watch(tmp_path, pages, HOME + "one/", HOME + "two/", terms=terms) as crawl:
        assert sorted(crawl.run(3 * DAY).new()) == ["/one/b.html", "/two/b.html"]
        assert min(gaps(crawl.web.times("news.example"))) >= 5


def test_the_hosts_of_one_site_do_not_stop_each_other(tmp_path: Path) -> None:
    """A section on a host with a long delay: the rest of the site goes on."""
    slow = "https://slow.news.example/"
    pages = {
        HOME: lambda now: page(slow, *(f"/{int((now - START) / HOUR)}-{n}.html" for n in range(3))),
        slow: page("/x.html"),
        slow + "robots.txt": b"User-agent: *\nCrawl-delay: 40000\n",
    }
    with watch(tmp_path, pages, terms=SeedTerms(reach=Reach.DOMAIN)) as crawl:
        crawl.run(4 * DAY)
        assert crawl.web.urls(since=START + 3 * DAY).count(HOME) > 5
        assert {HOME, slow} <= crawl.hubs() | crawl.hubs("dormant")
        assert min(gaps(a.at for a in crawl.web.asked if a.url == slow)) >= 40_000


def test_many_sites_do_not_start_in_one_moment(tmp_path: Path) -> None:
    seeds = [f"https://site{n}.example/" for n in range(12)]
    with watch(tmp_path, dict.fromkeys(seeds, page("/a.html")), *seeds) as crawl:
        crawl.run(5 * MINUTE)
        first = sorted(min(crawl.web.times(f"site{n}.example")) for n in range(12))
        assert first[0] == START
        assert min(gaps(first)) >= 4
        assert first[-1] <= START + MINUTE


# --- trouble ----------------------------------------------------------------------------------


def test_retry_after_is_kept(tmp_path: Path) -> None:
    """As a number with 429, as a date with 503."""
    date = "Mon, 03 Jun 2024 20:00:00 GMT"  # START is at 07:33
    until = START + 12.4 * HOUR
    pages = {
        HOME: [
            (0, page("/a.html")),
            (START + HOUR, Reply(code=503, headers={"Retry-After": date})),
            (START + 11 * HOUR, page("/a.html")),
        ]
    }
    with watch(tmp_path, pages) as crawl:
        crawl.run(2 * DAY)
        asked = crawl.web.times("news.example")
        refused = min(at for at in asked if at > START + HOUR)
        assert not [at for at in asked if refused < at < until]
        assert [at for at in asked if at > until]
        assert "rate_limited" in crawl.statuses(HOME)


def test_a_feed_is_not_asked_for_while_it_is_fresh_by_its_own_word(tmp_path: Path) -> None:
    """Of a list that says the same, that is said for browsers."""
    long = {"Cache-Control": "max-age=32400"}

    def shortest(headers: dict[str, str]) -> dict[str, float]:
        def hourly(now: float) -> Reply:
            return replace(feed((HOME + f"{int(now // HOUR)}.html", "")), headers=headers)

        pages: dict[str, Any] = {HOME: lambda now: Reply(busy_site(now).encode(), headers=headers)}
        pages[HOME + "feed"] = hourly
        with watch(tmp_path / str(len(headers)), pages, settings=SPARING) as crawl:
            crawl.run(3 * DAY)
            asked = {u: [a.at for a in crawl.web.asked if a.url == u] for u in pages}
        return {url: min(gaps(times)) for url, times in asked.items()}

    plain, fresh = shortest({}), shortest(long)
    assert plain[HOME + "feed"] < 9 * HOUR <= fresh[HOME + "feed"]
    assert fresh[HOME] < 9 * HOUR


def test_a_host_that_says_429_is_left_alone_longer_each_time(tmp_path: Path) -> None:
    pages = {HOME: [(0, page("/a.html")), (START + MINUTE, Reply(code=429))]}
    with watch(tmp_path, pages) as crawl:
        crawl.run(3 * DAY)
        pauses = gaps(a.at for a in crawl.web.asked if a.url == HOME)
        assert len(pauses) > 4
        assert pauses[1:-1] == sorted(pauses[1:-1])
        assert len(crawl.web.urls(since=START + 2 * DAY)) <= 4
        assert set(crawl.statuses(HOME)[1:]) == {"rate_limited"}


def test_a_host_that_is_down_for_a_day_is_found_again(tmp_path: Path) -> None:
    down = Reply(error=requests.ConnectTimeout)
    later = page("/b.html", "/a.html")
    with watch(
        tmp_path, {HOME: [(0, page("/a.html")), (START + HOUR, down), (START + DAY, later)]}
    ) as crawl:
        assert crawl.run(4 * DAY).new() == ["/b.html"]
        assert "timed_out" in crawl.statuses(HOME)


# --- the budget -------------------------------------------------------------------------------


def test_no_day_has_more_requests_than_the_budget(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(
        Settings(), revisit=RevisitSettings(requests_per_day=20, first_requests=0)
    )
    with watch(tmp_path, SITE, settings=settings) as crawl:
        crawl.run(6 * DAY)
        times = [a.at for a in crawl.web.asked]
        busiest = max(sum(at <= other < at + DAY for other in times) for at in times)
        # An urgent fetch (the next page after an overflow) may overdraw the budget by a few.
        assert busiest <= 28
        assert len(times) <= 6 * 20 + 8
        assert crawl.new()


def test_a_site_with_a_budget_of_zero_is_left_alone(tmp_path: Path) -> None:
    with watch(tmp_path, SITE, terms=SeedTerms(requests_per_day=0)) as crawl:
        crawl.run(2 * DAY)
        assert crawl.web.asked == []


def test_the_budget_is_of_each_site_and_outlives_a_restart(tmp_path: Path) -> None:
    settings = msgspec.structs.replace(
        Settings(), revisit=RevisitSettings(requests_per_day=10, first_requests=0)
    )
    web = FakeWeb(SimulatedClock(START), SITE)
    for _ in range(8):
        with Watch(tmp_path, web, HOME, settings=settings) as crawl:
            crawl.run(HOUR)
    assert len(web.asked) <= 13


def test_a_shorter_budget_makes_fewer_requests(tmp_path: Path) -> None:
    counts = []
    for per_day in (10, 40):
        settings = msgspec.structs.replace(
            SPARING, revisit=RevisitSettings(requests_per_day=per_day)
        )
        with watch(tmp_path / str(per_day), SITE, settings=settings) as crawl:
            counts.append(len(crawl.run(2 * DAY).web.asked))
    assert counts[0] < counts[1]


def test_the_fetcher_is_reached_from_threads_alone(tmp_path: Path) -> None:
    """A pool of real threads: the same story, and still one request at a time."""
    from concurrent.futures import ThreadPoolExecutor

    seen: list[int] = []
    inside = threading.Lock()

    def alone(_now: float) -> str:
        assert inside.acquire(blocking=False)
        seen.append(threading.get_ident())
        inside.release()
        return page("/a.html")

    woken = threading.Event()
    with (
        ThreadPoolExecutor(4) as pool,
        watch(tmp_path, {HOME: alone, HOME + "feed": alone}, executor=pool) as crawl,
    ):
        while crawl.clock.now() < START + 3 * HOUR:
            woken.clear()
            wake_at = crawl.crawler.step(crawl.clock.now(), woken.set)
            if crawl.crawler.idle:
                crawl.clock.advance_to(min(wake_at, START + 3 * HOUR))
            else:
                woken.wait(10)
        assert seen
        assert threading.get_ident() not in seen
