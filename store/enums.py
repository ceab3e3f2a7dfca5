"""States, roles and kinds as the store holds them: each member is the text of its column."""

from __future__ import annotations

from enum import StrEnum


class SiteStatus(StrEnum):
    """Whether a site is crawled."""

    ACTIVE = "active"
    PAUSED = "paused"
    """Nothing of it is fetched until it is resumed."""


class PageState(StrEnum):
    """What is known of a page."""

    KNOWN = "known"
    """Announced, part of a baseline, or a hub."""
    PENDING = "pending"
    """Announced once it has been verified."""
    MISSING = "missing"
    """Linked, but not there yet: fetched again for two months, announced when it appears."""
    GONE = "gone"
    """Answers 404 or 410, or was not there when it was verified."""
    MOVED = "moved"
    """Another row has its new address; see ``moved_to``."""
    ALIAS = "alias"
    """A second address of an announced page."""
    BACKDATED = "backdated"
    """Dated long ago, and no list gained it: recorded, not announced."""
    BACKFILL = "backfill"
    """Dated long ago, and a list gained it: announced with the list's backfill event."""
    MIGRATED = "migrated"
    """First seen at a URL migration or in a burst: not announced by any hub."""


class HubStatus(StrEnum):
    """How a hub is scheduled."""

    CANDIDATE = "candidate"
    """Never fetched."""
    ACTIVE = "active"
    DORMANT = "dormant"
    """Shows nothing that other hubs do not, or is gone: fetched rarely."""
    DROPPED = "dropped"
    """Failed too often or led elsewhere: never fetched again."""


class HubRole(StrEnum):
    """How a page came to be a hub."""

    SEED = "seed"
    """Given with the site."""
    HOME = "home"
    """Home page of the site whose feed is the seed."""
    LIST = "list"
    """Classified as a hub."""
    PAGE = "page"
    """A later page of a list."""
    FEED = "feed"
    """Named by a page."""
    SITEMAP = "sitemap"
    """Named by robots.txt or by another sitemap."""
    PROBE = "probe"
    """Tried at a usual place of feeds and sitemaps."""
    USER = "user"
    """Labelled or imported by a user: never dropped, never dormant."""
    ARTICLE = "article"
    """A monitored article: fetched for links to pages that no list shows."""


class HubKind(StrEnum):
    """What a hub is parsed as."""

    HTML = "html"
    FEED = "feed"
    SITEMAP = "sitemap"


class HubClass(StrEnum):
    """Which share of the budget a due hub is fetched from."""

    REVISIT = "revisit"
    COVERED = "covered"
    """Resting hubs."""
    EXPLORE = "explore"
    """Never read."""
    ARTICLE = "article"
    """Monitored articles, read or not."""


class ChangeKind(StrEnum):
    """What happened to a page."""

    ADDED = "added"
    """Announced as new; the change's id is the cursor of "what is new?"."""
    CHANGED = "changed"
    """Its text changed."""
    GONE = "gone"
    BACK = "back"
    """There again after it was gone."""
    MOVED = "moved"
    """Has another address now."""


class SiteEventKind(StrEnum):
    """What happened to a site as a whole: a change without a page."""

    URL_MIGRATION = "url_migration"
    """A URL migration: a list's links went, and known pages came under new addresses."""
    BURST = "burst"
    """A burst: more new addresses at once than may be announced."""
    BACKFILL = "backfill"
    """A list gained older pages."""
    OVERFLOW = "overflow"
    """A list was turned over between two visits, and not all that passed could be read."""


class LabelOrigin(StrEnum):
    """Who labelled a page; later members outrank earlier ones."""

    IMPORTED = "imported"
    """A file, for training alone."""
    BEHAVIOUR = "behaviour"
    """What the page did while it was watched."""
    USER = "user"


class PageLabel(StrEnum):
    """What a page is labelled as."""

    HUB = "hub"
    ARTICLE = "article"


class TopicState(StrEnum):
    """Whether a topic judges pages."""

    WAITING = "waiting"
    """Has nothing to learn from yet."""
    READY = "ready"
    PAUSED = "paused"


class ExampleOrigin(StrEnum):
    """Where a training example of a topic comes from."""

    EXAMPLE = "example"
    """Given with the topic."""
    RELEVANT = "relevant"
    """A user said so of a page that was found."""
    IRRELEVANT = "irrelevant"


class TopicVerdict(StrEnum):
    """What a topic makes of a page."""

    RELEVANT = "relevant"
    GREY = "grey"
    """Too near the threshold to say."""
    IRRELEVANT = "irrelevant"


class ExternalCandidateState(StrEnum):
    """What became of an external candidate; any other text is the status its fetch ended with."""

    WAITING = "waiting"
    FOLLOWED = "followed"
    """Its site is watched now, because of it."""
    WATCHED = "watched"
    """Its site came to be watched in another way."""
    OFF_TOPIC = "off topic"
    NOT_JUDGED = "not judged"
    """Fetched, and had no text to judge."""


class RunStatus(StrEnum):
    """How far a discovery run got."""

    RUNNING = "running"
    """Or cut off, and to be resumed."""
    DONE = "done"


class ProposalState(StrEnum):
    """What the user said of a proposed site."""

    PROPOSED = "proposed"
    """Nothing yet."""
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class OutboxState(StrEnum):
    """How far a message got."""

    WAITING = "waiting"
    SENDING = "sending"
    """Handed over; repeated under the same key if that was cut off."""
    SENT = "sent"
    FAILED = "failed"
    """Given up."""


class TokenKind(StrEnum):
    """What opens the web page and the API."""

    TOKEN = "token"  # noqa: S105 - a kind, no secret
    """For programs, until it is removed."""
    SESSION = "session"
    """A browser that has logged in."""


class TokenScope(StrEnum):
    """What a token allows."""

    READ = "read"
    WRITE = "write"
    """Reading included."""
