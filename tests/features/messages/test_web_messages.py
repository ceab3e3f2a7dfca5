"""Messages by page: how the channels stand, a test of each; never a word of an address."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from receivers import WebHook
from stories import START
from web_served import Served, form_token, post

from incremental.features.messages import notifier
from incremental.features.messages.channels import added_channels
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.fetch.options import FetchSettings
from incremental.settings import Settings
from incremental.topics.editing import begin
from store.outbox import alone

pytest.importorskip("apprise", reason="the extra `notify` is not installed")
Ids = Callable[[], list[int]]
CHANNEL = {"name": "hook", "url": "json://hooks.example/secret-key"}
LOCAL = FetchSettings(allowed_networks=("127.0.0.0/8",))
ERROR = "it answered <b>500</b>"


def with_channels(served: Served, *channels: ChannelSettings) -> Served:
    settings = msgspec.structs.replace(
        served.web.settings, further=(MessagesSettings(channel=channels),), fetch=LOCAL
    )
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
    box.queue("hook", alone(ids), now=served.clock.now() - 60)
    for entry, key in zip(box.open("hook"), ("one", "two"), strict=False):
        box.begin([entry.id], key)
    box.sent("one", now=served.clock.now() - 30)
    box.failed("two", ERROR, next_at=None)
    channel = ChannelSettings("hook", hook.url, every_minutes=90, quiet_hours="22:00-07:00")
    return with_channels(served, channel, ChannelSettings("new <i>", hook.url, topic="none"))


def test_without_a_channel_the_page_says_how_to_have_one(empty: Served) -> None:
    html = empty.client().get("/messages").text
    assert "[[messages.channel]]" in html
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
    for path in ("/messages", "/messages?edit=hook"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert "hook-secret" not in answer.text


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
    assert len(hook.messages) == 1
    assert "The test failed:" in html
    assert "hook-secret" not in html


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"url": "syslog://"}, "only services over HTTP or mail"),
    ],
)
def test_a_channel_that_cannot_work_says_why(
    served: Served, hook: WebHook, fields: dict[str, Any], why: str
) -> None:
    with_channels(served, ChannelSettings(**{"name": "odd", "url": hook.url, **fields}))
    assert why in post(served.client(), "/messages/test", channel="odd").text
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
    with notifier._trying:
        answer = post(announced_by_hook.client(), "/messages/test", channel="hook")
    assert "another test is running" in answer.text
    assert hook.messages == []


def test_what_was_given_up_waits_again(announced_by_hook: Served) -> None:
    client = announced_by_hook.client()
    assert post(client, "/messages/retry", channel="hook").headers["location"] == "/messages"
    counts = announced_by_hook.store.outbox.counts()["hook"]
    assert counts == {"waiting": 2, "sent": 1}


def test_a_channel_that_is_not_there_is_404(announced_by_hook: Served) -> None:
    client = announced_by_hook.client()
    for path in ("test", "retry"):
        assert post(client, f"/messages/{path}", channel="none").status_code == 404


def test_who_only_reads_is_shown_no_button(announced_by_hook: Served) -> None:
    from incremental.interfaces.web.access import new_token

    token = new_token(announced_by_hook.store, "reader", "read", now=announced_by_hook.clock.now())
    client = announced_by_hook.client()
    post(client, "/login", secret=token)
    html = client.get("/messages").text
    assert "hook" in html
    assert set(re.findall(r'action="([^"]+)"', html)) <= {"/preferences", "/logout"}


# --- adding and changing ----------------------------------------------------------------------


@pytest.fixture
def topic(served: Served) -> int:
    now = served.clock.now()
    return begin(served.store, "Bridges", examples=[], keywords=["bridge"], now=now)[0].id


def test_a_channel_is_added_changed_and_removed_in_the_page(served: Served, topic: int) -> None:
    client = served.client()
    assert post(client, "/messages/add", **CHANNEL, topic="Bridges").status_code == 303
    post(client, "/messages/add", name="hook", topic="Bridges", daily_at="08:00")
    shown = client.get("/messages").text
    assert "daily at 08:00" in shown
    assert "secret-key" not in shown
    (channel,) = added_channels(served.store, Settings())
    assert (channel.url, channel.daily_at) == (CHANNEL["url"], "08:00")
    form = client.get("/messages?edit=hook").text
    assert 'value="08:00"' in form
    assert "<option selected>Bridges</option>" in form
    assert "secret-key" not in form
    # A channel follows its topic.
    client.patch(f"/api/v1/topics/{topic}", json={"name": "Crossings"})
    assert added_channels(served.store, Settings())[0].topic == "Crossings"
    post(client, "/messages/remove", channel="hook")
    assert added_channels(served.store, Settings()) == []


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"url": ""}, "give an Apprise address"),
        ({"url": "nothing-of://secret-key"}, "give an Apprise address"),
        ({"url": "syslog://secret-key"}, "url"),
        ({"daily_at": "8 o'clock"}, "write a time of day like 08:00"),
        ({"quiet_hours": "22"}, "write from and until"),
        ({"time_zone": "Mars/Base"}, "must be an IANA name"),
        ({"every_minutes": "often"}, "every_minutes"),
        ({"topic": "none"}, "no topic has that name"),
        ({"search": "none"}, "no saved search has that name"),
    ],
)
def test_a_channel_that_cannot_be_used_says_which_field(
    served: Served, wrong: dict[str, str], why: str
) -> None:
    answer = post(served.client(), "/messages/add", **{**CHANNEL, **wrong})
    assert answer.status_code == 200
    text = answer.text.replace("&#39;", "'")
    assert why in text or "Minutes between digests" in text
    assert "secret-key" not in text
    assert added_channels(served.store, Settings()) == []


def test_a_stored_channel_that_cannot_be_read_is_left_out(served: Served) -> None:
    served.store.outbox.put_channel("broken", '{"name": 1}', now=START)
    served.store.outbox.put_channel("worse", "no json", now=START)
    assert added_channels(served.store, Settings()) == []
    assert served.client().get("/messages").status_code == 200
