"""Create what history, search and marks need; fill the list of told pages from what was told before."""

from peewee import (
    BigAutoField,
    BigIntegerField,
    BlobField,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    SqliteDatabase,
    TextField,
)


class Site(Model):
    id = IntegerField(primary_key=True)

    class Meta:
        table_name = "site"


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class News(Model):
    id = BigAutoField()
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE")
    site = ForeignKeyField(Site, on_delete="CASCADE", index=False)
    hub_id = BigIntegerField(null=True)
    found_at = DoubleField(index=True)
    language = TextField(null=True)
    read_at = DoubleField(null=True)
    starred_at = DoubleField(null=True)

    class Meta:
        table_name = "news"
        indexes = ((("site", "id"), False), (("hub_id", "id"), False), (("language", "id"), False))


class PageText(Model):
    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE")
    title = TextField(default="")
    text = BlobField(null=True)
    words = BlobField(null=True)
    md5 = TextField(null=True)
    language = TextField(null=True)
    signature = BlobField(null=True)
    cluster = BigIntegerField(null=True)
    at = DoubleField()

    class Meta:
        table_name = "page_text"
        indexes = ((("cluster", "page"), False),)


class PageBand(Model):
    band = BigIntegerField()
    page = ForeignKeyField(Page, on_delete="CASCADE", index=True)

    class Meta:
        table_name = "page_band"
        primary_key = CompositeKey("band", "page")


class Recheck(Model):
    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE")
    site_id = IntegerField()
    due_at = DoubleField()
    checks = IntegerField(default=0)
    etag = TextField(null=True)
    last_modified = TextField(null=True)

    class Meta:
        table_name = "recheck"
        indexes = ((("site_id", "due_at"), False),)


class SavedSearch(Model):
    name = TextField(primary_key=True)
    query = TextField()
    created_at = DoubleField()
    changed_at = DoubleField()

    class Meta:
        table_name = "saved_search"


TABLES = [News, PageText, PageBand, Recheck, SavedSearch]

# Few are unread where somebody reads, and few are starred: an index of those alone finds them at once.
PARTIAL = (
    "CREATE INDEX news_unread ON news (id) WHERE read_at IS NULL",
    "CREATE INDEX news_unread_of_site ON news (site_id, id) WHERE read_at IS NULL",
    "CREATE INDEX news_starred ON news (id) WHERE starred_at IS NOT NULL",
    "CREATE INDEX news_starred_of_site ON news (site_id, id) WHERE starred_at IS NOT NULL",
)
# What is indexed are words that were cut before; the tokenizer must leave each of them whole.
FULL_TEXT = {
    "sqlite": (
        """
        CREATE VIRTUAL TABLE news_words USING fts5(
            title, body, content='',
            tokenize="unicode61 remove_diacritics 0 categories 'L* N* M* Co Pc'"
        )
        """,
    ),
    "postgresql": (
        """
        CREATE TABLE news_words (
            news_id BIGINT PRIMARY KEY REFERENCES news (id) ON DELETE CASCADE,
            words TSVECTOR NOT NULL
        )
        """,
        "CREATE INDEX news_words_words ON news_words USING GIN (words)",
    ),
}
_KNOWN = """
INSERT INTO news (id, page_id, site_id, hub_id, found_at, language, read_at)
SELECT MIN(change.id), change.page_id, MIN(change.site_id), MIN(change.hub_id), MIN(change.at),
       MIN({language}), NULL
FROM change JOIN page ON page.id = change.page_id
WHERE change.kind = 'added'
GROUP BY change.page_id
"""
_LANGUAGE = {
    "sqlite": "LOWER(SUBSTR(page.language, 1, INSTR(REPLACE(page.language, '_', '-') || '-', '-') - 1))",
    "postgresql": "LOWER(SPLIT_PART(REPLACE(page.language, '_', '-'), '-', 1))",
}


def up(migrator, db):
    """Create the tables, and list what was told. Texts are indexed when pages are read again."""
    sqlite = isinstance(db, SqliteDatabase)
    # Without its row ids the table is its index.
    PageBand._meta.without_rowid = sqlite  # noqa: SLF001 - peewee's settings of a model have no other name
    with db.bind_ctx(TABLES, bind_refs=False, bind_backrefs=False):
        db.create_tables(TABLES)
    kind = "sqlite" if sqlite else "postgresql"
    for statement in (*PARTIAL, *FULL_TEXT[kind], _KNOWN.format(language=_LANGUAGE[kind])):
        db.execute_sql(statement)


def down(migrator, db):
    """Drop the tables: marks, saved searches and the index of words go."""
    db.execute_sql("DROP TABLE news_words")
    with db.bind_ctx(TABLES, bind_refs=False, bind_backrefs=False):
        db.drop_tables(TABLES)
