"""Older pages that a list gained, on the page, in the feeds and over the API: one row, all on demand."""

import re

import feedparser
import pytest
from stories import seen, visit_of
from web_served import HOME, Served, post

from store.answers import NewQuery

DAY = 86_400.0
NAMES = [f"blog/2007/03/{n:02}/tale.html" for n in range(1, 31)]


def gain(served: Served, *names: str, at: float = 0.0) -> int:
    """Let the home page gain old pages; return the number of the event."""
    home = next(hub for hub in served.store.read.hubs() if hub.url == HOME)
    links = [seen(HOME + n, anchor=f"<b>Tale</b> {n}", fate="backfill") for n in names]
    record = visit_of(
        home.site_id, home.page_id, served.clock.now() + at, *links, keep_missing=True,
        backfill_folder="/blog/2007/03/",
    )  # fmt: skip
    served.store.write.visit(record)
    return served.store.backfills.events(NewQuery(limit=1))[0].id


def test_the_reading_list_has_one_row_that_leads_to_all_of_them(served: Served) -> None:
    number = gain(served, *NAMES)
    client = served.client()
    listed = client.get("/").text
    assert listed.count("30 older articles were added under /blog/2007/03/") == 1
    assert "tale.html" not in listed
    one_by_one = client.get(f"/backfills/{number}").text
    assert one_by_one.count('rel="noopener noreferrer external" dir="auto">&lt;b&gt;Tale') == 30


def test_in_chinese(served: Served) -> None:
    gain(served, *NAMES)
    text = served.client(accept_language="zh").get("/").text
    assert "/blog/2007/03/ 下补录了 30 篇旧文章" in text


def test_a_single_page_is_shown_with_title_and_address(served: Served) -> None:
    gain(served, NAMES[0])
    text = served.client().get("/").text
    assert "1 older article was added under" in text
    assert f'href="{HOME}{NAMES[0]}"' in text


def test_it_stands_where_it_came_among_new_pages_and_on_one_page_of_the_list(
    served: Served,
) -> None:
    number = gain(served, *NAMES)
    cursors = [int(c) for c in re.findall(r'data-cursor="(\d+)"', served.client().get("/").text)]
    assert cursors == sorted(cursors, reverse=True)
    assert number == cursors[0]
    later = served.client().get(f"/?before={number}").text
    assert "older articles" not in later


@pytest.mark.parametrize(
    ("query", "shown"),
    [("site=1", True), ("site=2", False), ("q=tale", False), ("since=1h", True)],
)
def test_filters_that_hold_for_it(served: Served, query: str, shown: bool) -> None:
    gain(served, *NAMES)
    assert ("older articles" in served.client().get(f"/?{query}").text) == shown


def test_what_arrives_while_the_list_is_open_comes_once(served: Served) -> None:
    client = served.client()
    path = re.search(r'hx-get="(/fresh[^"]+)"', client.get("/").text)
    assert path is not None
    gain(served, *NAMES)
    arrived = client.get(path[1].replace("&amp;", "&"))
    assert arrived.text.count("30 older articles") == 1
    again = re.search(r'hx-get="(/fresh[^"]+)"', arrived.text)
    assert again is not None
    assert client.get(again[1].replace("&amp;", "&")).status_code == 204


def test_it_is_read_when_it_was_marked(served: Served) -> None:
    number = gain(served, *NAMES)
    client = served.client()
    assert "older articles" in client.get("/?show=unread").text
    assert post(client, "/read", event=number).status_code == 303
    assert "older articles" not in client.get("/?show=unread").text
    assert post(client, "/read", event=number, read="false").status_code == 303
    assert post(client, "/read", event=number).status_code == 303
    assert "older articles" not in client.get("/?show=unread").text


def test_the_feeds_announce_the_event_once_and_the_pages_on_demand(served: Served) -> None:
    gain(served, *NAMES)
    client = served.client()
    for path in ("/feeds/new", "/feeds/site/1"):
        titles = [e.title for e in feedparser.parse(client.get(f"{path}.atom").content).entries]
        assert titles[0] == "30 older articles were added under /blog/2007/03/"
        assert not any("Tale" in title for title in titles)
    older = feedparser.parse(client.get("/feeds/backfill.atom").content)
    assert not older.bozo
    assert {e.link for e in older.entries} == {HOME + name for name in NAMES}
    assert len(client.get("/feeds/backfill.json").json()["items"]) == 30
    assert "/feeds/backfill.atom" in client.get("/feeds").text


def test_the_history_of_the_site_and_of_the_page_name_it(served: Served) -> None:
    number = gain(served, *NAMES)
    client = served.client()
    assert "30 older articles were added under /blog/2007/03/" in client.get("/sites/1").text
    chinese = client.get("/sites/1", headers={"Accept-Language": "zh-CN"}).text
    assert "/blog/2007/03/ 下补录了 30 篇旧文章" in chinese
    page = served.store.backfills.pages(NewQuery(limit=1), event=number)[0]
    assert "older page added to a list" in client.get(f"/pages/{page.page_id}").text
    announced = client.get("/check", params={"url": page.url}).text
    assert "30 older articles were added under /blog/2007/03/" in announced


def test_nobody_hears_of_an_event_that_is_not_there(served: Served) -> None:
    assert served.client().get("/backfills/123456").status_code == 404


@pytest.mark.parametrize("number", ["99999999999999999999", "0", "-1"])
def test_a_number_that_no_event_has_is_refused(served: Served, number: str) -> None:
    assert served.client().get(f"/backfills/{number}").status_code == 404


def test_an_explanation_says_it_in_the_language_of_the_page(served: Served) -> None:
    gain(served, *NAMES)
    asked = {"url": HOME + NAMES[0]}
    chinese = served.client(accept_language="zh").get("/check", params=asked).text
    assert "的一次补录：/blog/2007/03/ 下补录了 30 篇旧文章。" in chinese
    english = served.client().get("/check", params=asked).text
    assert ": 30 older articles were added under /blog/2007/03/." in english
    for text in (chinese, english):
        assert "found_at" not in text
