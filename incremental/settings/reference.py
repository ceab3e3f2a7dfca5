"""Every setting with its meaning, default, unit and range, read from the types.

The one source of what ``hubwatch init`` writes, of ``docs/settings.md`` and ``hubwatch settings``, and of
errors about values.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from incremental.base.features import found
from incremental.settings.sections import core_sections, entry_of

# Bounds that only keep infinity out.
_ENDLESS = 1e6
_UNITS = {
    "seconds": "seconds",
    "minutes": "minutes",
    "hours": "hours",
    "days": "days",
    "mb": "MB",
    "bytes": "bytes",
}
_RATES = {"_per_day": "per day", "_per_hour": "per hour", "_per_night": "per night"}
_WORDS: dict[Any, tuple[str, str]] = {
    bool: ("true or false", "true or false"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    str: ("text", "texts"),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the settings file."""

    section: str
    name: str
    default: object
    """None = not set; :data:`msgspec.NODEFAULT` = required."""
    kind: str
    """What it takes, after "must be": ``a number from 0 to 1``."""
    unit: str
    """Empty = none."""
    says: str
    """Its meaning, in Markdown."""
    several: bool
    """Whether it stands in an array of tables, which no variable of the environment sets."""
    secret: bool
    """Whether it is shown nowhere."""
    example: object
    """A value for the file; its default if its type names none."""

    @property
    def required(self) -> bool:
        """Whether an entry must have it."""
        return self.default is msgspec.NODEFAULT

    @property
    def variable(self) -> str:
        """The environment variable that sets it; empty = none."""
        return "" if self.several else f"HUBWATCH_{self.section}_{self.name}".upper()


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the settings file."""

    name: str
    several: bool
    """Whether it is an array of tables: ``[[site]]``."""
    says: str
    settings: tuple[Setting, ...]

    @property
    def heading(self) -> str:
        """How it stands in the file."""
        return f"[[{self.name}]]" if self.several else f"[{self.name}]"


@cache
def reference(off: frozenset[str] = frozenset()) -> tuple[Section, ...]:
    """Return all sections in the order of the file, those of features last; none of one that is *off*."""
    features = found(off)
    kinds = {one.name: features.section(one.name) for one in features.on if one.settings}
    return tuple(
        one
        for name, kind in (core_sections() | kinds).items()
        if kind is not None
        for one in _sections(name, kind)
    )


def setting_at(field: str) -> Setting | None:
    """Return the setting that a field of an error names: ``revisit.hours``, ``site[0].url``."""
    section, _, name = re.sub(r"\[[^][]*\]", "", field).rpartition(".")
    return next(
        (
            one
            for found in reference()
            if found.name == section
            for one in found.settings
            if one.name == name
        ),
        None,
    )


def _sections(name: str, kind: Any) -> Iterator[Section]:  # noqa: ANN401 - a Struct, or an array of them
    """Yield a section, and the arrays of tables below it."""
    entry = entry_of(kind)
    table = kind if entry is None else entry
    says, meanings = _docstrings(table)
    hints = get_type_hints(table, include_extras=True)
    defaults = dict(_defaults(table))
    settings = []
    for field, default in defaults.items():
        if entry_of(hints[field]) is not None:
            continue
        marks = _bare(hints[field])[1]
        examples = [one for mark in marks for one in mark.examples or ()]
        settings.append(
            Setting(
                section=name,
                name=field,
                default=default,
                kind=_in_words(hints[field]),
                unit=_unit(field, hints[field]),
                says=meanings.get(field, ""),
                several=entry is not None,
                secret=any(mark.extra for mark in marks),
                example=examples[0] if examples else default,
            )
        )
    yield Section(name, entry is not None, says, tuple(settings))
    for field in defaults:
        if entry_of(hints[field]) is not None:
            yield from _sections(f"{name}.{field}", hints[field])


def _defaults(kind: Any) -> Iterator[tuple[str, object]]:  # noqa: ANN401 - likewise
    for field in msgspec.structs.fields(kind):
        factory = field.default_factory
        yield field.name, field.default if factory is msgspec.NODEFAULT else factory()


def _docstrings(kind: type) -> tuple[str, dict[str, str]]:
    """Return the docstrings of a class and of its fields, in Markdown."""
    (tree,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    for above in kind.__bases__:
        found |= _docstrings(above)[1] if above is not msgspec.Struct else {}
    before = ""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            before = node.target.id
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and before:
            found[before] = _markdown(str(node.value.value))
        else:
            before = ""
    return _markdown((ast.get_docstring(tree) or "").partition("\n\n")[0]), found


def _markdown(text: str) -> str:
    plain = re.sub(r"(?<![\w*])\*(\w+)\*", r"`\1`", text.replace("``", "`"))
    return " ".join(plain.split())


def _unit(name: str, hint: Any) -> str:  # noqa: ANN401 - a type
    kind, _ = _bare(hint)
    if kind is str or get_origin(kind) in (tuple, frozenset, dict):
        return ""
    rate = next((words for ending, words in _RATES.items() if name.endswith(ending)), "")
    head, _, last = name.rpartition("_")
    return rate or (_UNITS.get(last, "") if head else "")


def _in_words(hint: Any) -> str:  # noqa: ANN401 - a type
    kind, bounds = _bare(hint)
    arguments = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(map(_in_words, arguments))
    if get_origin(kind) is Literal or (isinstance(kind, type) and issubclass(kind, StrEnum)):
        values = ", ".join(f'"{one}"' for one in arguments or kind)
        return f"one of: {values}" if len(arguments) != 1 else values
    if get_origin(kind) in (tuple, frozenset):
        return f"a list of {_WORDS[arguments[0]][1]}"
    if get_origin(kind) is dict:
        return "a table of texts"
    return _WORDS[kind][0] + _range(bounds)


def _bare(hint: Any) -> tuple[Any, list[msgspec.Meta]]:  # noqa: ANN401 - likewise
    if get_origin(hint) is not Annotated:
        return hint, []
    kind, *more = get_args(hint)
    return kind, [one for one in more if isinstance(one, msgspec.Meta)]


def _range(bounds: list[msgspec.Meta]) -> str:
    lowest = next((one.ge for one in bounds if one.ge is not None), None)
    above = next((one.gt for one in bounds if one.gt is not None), None)
    highest = next((one.le for one in bounds if one.le is not None and one.le < _ENDLESS), None)
    return span(lowest, highest) if above is None else f" above {above:,}"


def span(lowest: float | None, highest: float | None) -> str:
    """Return the range of a number in words, to follow "a number"; empty = any."""
    if lowest is not None and highest is not None:
        return f" from {lowest:,} to {highest:,}"
    if lowest is not None:
        return f", {lowest:,} or more"
    return "" if highest is None else f", at most {highest:,}"
