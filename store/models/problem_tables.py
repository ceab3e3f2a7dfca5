"""Table of problems."""

from __future__ import annotations

from peewee import AutoField, BigIntegerField, DoubleField, ForeignKeyField, TextField

from store.models.crawl_tables import Site, Table
from store.models.joins import Merge


class SiteProblem(Table):
    """Something wrong with a site or one of its hubs, though it may answer every visit."""

    id = AutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False)
    hub_id = BigIntegerField(default=0)
    """Page id of the hub; 0 = the whole site."""
    kind = TextField()
    since = DoubleField()
    ended_at = DoubleField(null=True)
    """NULL = it lasts."""
    evidence = TextField(default="{}")
    """JSON: the values of the sentence about it."""

    @classmethod
    def merges(cls) -> tuple[Merge, ...]:
        """Return how the hub of a problem becomes another page."""
        return (Merge(cls.hub_id, by_site=True),)
