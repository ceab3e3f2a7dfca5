"""A folder to work in, which is gone afterwards: at once, or when the next one is made after a kill.

Whoever works holds a lock of the operating system on the folder. It goes with the process, however
that ends, so what nobody holds was left by a run that was killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from store.belongings import is_work_folder

BACKING_UP = "~backup-"
RESTORING = "~restore-"
PUTTING = "putting"
"""A file that a restore makes in its folder before it puts anything in place."""


@contextlib.contextmanager
def workplace(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder in *parent* for its owner alone, and remove it when the block ends.

    Raises:
        OSError: *parent* cannot be written.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    with _held(folder, wait=True):
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def abandoned(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield the work folders in *parent* that no process holds, each held while the caller has it."""
    for folder in sorted(parent.glob(f"{prefix}*")):
        with contextlib.suppress(OSError):
            if is_work_folder(folder):
                with _held(folder, wait=False) as mine:
                    # A run that begins just now has an empty folder and is about to lock it.
                    if mine and any(folder.iterdir()):
                        yield folder


def remove_abandoned(parent: Path, prefix: str) -> int:
    """Remove what killed runs left in *parent*; return how many folders went.

    A folder with anything in it that we do not write is not ours, whatever it is called.
    """
    count = 0
    for folder in abandoned(parent, prefix):
        shutil.rmtree(folder, ignore_errors=True)
        count += 1
    return count


def was_cut_off(home: Path) -> bool:
    """Tell whether a restore was killed while it put its trees into *home*: they are not the user's."""
    return any((folder / PUTTING).exists() for folder in abandoned(home, RESTORING))


@contextlib.contextmanager
def _held(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Hold a folder; give whether nobody else does. Where there are no locks (NFS), nobody knows."""
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
