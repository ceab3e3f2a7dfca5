"""PostgreSQL as a store: pooled connections with bounds, and the fence of a daemon that lost its place.

::

    thread ── connect ──> pool ── asked once whether it lives ──> connection with bounds
    fenced: BEGIN; is this daemon still registered?  ... COMMIT      one round trip, as without the fence

A server that restarts closes every connection. Idle ones are noticed when they are lent; one that was in
use fails once, as :class:`~store.errors.StoreLostError`, and is replaced when the daemon recovers.
"""

import threading
from dataclasses import dataclass
from typing import Any, Final

import peewee
from playhouse.pool import MaxConnectionsExceeded, PooledPostgresqlDatabase

from store.errors import StoreFencedError

_WRITES: Final = ("INSERT", "UPDATE", "DELETE", "WITH")


@dataclass(frozen=True, slots=True)
class ServerBounds:
    """A process's limits on the server; 0 seconds = no limit."""

    connections: int = 16
    """At a time."""
    statement_seconds: float = 0.0
    """Longest time of a statement."""
    idle_seconds: float = 0.0
    """Longest pause within a transaction: a process that is frozen in one holds its locks so long."""
    wait_seconds: float = 10.0
    """Seconds to wait for a free connection."""
    keep: bool = False
    """Whether connections are kept for later threads."""

    @property
    def options(self) -> str:
        """As libpq passes them on: https://www.postgresql.org/docs/current/libpq-connect.html."""
        limits = {
            "statement_timeout": self.statement_seconds,
            "idle_in_transaction_session_timeout": self.idle_seconds,
        }
        return " ".join(f"-c {name}={limits[name] * 1000:.0f}" for name in limits if limits[name])


class ServerDatabase(PooledPostgresqlDatabase):  # type: ignore[misc]  # playhouse has no types
    """A PostgreSQL database with a limited number of connections."""

    keeps = False
    """Whether a returned connection stays open."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - peewee's own
        super().__init__(*arguments, **options)
        self._daemon: int | None = None
        # A long-running thread, such as discovery, writes for the daemon under which it started.
        self._of_thread = threading.local()

    def write_for(self, daemon: int | None) -> None:
        """Attribute writes of this thread, and of others once they connect, to a daemon.

        *daemon*: its id, of which no transaction succeeds once it was removed; None = no daemon's.
        """
        self._daemon = self._of_thread.daemon = daemon

    @property
    def _fence(self) -> int | None:
        found: int | None = getattr(self._of_thread, "daemon", self._daemon)
        return found

    def connect(self, reuse_if_open: bool = False) -> bool:
        """Connect the calling thread."""
        self._of_thread.daemon = self._daemon
        try:
            return bool(super().connect(reuse_if_open))
        except MaxConnectionsExceeded as error:
            way_out = "all connections are in use; set a higher [store] connections"
            raise peewee.OperationalError(way_out) from error

    def _can_reuse(self, connection: Any) -> bool:  # noqa: ANN401 - a driver's connection
        return self.keeps and bool(super()._can_reuse(connection))

    def dispose(self) -> None:
        """Close the calling thread's connection, whatever its state, and those that are idle."""
        self.close_idle()
        connection = self._state.conn
        if connection is not None:
            with self._pool_lock:
                self._in_use.pop(self.conn_key(connection), None)
            self._close_raw(connection)
        peewee.Database.dispose(self)

    def begin(self, isolation_level: str | None = None) -> None:
        """Begin a transaction; a daemon cannot be removed during its own.

        Raises:
            StoreFencedError: the daemon was removed.
        """
        fence = self._fence
        if fence is None:
            super().begin(isolation_level)
            return
        with peewee.__exception_wrapper__:  # type: ignore[attr-defined]  # as execute_sql does
            cursor: Any = self.cursor()
            # The lock allows the heartbeat, and blocks removal of the row.
            held = f"SELECT 1 FROM daemon WHERE id = {fence:d} FOR KEY SHARE"  # noqa: S608 - a number
            cursor.execute(f"BEGIN; {held}")
            cursor.nextset()
            if cursor.fetchone() is not None:
                return
            cursor.execute("ROLLBACK")
        raise StoreFencedError(
            "another daemon has taken over the sites of this one, which joins again"
        )

    def execute_sql(self, sql: str, params: Any = None) -> Any:  # noqa: ANN401 - a driver's
        """Run a statement; a single write of a daemon is a transaction, for its fence."""
        if self._fence is None or self.in_transaction() or not sql.lstrip().startswith(_WRITES):
            return super().execute_sql(sql, params)
        with self.atomic():
            return super().execute_sql(sql, params)
