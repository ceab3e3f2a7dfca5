"""Messages by page and API: how the channels stand, a test of each; never a word of an address."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from web_served import Served, form_token, post

sys.path.append(str(Path(__file__).parents[1] / "notify"))  # for its receivers

from receivers import WebHook

from incremental.fetch.options import FetchSettings
from incremental.interfaces.notify import overview
from incremental.settings.channels import ChannelSettings

pytest.importorskip("apprise", reason="the extra `notify` is not installed")
Ids = Callable[[], list[int]]
LOCAL = FetchSettings(allowed_networks=("127.0.0.0/8",))
ERROR = "it answered <b>500</b>"


def with_channels(served: Served, *channels: ChannelSettings) -> Served:
    settings = msgspec.structs.replace(served.web.settings, notify=channels, fetch=LOCAL)
    served.web = replace(served.web, settings=settings)
    return served


@pytest.fixture
def hook() -> Iterator[WebHook]:
    with WebHook() as receiver:
        yield receiver


@pytest.fixture
def announced_by_hook(served: Served, announced: Ids, hook: WebHook) -> Served:
    """A channel over which one page was sent, one was given up, and one waits."""
    box, ids = served.store.outbox, announced()[:3]
    box.queue("hook", ids, now=served.clock.now() - 60)
    for entry, key in zip(box.open("hook"), ("one", "two"), strict=False):
        box.begin([entry.id], key)
    box.sent("one", now=served.clock.now() - 30)
    box.failed("two", ERROR, next_at=None)
    channel = ChannelSettings("hook", hook.url, every_minutes=90, quiet_hours="22:00-07:00")
    return with_channels(served, channel, ChannelSettings("new <i>", hook.url, topic="none"))


def test_without_a_channel_the_page_says_how_to_have_one(empty: Served) -> None:
    html = empty.client().get("/messages").text
    assert "[[notify]]" in html
    assert 'action="/messages/test"' not in html


def test_the_page_shows_how_each_channel_stands(announced_by_hook: Served) -> None:
    html = announced_by_hook.client().get("/messages").text
    for said in ("every 1 h", "not 22:00-07:00", "given up 1", "sent 1", "waiting 1", "30 s ago"):
        assert said in html, said
    assert "it answered &lt;b&gt;500&lt;/b&gt;" in html
    assert "new &lt;i&gt;" in html
    assert "no such topic" in html


def test_no_answer_has_the_address_of_a_channel(announced_by_hook: Served) -> None:
    client = announced_by_hook.client()
    for path in ("/messages", "/api/v1/messages", "/api/v1/messages/hook/outbox"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "hook-secret" not in answer.text
        assert "json://" not in answer.text


def test_a_channel_is_tried_by_a_button(announced_by_hook: Served, hook: WebHook) -> None:
    client = announced_by_hook.client()
    whole = post(client, "/messages/test", channel="hook")
    assert "The test was sent." in whole.text
    assert 'name="back" value="/"' in whole.text
    token = {"X-Form-Token": form_token(client), "HX-Request": "true"}
    part = client.post("/messages/test", data={"channel": "hook"}, headers=token).text
    assert "The test was sent." in part
    assert "<html" not in part
    assert [one.title for one in hook.messages] == ["Hubwatch can reach this channel"] * 2


def test_a_test_that_fails_says_why_without_the_secret(served: Served) -> None:
    with WebHook(lambda _: 500) as hook:
        with_channels(served, ChannelSettings("hook", hook.url))
        html = post(served.client(), "/messages/test", channel="hook").text
        announced = served.client().post("/api/v1/messages/hook/test").json()
    assert len(hook.messages) == 2
    assert "The test failed:" in html
    assert announced["sent"] is False
    assert announced["error"]
    assert "hook-secret" not in html + announced["error"]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"url": "syslog://"}, "only services over HTTP or mail"),
        ({"body": "{{ ''.__class__ }}"}, "template fails"),
    ],
)
def test_a_channel_that_cannot_work_says_why(
    served: Served, hook: WebHook, fields: dict[str, Any], why: str
) -> None:
    with_channels(served, ChannelSettings(**{"name": "odd", "url": hook.url, **fields}))
    assert why in served.client().post("/api/v1/messages/odd/test").json()["error"]
    assert hook.messages == []


def test_a_test_reaches_no_address_that_is_not_public(served: Served, hook: WebHook) -> None:
    with_channels(served, ChannelSettings("hook", hook.url))
    guarded = msgspec.structs.replace(served.web.settings, fetch=FetchSettings())
    served.web = replace(served.web, settings=guarded)
    assert "not public" in post(served.client(), "/messages/test", channel="hook").text
    chinese = post(served.client(Accept_Language="zh"), "/messages/test", channel="hook").text
    assert ("其地址不是公网地址" in chinese, "not public" in chinese) == (True, False)
    assert hook.messages == []


def test_tests_are_sent_one_at_a_time(announced_by_hook: Served, hook: WebHook) -> None:
    with overview._trying:
        answer = announced_by_hook.client().post("/api/v1/messages/hook/test").json()
    assert answer == {"sent": False, "error": "another test is running"}
    assert hook.messages == []


def test_what_was_given_up_waits_again(announced_by_hook: Served) -> None:
    client = announced_by_hook.client()
    assert post(client, "/messages/retry", channel="hook").headers["location"] == "/messages"
    (hook, _) = client.get("/api/v1/messages").json()
    assert hook["counts"] == {"waiting": 2, "sending": 0, "sent": 1, "failed": 0}
    assert client.post("/api/v1/messages/hook/retry").json() == {"waiting": 0}


def test_the_api_tells_channels_and_outbox(announced_by_hook: Served) -> None:
    client = announced_by_hook.client()
    (hook, new) = client.get("/api/v1/messages").json()
    assert (hook["every_minutes"], hook["last_error"], new["topic"]) == (90, ERROR, "none")
    entries = client.get("/api/v1/messages/hook/outbox").json()
    assert [one["state"] for one in entries] == ["waiting", "failed", "sent"]
    assert len(client.get("/api/v1/messages/hook/outbox?limit=1").json()) == 1


def test_a_channel_that_is_not_there_is_404(announced_by_hook: Served) -> None:
    client = announced_by_hook.client()
    assert client.get("/api/v1/messages/none/outbox").status_code == 404
    for path in ("test", "retry"):
        assert client.post(f"/api/v1/messages/none/{path}").status_code == 404
        assert post(client, f"/messages/{path}", channel="none").status_code == 404


def test_who_only_reads_is_shown_no_button(announced_by_hook: Served) -> None:
    from incremental.interfaces.web.access import new_token

    token = new_token(announced_by_hook.store, "reader", "read", now=announced_by_hook.clock.now())
    client = announced_by_hook.client()
    post(client, "/login", secret=token)
    html = client.get("/messages").text
    assert "hook" in html
    assert set(re.findall(r'action="([^"]+)"', html)) <= {"/language", "/logout"}
