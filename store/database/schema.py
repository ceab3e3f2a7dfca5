"""Creates the tables of a new store: the models, and schema that peewee's models cannot express."""

from typing import Any

from peewee import SQL, AutoField, Database, SqliteDatabase

from store.database.statements import run_sql
from store.models import ALL, PageBand

# Without its row ids the table is its index.
_INDEX_ONLY = (PageBand,)

# Few pages are unread or starred, so partial indexes find them at once.
_PARTIAL_INDEXES = """
CREATE INDEX page_waiting_by_score ON page (site_id, verify_score, verify_due_at)
    WHERE verify_due_at IS NOT NULL;
CREATE INDEX news_unread ON news (id) WHERE read_at IS NULL;
CREATE INDEX news_unread_of_site ON news (site_id, id) WHERE read_at IS NULL;
CREATE INDEX news_starred ON news (id) WHERE starred_at IS NOT NULL;
CREATE INDEX news_starred_of_site ON news (site_id, id) WHERE starred_at IS NOT NULL
"""
# The index holds words that are already segmented; the tokenizer must not split them.
_FULL_TEXT_SQLITE = """
CREATE VIRTUAL TABLE news_words USING fts5(
    title, body, content='', tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co Pc'"
)
"""
_FULL_TEXT_POSTGRES = """
CREATE TABLE news_words (
    news_id BIGINT PRIMARY KEY REFERENCES news (id) ON DELETE CASCADE, words TSVECTOR NOT NULL
);
CREATE INDEX news_words_words ON news_words USING GIN (words)
"""


def create_tables(database: Database) -> None:
    """Create every table and index; the caller has begun the transaction."""
    sqlite = isinstance(database, SqliteDatabase)
    keys: list[Any] = [model._meta.primary_key for model in ALL]  # noqa: SLF001 - peewee's way
    for key in keys:
        if isinstance(key, AutoField):
            # PostgreSQL does so by itself.
            key.constraints = [SQL("AUTOINCREMENT")] if sqlite else []
    for model in _INDEX_ONLY:
        model._meta.without_rowid = sqlite  # noqa: SLF001 - peewee's settings of a model have no other name
    with database.bind_ctx(ALL, bind_refs=False, bind_backrefs=False):
        database.create_tables(ALL, safe=False)
    full_text = _FULL_TEXT_SQLITE if sqlite else _FULL_TEXT_POSTGRES
    for statement in f"{_PARTIAL_INDEXES};{full_text}".split(";"):
        run_sql(database, statement)
