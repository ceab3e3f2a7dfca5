"""States, roles and kinds as the store holds them: each member is the text of its column."""

from enum import StrEnum


class SiteStatus(StrEnum):
    """State of a site."""

    ACTIVE = "active"
    PAUSED = "paused"
    """Nothing of it is fetched until it is resumed."""


class PageState(StrEnum):
    """The state of a page."""

    KNOWN = "known"
    """Announced, part of a baseline, or a hub."""
    PENDING = "pending"
    """Announced once verified."""
    MISSING = "missing"
    """Linked but missing: retried for two months, announced when it appears."""
    GONE = "gone"
    """404 or 410, or missing when verified."""
    MOVED = "moved"
    """Its new address has its own row; see ``moved_to``."""
    ALIAS = "alias"
    """Another address of an announced page."""
    BACKDATED = "backdated"
    """Dated long ago, gained by no list: not announced."""
    BACKFILL = "backfill"
    """Dated long ago, gained by a list: announced with its backfill event."""
    MIGRATED = "migrated"
    """First seen in a URL migration or a burst: not announced."""


class HubStatus(StrEnum):
    """State of a hub."""

    CANDIDATE = "candidate"
    """Never fetched."""
    ACTIVE = "active"
    DORMANT = "dormant"
    """Covered by other hubs, or gone: fetched rarely."""
    DROPPED = "dropped"
    """Failed too often or redirected away: never fetched again."""


class HubRole(StrEnum):
    """Origin of a hub."""

    SEED = "seed"
    """Given with the site."""
    HOME = "home"
    """Home page of a site whose seed is a feed."""
    LIST = "list"
    """Classified as a hub."""
    PAGE = "page"
    """A later page of a list."""
    FEED = "feed"
    """Declared by a page."""
    SITEMAP = "sitemap"
    """Declared by robots.txt or another sitemap."""
    PROBE = "probe"
    """A usual place of feeds and sitemaps."""
    USER = "user"
    """Labelled or imported by a user: never dropped or dormant."""
    ARTICLE = "article"
    """A monitored article."""


class HubKind(StrEnum):
    """Format of a hub."""

    HTML = "html"
    FEED = "feed"
    SITEMAP = "sitemap"


class HubClass(StrEnum):
    """The share of the budget that pays for a due hub."""

    REVISIT = "revisit"
    COVERED = "covered"
    """Dormant hubs."""
    EXPLORE = "explore"
    """Never fetched."""
    ARTICLE = "article"
    """Monitored articles, fetched or not."""


class ChangeKind(StrEnum):
    """Kind of a page's change."""

    ADDED = "added"
    """Announced as new; the change's id is the cursor of new pages."""
    CHANGED = "changed"
    """Its text changed."""
    GONE = "gone"
    BACK = "back"
    """Available again."""
    MOVED = "moved"
    """Has a new address."""


class WatchState(StrEnum):
    """State of a page watch."""

    ACTIVE = "active"
    PAUSED = "paused"


class SiteEventKind(StrEnum):
    """Kind of a site's change, which has no page."""

    URL_MIGRATION = "url_migration"
    """Known pages reappeared under new addresses."""
    BURST = "burst"
    """More new links than may be announced."""
    BACKFILL = "backfill"
    """A list gained older pages."""
    OVERFLOW = "overflow"
    """A list was replaced between two visits, and some of it could not be fetched."""


class LabelOrigin(StrEnum):
    """Source of a label; later members outrank earlier ones."""

    BEHAVIOUR = "behaviour"
    """Derived from the page's behaviour."""
    USER = "user"


class PageLabel(StrEnum):
    """The label of a page."""

    HUB = "hub"
    ARTICLE = "article"


class TopicState(StrEnum):
    """State of a topic."""

    WAITING = "waiting"
    """Without usable training examples."""
    READY = "ready"
    PAUSED = "paused"


class ExampleOrigin(StrEnum):
    """Source of a topic's training example."""

    EXAMPLE = "example"
    """Given with the topic."""
    RELEVANT = "relevant"
    """A user's verdict on a found page."""
    IRRELEVANT = "irrelevant"


class TopicVerdict(StrEnum):
    """A topic's verdict on a page."""

    RELEVANT = "relevant"
    DOUBTFUL = "doubtful"
    """Too close to the threshold."""
    IRRELEVANT = "irrelevant"


class OutboxState(StrEnum):
    """The progress of a message."""

    WAITING = "waiting"
    SENDING = "sending"
    """Being delivered; repeated under the same key if interrupted."""
    SENT = "sent"
    FAILED = "failed"
    """Given up."""


class TokenKind(StrEnum):
    """Credentials of the web page and the API."""

    TOKEN = "token"  # noqa: S105 - a kind, no secret
    """For programs, until removed."""
    SESSION = "session"
    """A logged-in browser."""


class TokenScope(StrEnum):
    """Scope of a token."""

    READ = "read"
    WRITE = "write"
    """Reading included."""
