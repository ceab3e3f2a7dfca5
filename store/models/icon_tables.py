"""The table of the icons of sites."""

from __future__ import annotations

from peewee import BlobField, DoubleField, ForeignKeyField, IntegerField, TextField

from store.models.crawl_tables import Site, Table


class SiteIcon(Table):
    """The icon of a site, and when it is asked for again."""

    site = ForeignKeyField(Site, primary_key=True, on_delete="CASCADE", lazy_load=False)
    due_at = DoubleField()
    failures = IntegerField(default=0)
    """In a row."""
    requests = IntegerField(default=0)
    """Made since the site's last visit: its budget has not paid for them yet."""
    media_type = TextField(default="")
    digest = TextField(default="", index=True)
    """Of the content; empty = the site has no icon yet."""
    content = BlobField(null=True)
