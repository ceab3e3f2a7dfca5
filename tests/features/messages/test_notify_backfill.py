"""Older pages that a list gained are one line of a message, sent once, whatever dies in between."""

from typing import Any

import pytest
from receivers import Received, WebHook
from stories import HOME, START, news_site, seen, visit_of
from test_notify_stories import LATER, announce, notifier, run

from store import Store


def gain(store: Store, *names: str, at: float = LATER) -> None:
    """Let the home page gain old pages."""
    sites = store.read.sites()
    site, home = (sites[0].id, store.read.hubs()[0].page_id) if sites else news_site(store)
    links = [seen(HOME + name, anchor=f"About {name}", fate="backfill") for name in names]
    record = visit_of(site, home, at, *links, keep_missing=True, backfill_folder="/2007/")
    store.write.visit(record)


NAMES = [f"2007/{n}" for n in range(33)]


def test_many_are_one_message(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        gain(sqlite_store, *NAMES)
        run(messages, LATER)
        run(notifier(sqlite_store, hook.url), LATER + 100)
    (message,) = hook.messages
    assert message.title == "33 older articles were added under /2007/"
    assert message.body.splitlines() == [HOME, "news.example"]


def test_a_single_one_comes_with_title_and_address(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        gain(sqlite_store, "2007/notice")
        run(messages, LATER)
    (message,) = hook.messages
    assert message.title == "About 2007/notice"
    assert HOME + "2007/notice" in message.body


def test_in_a_digest_it_is_a_line_among_new_pages(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, every_minutes=60)
        messages.step(START)
        announce(sqlite_store, "bridge")
        gain(sqlite_store, *NAMES)
        run(messages, LATER)
    (message,) = hook.messages
    assert message.body.count("33 older articles were added under /2007/") == 1
    assert "About bridge" in message.body
    assert "About 2007" not in message.body


@pytest.mark.parametrize("about", [{"topic": "bridges"}, {"search": "bridges"}])
def test_a_channel_of_a_topic_or_a_search_hears_nothing_unjudged(
    sqlite_store: Store, about: dict[str, Any]
) -> None:
    sqlite_store.topics.add("bridges", ["bridge"], "fused", now=START)
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, **about)
        messages.step(START)
        gain(sqlite_store, *NAMES)
        run(messages, LATER)
    assert hook.messages == []


def test_what_was_cut_off_goes_out_again_under_the_same_key(sqlite_store: Store) -> None:
    def refuse(_: Received) -> int:
        return 503 if len(hook.messages) == 1 else 200

    with WebHook(refuse) as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        gain(sqlite_store, *NAMES)
        run(messages, LATER)
        run(notifier(sqlite_store, hook.url), LATER + 3600)
        run(notifier(sqlite_store, hook.url), LATER + 7200)
    assert [one.key for one in hook.messages] == [hook.messages[0].key] * 2


def test_more_events_than_one_question_lists_are_all_queued(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("incremental.features.messages.notifier.MOST", 2)
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, every_minutes=60)
        messages.step(START)
        for number in range(5):
            gain(sqlite_store, f"2007/{number}", at=LATER + number)
        run(messages, LATER + 10)
    (message,) = hook.messages
    assert message.body.count("About 2007/") == 5
