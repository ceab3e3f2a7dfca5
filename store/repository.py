"""Basis of every part of the store: rows turned into values, and one way to run a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields
from enum import StrEnum
from inspect import signature
from typing import Any, Generic, TypeVar, get_type_hints

from peewee import EXCLUDED, Database, Model, chunked

from store.failures import storage_errors

T = TypeVar("T")
# Values per IN (...).
MAX_IDS = 500
# Rows per INSERT: SQLite allows 32,766 variables, older versions 999.
MAX_ROWS = 90
# Placeholders: integers a float holds exactly, and that no id, time or limit reaches.
_MARK = -(2**40)


class Shape(Generic[T]):
    """Columns of a model that fill a value: those named like its fields, or given as *others*."""

    def __init__(self, value: type[T], model: type[Model], **others: Any) -> None:  # noqa: ANN401 - peewee expressions
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]  # a dataclass
        hints = get_type_hints(value)
        self.columns: list[Any] = [others.get(name) or getattr(model, name) for name in names]
        self._value, self._model = value, model
        self._enums: list[tuple[int, type[StrEnum]]] = [
            (at, hints[name])
            for at, name in enumerate(names)
            if isinstance(hints[name], type) and issubclass(hints[name], StrEnum)
        ]

    def select(self) -> Any:  # noqa: ANN401 - a peewee query
        """Begin a query of these columns."""
        return self._model.select(*self.columns)

    def __call__(self, row: Sequence[Any]) -> T:
        """Return the value of a row."""
        values = list(row)
        for at, kind in self._enums:
            values[at] = kind(values[at])
        return self._value(*values)


class Prepared:
    """A query compiled to SQL once; *build* makes it from one value per parameter.

    Placeholders stand for parameters, and later runs only bind values.
    """

    # Peewee generates SQL on every run, which took more than half of a visit's time.

    def __init__(self, build: Callable[..., Any]) -> None:
        self._build = build
        self._marks = {name: _MARK - at for at, name in enumerate(signature(build).parameters)}
        self._compiled: dict[type[Database], tuple[str, tuple[object, ...]]] = {}

    def rows(self, database: Database, **values: object) -> list[tuple[Any, ...]]:
        """Run it with *values* by parameter name."""
        compiled = self._compiled.get(type(database))
        if compiled is None:
            context: Any = database.get_sql_context()
            sql, parameters = context.sql(self._build(**self._marks)).query()
            compiled = sql, tuple(self._slot(one) for one in parameters)
            self._compiled[type(database)] = compiled
        sql, parameters = compiled
        bound = [values[p.name] if isinstance(p, _Slot) else p for p in parameters]
        cursor: Any = database.execute_sql(sql, bound)  # type: ignore[no-untyped-call]
        return list(cursor.fetchall())

    def _slot(self, value: object) -> object:
        names = [name for name, mark in self._marks.items() if value in (mark, str(mark))]
        return _Slot(names[0]) if names else value


class _Slot:
    """The place of a parameter."""

    def __init__(self, name: str) -> None:
        self.name = name


class Repository:
    """A part of the store, on one database; *where* is its address, for messages."""

    def __init__(self, database: Database, where: str) -> None:
        self._db = database
        self._where = where

    def _rows(self, query: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - peewee's queries share no typed base
        with storage_errors(self._where):
            return list(query.tuples().execute(self._db))

    def _asked(self, query: Prepared, **values: object) -> list[tuple[Any, ...]]:
        with storage_errors(self._where):
            return query.rows(self._db, **values)

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


def upsert(
    model: Any,  # noqa: ANN401 - a peewee model
    row: dict[str, Any],
    key: Sequence[str],
    update: Iterable[str],
    where: Any = None,  # noqa: ANN401 - a peewee expression
) -> Any:  # noqa: ANN401 - a peewee query
    """Return an INSERT that updates the columns *update* of an existing row with this *key*."""
    return model.insert(row).on_conflict(
        conflict_target=[getattr(model, name) for name in key],
        update={getattr(model, name): getattr(EXCLUDED, name) for name in update},
        where=where,
    )


def batches(values: Iterable[T], size: int = MAX_IDS) -> Iterator[list[T]]:
    """Yield the distinct *values* in lists short enough for one statement."""
    for batch in chunked(dict.fromkeys(values), size):
        yield list(batch)
