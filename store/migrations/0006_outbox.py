"""Create the outbox: what is to be told by message, and what was."""

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


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class Channel(Model):
    name = TextField(primary_key=True)
    since = DoubleField()

    class Meta:
        table_name = "channel"


class OutboxEntry(Model):
    id = BigAutoField()
    channel = TextField()
    page = ForeignKeyField(Page, on_delete="CASCADE", index=True)
    queued_at = DoubleField()
    state = TextField(default="waiting")
    message = TextField(default="")
    attempts = IntegerField(default=0)
    next_at = DoubleField(null=True)
    sent_at = DoubleField(null=True)
    error = TextField(default="")

    class Meta:
        table_name = "outbox"
        indexes = ((("channel", "page"), True), (("channel", "state", "queued_at"), False))


TABLES = [Channel, OutboxEntry]


def up(migrator, db):
    """Create the tables."""
    OutboxEntry.id.constraints = [SQL("AUTOINCREMENT")] if isinstance(db, SqliteDatabase) else []
    with db.bind_ctx([*TABLES, Page], bind_refs=False, bind_backrefs=False):
        db.create_tables(TABLES)


def down(migrator, db):
    """Drop the tables; what was told already would be told again."""
    with db.bind_ctx([*TABLES, Page], bind_refs=False, bind_backrefs=False):
        db.drop_tables(TABLES)
