"""Create the tables of backfills, older pages that a list gained, and let the outbox hold such events."""

from peewee import (
    SQL,
    BigAutoField,
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


class Backfill(Model):
    id = BigIntegerField(primary_key=True)
    site = ForeignKeyField(Site, on_delete="CASCADE", index=False)
    hub_id = BigIntegerField(null=True)
    found_at = DoubleField(index=True)
    folder = TextField(default="")
    pages = IntegerField()
    read_at = DoubleField(null=True)

    class Meta:
        table_name = "backfill"
        indexes = ((("site", "id"), False),)


class BackfillPage(Model):
    id = BigAutoField()
    event = ForeignKeyField(Backfill, on_delete="CASCADE", index=False)
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE")

    class Meta:
        table_name = "backfill_page"
        indexes = ((("event", "id"), False),)


TABLES = [Backfill, BackfillPage]
COLUMN = ("outbox", "backfill_id", BigIntegerField(null=True))


def up(migrator, db):
    """Create the tables and the column. What an earlier version kept back stays as it is."""
    key = BackfillPage.id
    key.constraints = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []
    with db.bind_ctx([*TABLES, Site, Page], bind_refs=False, bind_backrefs=False):
        db.create_tables(TABLES)
    migrator.migrate(migrator.add_column(*COLUMN))


def down(migrator, db):
    """Drop them: the events and which pages belong to them are forgotten, the pages stay known."""
    db.execute_sql("DELETE FROM outbox WHERE backfill_id IS NOT NULL")
    migrator.migrate(migrator.drop_column(*COLUMN[:2]))
    with db.bind_ctx([*TABLES, Site, Page], bind_refs=False, bind_backrefs=False):
        db.drop_tables(TABLES)
