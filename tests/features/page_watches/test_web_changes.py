"""Pages watched for changes, by page, API and feeds."""

import json
from typing import Any

import pytest
from lxml import etree
from stories import DAY, START
from watching import change
from web_served import HOME, Served, post

HOSTILE = "<script>alert(1)</script> \u202e"
URL = HOME + "new-1.html"


@pytest.fixture
def page_id(served: Served) -> int:
    (found,) = served.store.read.find_page(URL, "")
    return int(found["id"])


def watch(served: Served, url: str = URL, **fields: Any) -> Any:
    done = post(served.client(), "/changes/add", url=url, **fields)
    assert done.status_code == 303, done.text
    return done


def test_a_watch_is_added_shown_paused_checked_and_removed(served: Served) -> None:
    client = served.client()
    assert "No page is watched for changes yet." in client.get("/changes").text
    watch(served, every="6h", include="tea, rice")
    (row,) = served.store.page_watches.watches()
    assert (row.url, row.every_seconds, row.include) == (URL, 21_600.0, ("tea", "rice"))
    html = client.get("/changes").text
    assert "news.example/new-1.html" in html
    asked = post(client, f"/changes/{row.id}/resume")
    assert "asked=1" in asked.headers["location"]
    assert "will be checked" in client.get(asked.headers["location"]).text
    post(client, f"/changes/{row.id}/pause")
    assert "paused" in client.get("/changes").text
    post(client, f"/changes/{row.id}/resume")
    post(client, f"/changes/{row.id}/remove")
    assert served.store.page_watches.watches() == []
    assert post(client, f"/changes/{row.id}/remove").status_code == 404


def test_a_difference_is_shown_with_what_came_and_went(served: Served, page_id: int) -> None:
    watch(served)
    change(served.store, page_id, ("-", "12 euros"), ("+", f"14 euros {HOSTILE}"), at=START + DAY)
    html = served.client().get("/changes").text
    assert '<del><span class="hidden">Removed:</span>− 12 euros</del>' in html
    assert '<ins><span class="hidden">Added:</span>+ 14 euros &lt;script&gt;' in html
    assert "<script>alert" not in html
    assert "\u202e" not in html
    chinese = served.client(accept_language="zh").get("/changes").text
    assert '<del><span class="hidden">删除：</span>− 12 euros</del>' in chinese
    assert "关注页面" in chinese


def test_a_page_is_watched_from_its_own_page(served: Served, page_id: int) -> None:
    assert "Watch for changes" in served.client().get(f"/pages/{page_id}").text
    watch(served)
    (row,) = served.store.page_watches.watches()
    shown = served.client().get(f"/changes?watch={row.id}").text
    assert f'href="/pages/{page_id}"' in shown


def test_a_site_known_for_a_watched_page_alone_has_its_page(empty: Served) -> None:
    watch(empty, url="https://shop.example/tea")
    for path in ("/sites", "/sites/1", "/status", "/changes", "/feeds", "/pages/1"):
        assert empty.client().get(path).status_code == 200, path
    assert empty.client().get("/api/v1/sites").status_code == 200


def test_older_changes_are_on_further_pages(served: Served, page_id: int) -> None:
    watch(served)
    for number in range(31):
        change(served.store, page_id, ("+", f"Now {number}!"), at=START + DAY + number)
    first = served.client().get("/changes").text
    assert ("Now 30!" in first, "Now 0!" in first) == (True, False)
    (last,) = served.store.page_watches.watches()
    assert "before=" in first
    oldest = served.store.watched_changes.changes
    from store.watched_changes import ChangeQuery

    before = oldest(ChangeQuery(limit=30))[-1].id
    older = served.client().get(f"/changes?watch={last.id}&before={before}").text
    assert ("Now 0!" in older, "Now 30!" in older) == (True, False)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"url": "nonsense"}, "not a web address"),
        ({"url": URL, "every": "often"}, "span of time"),
        ({"url": URL, "channel": "nobody"}, "no channel has that name"),
        ({"url": URL, "include": "!"}, "word"),
    ],
)
def test_what_cannot_be_watched_is_said_and_the_form_keeps_it(
    served: Served, fields: dict[str, str], why: str
) -> None:
    done = post(served.client(), "/changes/add", **fields)
    assert why in done.text
    assert f'value="{fields["url"]}"' in done.text
    assert served.store.page_watches.watches() == []


def test_who_may_only_read_sees_no_form(served: Served) -> None:
    from incremental.interfaces.web.access import new_token

    token = new_token(served.store, "reader", "read", now=served.clock.now())
    reader = served.client(authorization=f"Bearer {token}")
    assert 'action="/changes/add"' not in reader.get("/changes").text
    assert reader.post("/changes/add", data={"url": URL}).status_code == 403


def test_the_api_reads_on_from_a_cursor(served: Served, page_id: int) -> None:
    client = served.client()
    watch(served)
    for number in range(3):
        change(served.store, page_id, ("+", f"Now {number}"), at=START + DAY + number)
    first = client.get("/api/v1/changes", params={"after": 0, "limit": 2}).json()
    assert [one["added"] for one in first["changes"]] == [["Now 0"], ["Now 1"]]
    rest = client.get("/api/v1/changes", params={"after": first["cursor"]}).json()
    assert [one["added"] for one in rest["changes"]] == [["Now 2"]]
    newest = client.get("/api/v1/changes", params={"page": page_id, "since": "2000-01-01"}).json()
    assert newest["changes"][0]["lines"] == ["+ Now 2"]
    assert client.get("/api/v1/changes", params={"site": 999}).status_code == 404


@pytest.mark.parametrize("form", ["atom", "json"])
def test_each_change_is_an_entry_of_the_feed(served: Served, page_id: int, form: str) -> None:
    watch(served)
    for number in range(2):
        change(served.store, page_id, ("+", f"Now {number} <b>"), at=START + DAY + number)
    answer = served.client().get(f"/feeds/changes.{form}")
    if form == "json":
        items = json.loads(answer.content)["items"]
        ids, texts = [item["id"] for item in items], [item["content_text"] for item in items]
        assert texts == ["+ Now 1 <b>", "+ Now 0 <b>"]
    else:
        root = etree.fromstring(answer.content)
        ids = [node.text for node in root.iter("{*}id")]
        assert "Now 1" in answer.text
    assert len(set(ids)) == len(ids)
    assert answer.headers["etag"]
