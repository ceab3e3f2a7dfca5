"""Note what was forgotten of a page, find texts by their age, and keep what housekeeping last did."""

from peewee import DoubleField, Model, TextField


class Housekeeping(Model):
    name = TextField(primary_key=True)
    at = DoubleField()
    detail = TextField(default="{}")

    class Meta:
        table_name = "housekeeping"


def up(migrator, db):
    """Add the columns, the index and the table."""
    migrator.migrate(
        migrator.add_column("page", "changes_from", DoubleField(null=True)),
        migrator.add_column("page_text", "forgotten_at", DoubleField(null=True)),
        migrator.add_index("page_text", ("forgotten_at", "at")),
    )
    with db.bind_ctx([Housekeeping]):
        db.create_tables([Housekeeping])


def down(migrator, db):
    """Drop them."""
    with db.bind_ctx([Housekeeping]):
        db.drop_tables([Housekeeping])
    migrator.migrate(
        migrator.drop_index("page_text", "page_text_forgotten_at_at"),
        migrator.drop_column("page_text", "forgotten_at"),
        migrator.drop_column("page", "changes_from"),
    )
