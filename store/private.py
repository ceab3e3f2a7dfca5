"""Files and folders that only their owner may read, whatever the umask says.

The store holds digests of tokens, cookies' pages and what was read behind passwords. A file is made
with its mode, not changed to it afterwards: between the two, another user could open it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_OTHERS = 0o077


def make_folder(path: Path) -> None:
    """Make *path* and the folders above it that are missing, each for its owner alone.

    Raises:
        OSError: one cannot be made, or a file stands in its place.
    """
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(FOLDER_MODE)
        if not folder.is_dir():
            raise NotADirectoryError(f"{folder} is a file, and a folder is wanted")


def make_file(path: Path) -> None:
    """Make *path*, empty, for its owner alone; one that is there is left as it is."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))


def is_open_to_others(path: Path) -> bool:
    """Tell whether the mode of *path* lets anybody but its owner do anything; False if it is gone."""
    try:
        return bool(path.stat().st_mode & _OTHERS)
    except OSError:
        return False


def tighten(paths: Iterable[Path]) -> list[Path]:
    """Take all rights of others from *paths*; return those that were changed.

    A link is not followed, and what belongs to somebody else stays as it is: it is not ours to change.
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
