"""A daemon among those that share a store: it joins, keeps its lease, takes and gives sites, and leaves.

::

    join ──> beat ──beat──beat──...                   a thread, every five seconds
      └────> step: who is at work?                    the crawler's thread, likewise
               ├ give sites that are another's now    once no visit of theirs is under way
               └ take sites that are ours and free
    frozen, cut off ──> removed by another ──> every write fails ──> come_back: join as a new one

Leases run by the server's clock; this process only measures durations, so machines' clocks may differ.

Which site is whose is a function of the daemons' ids alone, rendezvous hashing (highest random weight): every
daemon computes the same answer without asking. When one comes, it takes sites from the others and moves none
between them; when one goes, only its own move.

Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on
Networking 6 (1), 1998, section 3.
"""

from __future__ import annotations

import contextlib
import os
import platform
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

from incremental.base.clock import Clock
from incremental.crawl.part import Part
from incremental.fetch.status import Request, Response
from incremental.settings import Settings
from incremental.settings.storage import AlreadyRunningError, open_configured_store
from incremental.visit.host_gate import HostGate, HostTurns
from incremental.visit.visit import Fetch
from store import Store
from store.daemons import DaemonRow
from store.errors import StoreError, StoreFencedError

if TYPE_CHECKING:
    from store.database.postgres import ServerDatabase


def weight(daemon: int, site: int) -> int:
    """Return how much a daemon wants a site: evenly distributed, the same on every machine."""
    digest = blake2b(f"{daemon} {site}".encode(), digest_size=8).digest()
    return int.from_bytes(digest)


def part_of(daemon: int, daemons: Collection[int], sites: Iterable[int]) -> set[int]:
    """Return the *sites* of one of the *daemons*, all by id."""
    others = set(daemons) - {daemon}
    # Ties are practically impossible; broken by id.
    return {
        site
        for site in sites
        if all((weight(daemon, site), daemon) > (weight(one, site), one) for one in others)
    }


@contextlib.contextmanager
def membership(  # noqa: PLR0913 - what a daemon is known by
    settings: Settings,
    folder: Path,
    store: Store,
    clock: Clock,
    *,
    lives: Callable[[], bool],
    busy_seconds: float | None = None,
) -> Iterator[Membership]:
    """Yield the place of a daemon that writes to *store*, not joined yet; the heartbeat ends with it."""
    # Opened a second time: what keeps a daemon in its place must work when it has lost it.
    with (
        open_configured_store(settings, folder, busy_seconds=busy_seconds) as register,
        contextlib.closing(Membership(register, store, clock, lives=lives)) as place,
    ):
        yield place


def refuse_beside(rows: list[DaemonRow]) -> None:
    """Refuse to work on a store on which daemons are at work.

    Raises:
        AlreadyRunningError: names them.
    """
    if rows:
        names = ", ".join(one.name for one in rows)
        raise AlreadyRunningError(f"daemons are at work on this store: {names}; stop them first")


BEAT_SECONDS: Final = 5.0
# Four missed heartbeats. With the pause that the server grants within a transaction, a dead daemon's sites
# are another's within a minute.
LEASE_SECONDS: Final = 20.0
_FENCED: Final = "another daemon has taken over the sites of this one, which joins again"


class Membership(Part):
    """One daemon's place. Steps run in the crawler's thread; the heartbeat has one of its own."""

    def __init__(
        self,
        register: Store,
        fenced: Store,
        clock: Clock,
        *,
        lives: Callable[[], bool] = lambda: True,
    ) -> None:
        """Make a place, not joined yet.

        *register* and *fenced* are one store, opened twice: all that the crawler writes to *fenced* fails
        once this daemon was removed. *lives*: whether the crawler moves; else the lease ends.
        """
        self.register = register
        """The store for what no daemon's place has to do with, such as the web page."""
        self._fenced = fenced
        self._clock = clock
        self._lives = lives
        self._id = 0
        self._renewed = 0.0
        self._lost = True
        # Those that may be visited, and those that are kept until a visit has ended.
        self._sites: frozenset[int] = frozenset()
        self._leaving: frozenset[int] = frozenset()
        self._is_leader = False
        self._settled_for: object = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_beating, name="heartbeat", daemon=True)
        self.turns = HostTurns(register.daemons)

    # What the crawler asks.

    @property
    def is_leader(self) -> bool:
        """Whether this daemon does what is done once for all."""
        return self._is_leader and self.holds

    def has(self, site_id: int) -> bool:
        """Whether visits of a site may begin here."""
        return site_id in self._sites

    def gives_up(self, site_id: int) -> bool:
        """Whether a site is only kept until its visit has ended."""
        return site_id in self._leaving

    @property
    def holds(self) -> bool:
        """Whether the lease is running, as far as this process can know."""
        return not self._lost and self._clock.monotonic() - self._renewed < LEASE_SECONDS

    def check(self) -> None:
        """Refuse to go on without a lease.

        Raises:
            StoreFencedError: it is over.
        """
        if not self.holds:
            raise StoreFencedError(_FENCED)

    def guarding(self, fetch: Fetch) -> Fetch:
        """Return *fetch*, which sends nothing once the lease is over."""

        def guarded(request: Request) -> Response:
            self.check()
            return fetch(request)

        return guarded

    # Coming and going.

    def join(self) -> None:
        """Register, and begin the heartbeat.

        Raises:
            StoreUnavailableError: the store cannot be used.
        """
        self._sites = self._leaving = frozenset()
        self._is_leader, self._settled_for = False, None
        moment = self._clock.monotonic()
        name, daemons = f"{platform.node()}-{os.getpid()}", self.register.daemons
        found = daemons.join(name, version=version("hubwatch"), lease_seconds=LEASE_SECONDS)
        self._id, self._renewed, self._lost = found, moment, False
        fenced: ServerDatabase = self._fenced.database  # type: ignore[assignment]
        fenced.write_for(found)
        self.turns.begin(found)
        if not self._thread.is_alive():
            self._thread.start()

    def come_back(self) -> None:
        """Go on after the store could not be used: as before, or as a new daemon if it was removed."""
        self.register.recover()
        if not self._lost:
            self._beat()
        if self._lost:
            self.join()

    def leave(self) -> None:
        """Give everything up at once; no visit may be under way."""
        self.close()
        if not self._lost:
            self._lost = True
            with contextlib.suppress(StoreError), self.register.in_this_thread() as store:
                store.daemons.leave(self._id)

    def close(self) -> None:
        """End the heartbeat; others take over when the lease is over."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _keep_beating(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            # A daemon that stands still is as good as dead. While the server is away nobody takes over.
            if not self._lost and self._lives():
                with contextlib.suppress(StoreError), self.register.in_this_thread():
                    self._beat()

    def _beat(self) -> None:
        # What was begun before counts: the answer may take long.
        daemon, moment = self._id, self._clock.monotonic()
        if self.register.daemons.beat(daemon, LEASE_SECONDS):
            self._renewed = max(self._renewed, moment)
        elif daemon == self._id:
            self._lost = True

    # Sharing.

    def step(self, gate: HostGate, under_way: Collection[int], now: float) -> bool:
        """Take and give sites; return whether they changed, or who leads.

        *under_way*: ids of the sites that are being visited.

        Raises:
            StoreFencedError: this daemon was removed.
        """
        rows = self.register.daemons.meet(self._id, lease_seconds=LEASE_SECONDS)
        self.turns.settle(list(gate.busy), now)
        before = self._sites, self._is_leader
        self._is_leader = next(one.is_leader for one in rows if one.id == self._id)
        daemons = frozenset(one.id for one in rows)
        shape = (daemons, self.register.daemons.count_sites())
        if shape != self._settled_for:
            # What others give up meanwhile changes the shape, or is missing here.
            settled = self._divide(daemons, under_way)
            self._settled_for = shape if settled else None
        return (self._sites, self._is_leader) != before

    def _divide(self, present: Collection[int], under_way: Collection[int]) -> bool:
        """Take and give sites; return whether this daemon has just what is its own."""
        daemons = self.register.daemons
        holders = daemons.holders()
        wanted = part_of(self._id, present, holders)
        held = {site for site, holder in holders.items() if holder == self._id}
        leaving = held - wanted
        given = leaving.difference(under_way)
        if given:
            # First of all: no visit of theirs may begin any more.
            self._sites -= given
            daemons.give_sites(self._id, given)
        if free := {site for site in wanted if holders[site] is None}:
            held |= daemons.take_sites(self._id, free)
        self._leaving = frozenset(leaving - given)
        self._sites = frozenset((held & wanted) - self._leaving)
        return self._sites == wanted and not self._leaving
