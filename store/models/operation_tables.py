"""Tables of the daemon itself."""

from __future__ import annotations

from peewee import AutoField, DoubleField, IntegerField, TextField

from store.models.crawl_tables import Table


class Quarantine(Table):
    """A page, site, topic or job whose work raised a bug, with its trace."""

    id = AutoField()
    kind = TextField()
    key = TextField()
    """Id of the page, site or topic, or name of the job."""
    purpose = TextField(default="")
    """What the page was fetched for."""
    at = DoubleField()
    """Of the latest failure."""
    again_at = DoubleField()
    """When it is tried again; at once after an upgrade."""
    times = IntegerField(default=1)
    """Failures in a row."""
    version = TextField()
    """Of Hubwatch."""
    error = TextField()
    trace = TextField()

    class Meta:
        indexes = ((("kind", "key", "purpose"), True),)
