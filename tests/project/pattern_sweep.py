"""What the regular expressions of the product cost on texts made against them.

::

    the product's files ── compiled patterns in their values, literal ones in their calls
    a pattern ── its parts ── attacks: a head that matches so far, and a unit to repeat after it
    an attack ── 10,000 characters, quick    linear
              ── else 25,000 and 100,000 characters: more than eight times as slow    super-linear
              ── of a pattern whose texts are bounded: quick at the bound, or not

Run as a program it judges the patterns it is given: see :func:`main`.
"""

import ast
import importlib
import itertools
import json
import os
import re
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = ("incremental", "classifier", "store")
_SCREEN, _LARGE, _LARGEST = 10_000, 25_000, 100_000
# Cheaper texts are not worth a second look: at 100,000 characters a square of this is 0.1 s.
_QUICK_SECONDS = 0.001
_WORTH_SECONDS = 0.05
_MOST_SECONDS = 0.5
_GROWTH = 8
# A repeat with a smaller bound only multiplies the cost.
_UNBOUNDED = 1_000
_METHODS = {"match", "fullmatch", "search", "findall", "finditer", "split", "sub", "subn"}
_ANCHORED = {"match", "fullmatch"}


class Pattern(NamedTuple):
    """A pattern, and how the product calls it."""

    text: str
    flags: int
    methods: list[str]
    most: int | None = None
    """The longest text that it is given, in characters; None = any length."""
    units: tuple[str, ...] = ()
    """Further texts to repeat, found by reading it."""


def patterns() -> dict[str, Pattern]:
    """Return all patterns of the product by their places: ``module.NAME`` or ``module:'pattern'``."""
    paths = [path for top in PACKAGES for path in sorted((ROOT / top).rglob("*.py"))]
    # Migrations are run once, on our own tables; programs run when they are imported.
    paths = [path for path in paths if path.parent.name != "migrations" and path.stem != "__main__"]
    trees = {path: ast.parse(path.read_text("utf-8")) for path in paths}
    public = _uses(*trees.values())
    found: dict[str, Pattern] = {}
    seen = set()
    for path, tree in trees.items():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        private = _uses(tree)
        for name, value in vars(importlib.import_module(module)).items():
            calls = (private if name.startswith("_") else public).get(name, {"finditer"})
            for number, one in enumerate(_compiled(value)):
                place = f"{module}.{name}" + (f"[{number}]" if number else "")
                given = _plain(one, calls)
                # A public one is also a value of each module that imports it.
                if (key := (name, given.text)) not in seen or name.startswith("_"):
                    found[place] = given
                seen.add(key)
        for one, method in _literals(tree):
            found[f"{module}:{one.pattern!r}"] = _plain(one, {method})
    return found


def _plain(pattern: re.Pattern[Any], methods: set[str]) -> Pattern:
    text, flags = pattern.pattern, pattern.flags
    if isinstance(text, bytes):
        text, flags = text.decode("latin-1"), flags | re.ASCII
    return Pattern(text, flags, sorted(methods))


def _uses(*trees: ast.Module) -> dict[str, set[str]]:
    """Return the methods by the names of the patterns that they are called on."""
    found: dict[str, set[str]] = {}
    for node in itertools.chain.from_iterable(map(ast.walk, trees)):
        if isinstance(node, ast.Attribute) and node.attr in _METHODS:
            of = node.value.value if isinstance(node.value, ast.Subscript) else node.value
            if isinstance(of, ast.Name | ast.Attribute):
                name = of.id if isinstance(of, ast.Name) else of.attr
                found.setdefault(name, set()).add(node.attr)
    return found


def _compiled(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, dict | tuple | list | set | frozenset):
        inside = value.values() if isinstance(value, dict) else value
        for one in itertools.islice(inside, 2_000):
            yield from _compiled(one, depth + 1)


def _literals(tree: ast.Module) -> Iterator[tuple[re.Pattern[Any], str]]:
    """Yield the literal patterns of calls like ``re.sub``, with the method."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name("re"), attr=method),
                args=[ast.Constant(str() | bytes() as text), *_],
            ) if method in _METHODS:
                yield re.compile(text), method


def attacks(pattern: str, flags: int) -> list[tuple[str, str]]:
    """Return heads and units whose repetition may cost *pattern* much."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from re import _parser
    parsed = list(_parser.parse(pattern, flags))
    found = {("", unit) for unit in ("a", " ", "a ", "0", "<", "\n", "中", "a.", "0-", '"')}
    repeats = [*_repeats(parsed, "")]
    if not repeats:
        return []
    for head, unit in repeats:
        found |= {(head, unit), ("", unit), ("", head + unit), (head, unit + " ")}
    found |= {("", _witness(parsed[:end])) for end in range(1, min(len(parsed), 20) + 1)}
    return sorted({(head[:500], unit[:100]) for head, unit in found if unit})


def _repeats(items: Any, head: str) -> Iterator[tuple[str, str]]:
    """Yield texts of each unbounded repeated part, each with a text of what stands before it."""
    for name, given in items:
        match str(name):
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                if given[1] >= _UNBOUNDED:
                    yield from ((head, unit) for unit in _variants(given[2]))
                yield from _repeats(given[2], head)
            case "SUBPATTERN":
                yield from _repeats(given[3], head)
            case "ATOMIC_GROUP":
                yield from _repeats(given, head)
            case "BRANCH":
                for branch in given[1]:
                    yield from _repeats(branch, head)
            case "ASSERT" | "ASSERT_NOT":
                yield from _repeats(given[1], head)
        head += _witness([(name, given)])


def _variants(items: Any) -> set[str]:
    """Return some texts that match the repeated *items*."""
    found = {_witness(items)}
    if len(items) == 1:
        name, given = items[0]
        if str(name) == "SUBPATTERN":
            return found | _variants(given[3])
        if str(name) == "IN" and str(given[0][0]) != "NEGATE":
            found |= {_of_set([one]) for one in given[:6]}
        elif str(name) == "BRANCH":
            found |= {_witness(branch) for branch in given[1][:6]}
            found |= {a + b for a, b in itertools.permutations(sorted(found)[:4], 2)}
    return found


def _witness(items: Any) -> str:
    """Return a text that matches *items*, mostly."""
    text = ""
    for name, given in items:
        match str(name):
            case "LITERAL":
                text += chr(given)
            case "NOT_LITERAL" | "ANY":
                text += "b" if given != ord("b") else "c"
            case "IN":
                text += _of_set(given)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                text += _witness(given[2]) * min(max(given[0], 1), 20)
            case "SUBPATTERN" | "ASSERT":  # an assertion of what stands before, mostly
                text += _witness(given[-1])
            case "ATOMIC_GROUP":
                text += _witness(given)
            case "BRANCH":
                text += _witness(given[1][0])
    return text


_OF_CATEGORY = {"DIGIT": "1", "NOT_DIGIT": "b", "SPACE": " ", "NOT_SPACE": "b", "WORD": "b"}


def _of_set(items: Any) -> str:
    name, given = items[0]
    match str(name):
        case "NEGATE":
            without = {chr(given) for name, given in items[1:] if str(name) == "LITERAL"}
            inside = {str(given) for name, given in items[1:] if str(name) == "CATEGORY"}
            tried = "1 <-_é" if "CATEGORY_NOT_WORD" not in inside else "b"
            tried = "<-é" if "CATEGORY_WORD" in inside else "b" + tried
            return next((one for one in tried if one not in without), "~")
        case "LITERAL":
            return chr(given)
        case "RANGE":
            return chr(given[0])
    return _OF_CATEGORY.get(str(given).removeprefix("CATEGORY_"), "-")


def _seconds(pattern: re.Pattern[str], methods: list[str], text: str) -> float:
    """Return the processor time of the dearest of *methods*; the process dies if it is too much."""
    most = 0.0
    for method in methods:
        signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_SECONDS)
        begun = time.process_time()
        if method in {*_ANCHORED, "search"}:
            getattr(pattern, method)(text)
        else:
            deque(pattern.finditer(text), maxlen=0)
        most = max(most, time.process_time() - begun)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return most


def _is_slow(pattern: re.Pattern[str], given: Pattern, head: str, unit: str) -> bool:
    def cost(length: int) -> float:
        text = (head + unit * (length // len(unit)))[: given.most]
        # Neither a word nor a gap may go on to the end.
        return _seconds(pattern, given.methods, text + "\x01é")

    # Twice, because the first may pay for what others left in the caches.
    if any(cost(given.most or _SCREEN) < _QUICK_SECONDS for _ in range(2)):
        return False
    if given.most:
        return True
    largest = cost(_LARGEST)
    return largest > _WORTH_SECONDS and largest > _GROWTH * min(cost(_LARGE) for _ in range(2))


def _judge(given: Pattern) -> str | None:
    """Return how to make a text that shows *given* to be super-linear; None = none was found."""
    pattern = re.compile(given.text, given.flags)
    tried = [*attacks(given.text, given.flags), *(("", unit) for unit in given.units)]
    read, write = os.pipe()
    child = os.fork()
    if not child:
        # The signal of the timer ends it: a running pattern lets no handler in.
        for number, (head, unit) in enumerate(tried):
            os.write(write, number.to_bytes(2, "big"))
            if _is_slow(pattern, given, head, unit):
                os._exit(1)
        os._exit(0)
    os.close(write)
    _, status = os.waitpid(child, 0)
    with os.fdopen(read, "rb") as numbers:
        last = numbers.read()[-2:]
    if not status:
        return None
    head, unit = tried[int.from_bytes(last, "big")]
    return f"{head!r} + {unit!r} * n"


def main() -> None:
    """Read ``{place: [text, flags, methods], ...}`` as JSON; write what shows which to be slow."""
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    given = {place: Pattern(*pattern) for place, pattern in json.load(sys.stdin).items()}
    shown = {place: _judge(pattern) for place, pattern in given.items()}
    json.dump({place: text for place, text in shown.items() if text}, sys.stdout)


if __name__ == "__main__":
    main()
