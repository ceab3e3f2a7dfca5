"""After a kill the daemon reads the whole database while it works."""

from __future__ import annotations

from pathlib import Path

import pytest
from stories import START, write_store

from incremental.daemon.daemon import NEVER
from incremental.daemon.store_check import StoreCheck
from store import open_store
from store.errors import StoreDamagedError


def outcome(path: Path) -> float:
    """Return when the check wants to be called again, once the file was read."""
    with open_store(str(path), cache_folder=path.parent) as store:
        check = StoreCheck(store)
        assert START <= check.step(START) <= START + 60 or check.step(START) == NEVER
        assert check._thread is not None
        check._thread.join()
        return check.step(START)


def test_a_sound_store_is_read_once(tmp_path: Path) -> None:
    write_store(tmp_path / "hubwatch.sqlite")
    assert outcome(tmp_path / "hubwatch.sqlite") == NEVER


def test_a_damaged_one_ends_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.sqlite"
    write_store(path)
    content = bytearray(path.read_bytes())
    content[-8_192:-4_096] = b"\xff" * 4_096
    path.write_bytes(content)
    with pytest.raises(StoreDamagedError, match="restore a backup"):
        outcome(path)
