"""Watch pages for changes of their text, and let the outbox hold such changes."""

from peewee import (
    SQL,
    AutoField,
    BigIntegerField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    SqliteDatabase,
    TextField,
)


class Site(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "site"


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class Change(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "change"


class PageWatch(Model):
    id = AutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", index=True)
    pattern = TextField(unique=True)
    state = TextField(default="active")
    min_interval_seconds = DoubleField(null=True)
    max_interval_seconds = DoubleField(null=True)
    channels = TextField(default="[]")
    include = TextField(default="[]")
    exclude = TextField(default="[]")
    added_at = DoubleField()
    changed_at = DoubleField()
    taken_to = BigIntegerField(default=0)

    class Meta:
        table_name = "page_watch"


class WatchedPage(Model):
    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE")
    watch = ForeignKeyField(PageWatch, on_delete="CASCADE", index=True)
    site_id = IntegerField()
    due_at = DoubleField()
    checked_at = DoubleField(null=True)
    changed_at = DoubleField(null=True)
    gone_at = DoubleField(null=True)
    status = TextField(null=True)
    checks = IntegerField(default=0)
    counted_changes = DoubleField(default=0)
    counted_seconds = DoubleField(default=0)
    etag = TextField(null=True)
    last_modified = TextField(null=True)

    class Meta:
        table_name = "watched_page"
        indexes = ((("site_id", "due_at"), False),)


class WatchedChange(Model):
    change = ForeignKeyField(Change, primary_key=True, on_delete="CASCADE")
    page = ForeignKeyField(Page, on_delete="CASCADE", index=True)
    watch = ForeignKeyField(PageWatch, null=True, on_delete="SET NULL", index=True)
    at = DoubleField(index=True)
    title = TextField(default="")
    difference = TextField(default="[]")
    words_added = IntegerField(default=0)
    words_removed = IntegerField(default=0)

    class Meta:
        table_name = "watched_change"


TABLES = [PageWatch, WatchedPage, WatchedChange]
COLUMN = ("outbox", "change_id", BigIntegerField(default=0))
# A page changes more than once, and is told each time.
ONCE = ("channel", "page_id", "change_id")


def up(migrator, db):
    """Create the tables and the column; a page is told once for itself and once for each change."""
    key = PageWatch.id
    key.constraints = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []
    with db.bind_ctx([*TABLES, Site, Page, Change], bind_refs=False, bind_backrefs=False):
        db.create_tables(TABLES)
    migrator.migrate(migrator.drop_index("outbox", "outboxentry_channel_page_id"))
    migrator.migrate(migrator.add_column(*COLUMN))
    migrator.migrate(migrator.add_index("outbox", ONCE, True))


def down(migrator, db):
    """Drop them: watches and recorded differences are forgotten, the history of pages stays."""
    db.execute_sql("DELETE FROM outbox WHERE change_id <> 0")
    migrator.migrate(migrator.drop_index("outbox", "outbox_channel_page_id_change_id"))
    migrator.migrate(migrator.drop_column(*COLUMN[:2]))
    db.execute_sql("CREATE UNIQUE INDEX outboxentry_channel_page_id ON outbox (channel, page_id)")
    with db.bind_ctx([*TABLES, Site, Page, Change], bind_refs=False, bind_backrefs=False):
        db.drop_tables(TABLES)
