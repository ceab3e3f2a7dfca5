"""Changes of watched pages arrive once, with what came and went, where they are wanted."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from receivers import MailServer, Received, WebHook
from stories import HOUR, START
from test_notify_hooks import KEEP, calls, hooks, python
from test_notify_stories import LATER, LOCAL, announce, notifier, run
from watching import LINES, PRICE, change, watched

from incremental.features.messages.message import MAX_LINES
from incremental.features.messages.notifier import says
from store import Store
from store.watched_changes import ChangeQuery


def test_a_change_arrives_once_with_its_difference(store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(store, hook.url)
        messages.step(START)
        page = watched(store)
        change(store, page)
        run(messages, LATER)
        run(notifier(store, hook.url), LATER + 100)
    (message,) = hook.messages
    assert message.title == "Changed: Green tea"
    assert message.body.splitlines() == [PRICE, "news.example", *(" ".join(line) for line in LINES)]


def test_every_change_of_a_page_is_told(store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(store, hook.url)
        messages.step(START)
        page = watched(store)
        for number in range(3):
            change(store, page, ("+", f"Now {number}"), at=LATER + number)
            run(messages, LATER + 10 * number)
    assert [one.body.splitlines()[-1] for one in hook.messages] == ["+ Now 0", "+ Now 1", "+ Now 2"]


def test_a_page_is_told_as_new_and_as_changed(store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(store, hook.url)
        messages.step(START)
        announce(store, "prices/tea")
        page = watched(store)
        change(store, page, at=LATER + 1)
        run(messages, LATER + 2)
    assert {one.title for one in hook.messages} == {"About prices/tea", "Changed: Green tea"}


def test_what_a_restart_cut_off_goes_out_again_under_the_same_key(store: Store) -> None:
    def refuse(_: Received) -> int:
        return 503 if len(hook.messages) == 1 else 200

    with WebHook(refuse) as hook:
        messages = notifier(store, hook.url)
        messages.step(START)
        change(store, watched(store))
        run(messages, LATER)
        run(notifier(store, hook.url), LATER + 3600)
        run(notifier(store, hook.url), LATER + 7200)
    assert [one.key for one in hook.messages] == [hook.messages[0].key] * 2


def test_a_restart_between_recording_and_sending_loses_and_repeats_nothing(store: Store) -> None:
    with WebHook() as hook:
        notifier(store, hook.url).step(START)
        change(store, watched(store))
        # A process dies after it has queued the change.
        (found,) = store.watched_changes.changes(ChangeQuery())
        store.outbox.queue("hook", [(found.page_id, None, found.id)], now=LATER)
        run(notifier(store, hook.url), LATER + 100)
    assert len(hook.messages) == 1


@pytest.mark.parametrize(
    ("wish", "channel", "arrives"),
    [
        ({}, {}, True),
        ({"receivers": ["hook"]}, {}, True),
        ({"receivers": ["mail"]}, {}, False),
        ({}, {"search": "bridges"}, False),
        ({}, {"tag": "shops"}, False),
        ({"receivers": ["hook"]}, {"search": "bridges"}, True),
        ({"include": ["price"]}, {}, True),
        ({"include": ["discount"]}, {}, False),
        ({"exclude": ["euros"]}, {}, False),
        ({"include": ["14 euros"]}, {"include": ["tea"]}, True),
        ({"include": ["eur*"]}, {}, True),
        ({}, {"include": ["rice"]}, False),
        ({}, {"exclude": ["green tea"]}, False),
    ],
)
def test_channels_and_words_decide(
    sqlite_store: Store, wish: dict[str, Any], channel: dict[str, Any], *, arrives: bool
) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, **channel)
        messages.step(START)
        change(sqlite_store, watched(sqlite_store, **wish))
        run(messages, LATER)
    assert len(hook.messages) == arrives


@pytest.mark.parametrize(
    ("text", "word"),
    [("ﬁne tea", "fine tea"), ("oﬃce hours", "OFFICE hours"), ("Cafe\u0301", "café"), ("①", "1")],
)
def test_words_are_found_however_they_are_written(text: str, word: str) -> None:
    assert says(text, word)
    assert says(word, text)


def test_without_a_feature_that_sends_changes_nobody_asks_for_them(sqlite_store: Store) -> None:
    asked: list[str] = []
    database: Any = sqlite_store.database
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, sends=False)
        messages.step(START)
        change(sqlite_store, watched(sqlite_store))
        database.connection().set_trace_callback(asked.append)
        run(messages, LATER)
        database.connection().set_trace_callback(None)
    assert hook.messages == []
    assert [one for one in asked if "watched_change" in one or "page_watch" in one] == []


def test_a_tag_of_its_site_is_enough(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, tag="shops")
        messages.step(START)
        page = watched(sqlite_store)
        sqlite_store.tags.set_site_tags(1, ["shops"])
        change(sqlite_store, page)
        run(messages, LATER)
    assert len(hook.messages) == 1


def test_changes_of_a_page_that_nobody_watches_are_not_told(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        page = watched(sqlite_store)
        sqlite_store.page_watches.remove(1, now=START)
        change(sqlite_store, page)
        run(messages, LATER)
    assert hook.messages == []
    assert sqlite_store.watched_changes.changes(ChangeQuery()) == []


def test_a_long_difference_is_shortened_and_counted(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url)
        messages.step(START)
        change(sqlite_store, watched(sqlite_store), *(("+", f"Line {n}") for n in range(50)))
        run(messages, LATER)
    lines = hook.messages[0].body.splitlines()
    assert lines[-1] == f"… {50 - MAX_LINES} more"
    assert len(lines) == MAX_LINES + 3


def test_what_a_page_says_is_never_markup(sqlite_store: Store) -> None:
    with MailServer() as server:
        url = f"mailto://127.0.0.1:{server.port}?from=me@example.org&to=you@example.org&format=html"
        messages = notifier(sqlite_store, url, LOCAL)
        messages.step(START)
        change(sqlite_store, watched(sqlite_store), ("+", "<script>alert(1)</script>"))
        run(messages, LATER)
    assert "&lt;script&gt;" in server.mails[0]
    assert "<script>" not in server.mails[0].partition("text/html")[2]


def test_a_digest_counts_new_and_changed_pages(sqlite_store: Store) -> None:
    with WebHook() as hook:
        messages = notifier(sqlite_store, hook.url, every_minutes=60)
        messages.step(START)
        announce(sqlite_store, "bridge", "river")
        change(sqlite_store, watched(sqlite_store))
        run(messages, LATER)
    (message,) = hook.messages
    assert message.title == "2 new pages, 1 changed page"
    assert "Changed: Green tea" in message.body


def test_a_hook_gets_the_change_as_json(sqlite_store: Store, tmp_path: Path) -> None:
    kept = tmp_path / "calls"
    messages = hooks(sqlite_store, *python(KEEP, str(kept)))
    messages.step(START)
    change(sqlite_store, watched(sqlite_store))
    run(messages, LATER)
    run(messages, LATER + HOUR)
    (given_to,) = calls(kept)
    assert (given_to["kind"], given_to["hook"]) == ("changed", "hook:h")
    shown = given_to["change"]
    assert (shown["url"], shown["title"]) == (PRICE, "Green tea")
    assert (shown["removed"], shown["added"]) == ([LINES[0][1]], [LINES[1][1]])


@given(st.text(max_size=60), st.text(max_size=10))
def test_any_text_can_be_searched_for_any_words(text: str, word: str) -> None:
    assert says(f"{text} {word}x", word) in (True, False)
    assert not says("", word)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("本店茶叶降价", "降价", True),
        ("本店茶叶降价", "涨价", False),
        ("The price fell", '"price fell"', True),
        ("The price then fell", '"price fell"', False),
        ("Café prices", "cafe", True),
    ],
)
def test_words_are_found_as_in_the_search(text: str, word: str, *, found: bool) -> None:
    assert says(text, word) == found
