"""Locks in the store's folder that tell a daemon that was killed from one that lives.

A daemon that starts again in its folder need not wait until its own lease is over: the operating system's
lock of its file has ended with the process. The file holds the key of the daemon's database, because
ids of two databases are alike.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
from pathlib import Path
from typing import IO, Final

from store.database.home import make_file, make_folder

_NAME: Final = re.compile(r"daemon-(\d+)\.lock")
_MOST_BYTES: Final = 200


class PlaceLocks:
    """The lock of one daemon, and what others left in its folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._held: IO[bytes] | None = None
        self._path: Path | None = None

    def dead(self, database: str) -> list[int]:
        """Return the ids of daemons of this folder and *database* whose processes have ended.

        All that have ended are forgotten.
        """
        found = []
        for path in self._home.glob("daemon-*.lock"):
            name = _NAME.fullmatch(path.name)
            with contextlib.suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
                is_ours = file.read(_MOST_BYTES) == database.encode()
                found += [int(name[1])] if name and is_ours else []
        return found

    def hold(self, daemon: int, database: str) -> None:
        """Hold the lock of a daemon of *database*; where files have no locks, others wait longer."""
        self.release()
        half, path = self._home / f"~daemon-{daemon}.lock", self._home / f"daemon-{daemon}.lock"
        with contextlib.suppress(OSError):
            make_folder(self._home)
            make_file(half)
            self._held = half.open("r+b")
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._held.write(database.encode())
            self._held.flush()
            # Nobody sees it without its lock.
            half.replace(path)
            self._path = path

    def release(self) -> None:
        """Give the lock up, and leave nothing behind."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
        self._path = None
        self.close()

    def close(self) -> None:
        """Leave the file behind, as the end of the process does."""
        if self._held is not None:
            self._held.close()
        self._held = None
