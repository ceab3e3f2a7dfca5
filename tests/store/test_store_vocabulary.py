"""A store of an earlier version keeps all that it holds under the new names."""

from __future__ import annotations

import json
from pathlib import Path

from peewee import Database
from playhouse.migrations import Runner
from stories import HOME, START, news_site, seen, visit_of

from store import open_store
from store.database import is_sqlite, open_database
from store.upgrades import MIGRATIONS
from store.values import NewExternalCandidate

LINKS = {"order": "bayes", "state": {"lessons": [[0.5, [[[0], [1.0]]]]], "terms": ["lessons"]}}
OLD = {
    "site": "relaunched_at mirrors",
    "page": "identity look_due_at looked_at look_score kept_back",
    "hub": "barren_visits",
    "visit": "gap",
    "label": "identity",
    "topic_example": "identity",
    "discovery_page": "identity",
    "topic_lead": "identity",
    "recheck": "due_at",
}


def write(database: Database, statement: str, *values: object) -> None:
    """Run a statement of the old schema."""
    mark = "?" if is_sqlite(database) else "%s"
    database.execute_sql(statement.replace("?", mark), values)  # type: ignore[no-untyped-call]


def old_store(where: str, folder: Path) -> tuple[int, int]:
    """Make a store as the version before the new names left it; return its site and a page."""
    with open_store(where, cache_folder=folder) as store:
        site, home = news_site(store)
        (page,) = store.write.visit(visit_of(site, home, START, seen(HOME + "a", fate="announce")))
    database = open_database(where)
    Runner(database, directory=str(MIGRATIONS)).down("0014_vocabulary")
    for table, columns in OLD.items():
        there = {column.name for column in database.get_columns(table)}
        assert set(columns.split()) <= there, table
    write(database, "UPDATE site SET relaunched_at = ?, mirrors = ?", START, '{"/x": ["/a"]}')
    write(database, "UPDATE site SET revisit = ?", '{"hints": 3.0, "hints_kept": 2.0}')
    write(database, "UPDATE page SET kept_back = 'error page', look_score = 0.25, looked_at = 5")
    write(database, "UPDATE page SET look_due_at = 9, state = 'relaunched' WHERE id = ?", page)
    write(database, "UPDATE hub SET barren_visits = 7, state = 'resting'")
    write(database, "UPDATE hub SET revisit = ?", '{"hints_kept": 1.0, "novel": 4.0}')
    write(database, "UPDATE visit SET gap = ?", True)
    change = "INSERT INTO change (site_id, kind, at, detail) VALUES (?, ?, ?, '')"
    for kind in ("relaunch", "flood"):
        write(database, change, site, kind, START)
    label = (
        "INSERT INTO label (url, identity, label, origin, at, anchor) VALUES (?, ?, ?, ?, ?, '')"
    )
    write(database, label, HOME + "a", "//a", "topic", "user", START)
    topic = (
        "INSERT INTO topic (id, name, keywords, method, state, why, model, version, links, warnings,"
        " created_at, changed_at) VALUES (1, 'topic', '[]', 'fused', 'ready', '', '', '', ?, '[]', 1, 1)"
    )
    write(database, topic, json.dumps(LINKS))
    lead = (
        "INSERT INTO topic_lead (topic_id, url, identity, domain, score, found_on, found_at, state)"
        " VALUES (1, 'https://b.example/', '//b', 'b.example', 0.5, ?, 1, 'waiting')"
    )
    write(database, lead, HOME)
    recheck = "INSERT INTO recheck (page_id, site_id, due_at, checks) VALUES (?, ?, ?, 4)"
    write(database, "DELETE FROM recheck")
    write(database, recheck, page, site, START)
    database.close()
    return site, page


def test_all_that_an_old_store_holds_has_its_new_name(where: str, tmp_path: Path) -> None:
    site, page = old_store(where, tmp_path)
    with open_store(where, cache_folder=tmp_path) as store:
        (row,) = store.read.sites()
        assert (row.migrated_at, row.path_aliases) == (START, '{"/x": ["/a"]}')
        assert json.loads(row.revisit) == {"hints": 3.0, "hints_confirmed": 2.0}
        (hub,) = store.read.hubs(site)
        assert (hub.unproductive_visits, hub.state) == (7, "dormant")
        assert json.loads(hub.revisit) == {"hints_confirmed": 1.0, "novel": 4.0}
        waiting = store.read.verification(page)
        assert waiting is not None
        assert (waiting.verify_due_at, waiting.verified_at, waiting.state) == (9, 5, "migrated")
        assert waiting.canonical_key == "//news.example/a"
        kinds = {change["kind"] for change in store.read.site_changes(site)}
        assert {"url_migration", "burst"} <= kinds
        (said,) = store.read.labels()
        assert (said.canonical_key, said.label) == ("//a", "article")
        state = {"training_examples": LINKS["state"]["lessons"], "terms": ["lessons"]}  # type: ignore[index]  # JSON
        assert json.loads(store.topics.links(1)) == {"order": "bayes", "state": state}
        found = store.topics.waiting_external_candidate("https://b.example/")
        assert found is not None
        assert (found.canonical_key, found.domain) == ("//b", "b.example")
        assert store.answers.due_refreshes(site, START + 1, limit=5)[0].checks == 4


def test_ids_are_not_given_out_twice_after_the_table_was_renamed(
    where: str, tmp_path: Path
) -> None:
    old_store(where, tmp_path)
    with open_store(where, cache_folder=tmp_path) as store:
        first = store.topics.waiting_external_candidate("https://b.example/")
        store.topics.remove(1)
        topic = store.topics.add("again", ["x"], "fused", now=START)
        again = NewExternalCandidate(topic, HOME + "c", "//c", "c.example", 0.5, HOME)
        store.topics.put_external_candidates([again], now=START)
        second = store.topics.waiting_external_candidate(again.url)
        assert first is not None
        assert second is not None
        assert second.id > first.id
