"""Create the table of pages, sites, topics and jobs that met a bug."""

from peewee import AutoField, DoubleField, IntegerField, Model, TextField


class Quarantine(Model):
    id = AutoField()
    kind = TextField()
    key = TextField()
    purpose = TextField(default="")
    at = DoubleField()
    again_at = DoubleField()
    times = IntegerField(default=1)
    version = TextField()
    error = TextField()
    trace = TextField()

    class Meta:
        indexes = ((("kind", "key", "purpose"), True),)


def up(migrator, db):
    """Create the table and its index."""
    with db.bind_ctx([Quarantine], bind_refs=False, bind_backrefs=False):
        db.create_tables([Quarantine])


def down(migrator, db):
    """Drop the table."""
    with db.bind_ctx([Quarantine], bind_refs=False, bind_backrefs=False):
        db.drop_tables([Quarantine])
