"""What says the same in another language, on the page, in the API and in feeds."""

from __future__ import annotations

import json
from collections.abc import Callable

import feedparser
from lxml import etree
from web_served import Served

from incremental.interfaces.web.feeds import Entry, Feed, atom, json_feed, rss
from store.translations import Compared, Found

Ids = Callable[[], list[int]]


def pair(served: Served, announced: Ids) -> tuple[int, int]:
    """Let two announced pages say the same; return their ids."""
    one, other, *_ = announced()
    space = served.store.vectors.begin("model 1")
    found = Found(one, other, "zh", "en", 0.8)
    served.store.vectors.put(space, [], Compared((one, other), (found,)))
    return one, other


def test_the_list_and_the_page_name_it_in_either_language(served: Served, announced: Ids) -> None:
    one, other = pair(served, announced)
    for language, said in (("en", "Also in English: "), ("zh", "另有英文版：")):
        client = served.client(accept_language=language)
        assert said in client.get("/").text
        shown = client.get(f"/pages/{one}")
        section = shown.text.partition('id="translations"')[2].partition("</section>")[0]
        assert f'href="/pages/{other}"' in section
        assert ("English" if language == "en" else "英文") in section
    alone = [page for page in announced() if page not in (one, other)]
    assert 'id="translations"' not in served.client().get(f"/pages/{alone[0]}").text


def test_the_api_gives_page_language_and_likeness(served: Served, announced: Ids) -> None:
    one, other = pair(served, announced)
    client = served.client()
    found = client.get(f"/api/v1/pages/{one}").json()["announced"]["translations"]
    assert [(row["id"], row["language"], row["likeness"]) for row in found] == [(other, "en", 0.8)]
    assert found[0]["url"].startswith("https://")
    listed = {row["id"]: row["translations"] for row in client.get("/api/v1/pages").json()["pages"]}
    assert listed[one] == found
    assert sum(map(bool, listed.values())) == len((one, other))


def test_feeds_name_it_in_every_format(served: Served, announced: Ids) -> None:
    pair(served, announced)
    client = served.client()
    for path in ("/feeds/new.atom", "/feeds/new.json", "/feeds/new.rss"):
        text = client.get(path).text
        assert "Also in English: " in text
        assert "Also in Chinese: " in text


def test_a_feed_names_the_address_and_the_language_and_escapes_the_title() -> None:
    hostile = "<script> & \u202e\x00 title"
    entry = Entry(
        *("urn:1", "https://a.example/", "A", "s", 1.7e9),
        summary="The lead",
        translations=(("zh", "https://a.example/zh?a=1&b=2", hostile),),
    )
    feed = Feed("urn:x", "New", "http://h/", "http://h/feeds/new.atom", (entry,), 1_700_000_000)
    root = etree.fromstring(atom(feed))
    (link,) = root.findall(".//{*}entry/{*}link[@rel='related']")
    assert (link.get("hreflang"), link.get("href")) == ("zh", "https://a.example/zh?a=1&b=2")
    said = "The lead · Also in Chinese: <script> & title"
    assert root.findtext(".//{*}entry/{*}summary") == said
    assert json.loads(json_feed(feed))["items"][0]["content_text"] == said
    assert not feedparser.parse(rss(feed)).bozo
