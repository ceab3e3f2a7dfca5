"""The table of who may come in through the web page and the API."""

from __future__ import annotations

from peewee import AutoField, DoubleField, ForeignKeyField, Model, TextField


class AccessToken(Model):
    """A secret that opens the web page and the API; only its digest is kept."""

    id = AutoField()
    name = TextField()
    kind = TextField()
    """token (for programs, until it is removed) or session (a browser that has logged in)."""
    scope = TextField()
    """read or write; write holds read."""
    digest = TextField(unique=True)
    created_at = DoubleField()
    expires_at = DoubleField(null=True)
    """NULL = never."""
    parent = ForeignKeyField("self", null=True, on_delete="CASCADE", lazy_load=False)
    """Of a session: the token it was begun with, with which it ends; NULL = a password."""

    class Meta:
        table_name = "access_token"
        legacy_table_names = False
