"""Feeds: parsed back by a feed reader's parser, whatever the titles hold."""

import html
import json
from urllib.parse import urlsplit

import feedparser
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from web_served import HOME, OTHER, Served, post

from incremental.interfaces.web.feeds import Entry, Feed, atom, json_feed, opml

ANY_TEXT = st.text(st.characters(), max_size=60)


def feed(*entries: Entry) -> Feed:
    return Feed("urn:x", "New", "http://h/", "http://h/feeds/new.atom", entries, 1_700_000_000)


@settings(max_examples=20)
@given(title=ANY_TEXT, site=ANY_TEXT, summary=ANY_TEXT, at=st.floats(-1e15, 1e15))
def test_any_text_makes_a_sound_feed(title: str, site: str, summary: str, at: float) -> None:
    entry = Entry("urn:1", "https://a.example/?a=1&b=2", title, site, 1.7e9, at, summary)
    parsed = feedparser.parse(atom(feed(entry)))
    assert not parsed.bozo
    assert parsed.entries[0].link == entry.url
    (item,) = json.loads(json_feed(feed(entry)))["items"]
    assert (item["url"], bool(item["title"])) == (entry.url, True)


@settings(max_examples=20)
@given(titles=st.lists(ANY_TEXT, max_size=4))
def test_any_text_makes_a_sound_list_of_feeds(titles: list[str]) -> None:
    outlines = [("", {"text": title, "xmlUrl": "http://h/a.atom"}) for title in titles]
    root = etree.fromstring(opml("Hubwatch", outlines, {}))
    assert len(root.findall("body/outline")) == len(titles)


def test_markup_in_a_title_is_text() -> None:
    hostile = "<script>alert(1)</script> & ]]> \u202edesrever\x00"
    parsed = feedparser.parse(atom(feed(Entry("urn:1", "https://a.example/", hostile, "s", 1.0))))
    assert parsed.entries[0].title_detail.type == "text/plain"
    assert parsed.entries[0].title == "<script>alert(1)</script> & ]]> desrever"


@pytest.mark.parametrize("path", ["/feeds/new", "/feeds/site/1", "/feeds/site/2"])
def test_all_forms_tell_the_same(served: Served, path: str) -> None:
    client = served.client()
    parsed = feedparser.parse(client.get(f"{path}.atom").content)
    announced = client.get(f"{path}.json").json()
    assert not parsed.bozo
    assert [(e.id, e.link, e.title) for e in parsed.entries] == [
        (item["id"], item["url"], item["title"]) for item in announced["items"]
    ]
    assert announced["version"] == "https://jsonfeed.org/version/1.1"
    assert urlsplit(parsed.feed.links[0].href).path == f"{path}.atom"


def test_what_a_feed_must_have(served: Served) -> None:
    """RFC 4287, sections 4.1.1 and 4.1.2: id, title and updated once, an author, unique ids."""
    root = etree.fromstring(served.client().get("/feeds/new.atom").content)
    atom_name = "{http://www.w3.org/2005/Atom}"
    for node in (root, *root.findall(f"{atom_name}entry")):
        assert [len(node.findall(atom_name + n)) for n in ("id", "title", "updated")] == [1, 1, 1]
        assert node.find(f"{atom_name}author/{atom_name}name") is not None
    ids = [e.findtext(f"{atom_name}id") for e in root.findall(f"{atom_name}entry")]
    assert len(set(ids)) == len(ids) == 4


def test_an_entry_is_the_same_in_every_feed_and_later(served: Served) -> None:
    client = served.client()
    ids = {item["url"]: item["id"] for item in client.get("/feeds/new.json").json()["items"]}
    served.clock.advance_to(served.clock.now() + 9e5)
    for item in client.get("/feeds/site/1.json").json()["items"]:
        assert ids[item["url"]] == item["id"]


def test_a_feed_is_not_sent_twice(served: Served) -> None:
    client = served.client()
    for path in ("/feeds/new.atom", "/feeds/new.json"):
        tag = client.get(path).headers["etag"]
        assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
        assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_feed_without_entries_is_not_sent_twice(served: Served, form: str) -> None:
    client = served.client()
    client.post("/api/v1/topics", json={"name": "None", "keywords": ["zeppelin"]})
    first = client.get(f"/feeds/topic/1.{form}")
    assert "bridge" not in first.text
    served.clock.advance_to(served.clock.now() + 3_600)
    assert client.get(f"/feeds/topic/1.{form}").headers["etag"] == first.headers["etag"]


def test_a_feed_of_a_search_tells_what_it_finds_read_or_not(served: Served) -> None:
    client = served.client()
    post(client, "/searches", name="招标 & co", q="招标", show="unread")
    path = "/feeds/search/%E6%8B%9B%E6%A0%87%20%26%20co.json"
    for _ in range(2):
        (item,) = client.get(path).json()["items"]
        assert item["url"] == OTHER + "b.html"
        page = client.get("/api/v1/pages/lookup", params={"url": item["url"]}).json()
        client.post("/api/v1/pages/marks", json={"pages": [page["id"]], "read": True})


def test_the_list_of_feeds_names_each(served: Served) -> None:
    client = served.client()
    client.post("/api/v1/topics", json={"name": "A & B", "keywords": ["ferry"]})
    post(client, "/searches", name="s", q="bridge")
    rows = etree.HTML(client.get("/feeds").text).findall(".//tr")
    names = [row.findtext("th") for row in rows]
    assert names[1:5] == ["news.example", "other.example", "A & B", "s"]
    for link in (link.get("href") for row in rows for link in row.iter("a")):
        assert client.get(str(link)).status_code == 200


@pytest.mark.parametrize(
    "path", ["/feeds/new.xml", "/feeds/site/99.atom", "/feeds/topic/9.json", "/feeds/search/x.atom"]
)
def test_a_feed_that_is_not_there(served: Served, path: str) -> None:
    assert served.client().get(path).status_code in (404, 422)


def test_an_entry_tells_where_it_leads(served: Served) -> None:
    items = served.client().get("/feeds/site/1.json").json()["items"]
    assert {item["url"] for item in items} == {f"{HOME}new-{n}.html" for n in range(3)}
    assert {item["authors"][0]["name"] for item in items} == {"news.example"}


@pytest.mark.parametrize("form", ["atom", "json"])
def test_a_feed_has_the_whole_text_if_asked(served: Served, form: str) -> None:
    client = served.client()
    whole = html.unescape(client.get(f"/feeds/new.{form}?full=1").text)
    assert f"<p>{'The bridge is open again. ' * 40}".rstrip() in whole
    assert f"/feeds/new.{form}?full=1" in whole
    assert "<p>The bridge" not in html.unescape(client.get(f"/feeds/new.{form}").text)
