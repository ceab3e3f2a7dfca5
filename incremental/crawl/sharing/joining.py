"""Taking a daemon's place on a PostgreSQL store, from the settings."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

from incremental.base.clock import Clock
from incremental.crawl.sharing.membership import Membership
from incremental.settings import Settings
from incremental.settings.storage import AlreadyRunningError, open_configured_store
from store import Store
from store.daemons import DaemonRow


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
    with open_configured_store(settings, folder, busy_seconds=busy_seconds) as register:
        place = Membership(
            register,
            store,
            clock,
            name=f"{platform.node()}-{os.getpid()}",
            version=version("hubwatch"),
            lives=lives,
        )
        with contextlib.closing(place):
            yield place


def refuse_beside(rows: list[DaemonRow]) -> None:
    """Refuse to work on a store on which daemons are at work.

    Raises:
        AlreadyRunningError: names them.
    """
    if rows:
        names = ", ".join(one.name for one in rows)
        raise AlreadyRunningError(f"daemons are at work on this store: {names}; stop them first")
