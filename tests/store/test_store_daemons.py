"""Daemons that share a PostgreSQL store: each place, site and host is one's at a time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from lab.daemon_process import wait_until
from lab.postgres_server import PostgresServer
from stories import START

from store import Store, open_store
from store.daemons import BUSY_SECONDS, DaemonRow, Daemons
from store.enums import SiteStatus
from store.errors import StoreFencedError, StoreLockedError
from store.models import Daemon, DaemonSite, HostClaim

LONG, OVER = 60.0, -1.0
HOST = "www.news.example"


@pytest.fixture
def shared(postgres: PostgresServer, tmp_path: Path) -> Iterator[Store]:
    """A store on PostgreSQL with six sites."""
    with open_store(postgres.empty_database(), cache_folder=tmp_path) as opened:
        for number in range(6):
            opened.write.add_site(f"https://{number}.example/", f"{number}", now=START)
        yield opened


def joined(daemons: Daemons, name: str = "a", lease: float = LONG) -> int:
    return daemons.join(name, version="1", lease_seconds=lease)


def met(daemons: Daemons, daemon: int) -> list[DaemonRow]:
    return daemons.meet(daemon, lease_seconds=LONG)


def fence(store: Store, daemon: int | None) -> None:
    database: Any = store.database
    database.write_for(daemon)


def test_the_oldest_daemon_leads_and_the_next_one_when_it_has_gone(shared: Store) -> None:
    daemons = shared.daemons
    first, second = joined(daemons), joined(daemons)
    met(daemons, second)
    assert not any(one.is_leader for one in daemons.all())
    assert [one.is_leader for one in met(daemons, first)] == [True, False]
    daemons.leave(first)
    assert [(one.id, one.is_leader) for one in met(daemons, second)] == [(second, True)]


def test_one_whose_lease_is_over_goes_on_until_another_removes_it(shared: Store) -> None:
    daemons = shared.daemons
    first = joined(daemons, lease=OVER)
    assert [one.lives for one in daemons.all()] == [False]
    assert daemons.beat(first, OVER), "the server was away, and nobody else was there"
    second = joined(daemons)
    assert [one.id for one in daemons.all()] == [second]
    assert not daemons.beat(first, LONG)
    with pytest.raises(StoreFencedError):
        met(daemons, first)


def test_a_dead_daemon_gives_its_sites_free(shared: Store) -> None:
    daemons = shared.daemons
    first = joined(daemons, lease=OVER)
    assert daemons.take_sites(first, [1, 2]) == {1, 2}
    second = joined(daemons)
    assert set(daemons.holders().values()) == {None}
    with pytest.raises(StoreFencedError):
        daemons.take_sites(first, [3])
    assert daemons.take_sites(second, [1, 3]) == {1, 3}


def test_a_site_is_one_daemons(shared: Store) -> None:
    daemons = shared.daemons
    first, second = joined(daemons), joined(daemons)
    assert daemons.take_sites(first, [1, 2, 99]) == {1, 2}
    assert daemons.take_sites(second, [1, 2, 3]) == {3}
    daemons.give_sites(second, [1])
    daemons.give_sites(first, [2])
    assert daemons.holders() == {1: first, 2: None, 3: second, 4: None, 5: None, 6: None}
    assert daemons.count_sites() == (6, 6, 2)
    shared.write.remove_site(3)
    assert daemons.count_sites() == (5, 6, 1)


def test_a_daemon_that_was_removed_writes_nothing(shared: Store) -> None:
    daemon = joined(shared.daemons)
    fence(shared, daemon)
    shared.write.update_site(1, state=SiteStatus.PAUSED)
    with shared.write.together():
        shared.write.update_site(2, state=SiteStatus.PAUSED)
    fence(shared, None)
    shared.daemons.leave(daemon)
    fence(shared, daemon)
    with pytest.raises(StoreFencedError):
        shared.write.update_site(3, state=SiteStatus.PAUSED)
    with pytest.raises(StoreFencedError), shared.write.together():
        shared.write.update_site(4, state=SiteStatus.PAUSED)
    with pytest.raises(StoreFencedError):
        shared.check_writable()
    states = [row.state for row in shared.read.sites()]
    assert states == ["paused", "paused", *["active"] * 4]
    fence(shared, None)
    shared.write.update_site(3, state=SiteStatus.PAUSED)


def test_a_thread_goes_on_writing_for_the_daemon_that_it_began_under(shared: Store) -> None:
    first, second = joined(shared.daemons), joined(shared.daemons)
    fence(shared, first)
    begun, gone = Event(), Event()

    def work() -> None:
        with shared.in_this_thread():
            shared.read.sites()
            begun.set()
            gone.wait()
            shared.write.update_site(1, state=SiteStatus.PAUSED)

    with ThreadPoolExecutor(1) as executor:
        future = executor.submit(work)
        begun.wait()
        fence(shared, None)
        shared.daemons.leave(first)
        fence(shared, second)
        gone.set()
        with pytest.raises(StoreFencedError):
            future.result()
    shared.write.update_site(2, state=SiteStatus.PAUSED)


def test_nobody_takes_a_place_in_the_middle_of_its_transaction(
    shared: Store, tmp_path: Path
) -> None:
    daemon = joined(shared.daemons, lease=OVER)
    fence(shared, daemon)
    with open_store(shared.where, cache_folder=tmp_path) as other:
        with shared.write.together():
            shared.write.update_site(1, state=SiteStatus.PAUSED)
            second = joined(other.daemons)
            assert [one.id for one in other.daemons.all()] == [daemon, second]
        assert [one.id for one in met(other.daemons, second)] == [second]
    with pytest.raises(StoreFencedError):
        shared.write.update_site(2, state=SiteStatus.PAUSED)


def test_a_host_is_asked_by_one_daemon_at_a_time_and_rests_in_between(shared: Store) -> None:
    daemons = shared.daemons
    first, second = joined(daemons), joined(daemons)

    def take(daemon: int, freed: dict[str, float] | None = None, host: str = HOST) -> float:
        return daemons.take_host(daemon, host, delay_seconds=0.0, freed=freed or {})

    assert take(first) == 0
    assert take(first) == 0, "its own gate knows that the request has ended"
    assert take(second) == BUSY_SECONDS
    assert take(first, {HOST: 40.0}, "other.example") == 0
    assert 35 < take(second) <= 40
    daemons.settle_hosts(first, {"other.example": 0.0}, [])
    assert take(second, host="other.example") == 0


def test_whoever_was_refused_has_the_next_turn_for_a_while(shared: Store) -> None:
    daemons = shared.daemons
    first, second = joined(daemons), joined(daemons)

    def take(daemon: int) -> float:
        return daemons.take_host(daemon, HOST, delay_seconds=0.0, freed={})

    assert take(first) == 0
    assert take(second) > 0
    assert take(first) > 0, "it asks again, and gives the host back"
    assert take(second) == 0
    assert take(first) > 0
    daemons.settle_hosts(second, {HOST: 0.0}, [])
    assert take(second) > 0, "the first one's turn"
    assert take(first) == 0
    HostClaim.update(next_daemon=second, next_until=1.0).execute(shared.database)
    assert take(first) == 0, "a turn that nobody takes is over"


def test_what_hosts_are_owed_is_known_before_another_daemon_begins(shared: Store) -> None:
    daemons = shared.daemons
    first, second = joined(daemons), joined(daemons)
    daemons.settle_hosts(first, {HOST: 30.0, "b.example": 5.0}, ["b.example"])
    assert 25 < daemons.take_host(second, HOST, delay_seconds=1.0, freed={}) <= 30
    waits = daemons.take_host(second, "b.example", delay_seconds=1.0, freed={})
    assert waits >= BUSY_SECONDS, "it is being asked"
    daemons.leave(first)
    daemons.settle_hosts(second, {}, [])
    assert daemons.take_host(second, "b.example", delay_seconds=0.0, freed={}) > 0, "still owed"
    with pytest.raises(StoreFencedError):
        daemons.take_host(first, "c.example", delay_seconds=1.0, freed={})


def test_a_host_that_was_given_back_rests_for_what_it_is_owed_not_for_what_a_death_would_cost(
    shared: Store,
) -> None:
    daemons = shared.daemons
    first, second = joined(daemons), joined(daemons)
    for host in (HOST, "b.example"):
        assert daemons.take_host(first, host, delay_seconds=60.0, freed={}) == 0
    daemons.settle_hosts(first, {HOST: 2.0}, ["b.example"])
    assert 0 < daemons.take_host(second, HOST, delay_seconds=0.0, freed={}) <= 2
    daemons.leave(first)
    assert 55 < daemons.take_host(second, "b.example", delay_seconds=0.0, freed={}) <= 60


def test_what_a_death_would_cost_keeps_nobody_waiting_while_the_daemon_lives(shared: Store) -> None:
    daemons = shared.daemons
    first, second, third = joined(daemons), joined(daemons), joined(daemons)

    def take(daemon: int) -> float:
        return daemons.take_host(daemon, HOST, delay_seconds=60.0, freed={})

    assert take(first) == 0
    assert take(second) == BUSY_SECONDS
    (claim,) = HostClaim.select().execute(shared.database)
    assert claim.next_until < claim.free_at, "its turn is over soon"
    daemons.settle_hosts(first, {HOST: 0.0}, [])
    assert take(third) > 0, "the second one's turn"
    assert take(second) == 0


def test_nobody_joins_a_store_that_a_program_has_for_itself(shared: Store, tmp_path: Path) -> None:
    daemon = joined(shared.daemons)
    with open_store(shared.where, cache_folder=tmp_path) as other:
        assert [one.id for one in other.daemons.keep_out()] == [daemon]
        with pytest.raises(StoreLockedError, match="has this store for itself"):
            joined(shared.daemons)
        with pytest.raises(StoreLockedError, match="has this store for itself"):
            shared.daemons.keep_out()

    def is_let_in() -> bool:
        with suppress(StoreLockedError):
            return bool(joined(shared.daemons))
        return False

    assert wait_until(is_let_in, 30), "the server has noticed that the connection is closed"


def test_a_sqlite_file_has_no_daemons(sqlite_store: Store) -> None:
    assert sqlite_store.daemons.all() == sqlite_store.daemons.keep_out() == []
    for table in (Daemon, DaemonSite, HostClaim):
        assert not list(table.select().execute(sqlite_store.database))
