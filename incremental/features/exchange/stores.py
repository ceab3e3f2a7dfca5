"""Moving an installation from SQLite to PostgreSQL, or back: ``hubwatch migrate-store``.

The database is copied (:mod:`store.maintenance.copying`). Cached pages and models are files beside it and stay in their
folder; only where a store moves to another folder they are copied as well, before the database.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from incremental.base.errors import InputError
from incremental.crawl.sharing.joining import refuse_beside
from incremental.daemon.pulse import STALE_SECONDS, read_report
from incremental.settings.storage import alone_in
from store.daemons import Daemons
from store.database import close, is_server, open_database
from store.database.addresses import without_password
from store.database.failures import of_file
from store.database.home import DATABASE, SIDE_FILES, make_file, make_folder
from store.maintenance.backup import files_beside
from store.maintenance.copying import CopiedTable, Progress, check_unused, copy_store

if TYPE_CHECKING:
    from peewee import Database


@dataclass(frozen=True, slots=True)
class MovedStore:
    """What was copied."""

    tables: tuple[CopiedTable, ...]
    files: int
    """Cached pages and models; 0 = they stay where they are."""
    folder: Path
    """Where they are."""

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(table.rows for table in self.tables)


def move_store(
    source: str, target: str, home: Path, *, now: float, progress: Progress | None = None
) -> MovedStore:
    """Copy the store *source* to *target*: one is a folder, the other a ``postgresql://`` URL.

    *home* is the configured folder, which holds the pages and models of a PostgreSQL store.
    *source* is not changed, but for bringing its tables up to date.

    Raises:
        InputError: both are of one kind, *source* is no store, or a daemon is at work.
        StoreError: daemons are at work on the server, or see :func:`store.maintenance.copying.copy_store`.
    """
    if is_server(source) == is_server(target):
        way_out = "must be of the other kind: a folder to postgresql://..., or back"
        raise InputError("TO", without_password(target), way_out)
    old = home if is_server(source) else _folder(source)
    new = old if is_server(target) else _folder(target)
    if not is_server(source) and not (old / DATABASE).is_file():
        raise InputError("FROM", source, f"holds no store: {old / DATABASE} is missing")
    report = read_report(home)
    if is_server(source) and report is not None and now - report.at < STALE_SECONDS:
        raise InputError("FROM", without_password(source), "is in use; stop the daemon first")
    with contextlib.ExitStack() as held:
        for folder in {old.resolve(), new.resolve()}:
            make_folder(folder)
            held.enter_context(alone_in(folder))
        made = held.enter_context(_taken_back(new, is_folder=not is_server(target)))
        read = held.enter_context(_opened(source, old, make_new=False))
        write = held.enter_context(_opened(target, new, make_new=True))
        for database, where in ((read, source), (write, target)):
            refuse_beside(Daemons(database, where).keep_out())
        check_unused(write, target)
        files = 0 if new.resolve() == old.resolve() else _copy_files(old, new)
        tables = copy_store((read, source), (write, target), progress)
        made.pop_all()
    return MovedStore(tables, files, new)


def _folder(place: str) -> Path:
    """Return a store's folder, also where its database was named."""
    path = Path(place)
    return path.parent if path.name == DATABASE else path


@contextlib.contextmanager
def _opened(place: str, folder: Path, *, make_new: bool) -> Iterator[Database]:
    where = place if is_server(place) else str(folder / DATABASE)
    database = open_database(where, make_new=make_new)
    try:
        yield database
    finally:
        close(database)


@contextlib.contextmanager
def _taken_back(folder: Path, *, is_folder: bool) -> Iterator[contextlib.ExitStack]:
    """Delete the database that is made in *folder* unless the copy succeeds."""
    with contextlib.ExitStack() as stack:
        if is_folder and not (folder / DATABASE).exists():
            for name in (DATABASE, *SIDE_FILES):
                stack.callback((folder / name).unlink, missing_ok=True)
        yield stack


def _copy_files(old: Path, new: Path) -> int:
    """Copy cached pages and models that are not there yet; return how many."""
    count = 0
    try:
        for name, path in files_beside(old, pages=True):
            target = new / name
            if target.exists():
                continue
            make_folder(target.parent)
            half = target.with_name(f"~{target.name}")
            make_file(half)
            # A page that retention forgot meanwhile is not missed.
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(path, half)
                half.replace(target)
                count += 1
    except OSError as error:
        raise of_file(error, new) from error
    return count
