"""A store's folder: its entries, private to the owner, and work folders in it.

::

    <home>/hubwatch.sqlite  -wal -shm -journal
           pages/ab/cd/<md5>.<md5>
           models/active.json
                  <version>/manifest.json *.json *.svm
           crawler.lock  discovery-N.lock  settings.name  daemon.json  answers.key  pack.key
           before-upgrade.sqlite  the database as it was before the last upgrade
           ~restore-xxxxxxxx/     of a restore, running or killed

A restore replaces nothing there but its own: a folder called ``pages`` may be the user's.
"""

import contextlib
import fcntl
import os
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
BODY = f"??/??/{32 * '?'}.{32 * '?'}"
"""Pattern of a page's path below ``pages``."""
# A folder of these names without such files is the user's.
_SIGNS = (
    *SIDE_FILES,
    SETTINGS_NOTE,
    f"pages/{BODY}",
    "models/active.json",
    "models/????-????????/manifest.json",
)
UPGRADE_COPY = "before-upgrade.sqlite"
_KEY_BYTES = 32
PACK_KEY = "pack.key"
"""Signs what is given to others; in no backup, so that a backup signs nothing."""
# Files hold token digests and pages fetched with passwords. They are created with their mode rather than
# changed to it later: in between, another user could open them.
FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OTHERS = 0o077
BACKING_UP = "~backup-"
RESTORING = "~restore-"
_RANDOM = "?" * 8  # of tempfile.mkdtemp
_EMPTY_SECONDS = 60
# In a work folder: what a backup writes, what a restore unpacks, and the same once it is checked and goes to
# its place.
HALF, UNPACKED, CHECKED = "half", "store", "checked"
_WORK = frozenset((HALF, UNPACKED, CHECKED, DATABASE, *SIDE_FILES, *TREES))

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


def remains(home: Path) -> list[Path]:
    """Return what is called as the trees and side files of a store in *home*, whosever it is."""
    return [path for name in (*TREES, *SIDE_FILES) if (path := home / name).exists()]


def lost(home: Path) -> list[Path]:
    """Return what shows that there was a store in *home*, whose database is missing."""
    return sorted({home / sign.split("/")[0] for sign in _SIGNS if any(home.glob(sign))})


def file_id(path: Path) -> tuple[int, int]:
    """Return the identity of this file, whatever its name.

    Raises:
        OSError: it is not there.
    """
    state = path.stat()
    return state.st_dev, state.st_ino


# Work folders, removed at the end, or after a kill when the next one is made.


@contextlib.contextmanager
def workplace(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a private folder in *parent* and remove it when the block ends.

    Raises:
        OSError: *parent* cannot be written.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    with _held(folder):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove folders left by killed runs in *parent*.

    A folder that holds anything we do not write stays, whatever its name. So does an empty one of the last
    minute: it may have been made a moment ago, and is not locked yet.
    """
    for folder in sorted(parent.glob(f"{prefix}{_RANDOM}")):
        with contextlib.suppress(OSError):
            if is_work_folder(folder):
                with _held(folder) as mine:
                    if mine:
                        shutil.rmtree(folder, ignore_errors=True)


def is_work_folder(path: Path) -> bool:
    """Return whether *path* holds nothing but what a backup or restore writes; if empty, for a minute."""
    if path.is_symlink() or not path.is_dir():
        return False
    names = {entry.name for entry in path.iterdir()}
    return names <= _WORK if names else _age_seconds(path) > _EMPTY_SECONDS


def _age_seconds(folder: Path) -> float:
    """Return how long ago *folder* changed, by the clock of its file system."""
    with tempfile.TemporaryFile(dir=folder.parent) as made_now:
        return os.fstat(made_now.fileno()).st_mtime - folder.stat().st_mtime


def was_cut_off(home: Path) -> bool:
    """Return whether a restore to *home* was putting it in place: pages and models there are its own."""
    # The database goes last.
    return not (home / DATABASE).exists() and any(
        is_work_folder(path.parents[1])
        for path in home.glob(f"{RESTORING}{_RANDOM}/{CHECKED}/{DATABASE}")
    )


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Lock a folder; yield whether that worked."""
    # The operating system's lock dies with the process: an unlocked folder was left by a killed run.
    # Without locks (NFS) it cannot be known, so False.
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)
