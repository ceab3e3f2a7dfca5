"""The tables of those who read: told pages with their marks, texts, copies, later looks, searches."""

from __future__ import annotations

from peewee import (
    BigAutoField,
    BigIntegerField,
    BlobField,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)

from store.models.sites import Page, Site


class News(Model):
    """A told page, in a narrow row of its own: what lists of new pages are filtered and marked by.

    Its id is that of the change that told it, so it is the same cursor, and it grows with time.
    """

    id = BigAutoField()
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE", lazy_load=False)
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    hub_id = BigIntegerField(null=True)
    """Page id of the hub that showed it."""
    found_at = DoubleField(index=True)
    language = TextField(null=True)
    """The primary subtag alone: zh for zh-Hans-CN."""
    read_at = DoubleField(null=True)
    """NULL = unread."""
    starred_at = DoubleField(null=True)

    class Meta:
        table_name = "news"
        legacy_table_names = False
        indexes = ((("site", "id"), False), (("hub_id", "id"), False), (("language", "id"), False))


class Backfill(Model):
    """Older pages that a list gained at one visit: one event, whatever their number.

    Its id is that of the site's change that records it, so it has its place among the told pages.
    """

    id = BigIntegerField(primary_key=True)
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    hub_id = BigIntegerField(null=True)
    """Page id of the hub that gained them."""
    found_at = DoubleField(index=True)
    folder = TextField(default="")
    """The path that the addresses of its pages begin with, such as ``/blog/2007/``."""
    pages = IntegerField()
    """How many there are."""
    read_at = DoubleField(null=True)
    """NULL = unread."""

    class Meta:
        table_name = "backfill"
        legacy_table_names = False
        indexes = ((("site", "id"), False),)


class BackfillPage(Model):
    """A page of such an event; in one at most. Its id is the cursor of the list."""

    id = BigAutoField()
    event = ForeignKeyField(Backfill, on_delete="CASCADE", lazy_load=False, index=False)
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE", lazy_load=False)

    class Meta:
        table_name = "backfill_page"
        legacy_table_names = False
        indexes = ((("event", "id"), False),)


class PageText(Model):
    """The text of a page as it was last read, without what surrounds it; or its title alone."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    title = TextField(default="")
    text = BlobField(null=True)
    """Deflated UTF-8; NULL = the page was not read yet, or has no text."""
    words = BlobField(null=True)
    """Deflated: exactly what the index of words holds of the told page, so that it can be taken out."""
    md5 = TextField(null=True)
    language = TextField(null=True)
    signature = BlobField(null=True)
    """MinHash of the text, 16 bits a value; NULL = too short to be anybody's copy."""
    cluster = BigIntegerField(null=True)
    """Page id of the first page that was read with nearly this text; NULL = too short."""
    at = DoubleField()
    """When the text was read."""

    class Meta:
        table_name = "page_text"
        legacy_table_names = False
        indexes = ((("cluster", "page"), False),)


class PageBand(Model):
    """An index from parts of signatures to pages: nearly equal texts share at least one part."""

    band = BigIntegerField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)

    class Meta:
        table_name = "page_band"
        legacy_table_names = False
        primary_key = CompositeKey("band", "page")


class Recheck(Model):
    """When a told page is looked at again, and what spares us its body then."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    site_id = IntegerField()
    due_at = DoubleField()
    checks = IntegerField(default=0)
    """Looks again so far."""
    etag = TextField(null=True)
    last_modified = TextField(null=True)

    class Meta:
        table_name = "recheck"
        legacy_table_names = False
        indexes = ((("site_id", "due_at"), False),)


class SavedSearch(Model):
    """A question with a name. What the JSON means is the faces' affair."""

    name = TextField(primary_key=True)
    query = TextField()
    created_at = DoubleField()
    changed_at = DoubleField()

    class Meta:
        table_name = "saved_search"
        legacy_table_names = False
