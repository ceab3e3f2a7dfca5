"""Basis of every part of the store: rows turned into values, and one way to run a query."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Any, Generic, TypeVar, get_origin, get_type_hints

import msgspec
from peewee import Database, Model, chunked

from store.database.failures import storage_errors
from store.database.statements import Prepared, run_sql

T = TypeVar("T")
# Values per IN (...).
MAX_IDS = 500
# Rows per INSERT: SQLite allows 32,766 variables, older versions 999.
MAX_ROWS = 90


class Shape(Generic[T]):
    """Columns of a model that fill a value: those named like its fields, or given as *others*.

    Columns of tuples and dicts hold JSON. *leave* are the last fields, which keep their defaults.
    """

    def __init__(
        self,
        value: type[T],
        model: type[Model],
        leave: Collection[str] = (),
        **others: Any,  # noqa: ANN401 - peewee expressions
    ) -> None:
        names = [one.name for one in fields(value) if one.name not in leave]  # type: ignore[arg-type]  # a dataclass
        hints = get_type_hints(value)
        self.columns: list[Any] = [others.get(name) or getattr(model, name) for name in names]
        self._value, self._model = value, model
        self._enums: list[tuple[int, type[StrEnum]]] = [
            (at, hints[name])
            for at, name in enumerate(names)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
        ]
        self._json = [
            (at, hints[name])
            for at, name in enumerate(names)
            if get_origin(hints[name]) in (tuple, dict)
        ]

    def select(self) -> Any:  # noqa: ANN401 - a peewee query
        """Begin a query of these columns."""
        return self._model.select(*self.columns)

    def __call__(self, row: Sequence[Any]) -> T:
        """Return the value of a row."""
        values = list(row)
        for at, kind in self._enums:
            values[at] = kind(values[at])
        for at, kind_of_json in self._json:
            values[at] = msgspec.json.decode(values[at], type=kind_of_json)
        return self._value(*values)


class Repository:
    """A part of the store, on one database; *where* is its address, for messages."""

    def __init__(self, database: Database, where: str) -> None:
        self._db = database
        self._where = where

    def _rows(self, query: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - peewee's queries share no typed base
        with storage_errors(self._where):
            return list(query.tuples().execute(self._db))

    def _sql(self, statement: str, values: Any = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401 - a driver's
        """Run a statement that peewee cannot express, and return its rows."""
        with storage_errors(self._where):
            return list(run_sql(self._db, statement, values).fetchall())

    def _asked(self, query: Prepared, **values: object) -> list[tuple[Any, ...]]:
        with storage_errors(self._where):
            return query.rows(self._db, **values)

    def _asked_one(self, shape: Shape[T], query: Prepared, **values: object) -> T | None:
        rows = self._asked(query, **values)
        return shape(rows[0]) if rows else None

    def _asked_all(self, shape: Shape[T], query: Prepared, **values: object) -> list[T]:
        return [shape(row) for row in self._asked(query, **values)]

    def _dicts(self, query: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as in _rows
        with storage_errors(self._where):
            return list(query.dicts().execute(self._db))

    def _all(self, shape: Shape[T], query: Any) -> list[T]:  # noqa: ANN401 - as in _rows
        return [shape(row) for row in self._rows(query)]

    def _first(self, shape: Shape[T], query: Any) -> T | None:  # noqa: ANN401 - as in _rows
        rows = self._rows(query.limit(1))
        return shape(rows[0]) if rows else None

    def _scalar(self, query: Any) -> Any:  # noqa: ANN401 - as in _rows
        """Return the first column of the first row, or None."""
        rows = self._rows(query)
        return rows[0][0] if rows else None

    def _column(self, query: Any) -> list[Any]:  # noqa: ANN401 - as in _rows
        return [row[0] for row in self._rows(query)]

    def _counts(self, query: Any) -> dict[Any, dict[str, int]]:  # noqa: ANN401 - as in _rows
        """Return the third column, keyed by the first, then the second."""
        counts: dict[Any, dict[str, int]] = {}
        for one, other, count in self._rows(query):
            counts.setdefault(one, {})[other] = count
        return counts

    def _write(self, query: Any) -> int:  # noqa: ANN401 - as in _rows
        """Run one statement in its own transaction; return the number of rows updated or deleted."""
        with storage_errors(self._where):
            changed = query.execute(self._db)
        return changed if isinstance(changed, int) else 0  # an INSERT returns its key


def batches(values: Iterable[T], size: int = MAX_IDS) -> Iterator[list[T]]:
    """Yield the distinct *values* in lists short enough for one statement."""
    for batch in chunked(dict.fromkeys(values), size):
        yield list(batch)
