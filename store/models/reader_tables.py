"""Tables of readers: announced pages with marks and texts, saved searches, tokens, icons of sites."""

from __future__ import annotations

from peewee import (
    AutoField,
    BigAutoField,
    BigIntegerField,
    BlobField,
    BooleanField,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from store.models.crawl_tables import Page, Site, Table


class News(Table):
    """An announced page, in a narrow row that lists of new pages filter and mark by."""

    # The id of the announcing change: a cursor that grows with time.
    id = BigAutoField()
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE", lazy_load=False)
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    hub_id = BigIntegerField(null=True)
    """Page id of the hub that showed it."""
    found_at = DoubleField(index=True)
    language = TextField(null=True)
    """Primary subtag: zh for zh-Hans-CN."""
    read_at = DoubleField(null=True)
    """NULL = unread."""
    starred_at = DoubleField(null=True)

    class Meta:
        indexes = ((("site", "id"), False), (("hub_id", "id"), False), (("language", "id"), False))


class Backfill(Table):
    """Older pages that a list gained at one visit, as one event."""

    # The id of the site's change, so it is ordered among the announced pages.
    id = BigIntegerField(primary_key=True)
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    hub_id = BigIntegerField(null=True)
    """Page id of the hub that gained them."""
    found_at = DoubleField(index=True)
    folder = TextField(default="")
    """The path prefix its pages share, such as ``/blog/2007/``."""
    pages = IntegerField()
    """Number of pages."""
    read_at = DoubleField(null=True)
    """NULL = unread."""
    closed = BooleanField(default=False)
    """Whether a message carries it, so that nothing joins it any more."""

    class Meta:
        indexes = ((("site", "id"), False),)


class BackfillPage(Table):
    """A page of a backfill, in one at most. Its id is the cursor of the list."""

    lasting_ids = True

    id = BigAutoField()
    event = ForeignKeyField(Backfill, on_delete="CASCADE", lazy_load=False, index=False)
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE", lazy_load=False)

    class Meta:
        indexes = ((("event", "id"), False),)


class PageText(Table):
    """A page's latest main text, or its title alone."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    title = TextField(default="")
    text = BlobField(null=True)
    """Deflated UTF-8; NULL = not fetched, or no text."""
    # Deflated: the indexed words, needed to remove them from the index, as SQLite keeps no copy.
    words = BlobField(null=True)
    md5 = TextField(null=True)
    language = TextField(null=True)
    signature = BlobField(null=True)
    """MinHash of the text, 16 bits per value; NULL = too short to compare."""
    cluster = BigIntegerField(null=True)
    """Page id of the first near-duplicate; NULL = too short."""
    at = DoubleField()
    """When the text was fetched."""
    forgotten_at = DoubleField(null=True)
    """When the text was forgotten for its age or for the size budget; NULL = it was not."""

    class Meta:
        indexes = ((("cluster", "page"), False), (("forgotten_at", "at"), False))


class PageBand(Table):
    """An index from signature bands to pages: near-duplicates share at least one."""

    band = BigIntegerField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)

    class Meta:
        primary_key = CompositeKey("band", "page")


class VectorSpace(Table):
    """A space that pages were embedded in; the last is the present one."""

    id = AutoField()
    name = TextField()
    """The embedder's, with model and version."""


class PageVector(Table):
    """An announced page's vector, in one space."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    # A number, and a short digest: eleven vectors of 384 numbers fit into a page of SQLite.
    space = IntegerField(default=0)
    """Id of its :class:`VectorSpace`; 0 = its text waits to be embedded."""
    vector = BlobField(null=True)
    """Seven bits for each dimension; NULL = it waits, or its text has no word."""
    digest = BlobField()
    """The first 8 bytes of the MD5 of title and text."""

    class Meta:
        indexes = ((("space", "page"), False),)


class SavedSearch(Table):
    """A saved query; interfaces define its JSON."""

    name = TextField(primary_key=True)
    query = TextField()
    created_at = DoubleField()
    changed_at = DoubleField()


class Housekeeping(Table):
    """Result of the last housekeeping; interfaces define its JSON."""

    name = TextField(primary_key=True)
    at = DoubleField()
    detail = TextField(default="{}")


class AccessToken(Table):
    """A token or session of the web page and the API; only its digest is stored."""

    id = AutoField()
    name = TextField()
    kind = TextField()
    """:class:`~store.enums.TokenKind`."""
    scope = TextField()
    """:class:`~store.enums.TokenScope`."""
    digest = TextField(unique=True)
    created_at = DoubleField()
    expires_at = DoubleField(null=True)
    """NULL = never."""
    parent = ForeignKeyField("self", null=True, on_delete="CASCADE", lazy_load=False)
    """The token a session was started with, and ends with; NULL = a password."""


class SiteIcon(Table):
    """The icon of a site, and when it is asked for again."""

    site = ForeignKeyField(Site, primary_key=True, on_delete="CASCADE", lazy_load=False)
    due_at = DoubleField()
    failures = IntegerField()
    """In a row."""
    requests = IntegerField()
    """Made since the site's last visit: its budget has not paid for them yet."""
    digest = TextField(null=True, index=True)
    """MD5 of the content; NULL = the site has no icon yet."""
    content = BlobField(null=True)
