"""What is just news, and what is just none: the edges of the rules, at a whole crawler."""

from email.utils import formatdate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, SPARING, START, Versions, feed, page, watch

from incremental.settings.sections import HubSettings

HOME = "https://news.example/"
CROWDED = msgspec.structs.replace(SPARING, hubs=HubSettings(max_per_site=1))
"""The seed alone uses up the hubs that a site may have."""


@pytest.mark.parametrize(("seconds", "news"), [(0, []), (1, ["/b.html"])])
def test_a_feed_brings_at_its_first_visit_what_is_younger_than_the_watch(
    tmp_path: Path, seconds: float, news: list[str]
) -> None:
    """A page dated to the second in which its site was added counts as old."""
    items = feed((HOME + "b.html", formatdate(START + seconds, usegmt=True)))
    head = '<link rel="alternate" type="application/rss+xml" href="/news.rss">'
    pages: dict[str, Versions] = {
        HOME: [(0, page("/a.html")), (START + DAY, page("/a.html", head=head))],
        HOME + "news.rss": items,
    }
    with watch(tmp_path, pages) as crawl:
        assert crawl.run(3 * DAY).new() == news


def test_all_in_a_section_that_comes_up_is_news_whatever_dates_the_addresses_bear(
    tmp_path: Path,
) -> None:
    """The addresses may name the days of what the articles are about."""
    first, second = "/sport/2007/03/01/final.html", "/sport/results.html"
    pages: dict[str, Versions] = {
        HOME: [(0, page("/a.html")), (START + HOUR, page("/a.html", "/sport/"))],
        HOME + "sport/": page(first, second),
    }
    with watch(tmp_path, pages) as crawl:
        assert set(crawl.run(2 * DAY).new()) == {first, second}


@pytest.mark.parametrize(
    ("link", "news"), [("/page/3/", []), ("/?paged=3", []), ("/sport/", ["/sport/"])]
)
def test_over_the_limit_of_hubs_what_looks_like_a_section_is_news_and_a_page_of_a_list_is_none(
    tmp_path: Path, link: str, news: list[str]
) -> None:
    """An article may look like a section; the third page of a list is never an article."""
    pages: dict[str, Any] = {
        HOME: [(0, page("/a.html")), (START + HOUR, page("/a.html", link))],
        HOME[:-1] + link: page("/a.html", title="More", text="It goes on and on. " * 40),
    }
    with watch(tmp_path, pages, settings=CROWDED) as crawl:
        assert crawl.run(2 * DAY).new() == news
        assert crawl.hubs() == {HOME}
