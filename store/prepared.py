"""Queries that are turned into SQL once: what the crawler asks at every visit.

Peewee makes its SQL anew from the expressions of a query each time one is run, which took more than half
of the time of a visit. A :class:`Prepared` query is built once, with a mark in the place of each
parameter, and from then on only its values are bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

from peewee import Database

_MARK = -(2**40)
"""Marks are whole numbers that a float holds exactly, and that no id, time or limit ever is."""


class Prepared:
    """A query with parameters. *build* makes it from one value for each of its own parameters."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self._build = build
        self._marks = {name: _MARK - at for at, name in enumerate(signature(build).parameters)}
        self._compiled: dict[type[Database], tuple[str, tuple[object, ...]]] = {}

    def rows(self, database: Database, **values: object) -> list[tuple[Any, ...]]:
        """Run it with *values* by name of the parameter; return the rows."""
        compiled = self._compiled.get(type(database))
        if compiled is None:
            compiled = self._compile(database)
        sql, parameters = compiled
        bound = [values[p.name] if isinstance(p, _Slot) else p for p in parameters]
        cursor: Any = database.execute_sql(sql, bound)  # type: ignore[no-untyped-call]
        return list(cursor.fetchall())

    def _compile(self, database: Database) -> tuple[str, tuple[object, ...]]:
        context: Any = database.get_sql_context()
        sql, parameters = context.sql(self._build(**self._marks)).query()
        compiled = sql, tuple(self._slot(one) for one in parameters)
        self._compiled[type(database)] = compiled
        return compiled

    def _slot(self, value: object) -> object:
        """Return which parameter stands at a place; a constant as it is."""
        names: Sequence[str] = [
            name for name, mark in self._marks.items() if value in (mark, str(mark))
        ]
        return _Slot(names[0]) if names else value


class _Slot:
    """The place of a parameter."""

    def __init__(self, name: str) -> None:
        self.name = name
