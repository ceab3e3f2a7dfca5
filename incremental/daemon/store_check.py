"""Reading the whole database once, after a daemon that was killed, while the next one works.

SQLite survives kills and power cuts; disks that lie about what they have written do not. Commands and the
start of the daemon read only what they need, so that they take as long for a gigabyte as for nothing.
"""

from __future__ import annotations

import logging
from threading import Thread

from incremental.daemon.daemon import NEVER
from store import Store
from store.errors import StoreDamagedError, StoreError

logger = logging.getLogger("hubwatch.store_check")

_POLL_SECONDS = 5.0


class StoreCheck:
    """A job of the daemon that ends when the database has been read."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread: Thread | None = None
        self._damage: StoreDamagedError | None = None

    def step(self, now: float) -> float:
        """Begin, or see how it went; return when to call again.

        Raises:
            StoreDamagedError: the database is damaged.
        """
        if self._thread is None:
            self._thread = Thread(target=self._read, name="store check", daemon=True)
            self._thread.start()
        if self._thread.is_alive():
            return now + _POLL_SECONDS
        if self._damage is not None:
            raise self._damage
        return NEVER

    def _read(self) -> None:
        try:
            self._store.quick_check()
        except StoreDamagedError as error:
            self._damage = error
        except StoreError as error:
            logger.warning("the database could not be checked: %s", error)
        else:
            logger.info("the last daemon was killed; the database is sound")
