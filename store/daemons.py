"""Daemons that share a PostgreSQL store: the running ones, the owner of each site, requests by host.

::

    join ──> row in daemon ──beat, every few seconds──> lease goes on
               │                        lease over ──> any daemon may remove the row, and with it
               └ daemon_site: its sites, host_claim: its requests          everything it held

A daemon's possessions refer to its row, and ids are never reused. So a removed daemon can take nothing, and
its transactions fail (:class:`~store.database.postgres.ServerDatabase`).
All times are the server's.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from peewee import IntegrityError

from store.database import is_sqlite, writing
from store.database.repository import Repository
from store.errors import StoreFencedError, StoreLockedError

# Written $now in statements.
_NOW: Final = "extract(epoch FROM clock_timestamp())::float8"
# Advisory locks: daemons register one at a time; none joins while a store is copied.
_REGISTER_LOCK: Final = 0x48554258
_ALONE_LOCK: Final = 0x48554259
# Seconds until the next try at a host that another daemon is using.
BUSY_SECONDS: Final = 1.0
_LEAST_SECONDS: Final = 0.01
# Seconds for which a turn is reserved for a refused daemon.
_TURN_SECONDS: Final = 5.0
# Claims are deleted this long after their host was free again.
_KEPT_SECONDS: Final = 3_600

_TAKE_HOST: Final = """
WITH freed AS (
    UPDATE host_claim c SET daemon_id = NULL, free_at = $now + f.wait
    FROM unnest(%(names)s::text[], %(waits)s::float8[]) AS f(name, wait)
    WHERE c.name = f.name AND c.daemon_id = %(me)s AND c.name <> %(host)s
), taken AS (
    INSERT INTO host_claim AS h (name, daemon_id, free_at, next_until)
    VALUES (%(host)s, %(me)s, $now + %(delay)s, 0)
    ON CONFLICT (name) DO UPDATE
    SET daemon_id = EXCLUDED.daemon_id, free_at = EXCLUDED.free_at, next_daemon = NULL
    WHERE (h.daemon_id = %(me)s OR (h.daemon_id IS NULL AND h.free_at <= $now))
    AND (h.next_daemon IS NULL OR h.next_daemon = %(me)s OR h.next_until < $now)
    RETURNING 1
), waits AS (
    UPDATE host_claim SET
        daemon_id = nullif(daemon_id, %(me)s),
        free_at = CASE WHEN daemon_id = %(me)s THEN $now ELSE free_at END,
        next_daemon = CASE
            WHEN next_daemon IS NULL OR next_until < $now THEN %(me)s ELSE next_daemon END,
        next_until = CASE
            WHEN next_daemon IS NULL OR next_until < $now OR next_daemon = %(me)s
            THEN CASE WHEN daemon_id IS NULL THEN greatest(free_at, $now) ELSE $now END + %(keep)s
            ELSE next_until END
    WHERE name = %(host)s AND NOT EXISTS (SELECT 1 FROM taken)
    RETURNING CASE WHEN daemon_id IS NULL THEN free_at - $now ELSE 0 END AS wait,
        daemon_id IS NULL AND next_daemon = %(me)s AS is_next
) SELECT (SELECT count(*) FROM taken), (SELECT wait FROM waits), (SELECT is_next FROM waits)
"""
_TAKEN_OVER: Final = "another daemon has taken over the sites of this one"


@dataclass(frozen=True, slots=True)
class DaemonRow:
    """A running daemon. Ages are in seconds, by the server's clock."""

    id: int
    name: str
    version: str
    beat_age: float
    """Since the last heartbeat."""
    lives: bool
    """Whether its lease is running."""
    is_leader: bool
    sites: int


class Daemons(Repository):
    """The daemons of one store; none in a SQLite file, which has its lock."""

    def all(self) -> list[DaemonRow]:
        """Return all daemons, oldest first, including those with an expired lease."""
        if is_sqlite(self._db):
            return []
        statement = (
            "SELECT id, name, version, ($now - beat_at)::float8, lease_until > $now, is_leader, "
            "(SELECT count(*) FROM daemon_site WHERE daemon_id = daemon.id) "
            "FROM daemon ORDER BY id"
        )
        return [DaemonRow(*row) for row in self._run(statement)]

    def live(self) -> list[DaemonRow]:
        """Return the daemons with a valid lease."""
        return [one for one in self.all() if one.lives]

    # Joining and leaving.

    def join(self, name: str, *, version: str, lease_seconds: float) -> int:
        """Register a daemon and return its id.

        Raises:
            StoreLockedError: the store is being copied, or a program has it for itself.
        """
        with writing(self._db, self._where):
            self._lock()
            if not self._run("SELECT pg_try_advisory_xact_lock_shared(%s)", _ALONE_LOCK)[0][0]:
                raise StoreLockedError(
                    "another program has this store for itself: it is copied, or crawled"
                )
            self._evict()
            statement = (
                "INSERT INTO daemon (name, version, beat_at, lease_until, is_leader) "
                "SELECT %s, %s, t, t + %s, FALSE "
                "FROM (SELECT $now AS t) AS now RETURNING id"
            )
            return int(self._run(statement, name, version, lease_seconds)[0][0])

    def beat(self, daemon: int, lease_seconds: float) -> bool:
        """Prolong a daemon's lease, even an expired one; False = it was removed."""
        # While the server was away no daemon could have taken over.
        statement = (
            "UPDATE daemon SET beat_at = $now, lease_until = $now + %s WHERE id = %s RETURNING id"
        )
        return bool(self._run(statement, lease_seconds, daemon))

    def leave(self, daemon: int) -> None:
        """Remove a daemon; its sites are free at once."""
        self._run("DELETE FROM daemon WHERE id = %s RETURNING id", daemon)

    def meet(self, daemon: int, *, lease_seconds: float) -> list[DaemonRow]:
        """Remove daemons with an expired lease, choose a leader, and return the running daemons.

        Raises:
            StoreFencedError: this daemon was removed.
        """
        with writing(self._db, self._where):
            self._lock()
            if not self.beat(daemon, lease_seconds):
                raise StoreFencedError(_TAKEN_OVER)
            self._evict()
            there = self.all()
            if not any(one.is_leader for one in there) and there[0].id == daemon:
                self._run("UPDATE daemon SET is_leader = TRUE WHERE id = %s RETURNING id", daemon)
            self._run(
                "DELETE FROM host_claim WHERE daemon_id IS NULL "
                "AND free_at < $now - %s RETURNING name",
                _KEPT_SECONDS,
            )
            return self.all()

    def _lock(self) -> None:
        self._run("SELECT pg_advisory_xact_lock(%s)", _REGISTER_LOCK)

    def _evict(self) -> None:
        # A daemon in a transaction may finish it: its row is locked, and is removed the next time.
        self._run(
            "DELETE FROM daemon WHERE id IN (SELECT id FROM daemon WHERE lease_until < $now "
            "FOR UPDATE SKIP LOCKED) RETURNING id"
        )

    def keep_out(self) -> list[DaemonRow]:
        """Keep daemons from joining until the connection ends; return the running ones.

        Raises:
            StoreLockedError: another program keeps them out already, or a daemon is just joining.
        """
        if is_sqlite(self._db):
            return []
        if not self._run("SELECT pg_try_advisory_lock(%s)", _ALONE_LOCK)[0][0]:
            raise StoreLockedError("another program has this store for itself; try again later")
        return self.live()

    # Sites.

    def count_sites(self) -> tuple[int, int, int]:
        """Return the number of sites, the last one's id, and the number of sites with an owner."""
        statement = (
            "SELECT (SELECT count(*) FROM site), (SELECT coalesce(max(id), 0) FROM site), "
            "(SELECT count(*) FROM daemon_site)"
        )
        count, last, taken = self._run(statement)[0]
        return int(count), int(last), int(taken)

    def holders(self) -> dict[int, int | None]:
        """Return the daemon of each site, by ids; None = no owner."""
        statement = "SELECT id, daemon_id FROM site LEFT JOIN daemon_site ON site_id = id"
        return dict(self._run(statement))

    def take_sites(self, daemon: int, sites: Collection[int]) -> set[int]:
        """Take those of *sites* without an owner; return them.

        Raises:
            StoreFencedError: the daemon was removed.
        """
        statement = (
            "INSERT INTO daemon_site (site_id, daemon_id) SELECT id, %s FROM site "
            "WHERE id = ANY(%s) ON CONFLICT DO NOTHING RETURNING site_id"
        )
        return {int(one) for (one,) in self._run(statement, daemon, list(sites))}

    def give_sites(self, daemon: int, sites: Collection[int]) -> None:
        """Give sites up."""
        statement = (
            "DELETE FROM daemon_site WHERE daemon_id = %s AND site_id = ANY(%s) RETURNING site_id"
        )
        self._run(statement, daemon, list(sites))

    # Hosts.

    def take_host(
        self, daemon: int, host: str, *, delay_seconds: float, freed: Mapping[str, float]
    ) -> float:
        """Take a host for one request and release others; return 0, or the seconds to wait for it.

        One statement. *freed*: seconds from now until each may be asked again. *delay_seconds*: the pause if
        this daemon dies during the request. A refused daemon gets the next turn, for a few seconds;
        otherwise a busy one could keep the host for itself.

        Raises:
            StoreFencedError: the daemon was removed.
        """
        ((taken, wait, is_next),) = self._run(
            _TAKE_HOST,
            names=list(freed),
            waits=list(freed.values()),
            me=daemon,
            host=host,
            delay=delay_seconds,
            keep=_TURN_SECONDS,
        )
        if taken:
            return 0.0
        return max(float(wait or 0.0), _LEAST_SECONDS if is_next else BUSY_SECONDS)

    def settle_hosts(self, daemon: int, waits: Mapping[str, float], busy: Sequence[str]) -> None:
        """Record hosts' pauses (*waits*, seconds from now), and which hosts are *busy*; others are not."""
        held = (
            "INSERT INTO host_claim AS h (name, daemon_id, free_at, next_until) "
            "SELECT name, holder, $now + wait, 0 "
            "FROM unnest(%s::text[], %s::int[], %s::float8[]) AS f(name, holder, wait) "
            "ON CONFLICT (name) DO UPDATE SET daemon_id = EXCLUDED.daemon_id, "
            "free_at = CASE WHEN h.daemon_id IS NOT NULL AND EXCLUDED.daemon_id IS NULL "
            "THEN EXCLUDED.free_at ELSE greatest(h.free_at, EXCLUDED.free_at) END "
            "WHERE h.daemon_id IS NULL OR h.daemon_id = %s RETURNING name"
        )
        over = (
            "UPDATE host_claim SET daemon_id = NULL WHERE daemon_id = %s "
            "AND NOT name = ANY(%s) RETURNING name"
        )
        names = [*(one for one in waits if one not in busy), *busy]
        holders = [daemon if one in busy else None for one in names]
        seconds = [waits.get(one, 0.0) for one in names]
        if names:
            self._run(held, names, holders, seconds, daemon)
        self._run(over, daemon, list(busy))

    def _run(self, statement: str, *values: object, **named: object) -> list[tuple[Any, ...]]:
        """Run a statement that returns rows, with values by place or by name.

        Raises:
            StoreFencedError: it names a daemon that was removed.
        """
        sql = statement.replace("$now", _NOW)
        try:
            return self._sql(sql, named or values)
        except IntegrityError as error:
            raise StoreFencedError(_TAKEN_OVER) from error
