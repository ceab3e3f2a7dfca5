"""Names of sites that were given by hand or by a list of another program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from incremental.base.plain_text import one_line
from store.database.texts import to_json

if TYPE_CHECKING:
    from store import Store
    from store.values import SiteRow

_LONGEST_NAME = 200
_NAMED = "named"


def is_named(row: SiteRow) -> bool:
    """Return whether its name was given, so that what a feed says of its site does not replace it."""
    return bool(json.loads(row.scope).get(_NAMED))


def give_name(store: Store, row: SiteRow, name: str) -> None:
    """Name a site as a list names it, with part of its address if another site has that name."""
    if name := one_line(name, _LONGEST_NAME):
        store.write.rename_site(row.id, name, row.seed_url)
        rules = {**json.loads(row.scope), _NAMED: True}
        store.write.update_site(row.id, scope=to_json(rules))
