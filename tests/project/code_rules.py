"""The import rules of the house, read from the syntax tree. Each rule gives the violations it finds.

A rule is a function of modules given as a table of name to source, so that a test can show it one
that breaks it. Imports inside functions count; those for type checking alone do not run and do not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path

from store.rules import Rule

PACKAGES = ("incremental", "classifier", "store")
FEATURES = "incremental.features"
GROUND = "hubwatch.errors"
"""The one module that all three may import."""
Sources = Mapping[str, str]

_DECIDED = {"decision", "record", "judgement"}

_CLOCK_CALLS = {
    *("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter"),
    *("time.sleep", "time.localtime", "time.gmtime", "datetime.now", "datetime.utcnow"),
    *("datetime.today", "date.today", "datetime.datetime.now", "datetime.date.today"),
}
_SOCKET_MODULES = {
    "requests",
    "urllib3",
    "socket",
    "http.client",
    "urllib.request",
    "ftplib",
    "smtplib",
    "ssl",
    "aiohttp",
    "httpx",
}
_INTERFACES = ("incremental.interfaces.cli", "incremental.interfaces.web")


@dataclass
class Facts:
    """What one module imports and calls."""

    imports: set[str] = field(default_factory=set)
    """Full names: ``a.b`` of ``import a.b``; ``a.b`` and ``a.b.c`` of ``from a.b import c``."""
    calls: set[str] = field(default_factory=set)
    taken: dict[str, set[str]] = field(default_factory=dict)
    """Names taken by ``from``, by module."""


def read_packages(root: Path) -> dict[str, str]:
    """Return the sources of the three packages, and of what they share, by module name."""
    found: dict[str, str] = {}
    for package in ("hubwatch", *PACKAGES):
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path.read_text(encoding="utf-8")
    return found


@cache
def facts(source: str) -> Facts:
    """Read one module; every rule asks for it."""
    found = Facts()
    for node in _running(ast.parse(source)):
        if isinstance(node, ast.Import):
            found.imports |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found.imports |= {node.module, *names}
            found.taken.setdefault(node.module, set()).update(names)
        elif isinstance(node, ast.Attribute | ast.Name):
            found.calls.add(ast.unparse(node))
    return found


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree, but not into what only type checkers read."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            continue
        yield child
        yield from _running(child)


def _below(name: str, *rooms: str) -> bool:
    return any(name == room or name.startswith(room + ".") for room in rooms)


def _offending(sources: Sources, inside: tuple[str, ...], forbidden: tuple[str, ...]) -> list[str]:
    return [
        f"{module} imports {name}"
        for module, source in sources.items()
        if _below(module, *inside)
        for name in sorted(facts(source).imports)
        if _below(name, *forbidden)
    ]


def independent_packages(sources: Sources) -> list[str]:
    """``store`` and ``classifier`` import neither ``incremental`` nor each other; the ground, nothing."""
    return [
        *_offending(sources, ("store",), ("incremental", "classifier")),
        *_offending(sources, ("classifier",), ("incremental", "store")),
        *_offending(sources, (GROUND,), PACKAGES),
        *_offending(sources, PACKAGES, ("hubwatch.api", "hubwatch.__main__")),
    ]


def pure_rooms(sources: Sources) -> list[str]:
    """``revisit``, and ``discovery`` but for what carries a run out, touch no network, store or clock.

    What the store takes and gives as plain values they may know.
    """
    forbidden = ("incremental.fetch", "store", "incremental.base.clock")
    carried_out = tuple(
        f"incremental.features.discovery.{name}"
        for name in (
            *("accepting", "discoverer", "making", "search_provider"),
            *("commands", "pages", "facts"),
        )
    )
    pure = {name: source for name, source in sources.items() if not _below(name, *carried_out)}
    rooms = ("incremental.schedule", "incremental.features.discovery")
    found = _offending(pure, rooms, forbidden)
    return [one for one in found if " imports store.discovery.values" not in one]


def interfaces_are_not_imported(sources: Sources) -> list[str]:
    """Nothing but the interfaces themselves and features imports an interface."""
    above = (*_INTERFACES, FEATURES)
    rest = {name: source for name, source in sources.items() if not _below(name, *above)}
    return _offending(rest, PACKAGES, _INTERFACES)


def web_is_served_by_cli(sources: Sources) -> list[str]:
    """Of the interfaces the command line serves the web page; features add to it."""
    rest = {
        name: source
        for name, source in sources.items()
        if not _below(
            name,
            "incremental.interfaces.web",
            "incremental.interfaces.cli",
            FEATURES,
        )
    }
    return _offending(rest, PACKAGES, ("incremental.interfaces.web",))


def features_stand_alone(sources: Sources) -> list[str]:
    """The core imports no feature, and no feature another."""
    found = []
    for module, source in sources.items():
        own = ".".join(module.split(".")[:3]) if _below(module, FEATURES) else ""
        for name in sorted(facts(source).imports):
            inside = _below(name, FEATURES) and name != FEATURES
            if inside and not (own and _below(name, own)):
                found.append(f"{module} imports {name}")
    return found


def one_clock(sources: Sources) -> list[str]:
    """Only ``incremental.base.clock`` reads the time."""
    found = []
    for module, source in sources.items():
        if module == "incremental.base.clock":
            continue
        seen = facts(source)
        found += [f"{module} calls {name}" for name in sorted(seen.calls & _CLOCK_CALLS)]
        found += [
            f"{module} imports {name}"
            for name in sorted(seen.imports)
            if name.partition(".")[0] == "time"
        ]
    return found


def one_socket(sources: Sources) -> list[str]:
    """Only ``incremental.fetch`` opens sockets; ``incremental.interfaces.web.server`` listens on one.

    ``incremental.daemon.pulse`` sends datagrams to systemd, on this machine; ``hubwatch.client``
    asks the server that a program names. The type of a transport that is handed in (``requests.adapters``)
    opens none.
    """
    harmless = ("requests.adapters",)
    listens = {
        "incremental.interfaces.web.server": "socket",
        "incremental.daemon.pulse": "socket",
        "hubwatch.client": "requests",
    }
    return [
        f"{module} imports {name}"
        for module, source in sources.items()
        if not _below(module, "incremental.fetch")
        for name in sorted(facts(source).imports)
        if _below(name, *_SOCKET_MODULES) and not _below(name, *harmless)
        if listens.get(module) != name
    ]


def one_database(sources: Sources) -> list[str]:
    """Only ``store`` knows peewee."""
    libraries = ("peewee", "playhouse", "sqlite3", "psycopg")
    return _offending(sources, ("incremental", "classifier"), libraries)


def people_remove_sites(sources: Sources) -> list[str]:
    """Only where a person asks for it a site is removed that has a history."""
    return [
        f"{module} calls {name}"
        for module, source in sources.items()
        if _below(module, "incremental")
        if not _below(module, "incremental.interfaces.cli", "incremental.interfaces.web")
        for name in sorted(facts(source).calls)
        if name.endswith(".remove_site")
    ]


def no_cycles(sources: Sources) -> list[str]:
    """No module imports itself by way of others, deferred imports included.

    Who takes a module from its package needs the module, not what the package offers.
    """
    graph = {
        module: _needs(facts(source), sources) - {module} for module, source in sources.items()
    }
    return [" -> ".join(cycle) for cycle in _cycles(graph)]


def _cycles(graph: Mapping[str, Collection[str]]) -> list[tuple[str, ...]]:
    """Return cycles, each from a node to itself; where there are several through a node, one at least."""
    found: list[tuple[str, ...]] = []
    done: set[str] = set()

    def visit(node: str, path: tuple[str, ...]) -> None:
        if node in path:
            found.append((*path[path.index(node) :], node))
        elif node not in done:
            for other in sorted(graph.get(node, ())):
                visit(other, (*path, node))
            done.add(node)

    for node in sorted(graph):
        visit(node, ())
    return found


def no_room_cycles(sources: Sources) -> list[str]:
    """No room needs itself by way of others, deferred imports included; a cycle is drawn with its imports.

    A room is a package below ``incremental`` or ``classifier``, a ground module of ``incremental``, or
    all of ``store``.
    """
    graph = room_graph(sources)
    return [
        "".join(f"\n  {a} -> {b}: {', '.join(graph[a][b])}" for a, b in pairwise(cycle))
        for cycle in _cycles(graph)
    ]


def room_graph(sources: Sources) -> dict[str, dict[str, list[str]]]:
    """Return for each room the rooms that it needs, with the imports that say so."""
    graph: dict[str, dict[str, list[str]]] = {}
    for module, source in sources.items():
        needs = graph.setdefault(room_of(module), {})
        for other in sorted(_needs(facts(source), sources)):
            if room_of(other) != room_of(module):
                needs.setdefault(room_of(other), []).append(f"{module} imports {other}")
    return graph


def room_of(module: str) -> str:
    """Return the room that a module stands in."""
    return "store" if _below(module, "store") else ".".join(module.split(".")[:2])


def _needs(seen: Facts, sources: Sources) -> set[str]:
    packages = {module for module, names in seen.taken.items() if names <= set(sources)}
    return {name for name in seen.imports - packages if name in sources}


def no_pickles(sources: Sources) -> list[str]:
    """A model is data, never a pickle."""
    return _offending(
        sources, PACKAGES, ("pickle", "joblib", "dill", "cloudpickle", "shelve", "marshal")
    )


def ranges_as_escapes(sources: Sources) -> list[str]:
    """A range of characters is written as escapes.

    Typed as characters it may be composed into another one by the tools that a file passes through.
    """
    typed = re.compile(r"[^\x00-\x7f]-[^\x00-\x7f]")
    return [
        f"{module}: {found}" for module, text in sources.items() for found in typed.findall(text)
    ]


def decisions_are_final(sources: Sources) -> list[str]:
    """One room decides on visits; nobody else makes a decision or a record of one, or patches it."""
    found = []
    for name, source in sources.items():
        if not name.startswith("incremental.") or name.startswith("incremental.decide"):
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            made = called in {"Decision", "VisitRecord"}
            first = ast.unparse(node.args[0]).rpartition(".")[2] if node.args else ""
            patched = called in {"replace", "dataclasses.replace"} and first in _DECIDED
            if made or patched:
                found.append(f"{name}:{node.lineno} {ast.unparse(node)[:60]}")
    return found


def rules_by_name(sources: Sources) -> list[str]:
    """The rule of a page is a member of ``Rule``, never its text, so that mypy sees a rule renamed."""
    found = []
    for module, source in sources.items():
        if _below(module, "store.migrations") or not _below(module, "store", "incremental"):
            continue
        for node in ast.walk(ast.parse(source)):
            said = {text for value in _of_rule(node) for text in _texts(value)}
            found += [f"{module}: {text}" for text in sorted(said & RULE_NAMES)]
    return found


RULE_NAMES = {str(rule) for rule in Rule}


def _of_rule(node: ast.AST) -> list[ast.expr]:
    """Return what is written as a rule, or compared with one."""
    if isinstance(node, ast.keyword) and node.arg == "rule":
        return [node.value]
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        return sides if any(ast.unparse(one).endswith("rule") for one in sides) else []
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return [
            value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "rule"
        ]
    if isinstance(node, ast.Assign):
        named = any(ast.unparse(one).endswith(("rule", "rule']")) for one in node.targets)
        return [node.value] if named else []
    return []


def _texts(node: ast.expr) -> set[str]:
    return {
        one.value
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }


RULES = (
    rules_by_name,
    independent_packages,
    pure_rooms,
    interfaces_are_not_imported,
    web_is_served_by_cli,
    features_stand_alone,
    one_clock,
    one_socket,
    one_database,
    people_remove_sites,
    no_cycles,
    no_room_cycles,
    no_pickles,
    decisions_are_final,
    ranges_as_escapes,
)
