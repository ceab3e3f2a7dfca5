"""The whole store in one file, and back.

::

    hubwatch-backup.tar.gz
        hubwatch.sqlite   consistent copy, taken while a crawler may be writing (SQLite's backup API)
        pages/..          the page cache, if wanted
        models/..         trained versions of the hub classifier
        manifest.json     format, table versions, MD5 and size of each member; written last

Only files written by a store (:mod:`store.database.home`) are ever replaced, and only on request.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from peewee import SqliteDatabase

from store.database import read_address
from store.database.home import (
    BACKING_UP,
    DATABASE,
    FILE_MODE,
    PUTTING,
    RESTORING,
    SIDE_FILES,
    TREES,
    foreign_entry,
    make_file,
    make_folder,
    remains,
    remove_abandoned,
    was_cut_off,
    workplace,
)
from store.database.upgrades import known_migrations, make_tables
from store.errors import (
    StoreDamagedError,
    StoreError,
    StorePlaceError,
    StoreRemainsError,
    StoreTooNewError,
)
from store.models import ALL, AccessToken
from store.models.crawl_tables import Table

# SQLite's own tables, made by AUTOINCREMENT and ANALYZE; not in every database.
_OF_SQLITE = frozenset({"sqlite_sequence", "sqlite_stat1", "sqlite_stat4"})
_Schema = dict[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class Removed:
    """Numbers of removed items of a restored database."""

    tokens: int = 0
    """Tokens and sessions."""
    outgoing: Mapping[str, int] = field(default_factory=dict)
    """Rows that would have been sent twice, by name; no zeros."""


def make_harmless(path: Path, *, keep_access: bool, keep_outgoing: bool) -> Removed:
    """Check the database at *path*, and remove what acts for others unless it is to be kept.

    Raises:
        StoreDamagedError: it is damaged, or has an object that no version of Hubwatch made.

    Checks of a restored database: only our schema, and no access rights unless the user keeps them.

    Nothing signs a backup, so its digests show damage, not who wrote it.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA trusted_schema = 0")
            _check(connection)
            tokens = 0 if keep_access else _deleted(connection, AccessToken, "1 = 1")
            outgoing = {
                what: 0 if keep_outgoing else _deleted(connection, table, rows)
                for table in ALL
                for what, rows in table.outgoing.items()
            }
            removed = Removed(tokens, {what: count for what, count in outgoing.items() if count})
            connection.commit()
    except sqlite3.Error as error:
        raise StoreDamagedError(f"the backup's database is damaged: {error}") from error
    return removed


def _check(connection: sqlite3.Connection) -> None:
    found = _schema(connection)
    applied = {str(name) for (name,) in connection.execute("SELECT name FROM schema_migration")}
    if later := sorted(applied - {*known_migrations()}):
        raise StoreTooNewError(f"the backup was made by a later version of Hubwatch ({later[-1]})")
    database = SqliteDatabase(":memory:")
    with closing(database):
        if applied:
            make_tables(database)
        ours: sqlite3.Connection = database.connection()  # type: ignore[no-untyped-call]  # peewee's stubs lack it
        expected = _schema(ours)
        indexes = dict(ours.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'index'"))
    for kind, name in sorted({*found, *expected}):
        if (kind, name) not in found and indexes.get(name):
            connection.execute(indexes[name])  # an earlier version had none
        elif found.get((kind, name)) != expected.get((kind, name)):
            raise StoreDamagedError(
                f"the backup's database is not one of Hubwatch's, or of another version: '{kind} {name}'"
            )
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreDamagedError(f"the backup's database is damaged: {verdict}")
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


def _deleted(connection: sqlite3.Connection, table: type[Table], rows: str) -> int:
    name = table._meta.table_name  # noqa: SLF001 - peewee's way
    return connection.execute(f"DELETE FROM {name} WHERE {rows}").rowcount  # noqa: S608 - words of ours


FORMAT = 1
MANIFEST = "manifest.json"
# Against decompression bombs.
MAX_RESTORED_BYTES = 200_000_000_000
MAX_MANIFEST_BYTES = 200_000_000
_CHUNK = 1 << 20
# Nothing else is unpacked, so no path points outside.
_MEMBER = re.compile(r"(?:pages|models)(?:/[0-9A-Za-z._~-]+){1,4}")

Progress = Callable[[int, int], None]
"""Called with the number of files done and the total."""


@dataclass(frozen=True, slots=True)
class BackupReport:
    """Contents of a backup, or the parts left out when it was restored."""

    files: int
    size_bytes: int
    """Unpacked."""
    removed: Removed = dataclasses.field(default_factory=Removed)


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
            half = folder / "half"
            make_file(half)  # it holds token digests, and pages fetched with passwords
            report = _write(half, copy, home, pages=pages, progress=progress)
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
    half: Path, copy: Path, home: Path, *, pages: bool, progress: Progress | None
) -> BackupReport:
    files = [(DATABASE, copy), *_files_beside(home, pages=pages)]
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
        manifest = {"format": FORMAT, "migrations": _migrations(copy), "members": members}
        body = json.dumps(manifest).encode()
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


def _migrations(database: Path) -> list[str]:
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT name FROM schema_migration ORDER BY name").fetchall()
    return [str(name) for (name,) in rows]


def restore(  # noqa: PLR0913 - what a user may ask for
    source: Path,
    home: Path,
    *,
    replace: bool = False,
    keep_access: bool = False,
    keep_outgoing: bool = False,
    progress: Progress | None = None,
) -> BackupReport:
    """Restore a backup into the folder *home*, which must not hold a store yet.

    Tokens and sessions are left out unless *keep_access* is set, what goes out by itself
    (:attr:`Table.outgoing`) unless *keep_outgoing* is: whoever wrote the file may have added some, and the
    original may live on.

    Trees and side files that an earlier store left without its database are deleted if *replace* is set;
    leftovers of a killed restore always are. Nothing else is touched.

    Raises:
        StoreError: *home* holds a store.
        StoreRemainsError: *home* holds remains of one, and *replace* was not given.
        StorePlaceError: *home* holds foreign files or cannot be written, or *source* cannot be read.
        StoreDamagedError: not a backup, or damaged; nothing was put in place.
        StoreTooNewError: a later version wrote it.
    """
    check_target(home, replace=replace)
    was_there = home.exists()
    try:
        make_folder(home)
        with workplace(home, RESTORING) as folder:
            if was_cut_off(home):
                (folder / PUTTING).touch()  # marks the trees as ours before the work folder is gone
            remove_abandoned(home, RESTORING)
            report = _unpack(source, folder / "store", progress)
            database = folder / "store" / DATABASE
            removed = make_harmless(database, keep_access=keep_access, keep_outgoing=keep_outgoing)
            report = dataclasses.replace(report, removed=removed)
            _in_wal_mode(database)
            (folder / PUTTING).touch()
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


def check_target(home: Path, *, replace: bool = False) -> None:
    """Refuse a folder that cannot take a restored store; :func:`restore` does the same.

    Raises:
        StoreError: see :func:`restore`.
    """
    try:
        if (home / DATABASE).exists():
            raise StoreError(
                f"{home} holds a store already; move it away or restore to another folder"
            )
        if foreign := foreign_entry(home):
            raise StorePlaceError(
                f"{foreign} is not the store's; move it away or restore to another folder"
            )
        left = [] if replace or not home.exists() or was_cut_off(home) else remains(home)
    except OSError as error:
        raise StorePlaceError(f"{home} cannot be read: {error.strerror or error}") from error
    if left:
        names = ", ".join(path.name for path in left)
        raise StoreRemainsError(f"{home} holds the remains of a store: {names}")


def _in_wal_mode(database: Path) -> None:
    """Switch a restored database to WAL."""
    # Before it is in place, so that a kill cannot interrupt the switch.
    try:
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA journal_mode = wal")
    except sqlite3.Error as error:
        raise StoreDamagedError(f"the backup's database is damaged: {error}") from error


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
            if not info.isreg() or not (info.name == DATABASE or _MEMBER.fullmatch(info.name)):
                raise StoreDamagedError(
                    f"{source} has an entry that no backup has: {info.name[:80]!r}"
                )
            if any(part in ("", ".", "..") for part in info.name.split("/")) or info.size > left:
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
    known = set(known_migrations())
    applied = manifest.get("migrations")
    later = set(map(str, applied)) - known if isinstance(applied, list) else set()
    if manifest.get("format") != FORMAT or later:
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
    """Move the members into place; existing files are removed with the work folder."""
    replaced, fresh = folder / "replaced", folder / "store"
    make_folder(replaced)
    # check_target verified that these are a store's. Another database's log must not stay: SQLite would
    # replay it into the new one.
    for name in (*TREES, *SIDE_FILES):
        if (home / name).exists():
            os.replace(home / name, replaced / name)  # noqa: PTH105 - atomic by contract
    # The database last: without it there is no store.
    for name in (*TREES, DATABASE):
        if (fresh / name).exists():
            os.replace(fresh / name, home / name)  # noqa: PTH105 - likewise
