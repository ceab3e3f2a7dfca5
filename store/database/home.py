"""A store's folder: its entries, private to the owner, and work folders in it.

::

    <home>/hubwatch.sqlite  -wal -shm -journal
           pages/ab/cd/<md5>.<md5>
           models/active.json
                  <version>/manifest.json *.json *.svm
           crawler.lock  discovery-N.lock  settings.name  daemon.json  answers.key
           before-<migration>.sqlite  the database as it was before an upgrade
           ~restore-xxxxxxxx/         of a restore, running or killed

Deleting or replacing anything there is checked here first: a folder called ``pages`` may be the user's.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

DATABASE = "hubwatch.sqlite"
SIDE_FILES = tuple(f"{DATABASE}{ending}" for ending in ("-wal", "-shm", "-journal"))
TREES = ("models", "pages")
SETTINGS_NOTE = "settings.name"
_COPY = re.compile(r"before-\d{4}_\w+\.sqlite")
_SMALL = re.compile(
    rf"crawler\.lock|discovery-\d+\.lock|settings\.name|daemon\.json"
    rf"|answers\.key|~key-\w{{8}}|{_COPY.pattern}"
)
_KEY_BYTES = 32
PACK_KEY = "pack.key"
"""Signs what is given to others; in no backup, so that a backup signs nothing."""
# Not the store's and never touched, but often present: settings, a volume's own folder.
_NEIGHBOURS = frozenset(("hubwatch.toml", "lost+found", PACK_KEY))
_PAGE = re.compile(r"[0-9a-f]{2}(?:/[0-9a-f]{2}(?:/(?:[0-9a-f]{32}\.[0-9a-f]{32}|~\w+))?)?")
_MODEL_FILE = re.compile(r"[a-z_]+\.(?:json|svm)")
_POINTER = re.compile(r"active\.json|\.active\.json\.\d+\.tmp")
_MODEL_KIND = "hubwatch hub classifier"
_WORK_FOLDER = re.compile(r"~(?:restore|backup)-[a-z0-9_]{8}")
_MOST_MANIFEST_BYTES = 10_000_000
# Files hold token digests and pages fetched with passwords. They are created with their mode rather than
# changed to it later: in between, another user could open them.
FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OTHERS = 0o077
BACKING_UP = "~backup-"
RESTORING = "~restore-"
# Marks a restore that has begun to put files in place.
PUTTING = "putting"

# Owner only.


def make_folder(path: Path) -> None:
    """Make *path* and missing folders above it, for the owner alone.

    Raises:
        OSError: one cannot be made, or is a file.
    """
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(FOLDER_MODE)
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file, not a folder")


def make_file(path: Path) -> None:
    """Make *path*, empty, for the owner alone; an existing file stays as it is."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))


def secret_key(path: Path) -> bytes:
    """Return the 32 secret bytes that are kept in a file, for the owner alone; made if it is not there yet.

    Raises:
        OSError: the file can be neither read nor made.
        ValueError: it holds something else.
    """
    if not path.exists():
        make_folder(path.parent)
        # Whole when it appears; another process may do the same at this moment.
        file, draft = tempfile.mkstemp(prefix="~key-", dir=path.parent)
        try:
            with os.fdopen(file, "wb") as out:
                out.write(secrets.token_bytes(_KEY_BYTES))
            with contextlib.suppress(FileExistsError):
                path.hardlink_to(draft)
        finally:
            Path(draft).unlink()
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise ValueError(f"the key {path} is damaged; delete the file")
    return key


def is_open_to_others(path: Path) -> bool:
    """Return whether others than the owner have any right on *path*; False if it does not exist."""
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def tighten(paths: Iterable[Path]) -> list[Path]:
    """Remove the rights of group and others from *paths*; return the changed ones.

    Links are not followed, and files of other users stay as they are.
    """
    return [path for path in paths if _tightened(path)]


def _tightened(path: Path) -> bool:
    try:
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode) or not mode & _OTHERS:
            return False
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS)
    except OSError:
        return False
    return True


# The store's own files.


def foreign_entry(home: Path, *, unfinished: bool = False) -> Path | None:
    """Return an entry of *home* that is not the store's, or None.

    *unfinished* accepts models whose manifest is not written yet.
    """
    return next(_foreign(home, unfinished), None) if home.exists() else None


def remains(home: Path) -> list[Path]:
    """Return the trees and side files of a store in *home* whose database is missing."""
    return [path for name in (*TREES, *SIDE_FILES) if (path := home / name).exists()]


def traces(home: Path) -> list[Path]:
    """Return traces of a store in *home* whose database is missing."""
    # A folder called pages or models may be the user's, and a lock is made before the first database.
    found = [home / name for name in SIDE_FILES if (home / name).exists()]
    found += [path for path in (home / SETTINGS_NOTE,) if path.exists()]
    found += copies_in(home)
    for tree, pattern in (("models", "*/manifest.json"), ("pages", "??/??/*")):
        own = (path for path in (home / tree).glob(pattern) if _is_own(tree, path, home))
        found += [home / tree for _ in itertools.islice(own, 1)]
    return found


def _is_own(tree: str, path: Path, home: Path) -> bool:
    if tree == "models":
        return _is_manifest(path)
    return path.is_file() and bool(_PAGE.fullmatch(path.relative_to(home / tree).as_posix()))


def copies_in(home: Path) -> list[Path]:
    """Return the copies of databases from before upgrades, the newest first."""
    found = [path for path in home.glob("before-*.sqlite") if _COPY.fullmatch(path.name)]
    return sorted(found, key=lambda path: path.name, reverse=True)


def file_id(path: Path) -> tuple[int, int]:
    """Return the identity of this file, whatever its name.

    Raises:
        OSError: it is not there.
    """
    state = path.stat()
    return state.st_dev, state.st_ino


def is_work_folder(path: Path) -> bool:
    """Return whether *path* looks like the work folder of a backup or restore and holds nothing else."""
    if path.is_symlink() or not path.is_dir() or not _WORK_FOLDER.fullmatch(path.name):
        return False
    return all(_is_work(entry) for entry in path.iterdir())


def _is_work(entry: Path) -> bool:
    if entry.is_symlink():
        return False
    if entry.name in {"half", "putting", DATABASE, *SIDE_FILES}:
        return entry.is_file()
    return entry.name in {"store", "replaced"} and foreign_entry(entry, unfinished=True) is None


def _foreign(home: Path, unfinished: bool) -> Iterator[Path]:
    if home.is_symlink() or not home.is_dir():
        yield home
        return
    for entry in sorted(home.iterdir()):
        if entry.name in _NEIGHBOURS or is_work_folder(entry):
            continue
        # A symbolic link is never the store's; its target may belong to anyone.
        if entry.is_symlink():
            yield entry
        elif entry.name == "pages":
            yield from _foreign_pages(entry)
        elif entry.name == "models":
            yield from _foreign_models(entry, unfinished)
        elif not entry.is_file() or not (
            entry.name in {DATABASE, *SIDE_FILES} or _SMALL.fullmatch(entry.name)
        ):
            yield entry


def _foreign_pages(top: Path) -> Iterator[Path]:
    if not top.is_dir():
        yield top
        return
    for path in top.rglob("*"):
        name = path.relative_to(top).as_posix()
        is_body = name.count("/") == 2  # noqa: PLR2004 - levels of folders, see PageCache
        if path.is_symlink() or not _PAGE.fullmatch(name) or path.is_file() != is_body:
            yield path


def _foreign_models(top: Path, unfinished: bool) -> Iterator[Path]:
    if not top.is_dir():
        yield top
        return
    for entry in sorted(top.iterdir()):
        if entry.is_symlink():
            yield entry
        elif entry.is_file():
            if not _POINTER.fullmatch(entry.name):
                yield entry
        else:
            yield from _foreign_model(entry, unfinished)


def _foreign_model(folder: Path, unfinished: bool) -> Iterator[Path]:
    files = sorted(folder.iterdir())
    # An interrupted draft may lack its manifest; its name identifies it.
    is_draft = folder.name.startswith(".") and folder.name.endswith(".tmp")
    if not (unfinished or is_draft) and not _is_manifest(folder / "manifest.json"):
        yield folder
    for path in files:
        if path.is_symlink() or not path.is_file() or not _MODEL_FILE.fullmatch(path.name):
            yield path


def _is_manifest(path: Path) -> bool:
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_MANIFEST_BYTES:
            return False
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("kind") == _MODEL_KIND


# Work folders, removed at the end, or after a kill when the next one is made.


@contextlib.contextmanager
def workplace(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a private folder in *parent* and remove it when the block ends.

    Raises:
        OSError: *parent* cannot be written.
    """
    with contextlib.ExitStack() as stack:
        # Under the parent's lock, so that the folder does not look abandoned before it is locked.
        with _held(parent, wait=True):
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            stack.enter_context(_held(folder, wait=True))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def abandoned(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield the work folders in *parent* that no process holds, locked while the caller has them."""
    folders = sorted(parent.glob(f"{prefix}*"))
    if not folders:
        return
    with _held(parent, wait=False) as alone:
        for folder in folders:
            with contextlib.suppress(OSError):
                if is_work_folder(folder):
                    with _held(folder, wait=False) as mine:
                        # Without the parent's lock an empty folder may be one that is not locked yet.
                        if mine and (alone or any(folder.iterdir())):
                            yield folder


def remove_abandoned(parent: Path, prefix: str) -> int:
    """Remove folders left by killed runs in *parent*; return their number.

    A folder that holds anything we do not write stays, whatever its name.
    """
    count = 0
    for folder in abandoned(parent, prefix):
        shutil.rmtree(folder, ignore_errors=True)
        count += 1
    return count


def was_cut_off(home: Path) -> bool:
    """Return whether a restore was killed while putting files into *home*, which makes them ours."""
    return any((folder / PUTTING).exists() for folder in abandoned(home, RESTORING))


@contextlib.contextmanager
def _held(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a folder; yield whether that worked."""
    # The operating system's lock dies with the process: an unlocked folder was left by a killed run.
    # Without locks (NFS) it cannot be known, so False.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
