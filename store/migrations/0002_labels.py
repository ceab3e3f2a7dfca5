"""Create the table of labels: what URLs were said to be, and by whom."""

from peewee import DoubleField, ForeignKeyField, IntegerField, Model, TextField


class Site(Model):
    id = IntegerField(primary_key=True)

    class Meta:
        table_name = "site"


class Label(Model):
    site = ForeignKeyField(Site, null=True, on_delete="SET NULL", index=False)
    url = TextField()
    identity = TextField()
    label = TextField()
    origin = TextField()
    at = DoubleField()
    anchor = TextField(default="")

    class Meta:
        table_name = "label"
        primary_key = False
        indexes = ((("identity", "origin"), True), (("site", "origin"), False))


def up(migrator, db):
    """Create the table and its indexes."""
    with db.bind_ctx([Label], bind_refs=False, bind_backrefs=False):
        db.create_tables([Label])


def down(migrator, db):
    """Drop the table with all that was said."""
    with db.bind_ctx([Label], bind_refs=False, bind_backrefs=False):
        db.drop_tables([Label])
