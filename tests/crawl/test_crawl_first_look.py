"""What a person is told of a site at once."""

from collections.abc import Mapping
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest
import requests
from fake_web import DAY, START, FakeWeb, FolderScorer, Reply, feed, page
from lab.clocks import SimulatedClock

from incremental.crawl.first_look import FirstLook, daily_rate, first_look
from incremental.daemon.assembly import make_fetcher
from incremental.sandbox import read_body
from incremental.settings import Settings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.settings.storage import open_configured_store

SEED = "https://news.example/"
FEED = "https://news.example/feed.xml"
NAMES_FEED = f'<link rel="alternate" type="application/rss+xml" href="{FEED}">'


def look(
    folder: Path,
    pages: Mapping[str, object],
    terms: SeedTerms | None = None,
    seed: str = SEED,
    *,
    any_scheme: bool = False,
) -> tuple[FirstLook, list[str]]:
    """Return what is seen, and what was asked for."""
    settings, web = Settings(), FakeWeb(SimulatedClock(START), pages)
    fetcher = make_fetcher(settings, web.clock, adapter=web)
    with open_configured_store(settings, folder) as store:
        row = store.read.site(add_seed(store, seed, now=START, terms=terms))
        assert row is not None
        seen = first_look(
            store,
            settings,
            row,
            fetch=fetcher.fetch,
            read=read_body,
            scorer=FolderScorer(),
            now=START,
            any_scheme=any_scheme,
        )
        after = store.read.site(row.id)
        assert after is not None
        assert after.seed_url.removesuffix("/") == seen.url.removesuffix("/")
    return seen, web.urls()


def test_a_page_that_scripts_draw_is_called_one(tmp_path: Path) -> None:
    shell = '<title>News</title><div id="root"></div><script src="/main.js"></script>'
    seen, asked = look(tmp_path, {SEED: shell})
    assert seen.is_shell
    assert seen.problem == ""
    assert asked == [SEED]


def test_a_list_in_the_data_of_a_page_is_counted(tmp_path: Path) -> None:
    rows = ", ".join(
        f'{{"url": "/{n}.html", "title": "Headline {n}", "date": "2024-05-{n}"}}'
        for n in range(10, 20)
    )
    shell = (
        '<div id="__next"></div><script src="/main.js"></script>'
        f'<script id="__NEXT_DATA__" type="application/json">{{"rows": [{rows}]}}</script>'
    )
    seen, _ = look(tmp_path, {SEED: shell})
    assert (seen.links, seen.is_shell) == (10, False)
    assert seen.new_pages_per_day is not None


def test_a_site_shows_its_title_feed_lists_and_rate(tmp_path: Path) -> None:
    days = [(f"/{n}.html", formatdate(START - n * DAY, usegmt=True)) for n in range(1, 11)]
    home = page(
        "/sport/", "/1.html", "https://elsewhere.example/x.html", title="News", head=NAMES_FEED
    )
    robots = Reply(b"Sitemap: https://news.example/map.xml")
    seen, asked = look(
        tmp_path, {SEED: home, FEED: feed(*days), "https://news.example/robots.txt": robots}
    )
    assert replace(seen, new_pages_per_day=None) == FirstLook(
        SEED,
        kind="html",
        title="News",
        feeds=(FEED,),
        sitemaps=("https://news.example/map.xml",),
        lists=("https://news.example/sport/",),
        links=2,
        requests_per_day=48,
    )
    assert seen.new_pages_per_day == pytest.approx(1.0)
    assert asked == [SEED, FEED]


def test_of_one_form_a_few_lists_are_named(tmp_path: Path) -> None:
    """A weblog's articles may look like lists before any was read."""
    seen, _ = look(tmp_path, {SEED: page(*(f"/name-{n}-x/" for n in "abcdefgh"), "/sport/")})
    assert len(seen.lists) == 4
    assert "https://news.example/sport/" in seen.lists


@pytest.mark.parametrize(
    ("pages", "problem"),
    [
        ({}, "robots.txt unreachable"),
        ({SEED + "other/": page()}, "gone"),
        ({SEED: Reply(b"", 503)}, "server error"),
        ({SEED: page(), SEED + "robots.txt": Reply(b"User-agent: *\nDisallow: /")}, "robots"),
        ({SEED: Reply(b"%PDF-1.4", headers={"Content-Type": "application/pdf"})}, ""),
    ],
)
def test_what_cannot_be_read_is_an_answer(
    pages: dict[str, object], problem: str, tmp_path: Path
) -> None:
    seen, _ = look(tmp_path, pages)
    assert problem in seen.problem.lower()
    assert seen.problem
    assert seen.title == ""


def test_a_budget_of_its_own_is_what_is_promised(tmp_path: Path) -> None:
    seen, _ = look(tmp_path, {SEED: page()}, SeedTerms(requests_per_day=6))
    assert seen.requests_per_day == 6


@pytest.mark.parametrize(
    ("ages_days", "rate"),
    [
        ([], None),
        ([1, 2], None),
        ([0.1, 0.2, 0.3], 3.0),
        ([10, 20, 25, 400], 3 / 25),
        ([100, 200, 400], 3 / 400),
        ([-300, -200, -100, 1], None),
    ],
)
def test_a_rate_is_by_dates_of_the_last_month_if_they_suffice(
    ages_days: list[float], rate: float | None
) -> None:
    """Dates in the future are announcements of events."""
    found = daily_rate([START - age * DAY for age in ages_days], START)
    assert found == (None if rate is None else pytest.approx(rate))


def test_a_host_without_https_is_named_by_its_other_address(tmp_path: Path) -> None:
    refused = Reply(error=requests.ConnectionError)
    pages = {
        SEED: refused,
        "https://news.example/robots.txt": refused,
        "http://news.example/": page("/1.html", title="News"),
    }
    seen, _ = look(tmp_path / "typed", pages)
    assert "It answers without HTTPS: add http://news.example/ instead" in seen.problem
    seen, _ = look(tmp_path / "bare", pages, any_scheme=True)
    assert (seen.url, seen.without_tls, seen.problem) == ("http://news.example/", True, "")
    assert seen.links == 1


def test_the_failure_of_https_does_not_hold_up_a_host_without_it(tmp_path: Path) -> None:
    refused = Reply(error=requests.ConnectionError)
    pages = {
        SEED: refused,
        "https://news.example/robots.txt": refused,
        "http://news.example/": page("/1.html", title="News"),
    }
    look(tmp_path, pages, any_scheme=True)
    with open_configured_store(Settings(), tmp_path) as store:
        host = store.read.host("news.example")
    assert host is not None
    assert host.next_allowed_at <= START + Settings().politeness.min_delay_seconds


def test_a_host_that_does_not_answer_at_all_has_no_other_address(tmp_path: Path) -> None:
    refused = Reply(error=requests.ConnectionError)
    hosts = ("https://news.example/", "http://news.example/")
    pages = {host + name: refused for host in hosts for name in ("", "robots.txt")}
    seen, _ = look(tmp_path, pages)
    assert "without HTTPS" not in seen.problem
