"""Giving space back: ``compact``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer

from incremental.daemon.housekeeping import Housekeeping, forgotten_in_words, last_done
from incremental.interfaces.cli.common import (
    now,
    open_store,
    print_table,
    printed_json,
    progress_bar,
    say,
    settings_file,
    settings_of,
)
from incremental.settings import Settings
from incremental.settings.storage import MEGABYTE, only_writer, same_settings
from store import Store
from store.errors import StoreLockedError


def compact(
    context: typer.Context,
    *,
    full: Annotated[
        bool, typer.Option("--full", help="PostgreSQL: VACUUM FULL, which locks each table.")
    ] = False,
) -> None:
    """Delete what the settings no longer keep, not just once a day, and return the space.

    Safe beside a running daemon and when interrupted. While a daemon runs, a SQLite file is not rewritten.
    """
    settings, folder = settings_of(context)
    # By the defaults it would delete what the settings keep.
    same_settings(settings, folder, settings_file(context))
    with open_store(context) as store, progress_bar() as bar:
        before, size, cache = store.space.tables(), store.space.size(), store.cache.size_bytes()
        task = bar.add_task("starting", total=None)
        for piece in Housekeeping(store, settings).work(now()):
            bar.update(task, description=f"forgetting: {piece}")
        bar.update(task, description="giving space back")
        left = _rewrite(store, settings, folder, full=full)
        done = last_done(store)
        after = store.space.tables()
        sizes = {
            "database": (size.size_bytes, store.space.size().size_bytes),
            "cache": (cache, store.cache.size_bytes()),
        }
    forgotten = done.forgotten if done is not None else {}
    tables = {
        name: {
            "rows_before": table.rows,
            "rows_after": after[name].rows,
            "bytes_before": table.size_bytes,
            "bytes_after": after[name].size_bytes,
        }
        for name, table in before.items()
    }
    answer: dict[str, Any] = {"forgotten": forgotten, "tables": tables, "left": left or None}
    for name, (was, is_now) in sizes.items():
        answer |= {f"{name}_bytes_before": was, f"{name}_bytes_after": is_now}
    if printed_json(context, answer):
        return
    rows: list[tuple[object, ...]] = [
        (
            name,
            one["rows_before"],
            one["rows_after"],
            _mb(one["bytes_before"]),
            _mb(one["bytes_after"]),
        )
        for name, one in tables.items()
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
            f"rewriting the database needs {_mb(2 * used)} MB for a while, but only {_mb(room)} MB are "
            "free; make room and compact again"
        )
    # SQLite's own choice may be a small file system in memory.
    os.environ["SQLITE_TMPDIR"] = str(home)
    try:
        with only_writer(settings, folder):
            store.space.compact()
    except StoreLockedError:
        kept = _mb(free.size_bytes - used)
        return (
            f"another process uses the store, so {kept} MB of free space stay in the file; to return them, "
            "stop the daemon and compact again"
        )
    return ""


def _mb(size_bytes: int | None) -> str:
    return "-" if size_bytes is None else f"{size_bytes / MEGABYTE:,.1f}"
