"""Every setting with its meaning, default, unit and range, read from the types.

The one source of what ``hubwatch init`` writes, of ``docs/settings.md`` and ``hubwatch settings``, and of
errors about values.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from msgspec import inspect as inspected

from incremental.base.features import found
from incremental.settings.sections import core_sections, entry_of

# Bounds that only keep infinity out.
_ENDLESS = 1e6
_WORDS: dict[type[inspected.Type], str] = {
    inspected.BoolType: "true or false",
    inspected.IntType: "a whole number",
    inspected.FloatType: "a number",
    inspected.StrType: "text",
    inspected.VarTupleType: "a list of texts",
    inspected.FrozenSetType: "a list of texts",
    inspected.DictType: "a table of texts",
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
        for one in _sections(name, entry_of(kind) or kind, several=entry_of(kind) is not None)
    )


def settings_beside(field: str) -> tuple[Setting, ...]:
    """Return the settings of the section that holds the field of an error: ``site[0].url``."""
    section = re.sub(r"\[[^][]*\]", "", field).rpartition(".")[0]
    return next((one.settings for one in reference() if one.name == section), ())


def setting_at(field: str) -> Setting | None:
    """Return the setting that a field of an error names."""
    name = field.rpartition(".")[2]
    return next((one for one in settings_beside(field) if one.name == name), None)


def _sections(name: str, table: Any, *, several: bool = False) -> Iterator[Section]:  # noqa: ANN401 - a Struct
    """Yield a section, and the arrays of tables below it."""
    says, meanings = _docstrings(table)
    settings, arrays = list[Setting](), dict[str, Any]()
    for field in inspected.type_info(table).fields:  # type: ignore[attr-defined]  # of a Struct
        kind = field.type
        if isinstance(kind, inspected.VarTupleType) and isinstance(
            kind.item_type, inspected.StructType
        ):
            arrays[f"{name}.{field.name}"] = kind.item_type.cls
            continue
        made = field.default_factory
        default = field.default if made is msgspec.NODEFAULT else made()
        marks = kind if isinstance(kind, inspected.Metadata) else inspected.Metadata(kind)
        examples = (marks.extra_json_schema or {}).get("examples", [default])
        settings.append(
            Setting(
                section=name,
                name=field.name,
                default=default,
                kind=_in_words(kind),
                says=meanings.get(field.name, ""),
                several=several,
                secret=bool(marks.extra),
                example=examples[0],
            )
        )
    yield Section(name, several, says, tuple(settings))
    for below, entry in arrays.items():
        yield from _sections(below, entry, several=True)


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


def _in_words(kind: Any) -> str:  # noqa: ANN401 - a type of msgspec.inspect
    match kind:
        case inspected.Metadata():
            return _in_words(kind.type)
        case inspected.UnionType():
            given = [one for one in kind.types if not isinstance(one, inspected.NoneType)]
            return " or ".join(map(_in_words, given))
        case inspected.LiteralType():
            values = [f'"{one}"' for one in kind.values]
        case inspected.EnumType():
            values = [f'"{one}"' for one in kind.cls]
        case _:
            return _WORDS[type(kind)] + (_range(kind) if hasattr(kind, "ge") else "")
    return f"one of: {', '.join(values)}" if len(values) > 1 else values[0]


def _range(kind: Any) -> str:  # noqa: ANN401 - likewise
    if kind.gt is not None:
        return f" above {kind.gt:,}"
    if kind.le is None or kind.le >= _ENDLESS:
        return "" if kind.ge is None else f", {kind.ge:,} or more"
    return f" from {kind.ge:,} to {kind.le:,}"
