"""A user names a page that was missed: the cause is said, and the hub that shows it is watched."""

from contextlib import closing
from pathlib import Path

from fake_web import DAY, HOUR, SPARING, START, FolderScorer, Reply, Watch, page, watch

from incremental.daemon.assembly import make_fetcher
from incremental.features.corrections.missed import (
    MOST_ASKED,
    Look,
    Missed,
    find_missed,
    known_page,
)
from incremental.interfaces.explain.page import explain_rules
from incremental.sandbox import read_body

HOME = "https://news.example/"
REPORTS = HOME + "reports/"
MISSED = REPORTS + "a.html"


def ask(crawl: Watch, url: str) -> Missed:
    """Report a page as missed; time passes while its host is owed a pause."""
    clock = crawl.clock

    def pause(seconds: float) -> None:
        clock.advance_to(clock.now() + seconds)

    with closing(make_fetcher(SPARING, clock, adapter=crawl.web)) as fetcher:
        look = Look(crawl.store, SPARING, fetcher.fetch, read_body, clock.now, pause)
        answer = explain_rules(crawl.store, SPARING, url, now=clock.now())
        return known_page(answer) or find_missed(answer, look, FolderScorer())


def test_the_folder_above_a_missed_page_is_watched_and_brings_the_next_one(tmp_path: Path) -> None:
    """Nothing links to the folder of reports, so nobody could find it."""
    later = [(0, page("/reports/a.html")), (START + DAY / 2, page("/reports/b.html"))]
    with watch(tmp_path, {HOME: page("/x.html"), REPORTS: later}) as crawl:
        crawl.run(DAY / 4)
        found = ask(crawl, MISSED)
        assert (found.cause, found.hub_url) == ("unwatched", REPORTS)
        assert found.says[0] == f"No hub that was watched links to it; {REPORTS} does."
        crawl.crawler.frontier.load(crawl.clock.now())
        crawl.run(DAY / 2)
        assert crawl.new() == ["/reports/b.html"]


def test_a_hub_that_was_not_visited_in_time_is_visited_now(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page("/x.html")}) as crawl:
        crawl.run(DAY / 4)
        crawl.web.pages[HOME] = page("/late.html", "/x.html")
        before = len(crawl.statuses(HOME))
        found = ask(crawl, HOME + "late.html")
        assert (found.cause, found.hub_url) == ("too_late", HOME)
        crawl.run(HOUR / 6)
        assert len(crawl.statuses(HOME)) == before + 1
        assert crawl.new() == ["/late.html"]


def test_where_no_page_shows_it_few_are_asked_and_the_nearest_are_named(tmp_path: Path) -> None:
    lists = [f"/list-{n}/" for n in range(6)]
    pages = {HOME: page(*lists), **{f"{HOME}list-{n}/": page("/x.html") for n in range(6)}}
    with watch(tmp_path, pages) as crawl:
        crawl.run(DAY / 4)
        asked = len(crawl.web.urls())
        found = ask(crawl, HOME + "list-4/never-linked.html")
        assert found.cause == "nowhere"
        assert f"The nearest hubs are {HOME}list-4/" in found.says[0]
        assert len(crawl.web.urls()) - asked == 1 + MOST_ASKED


def test_the_rule_that_withheld_a_page_is_named(tmp_path: Path) -> None:
    pages = {HOME: [(0, page("/x.html")), (START + HOUR, page("/draft", "/x.html"))]}
    with watch(tmp_path, pages) as crawl:
        crawl.run(DAY / 4)
        found = ask(crawl, HOME + "draft")
        assert found.cause == "decided"
        assert found.says[0].endswith("the page does not exist yet).")


def test_a_page_beyond_every_site_asks_for_its_site_to_be_added(tmp_path: Path) -> None:
    with watch(tmp_path, {HOME: page(), "https://other.example/a.html": page()}) as crawl:
        found = ask(crawl, "https://other.example/a.html")
        assert found.says[-1] == "To watch its site: hubwatch add https://other.example/"


def test_a_page_that_cannot_be_read_may_still_be_on_a_list(tmp_path: Path) -> None:
    pages = {HOME: page("/x.html"), REPORTS: page("/reports/a.html"), MISSED: Reply(b"", 403)}
    with watch(tmp_path, pages) as crawl:
        crawl.run(DAY / 4)
        found = ask(crawl, MISSED)
        assert found.hub_url == REPORTS
        assert found.says[-1].startswith("The page itself could not be read: ")
