"""The states that pages carry for their scripts: ``__NEXT_DATA__``, ``__INITIAL_STATE__``, data scripts.

They are read as text, and no script is run. What is no JSON (a function's result) is not found.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from incremental.parse.scripts import MOST_SCRIPT_CHARS, Scripts
from incremental.parse.text import read_json

MOST_STATES = 20
_MOST_PARTS = 200_000
_MOST_DEPTH = 60

# window.__STATE__ = {...}, self["__DATA__"] = JSON.parse("..."), var initialData = {...}
_ASSIGNED = re.compile(
    r"""(?:(?:window|self|globalThis)\s*(?:\.\s*|\[\s*["'])|(?:var|let|const)\s+)"""
    r"""([A-Za-z_$][\w$]{2,60})(?:["']\s*\])?\s*=\s*(JSON\s*\.\s*parse\s*\(\s*)?(?=["'{\[])"""
)
_STATE_NAME = re.compile(
    r"data|state|list|items|posts|articles|news|props|initial|preload|json|store|results|__",
    re.IGNORECASE,
)
_JS_STRING = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL)
_UNDEFINED = re.compile(r"(?<=[:\[,])\s*(?:undefined|NaN|void 0)(?=\s*[,}\]])")


def states(scripts: Scripts) -> Iterator[tuple[str, Any]]:
    """Yield the values that the page carries, with their names.

    States of frameworks come first, then data scripts, then linked data.
    """
    named = [one for one in scripts.data if one[0].startswith("__")]
    others = sorted(
        (one for one in scripts.data if one not in named), key=lambda one: "ld+json" in one[0]
    )
    assigned = (found for code in scripts.code for found in _assigned(code))
    return chain(_values(named), islice(assigned, MOST_STATES), _values(others))


def _values(data: Iterable[tuple[str, str]]) -> Iterator[tuple[str, Any]]:
    read = ((name, read_json(text)) for name, text in data)
    values = ((name, _whole(value) if name == "__NUXT_DATA__" else value) for name, value in read)
    return (found for found in values if found[1] is not None)


def _whole(parts: Any) -> Any:  # noqa: ANN401 - a value of JSON
    """Return the value that Nuxt 3 writes as a list of parts that name each other by place."""
    left = _MOST_PARTS if isinstance(parts, list) else 0

    def part(place: Any, depth: int) -> Any:  # noqa: ANN401 - likewise
        nonlocal left
        left -= 1
        # A place below 0 stands for what JSON lacks.
        if (
            left < 0
            or depth > _MOST_DEPTH
            or type(place) is not int
            or place not in range(len(parts))
        ):
            return None
        one = parts[place]
        if isinstance(one, dict):
            return {key: part(inner, depth + 1) for key, inner in one.items()}
        if not isinstance(one, list):
            return one
        if not one or not isinstance(one[0], str):
            return [part(inner, depth + 1) for inner in one]
        # Its kind, then its text (of dates) or place.
        inner = one[1] if len(one) > 1 else None
        return inner if one[0] == "Date" else part(inner, depth + 1)

    return part(0, 0)


def _assigned(code: str) -> Iterator[tuple[str, Any]]:
    end = tries = 0
    for found in _ASSIGNED.finditer(code[:MOST_SCRIPT_CHARS]):
        if found.start() < end or not _STATE_NAME.search(found[1]):
            continue
        tries += 1
        if tries > MOST_STATES:
            return
        value, end = _literal(code, found.end(), parsed=found[2] is not None)
        if isinstance(value, dict | list):
            yield found[1], value


def _literal(code: str, start: int, *, parsed: bool) -> tuple[Any, int]:
    """Return the object that is written at *start*, or in the string there, and where it ends."""
    if code[start] in "\"'":
        string = _JS_STRING.match(code, start)
        if string is None or not parsed:
            return None, start
        return read_json(_unescaped(string[0])), string.end()
    try:
        value, end = json.JSONDecoder(strict=False).raw_decode(code, start)
    except (ValueError, RecursionError):
        # Values that JSON does not know.
        rest = _UNDEFINED.sub("null", code[start:])
        try:
            value, _ = json.JSONDecoder(strict=False).raw_decode(rest)
        except (ValueError, RecursionError):
            return None, start
        return value, start + 1
    return value, end


def _unescaped(string: str) -> str:
    inner = string[1:-1]
    if string[0] == "'":
        inner = inner.replace("\\'", "'").replace('"', '\\"').replace('\\\\"', '\\"')
    inner = re.sub(r"\\x([0-9a-fA-F]{2})", r"\\u00\1", inner)
    try:
        value = json.loads(f'"{inner}"', strict=False)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
