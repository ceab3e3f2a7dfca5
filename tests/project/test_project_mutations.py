"""What the mutation sample changes in a module, and what it leaves alone."""

from __future__ import annotations

import pytest
from lab.mutations import mutations

MODULE = '''"""A module."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a import b

LIMIT: Final = 3

def decide(age: Literal[1], *, strict: bool = True) -> bool:
    """Docstring with 1 < 2."""
    if age < LIMIT and not strict:
        logger.info("%d of 3", age + 1)
        raise ValueError(f"{age + 1} < 3")
    return "ä" in (str(age), age + 1)
'''


def changes(source: str) -> set[str]:
    return {one.change for one in mutations("a.py", source)}


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("a <= b", "a <= b → a < b"),
        ("a == b", "a == b → a != b"),
        ("a in b", "a in b → a not in b"),
        ("a or b", "a or b → a and b"),
        ("not a", "not a → a"),
        ("a if b else c", "a if b else c → c if b else a"),
        ("a ** b", "a ** b → a * b"),
        ("f(7)", "7 → 8"),
        ("f(0.2)", "0.2 → 0.4"),
        ("f(0.0)", "0.0 → 1.0"),
        ("f(True)", "True → False"),
        ("max(a, b)", "max(a, b) → min(a, b)"),
        ("if a.b: c", "a.b → not a.b"),
        ("while f(): c", "f() → not f()"),
    ],
)
def test_small_changes_of_an_expression(code: str, change: str) -> None:
    assert changes(code) == {change}


def test_a_module_is_changed_where_it_decides() -> None:
    """Types, imports for them, messages, log lines and docstrings decide nothing."""
    assert {(one.line, one.change) for one in mutations("a.py", MODULE)} == {
        (7, "3 → 4"),
        (9, "True → False"),
        (11, "age < LIMIT and (not strict) → age < LIMIT or not strict"),
        (11, "age < LIMIT → age <= LIMIT"),
        (11, "not strict → strict"),
        (14, "return 'ä' in (str(age), age + 1) → return None"),
        (14, "'ä' in (str(age), age + 1) → 'ä' not in (str(age), age + 1)"),
        (14, "age + 1 → age - 1"),
        (14, "1 → 2"),
    }


def test_the_rest_of_the_module_stays_as_it_is() -> None:
    for one in mutations("a.py", MODULE):
        rows = list(zip(MODULE.splitlines(), one.source.splitlines(), strict=True))
        assert [n for n, (old, new) in enumerate(rows, 1) if old != new] == [one.line]
        compile(one.source, "a.py", "exec")


def test_tests_that_read_a_constant_may_notice_its_change() -> None:
    """No test runs the line itself: that is done when the module is imported."""
    (limit,) = (one for one in mutations("a.py", MODULE) if one.line == 7)
    assert limit.lines == (11,)
