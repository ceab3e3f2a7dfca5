"""The states that pages carry for their scripts: ``__NEXT_DATA__``, ``__INITIAL_STATE__``, data scripts.

They are read as text, and no script is run. What is no JSON (a function's result) is not found.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from incremental.parse.scripts import MOST_SCRIPT_CHARS, Scripts

MOST_STATES = 20
_MOST_NODES = 200_000
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
    named = [(name, text) for name, text in scripts.data if name.startswith("__")]
    plain = [one for one in scripts.data if one not in named and "ld+json" not in one[0]]
    linked = [one for one in scripts.data if one not in named and one not in plain]
    for name, text in named:
        yield from _value(name, text)
    left = MOST_STATES
    for code in scripts.code:
        for name, value in _assigned(code):
            yield name, value
            left -= 1
            if not left:
                break
    for name, text in (*plain, *linked):
        yield from _value(name, text)


def _value(name: str, text: str) -> Iterator[tuple[str, Any]]:
    value = read_json(text)
    if value is not None:
        yield name, restored(value) if name == "__NUXT_DATA__" else value


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


def read_json(text: str) -> Any:  # noqa: ANN401 - a value of JSON
    """Return the value of a JSON text; None if it is none."""
    cleaned = text.strip().removeprefix("\ufeff").removeprefix("<!--").removesuffix("-->").strip()
    # Guards against inclusion as a script (Angular, Google), and JSONP.
    cleaned = re.sub(r"^\)\]\}',?\s*", "", cleaned)
    wrapped = re.fullmatch(r"[\w$.]{1,80}\((.*)\)\s*;?", cleaned, re.DOTALL)
    try:
        return json.loads(wrapped[1] if wrapped else cleaned, strict=False)
    except (ValueError, RecursionError):
        return None


def restored(value: Any) -> Any:  # noqa: ANN401 - likewise
    """Return the value that Nuxt 3 writes as a flat list of parts that name each other by number."""
    if not isinstance(value, list) or not value:
        return value
    left = [_MOST_NODES]

    def part(index: Any, depth: int) -> Any:  # noqa: ANN401 - likewise
        left[0] -= 1
        inside = isinstance(index, int) and not isinstance(index, bool)
        if not inside or not 0 <= index < len(value) or depth > _MOST_DEPTH or left[0] < 0:
            return None
        one = value[index]
        if isinstance(one, dict):
            return {key: part(number, depth + 1) for key, number in one.items()}
        if isinstance(one, list):
            if one and isinstance(one[0], str):
                # A marked value: its kind, then where it is; a date is its own text.
                if one[0] == "Date":
                    return one[1] if len(one) > 1 else None
                return part(one[1], depth + 1) if len(one) > 1 else None
            return [part(number, depth + 1) for number in one]
        return one

    return part(0, 0)
