"""What the store promises of watched pages, on SQLite and on PostgreSQL."""

import re
from pathlib import Path
from typing import Any

from stories import DAY, START, news_site, seen, visit_of
from watching import PRICE, change, watched

from incremental.base.urls import canonical_key
from store import Store, open_store
from store.enums import WatchState
from store.maintenance.retention import Kind
from store.outbox import alone
from store.values import NEVER_DUE, NextRefresh
from store.watched_changes import ChangeQuery


def test_a_watch_keeps_what_was_given_and_is_changed_by_its_address(store: Store) -> None:
    page = watched(store, receivers=["邮件"], include=["a"])
    first = store.page_watches.watches()[0].id
    again = store.page_watches.put(1, page, PRICE, now=START + 1, every_seconds=60.0)
    (row,) = store.page_watches.watches()
    assert (first, again, row.added_at) == (row.id, row.id, START)
    assert (row.receivers, row.include, row.every_seconds) == ((), (), 60.0)
    assert (row.page_id, row.next_at) == (page, START + 1)
    assert store.refreshes.row(page).every_seconds == 60.0  # type: ignore[union-attr]
    assert store.page_watches.watch_of(PRICE) == row


def test_a_page_that_is_watched_under_two_addresses_belongs_to_the_last(store: Store) -> None:
    page = watched(store)
    store.page_watches.put(1, page, PRICE + "?again", now=START)
    assert [row.page_id for row in store.page_watches.watches()] == [None, page]


def test_paused_pages_are_not_due_and_resumed_ones_at_once(store: Store) -> None:
    page = watched(store)
    assert [store.refreshes.due(1, at, watched=True) is not None for at in (START - 1, START)] == [
        False,
        True,
    ]
    store.page_watches.set_state(1, WatchState.PAUSED, now=START)
    store.page_watches.put(1, page, PRICE, now=START, every_seconds=60.0)
    assert store.page_watches.watches()[0].next_at is None
    assert store.refreshes.due(1, START + 1_000 * DAY, watched=True) is None
    store.refreshes.postpone(page, START)
    assert store.refreshes.row(page).due_at == NEVER_DUE  # type: ignore[union-attr]
    store.page_watches.set_state(1, WatchState.ACTIVE, now=START + DAY)
    assert store.refreshes.due(1, START + DAY, watched=True).due_at == START + DAY  # type: ignore[union-attr]


def test_a_visit_writes_what_it_learned(store: Store) -> None:
    page = watched(store)
    following = NextRefresh(*(START + DAY, True, 1, START, "fetched", None, 0.5, 60.0, '"e"'))
    store.write.visit(visit_of(1, page, START, links=None, next_refresh=following))
    row = store.refreshes.row(page)
    assert row is not None
    assert (row.checks, row.due_at, row.etag, row.counted_changes) == (1, START + DAY, '"e"', 0.5)
    assert store.read.due_times(1).watch == START + DAY
    assert store.read.all_due_times()[1].watch == START + DAY
    (watch,) = store.page_watches.watches()
    assert (watch.checked_at, watch.changed_at, watch.next_at) == (START, None, START + DAY)
    assert watch.status == "fetched"
    store.write.bring_forward(DAY / 2, START)
    assert store.read.due_times(1).watch == START + DAY / 2


def test_changes_are_listed_by_cursor_site_watch_and_time(store: Store) -> None:
    page = watched(store)
    for number in range(3):
        change(store, page, ("+", f"{number} \0 茶"), at=START + number * DAY)
    listed = store.watched_changes.changes
    newest = listed(ChangeQuery())
    assert [row.at for row in newest] == [START + 2 * DAY, START + DAY, START]
    assert newest[-1].lines == (("+", "0 \ufffd 茶"),)
    assert listed(ChangeQuery(after=newest[-1].id, oldest_first=True, limit=1)) == [newest[1]]
    assert listed(ChangeQuery(before=newest[1].id)) == [newest[2]]
    assert len(listed(ChangeQuery(site_id=1, watch_id=1, page_id=page, since=START + DAY))) == 2
    assert listed(ChangeQuery(site_id=2)) == []
    assert store.watched_changes.change(newest[0].id) == newest[0]
    assert store.watched_changes.change(newest[0].id + 99) is None
    assert store.refreshes.row(page).changed_at == START + 2 * DAY  # type: ignore[union-attr]


def test_a_removed_watch_leaves_its_changes(store: Store) -> None:
    page = watched(store)
    change(store, page)
    store.page_watches.remove(1, now=START)
    (row,) = store.watched_changes.changes(ChangeQuery())
    assert row.watch_id is None
    assert store.refreshes.row(page) is None


def test_a_change_is_queued_once_for_each_channel_beside_its_page(store: Store) -> None:
    page = watched(store)
    for number in range(2):
        change(store, page, at=START + number)
    pairs = [(row.id, page) for row in store.watched_changes.changes(ChangeQuery())]
    assert store.outbox.queue("mail", alone([page]), now=START) == 1
    assert (
        store.outbox.queue("mail", [(page, None, change) for change, page in pairs], now=START) == 2
    )
    assert (
        store.outbox.queue("mail", [(page, None, change) for change, page in pairs], now=START) == 0
    )
    assert store.outbox.queue("mail", alone([page]), now=START) == 0
    assert sorted(one.change_id for one in store.outbox.open("mail")) == [0, *sorted(dict(pairs))]


def test_texts_of_watched_pages_stay_and_changes_go_with_the_history(store: Store) -> None:
    page = watched(store)
    change(store, page, at=START)
    store.retention.forget(Kind.TEXTS, before=START + DAY, now=START + DAY)
    kept = store.answers.text(page)
    assert kept is not None
    assert kept.text
    store.retention.forget(Kind.CHANGES, before=START + DAY, now=START + DAY)
    assert store.watched_changes.changes(ChangeQuery()) == []


def test_a_change_of_a_page_that_is_not_watched_is_only_history(store: Store) -> None:
    site, _ = news_site(store)
    page = store.write.add_pages(site, [seen(PRICE)], now=START)[canonical_key(PRICE)]
    change(store, page)
    assert store.watched_changes.changes(ChangeQuery()) == []
    assert [entry.kind for entry in store.answers.history(page, limit=5)] == ["changed"]


def test_what_every_round_asks_uses_an_index(tmp_path: Path) -> None:
    with open_store(str(tmp_path / "s.sqlite"), cache_folder=tmp_path) as opened:
        page = watched(opened)
        statements: list[str] = []
        database: Any = opened.database
        connection = database.connection()
        connection.set_trace_callback(statements.append)
        opened.refreshes.due(1, START, watched=True)
        opened.refreshes.due(1, START, watched=False)
        opened.refreshes.row(page)
        opened.page_watches.watch_of(PRICE)
        opened.watched_changes.changes(ChangeQuery(after=0, since=START, oldest_first=True))
        opened.watched_changes.changes(ChangeQuery(watch_id=1))
        opened.watched_changes.change(1)
        opened.outbox.queue("mail", [(page, None, 1)], now=START)
        connection.set_trace_callback(None)
        asked = [one for one in statements if one.startswith("SELECT")]
        assert len(asked) > 6
        plans = [row[3] for one in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {one}")]
        assert [step for step in plans if re.match(r"SCAN (?!site\b|t\d+ USING)", step)] == []
