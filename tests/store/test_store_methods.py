"""What holds for every public method: a locked database is announced clearly, and an index is used."""

import inspect
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from stories import START, new_hub, news_site, seen, visit_of

import store.database
from store import Store, open_store
from store.answers import Answers, NewQuery
from store.crawl.queries import Queries
from store.crawl.record import Recorder
from store.enums import HubClass, HubRole, LabelOrigin, PageLabel
from store.errors import StoreLockedError
from store.rules import Rule
from store.values import HostRow, LabelEntry, SiteChanges, VisitPlan

LABEL = LabelEntry(
    "https://news.example/a", "//news.example/a", PageLabel.HUB, LabelOrigin.USER, START
)
SAMPLES: dict[str, Any] = {
    "float": START,
    "int": 1,
    "str": "text",
    "HubClass": HubClass.REVISIT,
    "HubRole": HubRole.ARTICLE,
    "LabelOrigin": LabelOrigin.USER,
    "VisitPlan": VisitPlan(),
    "Sequence[TopicScore]": (),
    "bool": True,
    "Iterable[SeenLink]": [seen("https://news.example/a", hub=new_hub())],
    "Sequence[SeenLink]": [seen("https://news.example/d", hub=new_hub())],
    "SiteChanges": SiteChanges(
        {1: {"due_at": START}}, begun={1: new_hub()}, ended=(1,), withdrawn={1: Rule.LIKE_ARTICLES}
    ),
    "Sequence[tuple[int, SeenLink]]": [(1, seen("https://news.example/b"))],
    "NewHub": new_hub(),
    "HostRow": HostRow("news.example", START, 0, None, None),
    "VisitRecord": visit_of(1, 1, START, seen("https://news.example/c", fate="announce")),
    "Sequence[str]": ["text"],
    "Sequence[int]": [1],
    "Iterable[int]": [1],
    "Iterable[str]": ["text"],
    "LabelEntry": LABEL,
    "NewQuery": NewQuery(sites=(1,), text="word", read=False, min_score=0.5, since=START),
    "Iterable[LabelEntry]": [LABEL],
}
FIELDS = {"update_site": "state", "update_hub": "state", "update_page": "state"}
READ_ALL = {
    "hubs",
    "site_totals",
    "sites",
    "generation",
    "labels",
    "active_sites",
    "all_due_times",
    "seeds",
}
READ_ALL |= {"counts", "totals", "searches", "search"}
"""Overviews: they read whole tables by their nature (``hubs`` is asked for one site below)."""


_SCAN = r"SCAN (?!json_each\b|site\b|last\b|found\b|news_words VIRTUAL TABLE INDEX 0:M|CONSTANT)"
"""A table read through; what matches words is found by their index, which SQLite calls a scan."""


def methods(kind: type) -> list[str]:
    """The public methods, that which removes everything last; a transaction alone does nothing."""
    names = [name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"]
    names = [name for name in names if name != "together"]
    return sorted(names, key=lambda name: name == "remove_site")


def call(part: Queries | Recorder | Answers, name: str) -> object:
    """Call a method with something in every parameter; of what it yields, take the first."""
    method: Callable[..., object] = getattr(part, name)
    arguments: dict[str, Any] = {}
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            arguments |= {FIELDS[name]: "active"} if name in FIELDS else {}
        else:
            plain = re.sub(r"\w+\.", "", inspect.formatannotation(parameter.annotation))
            arguments[parameter.name] = SAMPLES[plain.removesuffix(" | None")]
    answer = method(**arguments)
    return next(answer, None) if isinstance(answer, Iterator) else answer


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Store]:
    """A store that waits for nobody."""
    monkeypatch.setattr(store.database, "BUSY_TIMEOUT_SECONDS", 0.01)
    with open_store(str(tmp_path / "s.sqlite"), cache_folder=tmp_path) as opened:
        news_site(opened)
        yield opened


def test_every_write_says_that_another_process_is_writing(hurried: Store, tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for name in methods(Recorder):
        with pytest.raises(StoreLockedError, match=r"s\.sqlite is locked by another process"):
            call(hurried.write, name)
    other.close()
    for name in methods(Recorder):
        call(hurried.write, name)


@pytest.mark.parametrize("kind", ["read", "write", "answers"])
def test_every_method_says_that_the_file_is_locked(
    hurried: Store, tmp_path: Path, kind: str
) -> None:
    part = getattr(hurried, kind)
    for name in methods(type(part)):
        hurried.close()
        other = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None)
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreLockedError, match="another Hubwatch"):
            call(part, name)
        other.close()
        call(part, name)


def test_opening_a_locked_file_says_so(hurried: Store, tmp_path: Path) -> None:
    hurried.close()
    other = sqlite3.connect(tmp_path / "s.sqlite", isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreLockedError, match="another Hubwatch"):
        open_store(str(tmp_path / "s.sqlite"), cache_folder=tmp_path)
    other.close()


def plans(opened: Store, part: Queries | Recorder | Answers, name: str) -> dict[str, list[str]]:
    """How SQLite carries out each statement of a method, by statement."""
    statements: list[str] = []
    database: Any = opened.database
    connection = database.connection()
    connection.set_trace_callback(statements.append)
    call(part, name)
    connection.set_trace_callback(None)
    asked = [text for text in statements if re.match("SELECT|UPDATE|DELETE|INSERT", text)]
    assert asked, name
    explained = {s: connection.execute(f"EXPLAIN QUERY PLAN {s}").fetchall() for s in asked}
    return {statement: [row[3] for row in rows] for statement, rows in explained.items()}


@pytest.mark.parametrize(
    ("kind", "name"),
    [("read", name) for name in methods(Queries) if name not in READ_ALL - {"hubs"}]
    + [("write", name) for name in methods(Recorder)]
    + [("answers", name) for name in methods(Answers) if name not in READ_ALL],
)
def test_every_query_uses_an_index(hurried: Store, kind: str, name: str) -> None:
    for statement, steps in plans(hurried, getattr(hurried, kind), name).items():
        if "news_words_config" in statement:
            continue  # one row, which FTS5 reads when the tables have changed
        scans = [step for step in steps if re.match(_SCAN, step)]
        assert not scans, (statement, steps)
