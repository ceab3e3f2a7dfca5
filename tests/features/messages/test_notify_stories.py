"""What is new arrives where people look: once, about what they asked for, and never from inside."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from receivers import MailServer, Received, WebHook
from stories import HOME, HOUR, START, news_site, seen, visit_of

from incremental.base.clock import SystemClock
from incremental.base.threads import InlineExecutor
from incremental.base.urls import canonical_key
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.fetch.options import FetchSettings
from incremental.settings import Settings
from incremental.settings.sections import FeatureSettings
from store import Store
from store.outbox import alone
from store.values import TopicScore

ROOT = Path(__file__).resolve().parents[3]
LOCAL = FetchSettings(allowed_networks=("127.0.0.0/8",))
LATER = START + HOUR


def notifier(
    store: Store, url: str, fetch: FetchSettings = LOCAL, *, sends: bool = True, **fields: Any
) -> Notifier:
    channel = ChannelSettings("hook", url, **fields)
    store.answers.save_search("bridges", '{"q": "bridge"}', now=START)
    settings = Settings(
        fetch=fetch,
        features=FeatureSettings(off=() if sends else ("page_watches",)),
        further=(MessagesSettings(channel=(channel,)),),
    )
    return Notifier(store, settings, SystemClock(), executor=InlineExecutor())


def announce(store: Store, *names: str, at: float = LATER, **more: Any) -> None:
    """Let a visit tell pages with these names."""
    sites = store.read.sites()
    site, home = (sites[0].id, store.read.hubs()[0].page_id) if sites else news_site(store)
    links = [seen(HOME + name, anchor=f"About {name}", fate="announce") for name in names]
    store.write.visit(visit_of(site, home, at, *links, keep_missing=True, **more))


def run(messages: Notifier, now: float, steps: int = 6) -> None:
    for number in range(steps):
        messages.step(now + 2 * number)


def test_a_new_page_arrives_once(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        announce(sqlite_store, "bridge")
        run(messages, LATER)
        run(notifier(sqlite_store, hook.url), LATER + 100)
    (message,) = hook.messages
    assert message.title == "About bridge"
    assert HOME + "bridge" in message.body
    assert message.key


def test_what_was_announced_before_the_channel_was_there_is_not_sent(sqlite_store: Store) -> None:
    announce(sqlite_store, "old")
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(LATER + 60)
        announce(sqlite_store, "fresh", at=LATER + 120)
        run(messages, LATER + 180)
    assert [one.title for one in hook.messages] == ["About fresh"]


def test_a_digest_is_one_message(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, every_minutes=60)
        messages.step(START)
        announce(sqlite_store, "one", "two", "three")
        run(messages, LATER)
    (message,) = hook.messages
    assert message.title == "3 new pages"
    assert all(HOME + name in message.body for name in ("one", "two", "three"))


def test_a_channel_hears_of_its_topic_only(sqlite_store: Store) -> None:
    topic = sqlite_store.topics.add("bridges", ["bridge"], "fused", now=START)
    scores = [
        TopicScore(
            canonical_key(HOME + name), topic, score, verdict, fetched=True, method="m", version="1"
        )
        for name, score, verdict in (("bridge", 0.9, "relevant"), ("goal", 0.1, "irrelevant"))
    ]
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, topic="bridges")
        messages.step(START)
        announce(sqlite_store, "bridge", "goal", "unjudged", topic_scores=tuple(scores))
        run(messages, LATER)
    assert [one.title for one in hook.messages] == ["About bridge"]


def test_a_guess_waits_for_the_judgement(sqlite_store: Store) -> None:
    topic = sqlite_store.topics.add("bridges", ["bridge"], "fused", now=START)
    guess = TopicScore(
        canonical_key(HOME + "x"), topic, 0.8, "relevant", fetched=False, method="m", version="1"
    )
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, topic="bridges")
        messages.step(START)
        announce(sqlite_store, "x", topic_scores=(guess,))
        run(messages, LATER)
        assert hook.messages == []
        run(messages, LATER + 7 * HOUR)
    assert len(hook.messages) == 1


def test_a_search_that_is_gone_silences_its_channel(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, search="rivers")
        messages.step(START)
        announce(sqlite_store, "bridge")
        run(messages, LATER)
    assert hook.messages == []


def test_a_receiver_in_trouble_gets_it_later(sqlite_store: Store) -> None:
    codes = iter([500, 200])
    with WebHook(lambda _: next(codes)) as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        announce(sqlite_store, "bridge")
        run(messages, LATER)
        assert len(hook.messages) == 1
        run(messages, LATER + 120)
    first, second = hook.messages
    assert first.key == second.key
    assert sqlite_store.outbox.counts() == {"hook": {"sent": 1}}


def test_an_address_inside_is_not_reached_unless_allowed(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, FetchSettings())
        messages.step(START)
        announce(sqlite_store, "bridge")
        run(messages, LATER)
    assert hook.messages == []
    (entry,) = sqlite_store.outbox.recent("hook")
    assert entry.error.startswith("messages.not_public")
    assert "hook-secret" not in entry.error


def test_mail_passes_the_same_guard(sqlite_store: Store) -> None:
    with MailServer() as server:
        url = f"mailto://127.0.0.1:{server.port}?from=me@example.org&to=you@example.org"
        for fetch in (FetchSettings(), LOCAL):
            messages = notifier(sqlite_store, url, fetch)
            messages.step(START)
            if fetch is not LOCAL:
                announce(sqlite_store, "bridge")
            run(messages, LATER if fetch is not LOCAL else LATER + 600)
            assert len(server.mails) == (fetch is LOCAL)
    assert "About bridge" in server.mails[0]


def test_hostile_titles_are_plain_text(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        odd = seen(HOME + "x", anchor="\u202e<b>{{ 7*7 }}</b>\n\x07", fate="announce")
        site, home = news_site(sqlite_store)
        sqlite_store.write.visit(visit_of(site, home, LATER, odd))
        run(messages, LATER)
    assert hook.messages[0].title == "<b>{{ 7*7 }}</b>"


_VICTIM = """
import os, sys
sys.path[:0] = [{root!r}, {tests!r}, {here!r}]
from pathlib import Path
from store import open_store
from test_notify_stories import notifier, run
with open_store(sys.argv[1], cache_folder=Path(sys.argv[2])) as store:
    run(notifier(store, sys.argv[3]), {now})
"""


def test_killed_in_the_middle_it_announces_each_page_once(tmp_path: Path) -> None:
    """The process dies after the receiver took the message and before it could note that."""
    from store import open_store

    path, cache = tmp_path / "hubwatch.sqlite", tmp_path / "cache"
    victims: list[subprocess.Popen[bytes]] = []

    def kill(_: Received) -> int:
        if len(hook.messages) == 2:
            victims[0].kill()
        return 200

    with WebHook(kill) as hook:
        with open_store(str(path), cache_folder=cache) as store:
            notifier(store, hook.url).step(START)
            announce(store, "one", "two", "three")
        code = _VICTIM.format(
            root=str(ROOT), tests=str(ROOT / "tests"), here=str(Path(__file__).parent), now=LATER
        )
        for _ in range(2):
            victims.insert(
                0, subprocess.Popen([sys.executable, "-c", code, str(path), str(cache), hook.url])
            )
            victims[0].wait()
    assert victims[0].returncode == 0
    assert victims[1].returncode != 0
    by_key = {one.key: one.title for one in hook.messages}
    assert sorted(by_key.values()) == ["About one", "About three", "About two"]


@pytest.mark.parametrize("kept", ["waiting", "sent"])
def test_what_was_given_up_can_be_tried_again(sqlite_store: Store, kept: str) -> None:
    announce(sqlite_store, "bridge")
    (page,) = sqlite_store.read.find_page(HOME + "bridge", "")
    sqlite_store.outbox.queue("hook", alone([page["id"]]), now=LATER)
    (entry,) = sqlite_store.outbox.open("hook")
    sqlite_store.outbox.begin([entry.id], "key")
    if kept == "sent":
        sqlite_store.outbox.sent("key", now=LATER)
    else:
        sqlite_store.outbox.failed("key", "no", next_at=None)
    sqlite_store.outbox.retry("hook")
    assert [one.state for one in sqlite_store.outbox.recent("hook")] == [kept]
