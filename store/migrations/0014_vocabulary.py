"""Call tables, columns and values by the field's words; what they hold stays as it is."""

import json

from peewee import SqliteDatabase, Table

COLUMNS = (
    ("site", "relaunched_at", "migrated_at"),
    ("site", "mirrors", "path_aliases"),
    ("page", "identity", "canonical_key"),
    ("page", "look_due_at", "verify_due_at"),
    ("page", "looked_at", "verified_at"),
    ("page", "look_score", "verify_score"),
    ("page", "kept_back", "rule"),
    ("hub", "barren_visits", "unproductive_visits"),
    ("visit", "gap", "overflow"),
    ("label", "identity", "canonical_key"),
    ("topic_example", "identity", "canonical_key"),
    ("discovery_page", "identity", "canonical_key"),
    ("topic_lead", "identity", "canonical_key"),
)
TABLES = (("recheck", "refresh"), ("topic_lead", "external_candidate"))
VALUES = (
    ("change", "kind", "relaunch", "url_migration"),
    ("change", "kind", "flood", "burst"),
    ("page", "state", "relaunched", "migrated"),
    ("hub", "state", "resting", "dormant"),
    ("hub", "state", "dead", "dropped"),
    ("label", "label", "topic", "article"),
    ("page", "rule", "not there", "not_there"),
    ("page", "rule", "not there yet", "not_there_yet"),
    ("page", "rule", "home page instead", "home_instead"),
    ("page", "rule", "says that it is not there", "says_not_there"),
    ("page", "rule", "error page", "error_page"),
    ("page", "rule", "page of thanks or donations", "courtesy_page"),
    ("page", "rule", "list of a tag, a category or an author", "list_page"),
    ("page", "rule", "another address of a known page", "same_page"),
)
RULES = tuple(new for table, column, _, new in VALUES if column == "rule")
"""The only ones that were kept before; now each decided page has one."""
KEYS = (
    (("site", "id", "revisit"), "hints_kept", "hints_confirmed"),
    (("hub", "page_id", "revisit"), "hints_kept", "hints_confirmed"),
    (("topic", "id", "links"), "lessons", "training_examples"),
)
STATES = (
    ("known", "baseline"),
    ("backdated", "backdated"),
    ("backfill", "backfill"),
    ("migrated", "migrated"),
    ("moved", "led_on"),
    ("alias", "alias"),
)
_BATCH = 500


def up(migrator, db):
    """Rename, the columns of a table before the table itself."""
    for table, old, new in COLUMNS:
        db.execute_sql(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    for old, new in TABLES:
        db.execute_sql(f"ALTER TABLE {old} RENAME TO {new}")
    for table, column, old, new in VALUES:
        _rename_value(db, table, column, old, new)
    for place, old, new in KEYS:
        _rename_key(db, place, old, new)
    _fill_rules(db)


def down(migrator, db):
    """Give everything its old name."""
    page = Table("page", ("rule",)).bind(db)
    page.update(rule=None).where(page.rule.not_in(RULES)).execute()
    for place, old, new in KEYS:
        _rename_key(db, place, new, old)
    for table, column, old, new in VALUES:
        _rename_value(db, table, column, new, old)
    for old, new in TABLES:
        db.execute_sql(f"ALTER TABLE {new} RENAME TO {old}")
    for table, old, new in COLUMNS:
        db.execute_sql(f"ALTER TABLE {table} RENAME COLUMN {new} TO {old}")


def _fill_rules(db):
    """Say of pages that were decided before rules were kept what their state says of them."""
    page = Table("page", ("rule", "state", "announced_at")).bind(db)
    silent = page.rule.is_null() & page.announced_at.is_null()
    for state, rule in STATES:
        page.update(rule=rule).where(silent & (page.state == state)).execute()


def _mark(db):
    return "?" if isinstance(db, SqliteDatabase) else "%s"


def _rename_value(db, table, column, old, new):
    mark = _mark(db)
    db.execute_sql(f"UPDATE {table} SET {column} = {mark} WHERE {column} = {mark}", (new, old))  # noqa: S608


def _rename_key(db, place, old, new):
    """Rename a key of the JSON in a column, a few rows at a time: a store may have many hubs."""
    (table, row, column), mark, last = place, _mark(db), -1
    page = f"SELECT {row}, {column} FROM {table} WHERE {row} > {mark} ORDER BY {row} LIMIT {_BATCH}"  # noqa: S608
    while rows := db.execute_sql(page, (last,)).fetchall():
        for number, text in rows:
            if text and f'"{old}"' in text:
                renamed = json.dumps(_renamed(json.loads(text), old, new), ensure_ascii=False)
                db.execute_sql(
                    f"UPDATE {table} SET {column} = {mark} WHERE {row} = {mark}",  # noqa: S608
                    (renamed, number),
                )
        last = rows[-1][0]


def _renamed(value, old, new):
    if isinstance(value, dict):
        return {new if key == old else key: _renamed(one, old, new) for key, one in value.items()}
    return [_renamed(one, old, new) for one in value] if isinstance(value, list) else value
