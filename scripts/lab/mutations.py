"""Small changes to source code, each of which some test should notice."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_SKIPPED_FIELDS = {"annotation", "returns", "decorator_list", "type_params"}
# Messages, log lines, types and slots decide nothing; in format strings Python 3.11 gives no places.
_SKIPPED = (ast.Assert, ast.Raise, ast.JoinedStr)
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Mutation:
    """One changed place of a module."""

    file: str
    line: int
    """Of the place, from 1."""
    lines: tuple[int, ...]
    """A test that runs one of these lines may notice it."""
    change: str
    source: str
    """Of the whole module, changed."""


def mutations(file: str, source: str) -> list[Mutation]:
    """Return every change of a module, in the order of the text."""
    tree = ast.parse(source)
    used = _uses(tree)
    rows = source.encode().splitlines(keepends=True)
    found = []
    for top in tree.body:
        names = _assigned(top)
        for node in _walk(top):
            if names and not isinstance(node, ast.Constant | ast.BinOp):
                continue
            for old, new in [*((node, new) for new in _changed(node)), *_negated(node)]:
                lines = (
                    tuple(sorted({line for name in names for line in used.get(name, ())}))
                    if names
                    else tuple(range(old.lineno, (old.end_lineno or old.lineno) + 1))
                )
                text = _spliced(rows, old, new)
                found.append(Mutation(file, old.lineno, lines, _said(old, new), text))
    return sorted(found, key=lambda one: one.line)


def _uses(tree: ast.Module) -> dict[str, list[int]]:
    """Return by name the lines that read it."""
    found: dict[str, list[int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id, []).append(node.lineno)
    return found


def _assigned(node: ast.stmt) -> list[str]:
    """Return the names of a module that a statement gives values."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    if isinstance(node, ast.AnnAssign):
        targets = [node.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _walk(node: ast.AST) -> Iterator[ast.expr | ast.stmt]:
    if isinstance(node, _SKIPPED) or _for_types(node) or _logs(node):
        return
    if isinstance(node, ast.expr | ast.stmt):
        yield node
    for name, value in ast.iter_fields(node):
        if name not in _SKIPPED_FIELDS:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _walk(child)


def _for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def _logs(node: ast.AST) -> bool:
    match node:
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name(id="logger")))):
            return True
    return False


def _changed(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what may stand in the place of *node*."""
    new = copy.deepcopy(node)
    match new:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            new.ops = [_COMPARED[type(op)]()]
            yield new
        case ast.BoolOp():
            new.op = ast.Or() if isinstance(new.op, ast.And) else ast.And()
            yield new
        case ast.UnaryOp(op=ast.Not()):
            yield new.operand
        case ast.BinOp(op=op) if type(op) in _CALCULATED and not _is_text(new):
            new.op = _CALCULATED[type(op)]()
            yield new
        case ast.IfExp():
            new.body, new.orelse = new.orelse, new.body
            yield new
        case ast.Constant(value=bool() | int() | float() as value):
            yield ast.Constant(not value if isinstance(value, bool) else _other(value))
        case ast.Call(func=ast.Name(id=name)) if name in _NAMES:
            new.func = ast.Name(_NAMES[name])
            yield new
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ast.Return(ast.Constant(None))


def _negated(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield a bare condition and its contrary; comparisons and the like change in themselves."""
    if isinstance(node, ast.If | ast.While) and isinstance(
        node.test, ast.Name | ast.Attribute | ast.Call
    ):
        yield node.test, ast.UnaryOp(ast.Not(), node.test)


def _other(number: float) -> float:
    return number + 1 if isinstance(number, int) else number * 2 or 1.0


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def _spliced(rows: list[bytes], old: ast.expr | ast.stmt, new: ast.AST) -> str:
    """Return the module with one node written again; the lines of the rest stay where they are."""
    text = ast.unparse(new)
    if isinstance(old, ast.expr):
        text = f"({text})"
    first, last = old.lineno - 1, (old.end_lineno or old.lineno) - 1
    before, after = rows[first][: old.col_offset], rows[last][old.end_col_offset :]
    changed = [*rows[:first], before, text.encode(), after, *rows[last + 1 :]]
    return b"".join(changed).decode()


def _said(old: ast.AST, new: ast.AST) -> str:
    return " → ".join(ast.unparse(node)[:_SHOWN] for node in (old, new))
