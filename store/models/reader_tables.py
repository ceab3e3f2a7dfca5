"""Tables of readers: announced pages with marks and texts, saved searches, tokens, icons of sites."""

from typing import ClassVar

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

from store.enums import OutboxState
from store.models.crawl_tables import Change, Page, Site, Table
from store.models.joins import Merge, Row, better, joined, least
from store.models.topic_tables import Topic


class PageWatch(Table):
    """A page that a user watches for changes."""

    id = AutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=True)
    url = TextField(unique=True)
    state = TextField(default="active")
    """:class:`~store.enums.WatchState`."""
    every_seconds = DoubleField(null=True)
    """Between two visits; NULL = as its changes make worthwhile."""
    receivers = TextField(default="[]")
    """JSON list: to whom changes are sent; empty = to all who did not narrow what they want."""
    include = TextField(default="[]")
    """JSON list: only changes with one of these words or phrases."""
    exclude = TextField(default="[]")
    added_at = DoubleField()


class Refresh(Table):
    """A page that is fetched again for changes."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    watch = ForeignKeyField(PageWatch, null=True, on_delete="CASCADE", lazy_load=False, index=True)
    """NULL = an announced page, refreshed by its age."""
    site_id = IntegerField()
    due_at = DoubleField()
    """Later than any clock goes = paused."""
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


class Channel(Table):
    """A message channel."""

    name = TextField(primary_key=True)
    since = DoubleField()
    """When it was first seen; pages announced earlier are not sent."""
    settings = TextField(null=True)
    """JSON of a channel that was added without the settings file; NULL = it is in the file."""
    topic = ForeignKeyField(Topic, null=True, on_delete="SET NULL", lazy_load=False, index=True)
    """The topic of its settings, by id, so it may be renamed."""

    outgoing: ClassVar = {"channel": "1 = 1"}


class OutboxEntry(Table):
    """A page to announce on a channel, or announced there."""

    id = BigAutoField()
    channel = TextField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)
    queued_at = DoubleField()
    state = TextField(default="waiting")
    """:class:`~store.enums.OutboxState`."""
    message = TextField(default="")
    """Idempotency key of its message; unchanged when it is sent again."""
    attempts = IntegerField(default=0)
    next_at = DoubleField(null=True)
    """Not before this; NULL = as the channel's rhythm allows."""
    sent_at = DoubleField(null=True)
    error = TextField(default="")
    backfill_id = BigIntegerField(null=True)
    """The backfill to announce, whose first page is *page*; NULL = announce *page*."""
    change_id = BigIntegerField(default=0)
    """The change of *page* to report; 0 = announce it as new."""

    # The original sends them. A channel that is new in the settings file sends nothing announced earlier.
    outgoing: ClassVar = {
        "waiting message": f"state IN ('{OutboxState.WAITING}', '{OutboxState.SENDING}')"
    }

    @classmethod
    def merges(cls) -> tuple[Merge, ...]:
        """Return how its entries are merged."""
        return (Merge(cls.page, ("channel", "change_id"), _one_message),)

    class Meta:
        table_name = "outbox"
        indexes = (
            (("channel", "page", "change_id"), True),
            (("channel", "state", "queued_at"), False),
        )


# Of two messages about a page that which went further.
_SENT = (OutboxState.FAILED, OutboxState.WAITING, OutboxState.SENDING, OutboxState.SENT)
_join = joined(lambda row: _SENT.index(row["state"]), queued_at=least, next_at=better, error=better)


def _one_message(stays: Row, goes: Row) -> Row | None:
    """Join two messages about the page; one about a backfill is about other pages as well, and stays."""
    return _join(stays, goes) if stays["backfill_id"] == goes["backfill_id"] else None


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


class Note(Table):
    """What the daemon notes under a name: results of housekeeping, counts that all topics compare with."""

    name = TextField(primary_key=True)
    at = DoubleField()
    detail = TextField()


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

    outgoing: ClassVar = {"token": "1 = 1"}


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
