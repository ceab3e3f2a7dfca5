"""What every door of the store needs: its database, and rows of a query."""

from __future__ import annotations

from typing import Any

from peewee import Database

from store.database import storage_errors
from store.prepared import Prepared


class Reader:
    """A door to one database; *where* is its address, for messages."""

    def __init__(self, database: Database, where: str) -> None:
        self._db = database
        self._where = where

    def _rows(self, query: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - peewee's query classes share no typed base
        with storage_errors(self._where):
            return list(query.tuples().execute(self._db))

    def _asked(self, query: Prepared, **values: object) -> list[tuple[Any, ...]]:
        with storage_errors(self._where):
            return query.rows(self._db, **values)

    def _dicts(self, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as in _rows
        with storage_errors(self._where):
            return list(query.dicts().execute(self._db))
