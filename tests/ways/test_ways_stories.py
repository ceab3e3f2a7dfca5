"""Hubs that show no links as the server sends them, watched over time without a browser."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import shells
from fake_web import DAY, HOUR, START, FakeWeb, Reply, Watch, page, watch
from lab.clocks import SimulatedClock
from stories import announced_pages

from incremental.daemon.assembly import make_fetcher
from incremental.fetch.robots import RobotsPolicy
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse.hub_way import Way, WayKind, WayProblem, read_way
from incremental.sandbox import read_body
from incremental.settings import Settings
from incremental.visit.visit import Fetch, Purpose, VisitTask
from incremental.visit.ways.parts import PartFetcher
from incremental.visit.ways.visiting import HubVisitor, Rendered

NEWS = "https://news.example/news"
LATER = START + DAY
FOURTH = {"slug": "harbour-plan", "title": "A plan for the old harbour", "date": "2024-06-04"}
MORE = [FOURTH, *shells.ITEMS]


def way_of(crawl: Watch, url: str = NEWS) -> Way:
    hub = crawl.hub(url)
    assert hub is not None
    way = read_way(hub.way)
    assert way is not None
    return way


def rows(items: list[dict[str, Any]]) -> Reply:
    return Reply(json.dumps({"rows": items}).encode(), headers={"Content-Type": "application/json"})


def articles(*slugs: str) -> dict[str, Any]:
    """The pages themselves: shells with one title for all, as an application serves them."""
    return {f"{NEWS}/{slug}": shells.shell("<script src=/main.js></script>") for slug in slugs}


SLUGS = [one["slug"] for one in MORE]


def test_a_list_in_the_state_of_a_page_is_watched_and_announced_with_title_and_date(
    tmp_path: Path,
) -> None:
    pages = {NEWS: [(START, shells.next_page(shells.ITEMS)), (LATER, shells.next_page(MORE))]}
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(3 * DAY)
        (found,) = announced_pages(crawl.store)
        assert found.url == f"{NEWS}/harbour-plan"
        assert found.title == FOURTH["title"]
        assert found.published_at == 1717459200.0
        way = way_of(crawl)
        assert (way.kind, way.name) == (WayKind.EMBEDDED, "__NEXT_DATA__")
        assert way.place == "props.pageProps.posts"


def test_the_json_that_a_script_asks_for_is_watched_instead_of_the_page(tmp_path: Path) -> None:
    script = 'const s=()=>fetch("/api/news").then(r=>r.json());go(`/news/${e.slug}`)'
    pages = {
        NEWS: shells.shell("<script src=/static/vendor.js></script><script src=/main.js></script>"),
        "https://news.example/main.js": script,
        "https://news.example/api/news": [(START, rows(shells.ITEMS)), (LATER, rows(MORE))],
    }
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(4 * DAY)
        assert crawl.new() == ["/news/harbour-plan"]
        assert way_of(crawl).url == "https://news.example/api/news"
        (found,) = announced_pages(crawl.store)
        assert found.title == FOURTH["title"]
        asked = crawl.web.urls(since=START + 2 * DAY)
        assert "https://news.example/api/news" in asked
        assert "https://news.example/main.js" not in asked
        assert NEWS not in asked


def test_json_that_ends_is_searched_for_again_at_once(tmp_path: Path) -> None:
    def main(address: str) -> str:
        return f'fetch("{address}");go(`/news/${{e.slug}}`)'

    pages = {
        NEWS: shells.shell("<script src=/main.js></script>"),
        "https://news.example/main.js": [
            (START, main("/api/v1/news")),
            (LATER, main("/api/v2/news")),
        ],
        "https://news.example/api/v1/news": [(START, rows(shells.ITEMS)), (LATER, Reply(code=404))],
        "https://news.example/api/v2/news": [(START, Reply(code=404)), (LATER, rows(MORE))],
    }
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(4 * DAY)
        assert way_of(crawl).url == "https://news.example/api/v2/news"
        assert crawl.new() == ["/news/harbour-plan"]


def test_a_denied_source_is_not_asked(tmp_path: Path) -> None:
    pages = {
        "https://news.example/robots.txt": "User-agent: *\nDisallow: /api/\n",
        NEWS: shells.shell('<script>fetch("/api/news")</script>'),
        "https://news.example/api/news": rows(shells.ITEMS),
    }
    with watch(tmp_path, pages, NEWS) as crawl:
        crawl.run(DAY)
        assert way_of(crawl).kind == WayKind.BROWSER_MISSING
        assert "https://news.example/api/news" not in crawl.web.urls()


def test_a_long_crawl_delay_leaves_no_time_for_parts(tmp_path: Path) -> None:
    pages = {
        "https://news.example/robots.txt": "User-agent: *\nCrawl-delay: 30\n",
        NEWS: shells.shell("<script src=/main.js></script>"),
        "https://news.example/main.js": 'fetch("/api/news")',
    }
    with watch(tmp_path, pages, NEWS) as crawl:
        crawl.run(DAY)
        assert "https://news.example/main.js" not in crawl.web.urls()
        assert way_of(crawl).problem == WayProblem.PAUSES


def test_json_alone_is_fetched_whatever_pauses_a_site_wants(tmp_path: Path) -> None:
    robots = [(START, ""), (LATER, "User-agent: *\nCrawl-delay: 30\n")]
    pages = {
        "https://news.example/robots.txt": robots,
        NEWS: shells.shell('<script>fetch("/api/news")</script>'),
        "https://news.example/api/news": [
            (START, rows(shells.ITEMS)),
            (START + 3 * DAY, rows(MORE)),
        ],
    }
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(5 * DAY)
        assert way_of(crawl).kind == WayKind.JSON
        assert crawl.new() == ["/news/harbour-plan"]


def test_what_was_sent_for_a_page_counts_against_the_budget_and_rests_the_host(
    tmp_path: Path,
) -> None:
    pages = {
        NEWS: shells.shell("<script src=/main.js></script>"),
        "https://news.example/main.js": 'fetch("/api/news")',
        "https://news.example/api/news": rows(shells.ITEMS),
    }
    with watch(tmp_path, pages, NEWS) as crawl:
        crawl.run(60)
        (site,) = crawl.store.read.sites()
        budget = json.loads(site.budget)
        assert budget["used"][0] + budget["granted"] == len(crawl.web.asked)


def test_a_shell_without_a_source_says_so_and_is_searched_again_once_a_week(tmp_path: Path) -> None:
    pages = {
        NEWS: shells.shell("<script src=/main.js></script>"),
        "https://news.example/main.js": "draw()",
    }
    with watch(tmp_path, pages, NEWS) as crawl:
        crawl.run(10 * DAY)
        assert way_of(crawl).kind == WayKind.BROWSER_MISSING
        assert crawl.web.urls().count("https://news.example/main.js") == 2


def test_what_a_new_source_shows_is_a_baseline(tmp_path: Path) -> None:
    """A page that was empty until its state was filled announces only what came since."""
    later = [{**one, "date": None} for one in shells.ITEMS]
    pages = {
        NEWS: [
            (START, shells.shell("<script src=/main.js></script>")),
            (LATER, shells.next_page(later)),
            (START + 3 * DAY, shells.next_page([{**FOURTH, "date": None}, *later])),
        ]
    }
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(2.5 * DAY)
        assert crawl.new() == []
        crawl.run(4 * DAY)
        assert crawl.new() == ["/news/harbour-plan"]


def test_a_page_that_the_server_draws_later_is_read_as_it_is(tmp_path: Path) -> None:
    links = [f"/news/{slug}|{slug}" for slug in SLUGS] + [f"/about/{n}" for n in range(4)]
    pages = {NEWS: [(START, shells.next_page(MORE)), (LATER, page(*links))]}
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(3 * DAY)
        assert way_of(crawl) == Way()


def test_a_hub_from_before_ways_were_kept_is_looked_behind(tmp_path: Path) -> None:
    """Its page has not changed, but what lies behind it was never read."""
    pages = {NEWS: Reply(shells.next_page(shells.ITEMS).encode(), headers={"ETag": '"1"'})}
    with watch(tmp_path, pages | articles(*SLUGS), NEWS) as crawl:
        crawl.run(HOUR)
        hub = crawl.hub(NEWS)
        assert hub is not None
        crawl.store.write.update_hub(hub.page_id, way="", shown_links=0)
        crawl.run(DAY)
        assert way_of(crawl).kind == WayKind.EMBEDDED
        assert crawl.new() == []


class PretendBrowser:
    """Draws links instead of scripts."""

    def __init__(self, *links: str) -> None:
        self.html, self.drawn = page(*links).encode(), list[str]()

    def render(self, url: str, rules: RobotsPolicy | None) -> Rendered:
        assert rules is not None
        self.drawn.append(url)
        headers = {"content-type": "text/html"}
        return Rendered(Response(url, FetchStatus.FETCHED, headers=headers, body=self.html), 3, 2.0)


def hub_visit(url: str, **fields: Any) -> VisitTask:
    rules = RobotsPolicy(FetchStatus.GONE, "", "hubwatch", START)
    return VisitTask(Purpose.HUB, url, 1, 1, rules=rules, **fields)


def visitor(web: FakeWeb, browser: PretendBrowser | None) -> tuple[HubVisitor, Fetch]:
    fetch = make_fetcher(Settings(), web.clock, adapter=web).fetch
    return HubVisitor(PartFetcher(fetch, Settings(), web.clock), browser), fetch


SHELL_WITH_SOURCE = {
    NEWS: shells.shell("<script src=/main.js></script>"),
    "https://news.example/main.js": 'fetch("/api/news")',
    "https://news.example/api/news": rows(shells.ITEMS),
}


def test_a_page_that_may_be_an_article_is_drawn_at_once_and_searched_as_a_hub() -> None:
    web, browser = FakeWeb(SimulatedClock(START), SHELL_WITH_SOURCE), PretendBrowser("/a", "/b")
    visits, fetch = visitor(web, browser)
    first = visits(hub_visit(NEWS, first_reading=True), fetch, read_body)
    assert first.way is not None
    assert (first.way.kind, first.way.again) == (WayKind.RENDERED, True)
    assert first.features is not None
    assert web.urls() == [NEWS]
    second = visits(hub_visit(NEWS, way=first.way), fetch, read_body)
    assert second.way is not None
    assert second.way.kind == WayKind.JSON
    assert browser.drawn == [NEWS]


def test_a_drawn_page_is_not_fetched_besides() -> None:
    web, browser = FakeWeb(SimulatedClock(START), SHELL_WITH_SOURCE), PretendBrowser("/a", "/b")
    visits, fetch = visitor(web, browser)
    way = Way(kind=WayKind.RENDERED, sign="mount", searched_at=START)
    outcome = visits(hub_visit(NEWS, way=way), fetch, read_body)
    assert web.urls() == []
    assert outcome.page is not None
    assert [link.url for link in outcome.page.links] == [
        "https://news.example/a",
        "https://news.example/b",
    ]
    assert outcome.way == replace(way, requests=3, seconds=2.0)
    assert outcome.more_requests == 2


def test_a_browser_that_is_gone_leaves_the_page_as_it_is() -> None:
    web = FakeWeb(SimulatedClock(START), {NEWS: shells.shell("<script src=/main.js></script>")})
    visits, fetch = visitor(web, None)
    way = Way(kind=WayKind.RENDERED, sign="mount", searched_at=START)
    outcome = visits(hub_visit(NEWS, way=way), fetch, read_body)
    assert outcome.way is not None
    assert outcome.way.kind == WayKind.BROWSER_MISSING


def test_slugs_of_json_lie_where_a_script_says(tmp_path: Path) -> None:
    pages = {
        NEWS: shells.shell('<script>fetch("/api/news")</script><script src=/main.js></script>'),
        "https://news.example/main.js": "go(`/story/${e.slug}`)",
        "https://news.example/api/news": rows(shells.ITEMS),
    }
    with watch(tmp_path, pages, NEWS) as crawl:
        crawl.run(HOUR)
        assert way_of(crawl).folder == "/story"
        assert "https://news.example/story/new-mayor" in [
            one["url"]
            for one in crawl.store.read.find_page("https://news.example/story/new-mayor", "")
        ]


def test_a_source_that_lists_pages_of_other_sites_is_given_up() -> None:
    elsewhere = rows([{**one, "url": f"https://other.example/{one['slug']}"} for one in MORE])
    pages = {**SHELL_WITH_SOURCE, "https://news.example/api/news": elsewhere}
    web, browser = FakeWeb(SimulatedClock(START), pages), PretendBrowser("/a", "/b")
    visits, fetch = visitor(web, browser)
    way = Way(
        kind=WayKind.JSON,
        sign="mount",
        url="https://news.example/api/news",
        place="rows",
        searched_at=START,
        again=True,
        blank=3,
    )
    outcome = visits(hub_visit(NEWS, way=way), fetch, read_body)
    assert outcome.way is not None
    assert outcome.way.kind == WayKind.RENDERED


def test_an_ordinary_page_costs_no_further_request(tmp_path: Path) -> None:
    pages = {"https://news.example/": page("/a", "/b")}
    with watch(tmp_path, pages) as crawl:
        crawl.run(HOUR)
        assert way_of(crawl, "https://news.example/") == Way()


def test_a_host_of_parts_in_trouble_is_left_alone_by_the_next_page_too() -> None:
    script = "https://cdn.example/main.js"
    busy = [(0, Reply(code=429, headers={"Retry-After": "600"})), (START + HOUR, "go()")]
    web = FakeWeb(SimulatedClock(START), {script: busy})
    fetcher = PartFetcher(
        make_fetcher(Settings(), web.clock, adapter=web).fetch, Settings(), web.clock
    )

    def asked() -> FetchStatus:
        return fetcher.of_page(None, NEWS, 10).fetch(Request(script)).status

    assert [asked(), asked()] == [FetchStatus.RATE_LIMITED, FetchStatus.RATE_LIMITED]
    assert web.urls().count(script) == 1
    web.clock.advance_to(START + 2 * HOUR)
    assert asked() is FetchStatus.FETCHED
