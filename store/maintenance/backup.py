"""The whole store in one file, and back.

::

    hubwatch-backup.tar.gz
        hubwatch.sqlite   consistent copy, taken while a crawler may be writing (SQLite's backup API)
        pages/..          the page cache, if wanted
        models/..         trained versions of the hub classifier
        manifest.json     format, table versions, MD5 and size of each member; written last

A restore replaces nothing but what a killed one has left.
"""

import hashlib
import io
import json
import os
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from peewee import SqliteDatabase

from store.database import read_address
from store.database.home import (
    BACKING_UP,
    CHECKED,
    DATABASE,
    FILE_MODE,
    HALF,
    RESTORING,
    TREES,
    UNPACKED,
    make_file,
    make_folder,
    remains,
    remove_abandoned,
    was_cut_off,
    workplace,
)
from store.database.upgrades import check_pages, known_migrations, make_tables
from store.errors import StoreDamagedError, StoreError, StorePlaceError, StoreTooNewError
from store.models import ALL

# SQLite's own tables, made by AUTOINCREMENT and ANALYZE; not in every database.
_OF_SQLITE = frozenset({"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"})
_Schema = dict[tuple[str, str], str]


def make_harmless(path: Path, *, keep_all: bool) -> dict[str, int]:
    """Check the database at *path*, and remove what acts for others unless it is to be kept.

    Returns the number of removed rows by name (:attr:`Table.outgoing`). Nothing signs a backup, so its
    digests show damage, not who wrote it.

    Raises:
        StoreDamagedError: it is damaged, or has an object that no version of Hubwatch made.
        StoreTooNewError: a later version made it.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA trusted_schema = 0")
            _check(connection)
            removed = {
                what: connection.execute(f"DELETE FROM {name} WHERE {rows}").rowcount  # noqa: S608 - words of ours
                for table in (() if keep_all else ALL)
                for name in (table._meta.table_name,)  # noqa: SLF001 - peewee's way
                for what, rows in table.outgoing.items()
            }
            connection.commit()
            # Before it is in place, so that a kill cannot interrupt the switch.
            connection.execute("PRAGMA journal_mode = wal")
    except sqlite3.Error as error:
        raise StoreDamagedError(f"the backup's database is damaged: {error}") from error
    return {what: count for what, count in removed.items() if count}


def _check(connection: sqlite3.Connection) -> None:
    found = _schema(connection)
    applied = {str(name) for (name,) in connection.execute("SELECT name FROM schema_migration")}
    if later := sorted(applied - {*known_migrations()}):
        raise StoreTooNewError(f"the backup was made by a later version of Hubwatch ({later[-1]})")
    database = SqliteDatabase(":memory:")
    with closing(database):
        if applied:
            make_tables(database)
        expected = _schema(database.connection())  # type: ignore[no-untyped-call]  # peewee's stubs lack it
    for kind, name in sorted({*found, *expected}):
        if found.get((kind, name)) != expected.get((kind, name)):
            raise StoreDamagedError(
                f"the backup's database is not one of Hubwatch's, or of another version: '{kind} {name}'"
            )
    check_pages(connection.execute, "the backup's database")
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        raise StoreDamagedError("the backup's database has rows that name others it has not")


def _schema(connection: sqlite3.Connection) -> _Schema:
    """Return the SQL of each object by kind and name, without differences of spacing and quoting."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_schema").fetchall()
    return {
        (kind, name): " ".join((sql or "").replace('"', " ").replace("`", " ").lower().split())
        for kind, name, sql in rows
        if not (kind == "table" and name in _OF_SQLITE)
    }


FORMAT = 1
MANIFEST = "manifest.json"
# Against decompression bombs.
MAX_RESTORED_BYTES = 200_000_000_000
MAX_MANIFEST_BYTES = 200_000_000
_CHUNK = 1 << 20
# Nothing else is unpacked, so no path points outside.
_MEMBER = re.compile(r"(?:pages|models)(?:/(?!\.\.?(?:/|$))[0-9A-Za-z._~-]+){1,4}")

Progress = Callable[[int, int], None]
"""Called with the number of files done and the total."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """Contents of a backup, or the parts left out when it was restored."""

    files: int
    size_bytes: int
    """Unpacked."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Rows of its database that were left out, by name."""


def back_up(
    home: Path, target: Path, *, pages: bool = True, progress: Progress | None = None
) -> BackupReport:
    """Write the store in the folder *home* to *target*, which appears only when complete.

    Raises:
        StoreError: there is no SQLite store.
        StoreDamagedError: the store cannot be read.
        StorePlaceError: *target* cannot be written.
    """
    source = home / DATABASE
    if not source.exists():
        raise StoreError(f"{source} does not exist; back up a PostgreSQL store with pg_dump")
    try:
        remove_abandoned(target.parent, BACKING_UP)
        with workplace(target.parent, BACKING_UP) as folder:
            copy = folder / DATABASE
            make_file(copy)
            _copy_database(source, copy)
            half = folder / HALF
            make_file(half)  # it holds token digests, and pages fetched with passwords
            report = _write(half, [(DATABASE, copy), *_files_beside(home, pages=pages)], progress)
            os.replace(half, target)  # noqa: PTH105 - the rename that is atomic by contract
    except OSError as error:
        raise StorePlaceError(f"{target} cannot be written: {error.strerror or error}") from error
    return report


def _copy_database(source: Path, target: Path) -> None:
    try:
        with (
            closing(sqlite3.connect(read_address(source), uri=True)) as reading,
            closing(sqlite3.connect(target)) as writing,
        ):
            reading.backup(writing)
            writing.execute("PRAGMA journal_mode = delete")
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_FULL:
            raise StorePlaceError(f"{target.parent.parent} cannot be written: {error}") from error
        raise StoreDamagedError(f"{source} cannot be read: {error}") from error


def _write(
    half: Path, files: Sequence[tuple[str, Path]], progress: Progress | None
) -> BackupReport:
    members: dict[str, dict[str, object]] = {}
    with tarfile.open(half, "w:gz", compresslevel=3) as archive:
        for number, (name, path) in enumerate(files, 1):
            try:
                content = path.open("rb")
            except FileNotFoundError:
                continue  # pruned meanwhile
            with content:
                md5 = hashlib.file_digest(content, "md5").hexdigest()
                info = tarfile.TarInfo(name)
                info.size = content.tell()
                content.seek(0)
                archive.addfile(info, content)
            members[name] = {"size": info.size, "md5": md5}
            if progress is not None:
                progress(number, len(files))
        body = json.dumps({"format": FORMAT, "members": members}).encode()
        info = tarfile.TarInfo(MANIFEST)
        info.size = len(body)
        archive.addfile(info, io.BytesIO(body))
    total = sum(int(str(one["size"])) for one in members.values())
    return BackupReport(len(members), total)


def _files_beside(home: Path, *, pages: bool) -> Iterator[tuple[str, Path]]:
    """Yield the files that a store has beside its database: models, and cached *pages* if wanted.

    Each with its name below *home*, in which parts are divided by slashes.
    """
    for top in ("models", "pages") if pages else ("models",):
        for path in sorted((home / top).rglob("*")):
            name = path.relative_to(home).as_posix()
            if path.is_file() and not path.name.startswith("~") and _MEMBER.fullmatch(name):
                yield name, path


def restore(
    source: Path, home: Path, *, keep_all: bool = False, progress: Progress | None = None
) -> BackupReport:
    """Restore a backup into the folder *home*, which must hold no store, nor a part of one.

    Tokens and sessions, and what goes out by itself, are left out unless *keep_all* is set
    (:attr:`Table.outgoing`): whoever wrote the file may have added some, and the original may live on.
    Leftovers of a killed restore are replaced. Nothing else is touched.

    Raises:
        StoreError: *home* holds a store.
        StorePlaceError: *home* holds a part of one or cannot be written, or *source* cannot be read.
        StoreDamagedError: not a backup, or damaged; nothing was put in place.
        StoreTooNewError: a later version wrote it.
    """
    was_there = home.exists()
    try:
        _check_target(home)
        make_folder(home)
        with workplace(home, RESTORING) as folder:
            # Before the folder of the killed restore is gone, which tells that they are its own.
            for name in TREES:
                if (home / name).exists():
                    os.replace(home / name, folder / name)  # noqa: PTH105 - atomic by contract
            remove_abandoned(home, RESTORING)
            report = _unpack(source, folder / UNPACKED, progress)
            database = folder / UNPACKED / DATABASE
            report = replace(report, removed=make_harmless(database, keep_all=keep_all))
            _check_target(home)  # again: unpacking takes long
            _put(folder, home)
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise StoreDamagedError(f"{source} is damaged or not a backup: {error}") from error
    except OSError as error:
        raise StorePlaceError(
            f"cannot restore {source} to {home}: {error.strerror or error}"
        ) from error
    finally:
        if not was_there and home.is_dir() and not any(home.iterdir()):
            home.rmdir()
    return report


def _check_target(home: Path) -> None:
    if (home / DATABASE).exists():
        raise StoreError(f"{home} holds a store already; move it away or restore to another folder")
    killed = TREES if was_cut_off(home) else ()
    if left := [path.name for path in remains(home) if path.name not in killed]:
        names = ", ".join(left)
        raise StorePlaceError(
            f"{home} holds {names}, as a store has them; move them away or restore to another folder"
        )


def _unpack(source: Path, fresh: Path, progress: Progress | None) -> BackupReport:
    """Unpack members with expected names, then check them against the manifest, which comes last."""
    # Into a new folder: nothing is put in place before every name, size and digest was checked.
    found: dict[str, dict[str, object]] = {}
    manifest: dict[str, object] = {}
    left = MAX_RESTORED_BYTES
    with tarfile.open(source, "r|gz") as archive:
        for number, info in enumerate(archive, 1):
            if info.name == MANIFEST and info.isreg() and info.size <= MAX_MANIFEST_BYTES:
                manifest = _manifest(archive, info, source)
                continue
            known = info.name == DATABASE or _MEMBER.fullmatch(info.name)
            if not (info.isreg() and known) or info.size > left:
                raise StoreDamagedError(
                    f"{source} has an entry that no backup has: {info.name[:80]!r}"
                )
            left -= info.size
            found[info.name] = _extract(archive, info, fresh / info.name)
            if progress is not None:
                progress(number, number)
    if manifest.get("members") != found or DATABASE not in found:
        raise StoreDamagedError(f"{source} is incomplete or was modified")
    return BackupReport(len(found), MAX_RESTORED_BYTES - left)


def _manifest(archive: tarfile.TarFile, info: tarfile.TarInfo, source: Path) -> dict[str, object]:
    file = archive.extractfile(info)
    try:
        manifest = json.loads(file.read()) if file is not None else None
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        raise StoreDamagedError(f"{source} is not a Hubwatch backup")
    if manifest.get("format") != FORMAT:
        raise StoreTooNewError(f"{source} was written by a later version of Hubwatch")
    return manifest


def _extract(archive: tarfile.TarFile, info: tarfile.TarInfo, target: Path) -> dict[str, object]:
    file = archive.extractfile(info)
    digest = hashlib.md5()
    make_folder(target.parent)
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(handle, "wb") as out:
        while file is not None and (chunk := file.read(_CHUNK)):
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        if target.name == DATABASE:
            os.fsync(out.fileno())
    return {"size": target.stat().st_size, "md5": digest.hexdigest()}


def _put(folder: Path, home: Path) -> None:
    """Move the members into place."""
    os.replace(folder / UNPACKED, folder / CHECKED)  # noqa: PTH105 - atomic by contract
    # The database last: without it there is no store.
    for name in (*TREES, DATABASE):
        if (folder / CHECKED / name).exists():
            os.replace(folder / CHECKED / name, home / name)  # noqa: PTH105 - likewise
