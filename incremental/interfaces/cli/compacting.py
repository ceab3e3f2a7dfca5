"""Giving space back: ``compact``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from incremental.daemon.housekeeping import Housekeeping, forgotten_in_words, last_done
from incremental.interfaces.cli.common import (
    Json,
    now,
    open_store,
    print_json,
    print_table,
    progress_bar,
    say,
    settings_file,
    settings_of,
)
from incremental.settings import Settings
from incremental.settings.storage import MEGABYTE, only_writer, same_settings
from store import Store
from store.errors import StoreLockedError
from store.maintenance.space import TableSize

_Tables = dict[str, TableSize]


def compact(
    context: typer.Context,
    *,
    full: Annotated[
        bool, typer.Option("--full", help="PostgreSQL: VACUUM FULL, which locks each table.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Forget what the settings say now, not only once a day, and give the space back.

    Safe beside a running daemon and when interrupted. While a daemon runs, a SQLite file is not rewritten.
    """
    settings, folder = settings_of(context)
    # By the defaults it would delete what the settings keep.
    same_settings(settings, folder, settings_file(context))
    with open_store(context) as store, progress_bar() as bar:
        tables, size = store.space.tables(), store.space.size().size_bytes
        cache = store.cache.size_bytes()
        task = bar.add_task("starting", total=None)
        for piece in Housekeeping(store, settings).work(now()):
            bar.update(task, description=f"forgetting: {piece}")
        bar.update(task, description="giving space back")
        left = _rewrite(store, settings, folder, full=full)
        done = last_done(store)
        after = store.space.tables()
        sizes = {
            "database": (size, store.space.size().size_bytes),
            "page cache": (cache, store.cache.size_bytes()),
        }
    forgotten = done.forgotten if done is not None else {}
    if as_json:
        print_json(_report(tables, after, sizes, forgotten, left))
        return
    rows: list[tuple[object, ...]] = [
        (name, before.rows, after[name].rows, _mb(before.size_bytes), _mb(after[name].size_bytes))
        for name, before in tables.items()
    ]
    rows += [(name, "", "", _mb(was), _mb(is_now)) for name, (was, is_now) in sizes.items()]
    print_table("Compacted", ("table", "rows before", "after", "MB before", "after"), rows)
    say(f"forgotten: {forgotten_in_words(forgotten)}")
    if left:
        say(f"hubwatch: {left}")


def _rewrite(store: Store, settings: Settings, folder: Path, *, full: bool) -> str:
    """Give all free space back; return what is left for later, and why."""
    home = folder / settings.store.folder
    if store.file_id is None:
        store.space.compact(full=full)
        return ""
    free = store.space.size()
    used = free.used_bytes or 0
    # The copy that SQLite makes, and its log.
    room = shutil.disk_usage(home).free
    if room < 2 * used:
        return (
            f"rewriting the database needs {_mb(2 * used)} MB for a while, and {_mb(room)} MB are free: "
            "make room and compact again"
        )
    # SQLite's own choice may be a small file system in memory.
    os.environ["SQLITE_TMPDIR"] = str(home)
    try:
        with only_writer(settings, folder):
            store.space.compact()
    except StoreLockedError:
        kept = _mb(free.size_bytes - used)
        return (
            f"another process uses the store, so {kept} MB stay in the file for what it writes next; to "
            "give them back, stop the daemon and compact again"
        )
    return ""


def _report(
    before: _Tables,
    after: _Tables,
    sizes: dict[str, tuple[int, int]],
    forgotten: dict[str, int],
    left: str,
) -> dict[str, Any]:
    tables = {
        name: {
            "rows_before": size.rows,
            "rows_after": after[name].rows,
            "bytes_before": size.size_bytes,
            "bytes_after": after[name].size_bytes,
        }
        for name, size in before.items()
    }
    database, cache = sizes["database"], sizes["page cache"]
    return {
        "forgotten": forgotten,
        "database_bytes_before": database[0],
        "database_bytes_after": database[1],
        "cache_bytes_before": cache[0],
        "cache_bytes_after": cache[1],
        "tables": tables,
        "left": left or None,
    }


def _mb(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else f"{size_bytes / MEGABYTE:,.1f}"
