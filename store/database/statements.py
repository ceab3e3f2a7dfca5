"""Statements of every visit, compiled to SQL once.

Peewee builds the SQL of a query again on each run, which took more than half of a visit's time. Here a query
is built once for each database, of parameters instead of values, and later runs only bind values::

    Prepared(lambda site, keys: Page.select(...).where((Page.site == site) & any_of(Page.key, keys)))
    Inserted(Sighting, ignore=True)                      many rows at a time, of whatever columns
    Inserted(Host, key=("name",))                        likewise, or changed where the name exists
    Updated(Hub, lambda page: Hub.page == page)          whatever columns are set
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from inspect import signature
from types import NoneType
from typing import Any

import peewee
from peewee import EXCLUDED, ColumnBase, Database, Model, SqliteDatabase, Value

_Compiled = tuple[str, tuple[object, ...]]


class _Slot:
    """The place of a parameter."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.many = False
        """The parameter is a list."""


class _AnyOf(ColumnBase):
    """See :func:`any_of`."""

    def __init__(self, column: Any, values: Value) -> None:  # noqa: ANN401 - a peewee column
        self._column = column
        self._values = values
        values.value.many = True

    def __sql__(self, context: Any) -> Any:  # noqa: ANN401 - peewee's Context
        context.sql(self._column)
        if context.state.param == "?":
            context.literal(" IN (SELECT value FROM json_each(").sql(self._values).literal("))")
        else:
            context.literal(" = ANY(").sql(self._values).literal(")")
        return context


def any_of(column: Any, values: Any) -> Any:  # noqa: ANN401 - peewee expressions
    """Return the condition that *column* is one of *values*, a parameter that takes a list of any length."""
    return _AnyOf(column, values)


def _parameter(name: str) -> Any:  # noqa: ANN401 - a peewee expression
    return Value(_Slot(name), converter=False, unpack=False)


def _plain(value: object) -> object:
    return value.value if isinstance(value, Enum) else value


_AS_THEY_ARE = frozenset({str, float, int, bool, NoneType, bytes})


def _bound(
    database: Database, parameters: Sequence[object], values: Mapping[str, object]
) -> list[object]:
    bound: list[object] = []
    for parameter in parameters:
        if type(parameter) is not _Slot:
            bound.append(parameter)
            continue
        value: Any = values[parameter.name]
        if parameter.many:
            plain = [_plain(one) for one in value]
            value = json.dumps(plain) if isinstance(database, SqliteDatabase) else plain
        elif type(value) not in _AS_THEY_ARE:
            value = _plain(value)
        bound.append(value)
    return bound


def run_sql(database: Database, sql: str, values: Any = ()) -> Any:  # noqa: ANN401 - a driver's cursor
    """Run a statement that peewee cannot express, or that was compiled before."""
    return database.execute_sql(sql, values)  # type: ignore[no-untyped-call]  # peewee's stubs lack it


def run_many(database: Database, sql: str, rows: Sequence[Sequence[object]]) -> None:
    """Run one statement with each of *rows*."""
    if len(rows) == 1:
        run_sql(database, sql, rows[0])
    elif rows:
        # As execute_sql does.
        with peewee.__exception_wrapper__:  # type: ignore[attr-defined]  # as in run_sql
            cursor = database.cursor()  # type: ignore[no-untyped-call]  # as in run_sql
            cursor.executemany(sql, rows)


class _Statement:
    """Compiles each form of a statement once for each kind of database."""

    def __init__(self) -> None:
        self._forms: dict[object, _Compiled] = {}

    def _form(self, database: Database, form: object, build: Callable[[], Any]) -> _Compiled:
        compiled = self._forms.get((type(database), form))
        if compiled is None:
            context: Any = database.get_sql_context()
            sql, parameters = context.sql(build()).query()
            compiled = self._forms[type(database), form] = sql, tuple(parameters)
        return compiled


class Prepared(_Statement):
    """A query or statement; *build* makes it of one expression per parameter."""

    def __init__(self, build: Callable[..., Any]) -> None:
        super().__init__()
        marks = {name: _parameter(name) for name in signature(build).parameters}
        self._build = lambda: build(**marks)

    def rows(self, database: Database, **values: object) -> list[tuple[Any, ...]]:
        """Run it with *values* by parameter name; return its rows."""
        return list(self._cursor(database, values).fetchall())

    def run(self, database: Database, **values: object) -> int:
        """Run it with *values* by parameter name; return the number of rows updated or deleted."""
        return int(self._cursor(database, values).rowcount)

    def _cursor(self, database: Database, values: Mapping[str, object]) -> Any:  # noqa: ANN401 - a driver's
        sql, parameters = self._form(database, None, self._build)
        return run_sql(database, sql, _bound(database, parameters, values))


def upsert(
    model: Any,  # noqa: ANN401 - a peewee model
    row: Mapping[str, Any],
    key: Iterable[str],
    update: Iterable[str],
    where: Any = None,  # noqa: ANN401 - a peewee expression
) -> Any:  # noqa: ANN401 - a peewee query
    """Return an INSERT that updates the columns *update* of an existing row with this *key*."""
    columns = [getattr(model, name) for name in update]
    return model.insert(row).on_conflict(
        conflict_target=[getattr(model, name) for name in key],
        update={column: getattr(EXCLUDED, column.column_name) for column in columns},
        where=where,
    )


class Inserted(_Statement):
    """Rows of a table. Of existing ones with the *key* columns are set, or all existing ones *ignored*."""

    def __init__(
        self, model: type[Model], key: Sequence[str] = (), *, ignore: bool = False
    ) -> None:
        super().__init__()
        self._model = model
        self._key = key
        self._ignore = ignore

    def run(
        self,
        database: Database,
        rows: Iterable[Mapping[str, object]],
        update: Iterable[str] | None = None,
    ) -> None:
        """Write *rows*, all of the same columns.

        Of existing ones the columns *update* are set, all but the key if not given.
        """
        wanted = list(rows)
        if not wanted:
            return
        names = tuple(wanted[0])
        changed = tuple(name for name in names if name not in self._key)
        form = (names, changed if update is None else tuple(update))
        sql, parameters = self._form(database, form, lambda: self._insert(*form))
        run_many(database, sql, [_bound(database, parameters, row) for row in wanted])

    def _insert(self, names: Iterable[str], changed: Iterable[str]) -> Any:  # noqa: ANN401 - a peewee query
        marks = {name: _parameter(name) for name in names}
        if self._key:
            return upsert(self._model, marks, self._key, changed)
        query: Any = self._model.insert(marks)
        return query.on_conflict_ignore() if self._ignore else query


class Updated(_Statement):
    """Columns of the rows that *where*, made of one expression per parameter, selects."""

    def __init__(self, model: type[Model], where: Callable[..., Any]) -> None:
        super().__init__()
        self._model = model
        self._where = where

    def run(self, database: Database, fields: Mapping[str, object], **values: object) -> int:
        """Set *fields*; return the number of rows."""
        names = tuple(fields)
        sql, parameters = self._form(database, names, lambda: self._update(names))
        chosen = {f"where {name}": value for name, value in values.items()}
        return int(
            run_sql(database, sql, _bound(database, parameters, {**fields, **chosen})).rowcount
        )

    def _update(self, names: Sequence[str]) -> Any:  # noqa: ANN401 - a peewee query
        marks = {name: _parameter(f"where {name}") for name in signature(self._where).parameters}
        query: Any = self._model.update({name: _parameter(name) for name in names})
        return query.where(self._where(**marks))
