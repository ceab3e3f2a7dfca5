"""Tables of what is wrong with sites, and how complete they are."""

from __future__ import annotations

from peewee import AutoField, BigIntegerField, DoubleField, ForeignKeyField, IntegerField, TextField

from store.models.crawl_tables import Page, Site, Table
from store.models.joins import Merge, joined, least


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


class SiteCompleteness(Table):
    """How many of a site's new pages were found, as last estimated."""

    site = ForeignKeyField(Site, primary_key=True, on_delete="CASCADE", lazy_load=False)
    at = DoubleField()
    pages = IntegerField()
    """Found in the 30 days before."""
    share = DoubleField(null=True)
    """0 to 1; NULL = unknown, as are the ends of its interval."""
    low = DoubleField(null=True)
    high = DoubleField(null=True)
    causes = TextField(default="{}")
    """JSON: how many pages were missed or late, by cause."""


class Audited(Table):
    """A new page to which an announced page came to link: a look that no hub is part of."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    at = DoubleField()
    """When a refresh first found the link. A page that was first seen then was missed by all hubs."""

    @classmethod
    def merges(cls) -> tuple[Merge, ...]:
        """Return how a page becomes another one."""
        return (Merge(cls.page, (), joined(at=least)),)
