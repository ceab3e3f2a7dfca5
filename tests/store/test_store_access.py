"""Tokens and sessions, and the counts that dashboards ask for: on both databases."""

import threading

from stories import DAY, HOME, HOUR, START, news_site, seen, visit_of

from store import Store
from store.enums import SiteStatus, TokenKind, TokenScope
from store.values import HostRow


def test_a_secret_is_found_by_its_digest_until_it_ends(store: Store) -> None:
    store.access.add(
        "browser", TokenKind.SESSION, TokenScope.WRITE, "d1", now=START, expires_at=START + DAY
    )
    found = store.access.find("d1", now=START + DAY - 1)
    assert found is not None
    assert (found.kind, found.scope) == ("session", "write")
    assert store.access.find("d1", now=START + DAY) is None
    assert store.access.find("d2", now=START) is None


def test_sessions_are_no_tokens(store: Store) -> None:
    store.access.add(
        "browser", TokenKind.SESSION, TokenScope.WRITE, "d1", now=START, expires_at=START + DAY
    )
    assert not store.access.has_tokens()
    store.access.add("reader", TokenKind.TOKEN, TokenScope.READ, "d2", now=START)
    assert store.access.has_tokens()
    assert [row.name for row in store.access.tokens()] == ["reader"]


def test_a_token_takes_its_sessions_with_it(store: Store) -> None:
    token = store.access.add("phone", TokenKind.TOKEN, TokenScope.WRITE, "d1", now=START)
    store.access.add(
        "b",
        TokenKind.SESSION,
        TokenScope.WRITE,
        "d2",
        now=START,
        expires_at=START + 9,
        parent=token,
    )
    assert store.access.remove(token)
    assert store.access.find("d2", now=START) is None
    assert not store.access.remove(token)


def test_sessions_that_ended_are_forgotten_when_one_begins(store: Store) -> None:
    for number in range(3):
        at = START + number * DAY
        store.access.add(
            "b", TokenKind.SESSION, TokenScope.READ, f"d{number}", now=at, expires_at=at + DAY
        )
    assert store.access.find("d0", now=START) is None
    assert store.access.find("d2", now=START + 2 * DAY) is not None


def test_visits_and_news_are_counted_from_a_cursor_on(store: Store) -> None:
    site, hub = news_site(store)
    assert store.monitor.cursors() == (0, 0)
    for number in range(3):
        at = START + number * HOUR
        link = seen(f"{HOME}{number}.html", fate="announce", published_at=at - 60)
        store.write.visit(visit_of(site, hub, at, link, keep_missing=True))
    visits, delays = store.monitor.visits_after(0), store.monitor.delays_after(0)
    assert visits.counts == {"fetched": 3}
    assert (delays.announced, delays.seconds) == (3, (60.0,) * 3)
    assert store.monitor.visits_after(visits.cursor).counts == {}
    assert store.monitor.delays_after(delays.cursor).announced == 0
    assert store.monitor.cursors() == (visits.cursor, delays.cursor)


def test_counts_by_time_fall_into_whole_steps(store: Store) -> None:
    site, hub = news_site(store)
    for number, minutes in enumerate((0, 59, 60, 179)):
        link = seen(f"{HOME}{number}.html", fate="announce")
        at = START + minutes * 60
        store.write.visit(visit_of(site, hub, at, link, keep_missing=True))
    assert store.monitor.news_by_time(START, HOUR) == {0: 2, 1: 1, 2: 1}
    assert store.monitor.visits_by_time(START + HOUR, HOUR) == {
        (0, "fetched"): 1,
        (1, "fetched"): 1,
    }
    assert store.monitor.last_announced() == {site: START + 179 * 60}


def test_what_is_due_and_which_hosts_wait(store: Store) -> None:
    news_site(store)
    assert (store.monitor.queue(START).hubs, store.monitor.queue(START - 1).hubs) == (1, 0)
    for name, at, failures in (("a", START + 60, 0), ("b", START - 9, 2), ("c", START - 9, 0)):
        store.write.put_host(HostRow(name, at, failures, None, None))
    waits = store.monitor.host_waits(START)
    assert [(wait.name, wait.seconds, wait.failures) for wait in waits] == [
        ("a", 60.0, 0),
        ("b", 0.0, 2),
    ]


def test_another_thread_reads_and_writes_on_a_connection_of_its_own(store: Store) -> None:
    news_site(store)
    seen_there: list[object] = []

    def elsewhere() -> None:
        with store.in_this_thread() as mine:
            mine.write.update_site(1, state=SiteStatus.PAUSED)
            seen_there.append(mine.read.sites()[0].state)
        seen_there.append(store.database.is_closed())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen_there == ["paused", True]
    assert store.read.sites()[0].state == "paused"
