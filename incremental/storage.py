"""Where a configured store lies. Apart from the wiring, so that commands that only read start quickly."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from incremental.errors import SettingsError
from incremental.settings import Settings
from store import Store, open_store
from store.belongings import DATABASE
from store.errors import StoreLockedError
from store.workplace import BACKING_UP, RESTORING, remove_abandoned

MEGABYTE = 1_000_000
CRAWLER_LOCK = "crawler.lock"


def open_configured_store(settings: Settings, folder: Path) -> Store:
    """Open the store that the settings name; relative paths are relative to *folder*."""
    database = settings.store.database
    if "://" in database and not database.startswith(("postgresql://", "postgres://")):
        way_out = "must be empty (SQLite) or begin with postgresql://"
        raise SettingsError("store.database", database.split("://")[0] + "://...", way_out)
    home = folder / settings.store.folder
    where = settings.store.database or str(home / DATABASE)
    quota = int(settings.store.cache_quota_mb * MEGABYTE)
    return open_store(where, cache_folder=home / "pages", cache_quota_bytes=quota)


@contextlib.contextmanager
def only_writer(settings: Settings, folder: Path) -> Iterator[None]:
    """Hold the embedded store for one crawler: two would fetch everything twice.

    What backups and restores that were killed have left in its folder is removed.

    The lock is the operating system's, so it goes with the process, however that ends. PostgreSQL is
    not locked: who shares a server knows who runs what.

    Raises:
        StoreLockedError: another crawler holds it.
    """
    home = folder / settings.store.folder
    with _alone(home / CRAWLER_LOCK, f"another crawler is at work on {home}"):
        for prefix in (RESTORING, BACKING_UP) if (home / DATABASE).exists() else ():
            remove_abandoned(home, prefix)
        yield


@contextlib.contextmanager
def only_discoverer(settings: Settings, folder: Path, topic_id: int) -> Iterator[None]:
    """Hold a topic's discovery for one run: two would take up the same one where it was cut off.

    Raises:
        StoreLockedError: another one is under way, by hand or in the daemon's night.
    """
    lock = folder / settings.store.folder / f"discovery-{topic_id}.lock"
    with _alone(lock, "another search for sites of this topic is under way"):
        yield


@contextlib.contextmanager
def _alone(path: Path, problem: str) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise StoreLockedError(problem) from None
        yield


def models_folder(settings: Settings, folder: Path) -> Path:
    """Return where the learned versions of the hub classifier lie: in the folder of the store."""
    return folder / settings.store.folder / "models"
