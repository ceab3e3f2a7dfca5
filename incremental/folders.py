"""Folders and given names of sites, as lists of other programs have them. Kept in a site's rules."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from incremental.plain_text import one_line
from store.texts import to_json

if TYPE_CHECKING:
    from store import Store
    from store.values import SiteRow

MAX_FOLDERS = 20
# Longer names are cut; commas part several of them in OPML.
MAX_FOLDER = 40
_LONGEST_NAME = 200
_KEY, _NAMED = "folders", "named"


def folders_by_site(store: Store) -> dict[int, tuple[str, ...]]:
    """Return the folders of each site in the order in which they were given; nested ones as ``A/B``."""
    return {row.id: _folders_of(row) for row in store.read.sites()}


def add_folders(store: Store, site_id: int, folders: Iterable[str]) -> tuple[str, ...]:
    """Put a site into more folders, :data:`MAX_FOLDERS` at most; return all that it is in now."""
    row = store.read.site(site_id)
    if row is None:
        return ()
    wanted = (one_line(folder.replace(",", " "), MAX_FOLDER) for folder in folders)
    before = _folders_of(row)
    after = tuple(dict.fromkeys((*before, *filter(None, wanted))))[:MAX_FOLDERS]
    if after != before:
        _change(store, row, **{_KEY: list(after)})
    return after


def _folders_of(row: SiteRow) -> tuple[str, ...]:
    return tuple(json.loads(row.scope).get(_KEY, ()))


def is_named(row: SiteRow) -> bool:
    """Return whether its name was given, so that what a feed says of its site does not replace it."""
    return bool(json.loads(row.scope).get(_NAMED))


def give_name(store: Store, row: SiteRow, name: str) -> None:
    """Name a site as a list names it, with part of its address if another site has that name."""
    if name := one_line(name, _LONGEST_NAME):
        store.write.rename_site(row.id, name, row.seed_url)
        _change(store, row, **{_NAMED: True})


def _change(store: Store, row: SiteRow, **changes: object) -> None:
    store.write.update_site(row.id, scope=to_json({**json.loads(row.scope), **changes}))
