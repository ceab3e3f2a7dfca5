"""The tables of readers: announced pages with their marks and texts, messages, tokens."""

from __future__ import annotations

from peewee import (
    AutoField,
    BigAutoField,
    BigIntegerField,
    BlobField,
    CompositeKey,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from store.models.crawl_tables import Page, Site, Table


class News(Table):
    """An announced page, in a narrow row of its own: what lists of new pages are filtered and marked by.

    Its id is that of the change that announced it, so it is the same cursor, and it grows with time.
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
        indexes = ((("site", "id"), False), (("hub_id", "id"), False), (("language", "id"), False))


class Backfill(Table):
    """Older pages that a list gained at one visit: one event, whatever their number.

    Its id is that of the site's change that records it, so it has its place among the announced pages.
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
        indexes = ((("site", "id"), False),)


class BackfillPage(Table):
    """A page of such an event; in one at most. Its id is the cursor of the list."""

    id = BigAutoField()
    event = ForeignKeyField(Backfill, on_delete="CASCADE", lazy_load=False, index=False)
    page = ForeignKeyField(Page, unique=True, on_delete="CASCADE", lazy_load=False)

    class Meta:
        indexes = ((("event", "id"), False),)


class PageText(Table):
    """The text of a page as it was last read, without what surrounds it; or its title alone."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    title = TextField(default="")
    text = BlobField(null=True)
    """Deflated UTF-8; NULL = the page was not read yet, or has no text."""
    words = BlobField(null=True)
    """Deflated: exactly what the index of words holds of the announced page, so that it can be taken out."""
    md5 = TextField(null=True)
    language = TextField(null=True)
    signature = BlobField(null=True)
    """MinHash of the text, 16 bits a value; NULL = too short to be anybody's copy."""
    cluster = BigIntegerField(null=True)
    """Page id of the first page that was read with nearly this text; NULL = too short."""
    at = DoubleField()
    """When the text was read."""

    class Meta:
        indexes = ((("cluster", "page"), False),)


class PageBand(Table):
    """An index from parts of signatures to pages: nearly equal texts share at least one part."""

    band = BigIntegerField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)

    class Meta:
        primary_key = CompositeKey("band", "page")


class Refresh(Table):
    """When an announced page is refreshed, and what spares us its body then."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    site_id = IntegerField()
    due_at = DoubleField()
    checks = IntegerField(default=0)
    """Refreshes so far."""
    etag = TextField(null=True)
    last_modified = TextField(null=True)

    class Meta:
        indexes = ((("site_id", "due_at"), False),)


class SavedSearch(Table):
    """A question with a name. What the JSON means is the interfaces' affair."""

    name = TextField(primary_key=True)
    query = TextField()
    created_at = DoubleField()
    changed_at = DoubleField()


class Channel(Table):
    """Where messages go, as the settings name it."""

    name = TextField(primary_key=True)
    since = DoubleField()
    """When it was first seen in the settings: what was announced before is not sent."""


class OutboxEntry(Table):
    """A page that is to be announced on a channel, or was."""

    id = BigAutoField()
    channel = TextField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)
    queued_at = DoubleField()
    state = TextField(default="waiting")
    """:class:`~store.enums.OutboxState`."""
    message = TextField(default="")
    """Idempotency key of the message that it went with; stays when that is repeated."""
    attempts = IntegerField(default=0)
    next_at = DoubleField(null=True)
    """Not before this; NULL = whenever its channel's rhythm allows."""
    sent_at = DoubleField(null=True)
    error = TextField(default="")
    backfill_id = BigIntegerField(null=True)
    """The event that it tells of: *page* is the first of its pages then. NULL = it tells of *page*."""

    class Meta:
        table_name = "outbox"
        indexes = ((("channel", "page"), True), (("channel", "state", "queued_at"), False))


class AccessToken(Table):
    """A secret that opens the web page and the API; only its digest is kept."""

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
    """Of a session: the token it was begun with, with which it ends; NULL = a password."""
