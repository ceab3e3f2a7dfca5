"""Create the table of access tokens: who may read and write through the web page and the API."""

from peewee import AutoField, DoubleField, ForeignKeyField, Model, TextField


class AccessToken(Model):
    id = AutoField()
    name = TextField()
    kind = TextField()
    scope = TextField()
    digest = TextField(unique=True)
    created_at = DoubleField()
    expires_at = DoubleField(null=True)
    parent = ForeignKeyField("self", null=True, on_delete="CASCADE", index=True)

    class Meta:
        table_name = "access_token"


def up(migrator, db):
    """Create the table and its indexes."""
    with db.bind_ctx([AccessToken], bind_refs=False, bind_backrefs=False):
        db.create_tables([AccessToken])


def down(migrator, db):
    """Drop the table: every token and every session ends."""
    with db.bind_ctx([AccessToken], bind_refs=False, bind_backrefs=False):
        db.drop_tables([AccessToken])
