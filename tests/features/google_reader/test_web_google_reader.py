"""Reader apps: the Google Reader API as FreshRSS speaks it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import feedparser
import pytest
from web_served import HOME, Served

from incremental.base.errors import InputError
from incremental.base.tagging import add_tags
from incremental.features.google_reader import BASE
from incremental.features.google_reader.streams import (
    READ,
    STARRED,
    Marks,
    item_cursor,
    item_id,
    marks_of,
)
from incremental.interfaces.web.access import new_token
from store.answers import NewQuery

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

API = f"{BASE}/reader/api/0"
LIST = "user/-/state/com.google/reading-list"
PASSWORD = "correct horse battery staple"
Login = dict[str, str]


def log_in(client: TestClient, secret: str) -> Login:
    """Log in as apps do; return the header that they send from then on."""
    given = {"Email": "me", "Passwd": secret, "service": "reader"}
    answer = client.post(f"{BASE}/accounts/ClientLogin", data=given)
    assert answer.status_code == 200
    found = re.search(r"^Auth=(.+)$", answer.text, re.MULTILINE)
    assert found is not None
    return {"Authorization": f"GoogleLogin auth={found[1]}"}


def writer(served: Served) -> tuple[TestClient, Login]:
    token = new_token(served.store, "app", "write", now=served.clock.now())
    client = served.client()
    return client, log_in(client, token)


def items(
    client: TestClient, login: Login, stream: str = LIST, **more: Any
) -> list[dict[str, Any]]:
    answer = client.get(f"{API}/stream/contents/{stream}", params=more, headers=login)
    assert answer.status_code == 200, answer.text
    return list(answer.json()["items"])


def test_an_app_sees_sites_in_folders_and_what_is_unread(served: Served) -> None:
    row, other = served.store.read.sites()
    add_tags(served.store, row.id, ("Daily", "Work/Local"))
    client, login = writer(served)
    topic = client.post(
        "/api/v1/topics", json={"name": "bridges", "keywords": ["bridge"]}, headers=login
    )
    assert topic.status_code < 300
    tags = client.get(f"{API}/tag/list?output=json", headers=login).json()["tags"]
    assert [(one["id"], one.get("type")) for one in tags] == [
        (STARRED, None),
        ("user/-/label/Daily", "folder"),
        ("user/-/label/Work/Local", "folder"),
        ("user/-/label/bridges", "tag"),
    ]
    first, second = client.get(f"{API}/subscription/list", headers=login).json()["subscriptions"]
    assert (first["id"], first["title"], first["htmlUrl"]) == ("feed/1", "news.example", HOME)
    assert [one["label"] for one in first["categories"]] == ["Daily", "Work/Local"]
    assert second["id"] == f"feed/{other.id}"
    assert client.get(first["url"], headers=login).status_code == 200
    found = client.get(f"{API}/unread-count", headers=login).json()
    counts = {one["id"]: one["count"] for one in found["unreadcounts"]}
    assert counts == {
        "feed/1": 3,
        "feed/2": 1,
        "user/-/label/Daily": 3,
        "user/-/label/Work/Local": 3,
        "user/-/label/bridges": 0,
        LIST: 4,
    }
    assert client.get(f"{API}/user-info", headers=login).json()["userId"]
    assert len(items(client, login, "user/-/label/Daily")) == 3
    assert len(items(client, login, "user/1000/label/Work/Local")) == 3
    assert items(client, login, "user/-/label/bridges") == []


def test_an_item_has_what_apps_read(served: Served) -> None:
    client, login = writer(served)
    newest, *_ = items(client, login)
    row = served.store.answers.new(NewQuery()).rows[0]
    assert newest["id"] == item_id(row.cursor)
    assert newest["canonical"][0]["href"] == newest["alternate"][0]["href"] == row.url
    assert newest["origin"] == {"streamId": f"feed/{row.site_id}", "title": row.site}
    assert newest["categories"] == [LIST]
    assert newest["timestampUsec"] == str(int(row.found_at * 1e6))
    assert isinstance(newest["published"], int)


def test_marks_go_both_ways(served: Served) -> None:
    client, login = writer(served)
    one, two, *_ = items(client, login)
    client.get(f"{API}/token", headers=login)
    for data in (
        {"i": one["id"], "a": READ, "r": "user/-/state/com.google/kept-unread", "T": "x"},
        {"i": [one["id"], two["id"]], "a": STARRED},
    ):
        answer = client.post(f"{API}/edit-tag", data=data, headers=login)
        assert (answer.status_code, answer.text) == (200, "OK")
    rows = {item_id(row.cursor): row for row in served.store.answers.new(NewQuery()).rows}
    assert rows[one["id"]].read_at
    assert not rows[two["id"]].read_at
    assert {key for key, row in rows.items() if row.starred_at} == {one["id"], two["id"]}
    served.store.answers.mark([rows[two["id"]].page_id], now=1.0, read=True, starred=False)
    there = {each["id"]: each["categories"] for each in items(client, login)}
    assert there[one["id"]] == [LIST, READ, STARRED]
    assert there[two["id"]] == [LIST, READ]
    undo = {"i": one["id"], "r": [READ, STARRED]}
    client.post(f"{API}/edit-tag", data=undo, headers=login)
    assert [each["categories"] for each in items(client, login)].count([LIST]) == 3


def test_ids_lead_through_a_stream_and_to_items(served: Served) -> None:
    client, login = writer(served)
    found: list[str] = []
    part: dict[str, Any] = {"continuation": ""}
    while "continuation" in part:
        asked = {"s": LIST, "n": 3, "c": part["continuation"], "r": "o"}
        part = client.get(f"{API}/stream/items/ids", params=asked, headers=login).json()
        found += [one["id"] for one in part["itemRefs"]]
    assert found == sorted(found, key=int)
    assert len(set(found)) == 4
    short = [f"{int(one):016x}" for one in found]
    long = [item_id(int(one)) for one in found]
    for ids in (found, short, long):
        there = client.post(f"{API}/stream/items/contents", data={"i": ids}, headers=login)
        assert [one["id"] for one in there.json()["items"]] == long


def test_only_what_is_unread_or_new_can_be_asked_for(served: Served) -> None:
    client, login = writer(served)
    everything = items(client, login)
    client.post(f"{API}/edit-tag", data={"i": everything[0]["id"], "a": READ}, headers=login)
    assert items(client, login, xt=READ) == everything[1:]
    assert [one["id"] for one in items(client, login, it=READ)] == [everything[0]["id"]]
    assert items(client, login, READ) == items(client, login, it=READ)
    latest = int(everything[0]["timestampUsec"]) // 10**6
    assert everything[-1] not in items(client, login, ot=latest)
    assert items(client, login, nt=1) == []
    assert len(items(client, login, n=2)) == 2


def test_a_stream_is_read_up_to_a_time(served: Served) -> None:
    client, login = writer(served)
    times = sorted(int(one["timestampUsec"]) for one in items(client, login))
    asked = {"s": LIST, "ts": str(times[0])}
    assert client.post(f"{API}/mark-all-as-read", data=asked, headers=login).text == "OK"
    assert served.store.answers.totals().unread == sum(at > times[0] for at in times)
    client.post(f"{API}/mark-all-as-read", data={"s": "feed/2"}, headers=login)
    assert served.store.answers.counts()[2].unread == 0
    client.post(f"{API}/mark-all-as-read", data={"s": LIST}, headers=login)
    assert served.store.answers.totals().unread == 0


def test_the_first_google_reader_has_atom_with_states(served: Served) -> None:
    client, login = writer(served)
    newest, *_ = items(client, login)
    client.post(f"{API}/edit-tag", data={"i": newest["id"], "a": READ}, headers=login)
    answer = client.get(f"{BASE}/reader/atom/{LIST}?n=20", headers=login)
    parsed = feedparser.parse(answer.content)
    assert not parsed.bozo
    assert parsed.entries[0].id == newest["id"]
    labels = [{tag.label for tag in entry.tags} for entry in parsed.entries]
    assert "read" in labels[0]
    assert all("fresh" in one for one in labels[1:])


def test_text_of_a_site_is_no_markup_in_an_app(served: Served) -> None:
    page = served.store.answers.new(NewQuery()).rows[0]
    hostile = "<img src=x onerror=alert(1)>\u202e & co"
    served.store.write.update_page(page.page_id, title=hostile)
    client, login = writer(served)
    assert items(client, login)[0]["title"] == "&lt;img src=x onerror=alert(1)&gt; &amp; co"


def test_a_reading_token_reads_and_changes_nothing(served: Served) -> None:
    token = new_token(served.store, "app", "read", now=served.clock.now())
    client = served.client()
    login = log_in(client, token)
    (newest, *_) = items(client, login)
    asked = client.post(f"{API}/stream/items/contents", data={"i": newest["id"]}, headers=login)
    assert asked.json()["items"] == [newest]
    for path in ("edit-tag", "mark-all-as-read"):
        data = {"i": newest["id"], "a": READ, "s": LIST}
        assert client.post(f"{API}/{path}", data=data, headers=login).status_code == 403
    assert served.store.answers.totals().unread == 4


def test_the_password_begins_a_session_and_a_wrong_one_waits(served: Served) -> None:
    guarded = served.with_settings(password=PASSWORD)
    client = guarded.client()
    login = log_in(client, PASSWORD)
    assert PASSWORD not in json.dumps(login)
    assert len(items(client, login)) == 4
    marked = client.post(f"{API}/mark-all-as-read", data={"s": "feed/2"}, headers=login)
    assert (marked.status_code, served.store.answers.totals().unread) == (200, 3)
    for _ in range(7):
        wrong = client.post(f"{BASE}/accounts/ClientLogin", data={"Email": "a", "Passwd": "x"})
        assert (wrong.status_code, wrong.text) == (401, "Error=BadAuthentication\n")
    assert int(wrong.headers["Retry-After"]) > 0
    assert len(items(client, login)) == 4


def test_another_site_cannot_use_up_the_owners_guesses(served: Served) -> None:
    """A page that the owner visits posts wrong passwords; apps send neither header."""
    client = served.with_settings(password=PASSWORD).client()
    wrong = {"Passwd": "x"}
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ):
        for _ in range(7):
            answer = client.post(f"{BASE}/accounts/ClientLogin", data=wrong, headers=headers)
            assert answer.status_code == 403
    log_in(client, PASSWORD)


def test_who_is_not_logged_in_sees_nothing(served: Served) -> None:
    new_token(served.store, "app", "write", now=served.clock.now())
    client = served.client()
    for header in (
        {},
        {"Authorization": "GoogleLogin auth=open"},
        {"Authorization": "GoogleLogin"},
    ):
        assert client.get(f"{API}/subscription/list", headers=header).status_code == 401
        data = {"s": LIST}
        assert client.post(f"{API}/mark-all-as-read", data=data, headers=header).status_code == 401


def test_an_open_server_takes_any_name_and_no_other_site(served: Served) -> None:
    client = served.client()
    login = log_in(client, "anything")
    assert client.post(f"{API}/mark-all-as-read", data={"s": "feed/1"}, headers=login).text == "OK"
    # What another site's form would send, without the header.
    form = client.post(f"{API}/mark-all-as-read", data={"s": LIST})
    assert form.status_code == 403
    assert served.store.answers.totals().unread == 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"stream/contents/{LIST}?n=x", 400),
        (f"stream/contents/{LIST}?c=-1", 400),
        ("stream/contents/feed/99", 404),
        ("stream/contents/user/-/label/nothing", 404),
        ("stream/contents/splice/x", 404),
        ("stream/items/contents?i=zzz", 400),
        ("stream/items/contents?i=99999999", 200),
    ],
)
def test_a_request_that_makes_no_sense_is_answered(served: Served, path: str, status: int) -> None:
    client, login = writer(served)
    assert client.get(f"{API}/{path}", headers=login).status_code == status


def test_a_body_that_no_app_sends_is_refused(served: Served) -> None:
    client, login = writer(served)
    for body in (b"", b"s=", b"s=feed/%00", b"i=1&" * 13_000, b"\xff\xfe"):
        answer = client.post(f"{API}/mark-all-as-read", content=body, headers=login)
        assert answer.status_code == 400, body[:20]
    assert served.store.answers.totals().unread == 4


@pytest.mark.parametrize("text", ["", "-1", "x", "tag:google.com,2005:reader/item/xyz", "9" * 30])
def test_what_is_no_item_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        item_cursor(text)


def test_marks_that_contradict_each_other_and_strange_ones() -> None:
    assert marks_of([READ], [READ]) == Marks(read=True)
    assert marks_of(["user/7/state/com.google/starred"], []) == Marks(starred=True)
    assert marks_of([], [STARRED]) == Marks(starred=False)
    assert marks_of(["user/-/state/com.google/kept-unread"], []) == Marks(read=False)
    assert marks_of(["user/-/label/mine"], ["user/-/state/com.google/broadcast"]) == Marks()
