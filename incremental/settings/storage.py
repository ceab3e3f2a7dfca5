"""Where a configured store is. Apart from the wiring, so that commands that only read start quickly."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from incremental.base.errors import SettingsError
from incremental.settings import Settings
from store import Store, open_store
from store.database.failures import of_file
from store.database.home import (
    BACKING_UP,
    DATABASE,
    RESTORING,
    SETTINGS_NOTE,
    SIDE_FILES,
    TREES,
    UPGRADE_COPY,
    is_open_to_others,
    make_file,
    make_folder,
    remove_abandoned,
    tighten,
)
from store.errors import StoreLockedError

if TYPE_CHECKING:
    from store.database.postgres import ServerBounds

MEGABYTE = 1_000_000
# A daemon that is frozen in a transaction holds its locks; then the server ends its session.
IDLE_IN_TRANSACTION_SECONDS = 15.0
CRAWLER_LOCK = "crawler.lock"
logger = logging.getLogger("hubwatch.storage")


def open_configured_store(
    settings: Settings,
    folder: Path,
    *,
    busy_seconds: float | None = None,
) -> Store:
    """Open the configured store; relative paths are relative to *folder*.

    *busy_seconds*: how long to wait for another process that writes; None = 30.

    Raises:
        StoreError: see :func:`store.open_store`.
    """
    where = store_address(settings, folder)
    if "://" in settings.store.cache:
        raise SettingsError(
            "[store] cache", settings.store.cache, "a folder; machines may share it"
        )
    quota = int(settings.store.cache_quota_mb * MEGABYTE)
    cache = folder / (settings.store.cache or Path(settings.store.folder) / "pages")
    return open_store(
        where,
        cache_folder=cache,
        cache_quota_bytes=quota,
        busy_seconds=busy_seconds,
        bounds=_bounds(settings) if settings.store.database else None,
    )


def _bounds(settings: Settings) -> ServerBounds:
    """Return what this process may ask of PostgreSQL."""
    from store.database.postgres import ServerBounds  # noqa: PLC0415 - most stores are files

    return ServerBounds(
        settings.store.connections,
        settings.store.statement_seconds,
        IDLE_IN_TRANSACTION_SECONDS,
        keep=True,
    )


def store_address(settings: Settings, folder: Path) -> str:
    """Return the ``postgresql://`` URL or the path of the database that the settings name.

    Raises:
        SettingsError: it is the address of something else.
    """
    database = settings.store.database
    if "://" in database and not database.startswith(("postgresql://", "postgres://")):
        way_out = "must be empty (SQLite) or begin with postgresql://"
        raise SettingsError("store.database", database.split("://")[0] + "://...", way_out)
    return database or str(folder / settings.store.folder / DATABASE)


class AlreadyRunningError(StoreLockedError):
    """Another crawler, or another discovery of the topic, is at work."""


def is_read_only(settings: Settings, folder: Path) -> bool:
    """Return whether the store's folder is in a file system that is mounted read-only."""
    home = folder / settings.store.folder
    place = next((one for one in (home, *home.parents) if one.exists()), folder)
    return bool(os.statvfs(place).f_flag & os.ST_RDONLY)


@contextlib.contextmanager
def only_writer(settings: Settings, folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Lock the store's folder for one crawler, or for those of one PostgreSQL store (*shared*).

    Removes what killed backups and restores left in its folder.

    Raises:
        AlreadyRunningError: another crawler holds it.
    """
    home = folder / settings.store.folder
    # Two crawlers would fetch everything twice.
    taken = f"another crawler is at work on {home}; stop it first"
    with _alone(home / CRAWLER_LOCK, taken, shared=shared):
        for prefix in (RESTORING, BACKING_UP) if (home / DATABASE).exists() else ():
            remove_abandoned(home, prefix)
        yield


def crawler_at_work(settings: Settings, folder: Path) -> bool | None:
    """Whether a daemon or single run uses the store; None for PostgreSQL, which is not locked."""
    if settings.store.database:
        return None
    try:
        with (folder / settings.store.folder / CRAWLER_LOCK).open() as lock:
            # Shared, so that two simultaneous checks do not take each other for a daemon.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def daemon_at_work(store: Store, settings: Settings, folder: Path) -> bool:
    """Whether a crawler uses the open *store*; on a shared one, whichever machine it runs on."""
    here = crawler_at_work(settings, folder)
    return bool(store.daemons.live()) if here is None else here


def keep_private(settings: Settings, folder: Path, file: Path | None) -> None:
    """Remove other users' access to the store and to the settings *file*; log what changed or could not."""
    # They hold passwords, token digests and pages behind logins.
    home = folder / settings.store.folder
    if file is not None and tighten([file]):
        logger.info("%s can be read by you alone now, because it may hold passwords", file)
    # A private folder protects everything below it. In the settings' folder may be other files, too.
    names = (DATABASE, *SIDE_FILES, CRAWLER_LOCK, *TREES, UPGRADE_COPY)
    own = map(home.joinpath, names) if home.resolve() == folder.resolve() else [home]
    for path in tighten(own):
        logger.warning("%s was open to other users of this machine; it is no longer", path)
    if file is not None and is_open_to_others(file):
        logger.warning("%s can be read by other users of this machine: chmod 600 it", file)


def same_settings(settings: Settings, folder: Path, file: Path | None) -> None:
    """Refuse to fall back to the defaults if the settings file used before is gone.

    The file's name is kept beside the store (:func:`note_settings`).

    Raises:
        SettingsError: names the file and the ways out.
    """
    note = folder / settings.store.folder / SETTINGS_NOTE
    # Budgets, scopes and the password would change silently between two starts.
    if file is None and note.exists():
        way_out = (
            "was this store's settings file and is not there; bring it back, name it with --config, "
            f"or delete {note} to go on with the defaults"
        )
        raise SettingsError("config", note.read_text(encoding="utf-8").strip(), way_out)


def note_settings(settings: Settings, folder: Path, file: Path | None) -> None:
    """Keep the name of the settings *file* beside the store, which must be there already."""
    # Not before: a note without a database means that the database was lost.
    if file is not None:
        note = folder / settings.store.folder / SETTINGS_NOTE
        make_folder(note.parent)
        make_file(note)
        note.write_text(f"{file.resolve()}\n", encoding="utf-8")


def only_one(
    settings: Settings, folder: Path, name: str, problem: str
) -> contextlib.AbstractContextManager[None]:
    """Hold the lock *name* beside the store.

    Raises:
        AlreadyRunningError: another process holds it; *problem* says what it does.
    """
    return _alone(folder / settings.store.folder / name, problem)


@contextlib.contextmanager
def _alone(path: Path, problem: str, *, shared: bool = False) -> Iterator[None]:
    try:
        make_folder(path.parent)
        make_file(path)
        file = path.open("w")
    except OSError as error:
        raise of_file(error, path) from error
    # The operating system's lock ends with the process.
    with file as lock:
        try:
            fcntl.flock(lock, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunningError(problem) from None
        yield


def models_folder(settings: Settings, folder: Path) -> Path:
    """Return the folder of the trained versions of the hub classifier, in that of the store."""
    return folder / settings.store.folder / "models"
