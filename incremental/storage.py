"""Where a configured store lies. Apart from the wiring, so that commands that only read start quickly."""

from __future__ import annotations

from pathlib import Path

from incremental.settings import Settings
from store import Store, open_store

MEGABYTE = 1_000_000


def open_configured_store(settings: Settings, folder: Path) -> Store:
    """Open the store that the settings name; relative paths are relative to *folder*."""
    home = folder / settings.store.folder
    where = settings.store.database or str(home / "hubwatch.sqlite")
    quota = int(settings.store.cache_quota_mb * MEGABYTE)
    return open_store(where, cache_folder=home / "pages", cache_quota_bytes=quota)


def models_folder(settings: Settings, folder: Path) -> Path:
    """Return where the learned versions of the hub classifier lie: in the folder of the store."""
    return folder / settings.store.folder / "models"
