"""Keep what users edit: a site's hours, requested visits, and channels that are not in the settings file."""

from peewee import BigIntegerField, DoubleField, ForeignKeyField, IntegerField, Model, TextField


class Page(Model):
    id = BigIntegerField(primary_key=True)

    class Meta:
        table_name = "page"


class VisitRequest(Model):
    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE")
    site_id = IntegerField()
    at = DoubleField()

    class Meta:
        table_name = "visit_request"


def up(migrator, db):
    """Add the columns and the table."""
    migrator.migrate(
        migrator.add_column("site", "hours", TextField(null=True)),
        migrator.add_column("site", "changed_at", DoubleField(null=True)),
        migrator.add_column("channel", "settings", TextField(null=True)),
    )
    with db.bind_ctx([VisitRequest], bind_refs=False, bind_backrefs=False):
        db.create_tables([VisitRequest])


def down(migrator, db):
    """Drop them."""
    with db.bind_ctx([VisitRequest], bind_refs=False, bind_backrefs=False):
        db.drop_tables([VisitRequest])
    migrator.migrate(
        migrator.drop_column("channel", "settings"),
        migrator.drop_column("site", "changed_at"),
        migrator.drop_column("site", "hours"),
    )
