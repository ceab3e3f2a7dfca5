"""Places of daemons on one store, in one process: whose clocks differ by days."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from lab.clocks import SimulatedClock
from lab.postgres_server import PostgresServer
from stories import DAY, START

from incremental.crawl.sharing import LEASE_SECONDS, Membership
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from store import Store, open_store
from store.enums import SiteStatus
from store.errors import StoreFencedError

SITES = set(range(1, 9))
URL = "https://1.example/"


@dataclass
class Place:
    """A daemon's place with what its crawler would have."""

    member: Membership
    clock: SimulatedClock
    gate: HostGate
    store: Store

    def step(self, *under_way: int) -> bool:
        return self.member.step(self.gate, under_way, self.clock.now())

    @property
    def sites(self) -> set[int]:
        return {one for one in SITES if self.member.has(one)}


class Places:
    """Daemons on one store, each with its own clock."""

    def __init__(self, where: str, folder: Path, stack: contextlib.ExitStack) -> None:
        self._where = where
        self._folder = folder
        self._stack = stack

    def open(self) -> Store:
        return self._stack.enter_context(open_store(self._where, cache_folder=self._folder))

    def join(self, now: float = START) -> Place:
        register, store, clock = self.open(), self.open(), SimulatedClock(now)
        member = Membership(register, store, clock)
        self._stack.callback(member.close)
        member.join()
        return Place(member, clock, HostGate(store, Settings(), member.turns), store)


@pytest.fixture
def places(postgres: PostgresServer, tmp_path: Path) -> Iterator[Places]:
    with contextlib.ExitStack() as stack:
        found = Places(postgres.empty_database(), tmp_path, stack)
        store = found.open()
        for number in SITES:
            store.write.add_site(f"https://{number}.example/", f"{number}", now=START)
        yield found


def visit(place: Place, url: str, *, retry_after: float | None = None) -> None:
    """Ask a host as the frontier does, and end the request at once."""
    now = place.clock.now()
    answer = place.gate.take(url, place.gate.ask(url, now), now)
    assert answer.allowed_at <= now
    place.gate.occupy(url, now)
    status = FetchStatus.FETCHED if retry_after is None else FetchStatus.RATE_LIMITED
    place.gate.release(url, Response(url, status, retry_after_seconds=retry_after), now)


def owed(place: Place, url: str) -> float:
    now = place.clock.now()
    return max(place.gate.take(url, place.gate.ask(url, now), now).allowed_at - now, 0.0)


def test_alone_a_daemon_has_every_site_and_leads(places: Places) -> None:
    first = places.join()
    assert not first.sites
    assert first.step()
    assert first.sites == SITES
    assert first.member.is_leader
    assert not first.step()


def test_a_newcomer_waits_until_no_visit_is_under_way(places: Places) -> None:
    first = places.join()
    first.step()
    second = places.join(START + 3 * DAY)
    second.step()
    assert not second.sites
    first.step(*SITES)
    kept = {one for one in SITES if first.member.gives_up(one)}
    assert kept
    assert first.sites == SITES - kept
    second.step()
    assert not second.sites, "visits are under way"
    first.step()
    second.step()
    assert (first.sites, second.sites) == (SITES - kept, kept)
    assert not second.member.is_leader
    first.member.leave()
    second.step()
    assert second.sites == SITES
    assert second.member.is_leader


class Meanwhile(list[int]):
    """No visit is under way; when that is looked at, something else happens first."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self._happens = happens

    def __iter__(self) -> Iterator[int]:
        self._happens()
        return iter(())


def test_sites_that_are_given_up_in_the_middle_of_a_step_are_taken_in_the_next(
    places: Places,
) -> None:
    """A daemon that thought itself settled left them alone for ever: found by killing 57 daemons."""
    first = places.join()
    first.step()
    second = places.join()
    first.step(*SITES)
    kept = {one for one in SITES if first.member.gives_up(one)}
    second.member.step(second.gate, Meanwhile(first.step), second.clock.now())
    assert not second.sites, "they were the other one's when it looked"
    second.step()
    assert second.sites == kept


def test_a_site_added_later_is_one_daemons(places: Places) -> None:
    first, second = places.join(), places.join()
    for place in (first, second, first, second):
        place.step()
    assert first.sites | second.sites == SITES
    first.store.write.remove_site(3)
    first.store.write.add_site("https://9.example/", "9", now=START)
    first.step()
    second.step()
    assert [place.member.has(9) for place in (first, second)].count(True) == 1


def test_pauses_of_hosts_hold_between_daemons_whose_clocks_differ_by_days(places: Places) -> None:
    first = places.join()
    first.step()
    visit(first, URL, retry_after=300.0)
    second = places.join(START + 3 * DAY)
    second.step()
    assert owed(second, "https://other.example/") == 0
    first.step()
    assert 250 < owed(second, URL) <= 300, "asked while it was alone"
    visit(first, "https://2.example/", retry_after=100.0)
    assert owed(second, "https://2.example/") > 0, "not given back yet, so taken for busy"
    second.clock.advance_to(second.clock.now() + 5)
    first.step()
    assert 90 < owed(second, "https://2.example/") <= 100


@pytest.mark.parametrize("minutes", [7.0, -7.0])
def test_daemons_whose_clocks_are_minutes_apart_share_the_sites_and_take_over_none_too_early(
    places: Places, minutes: float
) -> None:
    """A lease is much shorter than that, and begins and ends by the server's clock."""
    assert 60 * abs(minutes) > 2 * LEASE_SECONDS
    first, second = places.join(), places.join(START + 60 * minutes)
    for _ in range(3):
        first.step()
        second.step()
    shares = first.sites, second.sites
    assert all(shares)
    assert shares[0] | shares[1] == SITES
    assert not shares[0] & shares[1]
    assert all(one.lives for one in first.member.register.daemons.all())
    for _ in range(3):
        second.step()
        first.step()
    assert (first.sites, second.sites) == shares
    assert [first.member.holds, second.member.holds] == [True, True]
    assert [first.member.is_leader, second.member.is_leader] == [True, False]


def test_without_a_heartbeat_nothing_is_sent_and_then_it_goes_on_as_before(places: Places) -> None:
    first = places.join()
    first.step()
    sent: list[Request] = []

    def fetch(request: Request) -> Response:
        sent.append(request)
        return Response(request.url, FetchStatus.FETCHED)

    guarded = first.member.guarding(fetch)
    guarded(Request(URL))
    first.clock.advance_to(START + LEASE_SECONDS + 1)
    with pytest.raises(StoreFencedError):
        guarded(Request(URL))
    assert not first.member.is_leader
    first.member.come_back()
    guarded(Request(URL))
    assert len(sent) == 2
    assert first.sites == SITES, "nobody took over"


def test_one_that_was_removed_writes_nothing_and_joins_as_a_new_one(places: Places) -> None:
    first = places.join()
    first.step()
    other = places.open()
    (old,) = other.daemons.all()
    other.daemons.leave(old.id)
    with pytest.raises(StoreFencedError):
        first.store.write.update_site(1, state=SiteStatus.PAUSED)
    with pytest.raises(StoreFencedError):
        first.step()
    first.member._beat()
    assert not first.member.holds
    first.member.come_back()
    assert not first.sites
    first.store.write.update_site(1, state=SiteStatus.PAUSED)
    first.step()
    assert first.sites == SITES
    (new,) = other.daemons.all()
    assert new.id > old.id


def test_one_that_starts_alone_leaves_hosts_alone_that_the_dead_were_asking(
    places: Places,
) -> None:
    first = places.join()
    second = places.join()
    first.step()
    assert owed(first, URL) == 0
    first.member.close()  # as the end of the process does, in the middle of the request
    first.store.daemons.beat(first.member._id, -1.0)
    second.member.leave()
    again = places.join()
    again.step()
    assert again.sites == SITES
    assert owed(again, URL) > 0
