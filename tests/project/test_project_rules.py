"""The rules of the house hold, and each of them can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import code_rules
import pytest
from code_rules import Sources

Rule = Callable[[Sources], list[str]]
ROOT = Path(__file__).parents[2]
OURS = code_rules.read_packages(ROOT)

BREACHES: list[tuple[Rule, dict[str, str]]] = [
    (
        code_rules.independent_packages,
        {"store.x": "from incremental.base.urls import canonical_key"},
    ),
    (code_rules.independent_packages, {"store": "import classifier"}),
    (code_rules.independent_packages, {"classifier.hub.x": "def f():\n    import store"}),
    (code_rules.independent_packages, {"classifier.x": "import incremental.base.urls as u"}),
    (code_rules.independent_packages, {"hubwatch.errors": "from store.errors import StoreError"}),
    (
        code_rules.pure_rooms,
        {"incremental.schedule.x": "from incremental.base.clock import SystemClock"},
    ),
    (code_rules.pure_rooms, {"incremental.schedule.x": "from incremental import fetch"}),
    (code_rules.pure_rooms, {"incremental.features.discovery.x": "import store.values"}),
    (
        code_rules.interfaces_are_not_imported,
        {"incremental.x": "from incremental.interfaces import cli"},
    ),
    (code_rules.interfaces_are_not_imported, {"store.x": "import incremental.interfaces.web.app"}),
    (
        code_rules.web_is_served_by_cli,
        {"incremental.interfaces.explain.x": "from incremental.interfaces import web"},
    ),
    (
        code_rules.features_stand_alone,
        {"incremental.x": "from incremental.features import discovery"},
    ),
    (
        code_rules.features_stand_alone,
        {"incremental.features.a.x": "def f():\n    import incremental.features.b"},
    ),
    (code_rules.features_stand_alone, {"hubwatch.api": "import incremental.features.a"}),
    (code_rules.one_socket, {"incremental.interfaces.web.pages": "import socket"}),
    (code_rules.one_socket, {"incremental.interfaces.web.server": "import requests"}),
    (code_rules.one_clock, {"incremental.x": "import datetime\ndatetime.datetime.now()"}),
    (code_rules.one_clock, {"store.x": "from datetime import datetime\nnow = datetime.now"}),
    (code_rules.one_clock, {"classifier.x": "from time import time"}),
    (code_rules.one_clock, {"incremental.x": "def f():\n    import time\n    time.sleep(1)"}),
    (code_rules.one_socket, {"incremental.x": "import requests"}),
    (code_rules.one_socket, {"incremental.x": "from urllib.request import urlopen"}),
    (code_rules.one_socket, {"store.x": "if True:\n    import socket"}),
    (code_rules.one_database, {"incremental.x": "from peewee import Model"}),
    (code_rules.one_database, {"classifier.x": "import sqlite3"}),
    (code_rules.people_remove_sites, {"incremental.crawl.x": "store.write.remove_site(1)"}),
    (
        code_rules.no_cycles,
        {"store.a": "import store.b", "store.b": "def f():\n    from store import a"},
    ),
    (
        code_rules.no_cycles,
        {"store.a": "import store.b", "store.b": "import store.c", "store.c": "import store.a"},
    ),
    (
        code_rules.no_room_cycles,
        {
            "incremental.a.one": "import incremental.b.two",
            "incremental.a.three": "",
            "incremental.b.two": "",
            "incremental.b.four": "def f():\n    from incremental.a import three",
        },
    ),
    (
        code_rules.no_room_cycles,
        {
            "incremental.a.one": "import incremental.ground",
            "incremental.a.two": "",
            "incremental.ground": "import incremental.a.two",
        },
    ),
    (code_rules.decisions_are_final, {"incremental.crawl.x": "replace(decision.record, links=())"}),
    (code_rules.decisions_are_final, {"incremental.crawl.x": "VisitRecord(1, 2, 0.0, '')"}),
    (code_rules.rules_by_name, {"store.x": "Page.update(rule='not_a_hub').where(Page.id == 1)"}),
    (code_rules.rules_by_name, {"store.x": "was_hub = Page.id.in_(pages) & (Page.rule == 'hub')"}),
    (
        code_rules.rules_by_name,
        {"store.x": "row = {'rule': link.rule or ('hub' if new else None)}"},
    ),
    (code_rules.rules_by_name, {"incremental.x": "fields['rule'] = 'alias'"}),
    (code_rules.no_pickles, {"classifier.x": "from joblib import load"}),
    (code_rules.ranges_as_escapes, {"store.x": 'HAN = "\u4e00-\u9fff\u8c48-\ufaff"'}),
]


@pytest.mark.parametrize("rule", code_rules.RULES, ids=lambda rule: rule.__name__)
def test_the_rule_holds(rule: Rule) -> None:
    assert rule(OURS) == []


@pytest.mark.parametrize(("rule", "sources"), BREACHES)
def test_the_rule_notices_what_breaks_it(rule: Rule, sources: dict[str, str]) -> None:
    assert rule(sources)


def test_every_rule_is_shown_a_breach() -> None:
    assert {rule for rule, _ in BREACHES} == set(code_rules.RULES)


def test_a_cycle_of_rooms_is_drawn_with_the_imports_that_close_it() -> None:
    sources = {
        "incremental.a.one": "import incremental.b.two",
        "incremental.a.three": "",
        "incremental.b.two": "from incremental.a.three import name",
    }
    (drawn,) = code_rules.no_room_cycles(sources)
    assert drawn.splitlines()[1:] == [
        "  incremental.a -> incremental.b: incremental.a.one imports incremental.b.two",
        "  incremental.b -> incremental.a: incremental.b.two imports incremental.a.three",
    ]


def test_imports_for_type_checking_alone_do_not_count() -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import incremental"
    assert code_rules.independent_packages({"store.x": source}) == []


def test_all_packages_were_read() -> None:
    assert {
        "incremental.base.clock",
        "incremental.fetch.session",
        "store.crawl.record",
        "classifier.hub",
    } <= set(OURS)


def test_broad_handlers_are_few_and_each_says_why() -> None:
    broad = [
        line
        for source in OURS.values()
        for line in source.splitlines()
        if "except Exception" in line or "except BaseException" in line or line.strip() == "except:"
    ]
    assert len(broad) <= 3
    assert all("#" in line for line in broad)
