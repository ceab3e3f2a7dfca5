"""Tables of pages that are fetched again for changes of their text."""

from __future__ import annotations

from peewee import (
    AutoField,
    BigIntegerField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from store.models.crawl_tables import Change, Page, Site, Table


class PageWatch(Table):
    """A page, or a pattern of URLs on a site, that a user watches for changes."""

    id = AutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=True)
    pattern = TextField(unique=True)
    """A URL, or a glob over whole URLs."""
    state = TextField(default="active")
    """:class:`~store.enums.WatchState`."""
    min_interval_seconds = DoubleField(null=True)
    """NULL = the site's."""
    max_interval_seconds = DoubleField(null=True)
    receivers = TextField(default="[]")
    """JSON list: to whom changes are sent; empty = to all who did not narrow what they want."""
    include = TextField(default="[]")
    """JSON list: only changes with one of these words or phrases."""
    exclude = TextField(default="[]")
    added_at = DoubleField()
    taken_to = BigIntegerField(default=0)
    """Of a pattern: the highest page id that was compared with it."""

    lasting_ids = True


class Refresh(Table):
    """A page that is fetched again for changes; of several watches, its own URL's counts, else the first."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    watch = ForeignKeyField(PageWatch, null=True, on_delete="CASCADE", lazy_load=False, index=True)
    """NULL = an announced page, refreshed by its age."""
    min_interval_seconds = DoubleField(null=True)
    """Those of its watch; NULL = the site's."""
    max_interval_seconds = DoubleField(null=True)
    site_id = IntegerField()
    due_at = DoubleField()
    """0 = a user asked for it; later than any clock goes = paused."""
    checked_at = DoubleField(null=True)
    changed_at = DoubleField(null=True)
    """When the text of a watched page last changed."""
    gone_at = DoubleField(null=True)
    """Since when it is missing; NULL = it is there."""
    status = TextField(null=True)
    """Of the last visit."""
    checks = IntegerField(default=0)
    """Refreshes so far."""
    counted_changes = DoubleField(default=0)
    """Changes seen, fading with time."""
    counted_seconds = DoubleField(default=0)
    """Time watched, with the same decay."""
    etag = TextField(null=True)
    last_modified = TextField(null=True)

    class Meta:
        indexes = ((("site_id", "watch", "due_at"), False),)


class WatchedChange(Table):
    """A change of a watched page's text, with added and removed lines; expires with the change."""

    change = ForeignKeyField(Change, primary_key=True, on_delete="CASCADE", lazy_load=False)
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)
    watch = ForeignKeyField(PageWatch, null=True, on_delete="SET NULL", lazy_load=False, index=True)
    """NULL = the watch was removed."""
    at = DoubleField(index=True)
    title = TextField(default="")
    difference = TextField(default="[]")
    """JSON list of [sign, line], shortened."""
    words_added = IntegerField(default=0)
    words_removed = IntegerField(default=0)
