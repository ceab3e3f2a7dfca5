"""An empty store to begin with: a copy, as making its tables takes ten times as long as opening it."""

import functools
import tempfile
from pathlib import Path

from incremental.settings import Settings
from incremental.settings.storage import open_configured_store, store_address
from store import Store, open_store
from store.database import is_server
from store.database.home import lost, make_file, make_folder


@functools.cache
def _made() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.sqlite"
        open_store(str(path), cache_folder=path.parent).close()
        return path.read_bytes()


def put_empty_store(path: Path) -> None:
    """Put an empty store at *path* unless there is one, or was."""
    make_folder(path.parent)
    if not path.exists() and not lost(path.parent):
        make_file(path)
        path.write_bytes(_made())


def open_in(folder: Path, settings: Settings | None = None) -> Store:
    """Open the configured store in *folder*; where there is none, it is empty."""
    settings = settings or Settings()
    where = store_address(settings, folder)
    if not is_server(where):
        put_empty_store(Path(where))
    return open_configured_store(settings, folder)
