"""What the folder of a store holds, by name: the store's own, and whatever else lies there.

::

    <home>/hubwatch.sqlite  -wal -shm -journal
           pages/ab/cd/<md5>.<md5>
           models/active.json
                  <version>/manifest.json *.json *.svm
           crawler.lock  discovery-N.lock  websub.key
           ~restore-xxxxxxxx/                 of a restore that is under way, or was killed

Whoever deletes or replaces anything in it asks here first. A name alone is no proof: a folder called
``pages`` may be the user's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

DATABASE = "hubwatch.sqlite"
SIDE_FILES = tuple(f"{DATABASE}{ending}" for ending in ("-wal", "-shm", "-journal"))
TREES = ("models", "pages")
_SMALL = re.compile(r"crawler\.lock|discovery-\d+\.lock|websub\.key|settings\.name")
_NEIGHBOURS = frozenset(("hubwatch.toml", "lost+found"))
"""Not the store's, but never touched by it either, and often there: settings, and a volume's own folder."""
_PAGE = re.compile(r"[0-9a-f]{2}(?:/[0-9a-f]{2}(?:/(?:[0-9a-f]{32}\.[0-9a-f]{32}|~\w+))?)?")
_MODEL_FILE = re.compile(r"[a-z_]+\.(?:json|svm)")
_POINTER = re.compile(r"active\.json|\.active\.json\.\d+\.tmp")
_MODEL_KIND = "hubwatch hub classifier"
_WORK_FOLDER = re.compile(r"~(?:restore|backup)-[a-z0-9_]{8}")
_MOST_MANIFEST_BYTES = 10_000_000


def foreign_entry(home: Path, *, unfinished: bool = False) -> Path | None:
    """Return something in *home* that is not the store's own, None if there is nothing.

    A link is never the store's: what lies behind it may be anybody's. *unfinished* lets pass models
    whose manifest has not been written yet.
    """
    return next(_foreign(home, unfinished), None) if home.exists() else None


def remains(home: Path) -> list[Path]:
    """Return what is left in *home* of a store without its database: trees and side files."""
    return [path for name in (*TREES, *SIDE_FILES) if (path := home / name).exists()]


def is_work_folder(path: Path) -> bool:
    """Tell whether *path* looks like the folder of a backup or restore, and holds nothing else."""
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
    # A draft that was cut off may have no manifest yet; its name says what it is.
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
