#!/usr/bin/env python3
"""Count the functions and files that three journeys pass: what a newcomer has to read.

    scripts/bench_journeys.py --json
    scripts/bench_journeys.py --list label
    scripts/bench_journeys.py --tree ../hubwatch-before

``announce`` is a hub page that changed, from the step in which it is fetched until the message about its
new article was delivered, verification fetch and hub model included. ``new`` and ``label`` are commands,
imports included. Each journey runs in an interpreter of its own, on a site on loopback. Counted are the
named functions and methods of the product that were called at least once, the files that define them, and
the lines of each, docstring included.
"""

import argparse
import ast
import inspect
import io
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import msgspec
from lab.cli import parser_of, print_json, show
from lab.local_server import Answered, Asked, LocalServer

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("hubwatch", "incremental", "classifier", "store")
COMMANDS = {
    # So few pages leave a topic nothing to compare with; whatever it says is listed.
    "new": ["new", "--topic", "harbour", "--verdict", "irrelevant", "--json"],
    "label": ["label", "{url}", "hub"],
}
JOURNEYS = ("announce", *COMMANDS)
DAY = 86_400.0
LONG_LINES = 40
OLD_ARTICLES = 8
NEWS = "/stories/the-harbour-opens-a-new-pier-12.html"
LATER = "/stories/a-ferry-meets-the-harbour-pier-13.html"

Functions = list[tuple[str, str]]
"""File and qualified name of each."""


def main() -> int:
    """Run the journeys, report; 0 = done."""
    parser = parser_of(__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout (default: this one)")
    parser.add_argument("--list", choices=JOURNEYS, help="print the functions of one journey")
    parser.add_argument("--trace", choices=JOURNEYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    tree = options.tree.resolve()
    if options.trace:
        print(json.dumps(_trace(options.trace, tree)))
        return 0
    with tempfile.TemporaryDirectory(prefix="hubwatch-journeys-") as folder:
        passed = {journey: _functions(journey, tree, Path(folder)) for journey in JOURNEYS}
    if options.list:
        lines = _lines(tree, passed[options.list])
        print("\n".join(f"{lines[one]:4} {one[0]}: {one[1]}" for one in passed[options.list]))
    report = {journey: _sizes(tree, functions) for journey, functions in passed.items()}
    show(report)
    print_json(options, report)
    return 0


def _functions(journey: str, tree: Path, folder: Path) -> Functions:
    """Run a journey in a fresh interpreter, in *folder*, where those before it left their store."""
    program = [sys.executable, __file__, "--tree", str(tree), "--trace", journey]
    done = subprocess.run(program, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this script
    return [(file, name) for file, name in json.loads(done.stdout.splitlines()[-1])]


def _sizes(tree: Path, functions: Functions) -> dict[str, Any]:
    lines = _lines(tree, functions)
    ordered = sorted(lines.values())
    return {
        "functions": len(functions),
        "files": len({file for file, _ in functions}),
        "lines": sum(ordered),
        "median_lines": ordered[len(ordered) // 2],
        "longest_lines": ordered[-1],
        "long": {f"{file}: {name}": n for (file, name), n in lines.items() if n > LONG_LINES},
    }


def _lines(tree: Path, functions: Functions) -> dict[tuple[str, str], int]:
    """Return how many lines each function has; of those of one name the longest counts."""
    found: dict[tuple[str, str], int] = {}
    for file in {file for file, _ in functions}:
        for name, node in _defined(ast.parse((tree / file).read_text(encoding="utf-8")), ""):
            count = (node.end_lineno or node.lineno) - node.lineno + 1
            found[file, name] = max(count, found.get((file, name), 0))
    # What a library made (the methods of a dataclass) has no lines of its own.
    return {one: found.get(one, 0) for one in functions}


def _defined(
    tree: ast.AST, within: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield within + node.name, node
            yield from _defined(node, f"{within}{node.name}.<locals>.")
        else:
            inside = f"{within}{node.name}." if isinstance(node, ast.ClassDef) else within
            yield from _defined(node, inside)


def _trace(journey: str, tree: Path) -> Functions:
    sys.path.insert(0, str(tree))
    called = Called(tree)
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(said):
        if journey == "announce":
            _announce(called)
        else:
            url = Path("site-url").read_text(encoding="utf-8")
            with called.counting():
                _command(*(word.format(url=url) for word in COMMANDS[journey]))
    if journey == "new" and LATER not in said.getvalue():
        raise SystemExit("the command did not list the article that the topic judged")
    return called.functions()


class Called:
    """The code that was run while it was counting, in any thread."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        # By canonical key: equal code of two files is equal to Python.
        self.codes: dict[int, CodeType] = {}

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count what is called now."""
        threading.setprofile(self._note)
        sys.setprofile(self._note)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.codes[id(frame.f_code)] = frame.f_code

    def functions(self) -> Functions:
        """Return what was called of the product: no modules, classes, lambdas or comprehensions."""
        found = set()
        for code in self.codes.values():
            path = Path(code.co_filename)
            named = not code.co_name.startswith("<") and code.co_flags & inspect.CO_OPTIMIZED
            if named and path.is_relative_to(self._tree):
                file = path.relative_to(self._tree)
                if file.parts[0] in PACKAGES:
                    found.add((str(file), code.co_qualname))
        return sorted(found)


# --- the journeys -----------------------------------------------------------------------------


def _announce(called: Called) -> None:
    """Watch a site for two days, then count from the fetch of its changed page to the message."""
    from lab.clocks import SimulatedClock  # noqa: PLC0415

    from hubwatch.api import Hubwatch  # noqa: PLC0415 - of the tree under test
    from incremental.base.threads import InlineExecutor  # noqa: PLC0415
    from incremental.fetch.options import FetchSettings  # noqa: PLC0415
    from incremental.settings import Settings  # noqa: PLC0415

    settings = Settings(fetch=FetchSettings(allowed_networks=("127.0.0.0/8",)))
    end = time.time()
    clock = SimulatedClock(end - 3 * DAY)
    with (
        _Site() as site,
        Hubwatch(".", settings, clock=clock, executor=InlineExecutor()) as crawler,
    ):
        Path("site-url").write_text(site.url + site.listed[0], encoding="utf-8")
        crawler.add(site.url + "/")
        while clock.now() < end - DAY:
            clock.advance_to(crawler.step())
        messages = _messages(crawler, settings, clock, site.url.replace("http", "json"))
        messages.begin(clock.now())
        site.listed.insert(0, NEWS)
        fetched = False
        while not _announced(crawler, NEWS):
            site.asked.clear()
            with called.counting():
                wake_at = crawler.step()
            fetched = fetched or "/" in site.asked
            if not fetched:
                called.codes.clear()
            clock.advance_to(wake_at)
        with called.counting():
            messages.finish(clock.now)
        if not site.told:
            raise SystemExit("the message did not arrive")
        # A topic begins with what comes after it: one more article for the commands' store.
        _command("topic", "add", "harbour", "--keyword", "harbour", "--keyword", "pier")
        crawler.add(site.url + "/")
        site.listed.insert(0, LATER)
        while not _announced(crawler, LATER):
            clock.advance_to(crawler.step())


def _messages(crawler: Any, settings: Any, clock: Any, url: str) -> Any:  # noqa: ANN401 - as below
    """Return what sends the new pages to *url*."""
    from incremental.base.threads import InlineExecutor  # noqa: PLC0415
    from incremental.features.messages.notifier import Notifier  # noqa: PLC0415
    from incremental.features.messages.settings import ChannelSettings, MessagesSettings  # noqa: PLC0415 - of the tree under test

    own = msgspec.structs.replace(
        settings, further=(MessagesSettings((ChannelSettings("site", url),)),)
    )
    # The Python interface delivers nothing.
    return Notifier(crawler._store, own, clock, executor=InlineExecutor())  # noqa: SLF001


def _announced(crawler: Any, path: str) -> bool:  # noqa: ANN401 - of the tree under test
    return any(page.url.endswith(path) for page in crawler.new_pages())


def _command(*words: str) -> None:
    """Run the command line in this interpreter."""
    from incremental.interfaces.cli import main as hubwatch  # noqa: PLC0415 - of the tree under test

    sys.argv = ["hubwatch", *words]
    try:
        hubwatch()
    except SystemExit as ending:
        if ending.code:
            raise


class _Site(LocalServer):
    """A home page that lists articles; it takes messages as well."""

    def __init__(self) -> None:
        super().__init__(self._answer)
        self.listed = [f"/stories/an-old-story-of-the-sea-{n:02}.html" for n in range(OLD_ARTICLES)]
        self.asked: list[str] = []
        self.told = 0

    def _answer(self, asked: Asked) -> Answered:
        if asked.method == "POST":
            self.told += 1
            return Answered()
        self.asked.append(asked.path)
        known = asked.path == "/" or asked.path in self.listed
        body = self._text(asked.path) if known else "<title>Not found</title>"
        headers = {"Content-Type": "text/html; charset=utf-8"}
        return Answered(200 if known else 404, body.encode(), headers)

    def _text(self, path: str) -> str:
        if path == "/":
            rows = "".join(f'<li><a href="{at}">{_title(at)}</a></li>' for at in self.listed)
            return _page("The Harbour Times", f"<ul>{rows}</ul>")
        text = f"{_title(path)}. Everybody at the harbour had something to say about the pier. "
        return _page(_title(path), f"<article><p>{text * 9}</p></article>")


def _title(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".html").replace("-", " ").capitalize()


def _page(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{title}</title>'
    nav = '<nav><a href="/">Home</a></nav>'
    body = f"<body>{nav}<h1>{title}</h1>{body}</body>"
    return f'<!doctype html><html lang="en"><head>{head}</head>{body}</html>'


if __name__ == "__main__":
    sys.exit(main())
