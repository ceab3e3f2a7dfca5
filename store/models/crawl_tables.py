"""Tables of the crawl: sites, hosts, pages, hubs and sightings; quarantine, and daemons at work."""

from collections.abc import Mapping
from typing import ClassVar

from peewee import (
    AutoField,
    BigAutoField,
    BigIntegerField,
    BooleanField,
    Case,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
    fn,
)

from store.enums import PageState
from store.models.joins import Merge


class Table(Model):
    """A table named like its class, with underscores, unless stated otherwise.

    Ids are never reused: cursors refer to them, and so do visits under way while a site is removed.
    """

    outgoing: ClassVar[Mapping[str, str]] = {}
    """Rows that let somebody in, or that a restored copy would send as well: English name, SQL condition."""

    class Meta:
        legacy_table_names = False

    @classmethod
    def merges(cls) -> tuple[Merge, ...]:
        """Return merges of rows that refer to a page, beyond :data:`store.crawl.merges.MERGES`."""
        return ()


class Site(Table):
    """A watched site: its seed, its scope, and facts about the whole site."""

    id = AutoField()
    seed_url = TextField(unique=True)
    name = TextField(unique=True)
    """Host name, for display; with port or path if another site has that name."""
    scope = TextField(default="{}")
    """JSON: reach, include, exclude."""
    state = TextField(default="active")
    """:class:`~store.enums.SiteStatus`."""
    requests_per_day = DoubleField(null=True)
    """NULL = the default of the settings."""
    min_interval_minutes = DoubleField(null=True)
    max_interval_hours = DoubleField(null=True)
    hours = TextField(null=True)
    """JSON list of the hours (UTC) in which it may be fetched; NULL = the default of the settings."""
    added_at = DoubleField()
    changed_at = DoubleField(null=True)
    """When a user last edited it; NULL = never."""
    probed_at = DoubleField(null=True)
    """When feeds and sitemaps were last probed."""
    migrated_at = DoubleField(null=True)
    path_aliases = TextField(default="{}")
    """JSON: path prefixes that are path aliases, with the paths that show it."""
    not_news = TextField(default="[]")
    """JSON list of what users said is not news, and what is withheld because of it."""
    budget = TextField(default="{}")
    """JSON state of the request budget."""
    revisit = TextField(default="{}")
    """JSON state of the revisit policy for the site."""
    # JSON of how the site came to be watched: empty = the user gave it; else ``topic``, ``page`` and the
    # feature that found it, ``found_by``.
    origin = TextField(default="{}")


class SiteTag(Table):
    """A tag of a site."""

    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    tag = TextField()

    class Meta:
        primary_key = False
        indexes = ((("site", "tag"), True), (("tag", "site"), False))


class Host(Table):
    """A host's robots.txt and when it may be asked next."""

    name = TextField(primary_key=True)
    """The politeness group: a host name without ``www.``."""
    next_allowed_at = DoubleField(default=0.0)
    failures = IntegerField(default=0)
    crawl_delay_seconds = DoubleField(null=True)
    robots = TextField(default="{}")
    """JSON by robots.txt address: its content and when it was fetched."""
    certificate_until = DoubleField(null=True)
    """When the certificate that it last showed ends; NULL = unknown."""


class Page(Table):
    """A canonical URL seen in the scope of a site."""

    id = BigAutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    canonical_key = TextField()
    """The identity of the page, unique within the site."""
    url = TextField()
    """The URL to fetch, as first seen."""
    anchor = TextField(default="")
    title = TextField(default="")
    language = TextField(null=True)
    published_at = DoubleField(null=True)
    """As given by the feed, the sitemap or the page."""
    first_seen_at = DoubleField()
    first_hub_id = BigIntegerField(null=True)
    """Page id of the hub that first showed it; NULL for seeds."""
    announced_at = DoubleField(null=True)
    """When it was announced as new; NULL = from a baseline, or a hub."""
    state = TextField(default="known")
    """:class:`~store.enums.PageState`."""
    moved_to = BigIntegerField(null=True)
    verify_due_at = DoubleField(null=True)
    """When to verify it; NULL = not planned."""
    verified_at = DoubleField(null=True)
    rule = TextField(null=True)
    """The rule that last decided about announcing it; NULL = none has."""
    body_md5 = TextField(null=True)
    """MD5 of its last body in the cache."""
    verify_score = DoubleField(null=True)
    """Relevance expected before it is fetched, 0 to 1: orders verification. NULL = none."""
    link_context = TextField(null=True)
    """JSON of the link to it, while it awaits verification and there are topics."""
    changes_from = DoubleField(null=True)
    """The time of its latest forgotten change; NULL = none was forgotten."""

    class Meta:
        indexes = (
            (("site", "canonical_key"), True),
            (("announced_at",), False),
            (("site", "verify_due_at"), False),
            (("url",), False),
        )


LIVING = Case(
    None, ((Page.state == PageState.MOVED, fn.COALESCE(Page.moved_to, Page.id)),), Page.id
)
"""The id of a page, or of the page whose former address it is."""


class Hub(Table):
    """A page revisited because it leads to others."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    site_id = IntegerField()
    kind = TextField(default="html")
    """:class:`~store.enums.HubKind`."""
    role = TextField(default="list")
    """:class:`~store.enums.HubRole`."""
    state = TextField(default="candidate")
    """:class:`~store.enums.HubStatus`."""
    score = DoubleField(default=0.0)
    """Probability of being a hub, by the classifier."""
    why = TextField(default="")
    due_at = DoubleField()
    interval_seconds = DoubleField(null=True)
    baseline_at = DoubleField(null=True)
    visited_at = DoubleField(null=True)
    visits = IntegerField(default=0)
    failures = IntegerField(default=0)
    """Consecutive."""
    new_pages = IntegerField(default=0)
    """Pages it showed first, after its baseline."""
    unproductive_visits = IntegerField(default=0)
    """Visits since it last showed a page first."""
    shown_links = IntegerField(default=0)
    """In-scope links at the last visit."""
    etag = TextField(null=True)
    last_modified = TextField(null=True)
    body_md5 = TextField(null=True)
    links_md5 = TextField(null=True)
    """Of the set of pages it links to."""
    last_status = TextField(null=True)
    next_url = TextField(null=True)
    revisit = TextField(default="{}")
    """JSON state of the revisit policy for the hub."""
    way = TextField(default="")
    """JSON: how the page is read (as it is, from JSON, in a browser); empty = not decided yet."""

    class Meta:
        indexes = ((("site_id", "due_at"), False),)


class VisitRequest(Table):
    """A page that a user wants visited now."""

    page = ForeignKeyField(Page, primary_key=True, on_delete="CASCADE", lazy_load=False)
    site_id = IntegerField()
    at = DoubleField()


class Sighting(Table):
    """A page seen on a hub, from when to when."""

    hub = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=False)
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)
    first_seen_at = DoubleField()
    gone_at = DoubleField(null=True)
    """When the hub stopped showing it; NULL = still shown."""
    anchor = TextField(default="")
    tag_path = TextField(default="")

    class Meta:
        primary_key = False
        indexes = ((("hub", "page"), True),)


class Visit(Table):
    """A fetch of a page and its outcome."""

    id = BigAutoField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=False)
    at = DoubleField(index=True)
    status = TextField()
    http_code = IntegerField(null=True)
    body_bytes = IntegerField(default=0)
    elapsed_seconds = DoubleField(default=0.0)
    links = IntegerField(default=0)
    new_pages = IntegerField(default=0)
    # Every link was new, so some may have scrolled off unseen.
    overflow = BooleanField(default=False)
    detail = TextField(default="")

    class Meta:
        indexes = ((("page", "at"), False),)


class Change(Table):
    """A change of a page or a whole site. Its id is the cursor of new pages."""

    id = BigAutoField()
    site = ForeignKeyField(Site, on_delete="CASCADE", lazy_load=False, index=False)
    page = ForeignKeyField(Page, null=True, on_delete="CASCADE", lazy_load=False, index=True)
    """NULL = the whole site changed."""
    kind = TextField()
    """:class:`~store.enums.ChangeKind`; of a site :class:`~store.enums.SiteEventKind`."""
    at = DoubleField(index=True)
    hub_id = BigIntegerField(null=True)
    """Page id of the hub that showed it."""
    detail = TextField(default="")
    body_before = TextField(null=True)
    body_after = TextField(null=True)
    """MD5 of bodies in the page cache."""

    class Meta:
        indexes = ((("site", "at"), False), (("kind", "id"), False))


class Label(Table):
    """A label of a URL, one per origin."""

    site = ForeignKeyField(Site, null=True, on_delete="SET NULL", lazy_load=False, index=False)
    """The watched site whose scope it is in; NULL = none."""
    url = TextField()
    canonical_key = TextField()
    label = TextField()
    """:class:`~store.enums.PageLabel`."""
    origin = TextField()
    """:class:`~store.enums.LabelOrigin`."""
    at = DoubleField()
    """When it was first given; repeating it changes nothing."""
    anchor = TextField(default="")

    class Meta:
        primary_key = False
        indexes = ((("canonical_key", "origin"), True), (("site", "origin"), False))


class Quarantine(Table):
    """A page, site, topic or job whose work raised a bug, with its trace."""

    id = AutoField()
    kind = TextField()
    key = TextField()
    """Id of the page, site or topic, or name of the job."""
    purpose = TextField(default="")
    """Purpose of the fetch."""
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


# The three tables below are for daemons that share a PostgreSQL store, and empty in a SQLite file. Their
# times are those of the server's clock, since the machines' clocks may differ.


class Daemon(Table):
    """A running daemon; ids are never reused, so they distinguish an old holder from a new one."""

    id = AutoField()
    name = TextField()
    """Host and process, for display."""
    version = TextField(default="")
    """Of Hubwatch."""
    beat_at = DoubleField()
    """Of the last heartbeat."""
    lease_until = DoubleField()
    """From then on any other daemon may remove it."""
    is_leader = BooleanField(default=False)
    """Whether it is the leader."""


class DaemonSite(Table):
    """A site, and the one daemon that may visit it."""

    site = ForeignKeyField(Site, primary_key=True, on_delete="CASCADE")
    daemon = ForeignKeyField(Daemon, on_delete="CASCADE")


class HostClaim(Table):
    """A host that one of several daemons is asking, or asked a moment ago."""

    name = TextField(primary_key=True)
    daemon = ForeignKeyField(Daemon, null=True, on_delete="SET NULL")
    """NULL = no request is under way."""
    free_at = DoubleField()
    """The earliest time of the next request."""
    next_daemon = IntegerField(null=True)
    """Daemon with the next turn: the first that was refused."""
    next_until = DoubleField(default=0.0)
    """End of the reservation of that turn."""
