"""What was known before the visit of a hub, for each case that its visit may be. Plain values.

The cases are those of :mod:`incremental.decide.cases`. What holds for every hub stands in
:class:`HubFacts`; what each case asks besides, in its own type.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from classifier.hub.labels import HUB
from incremental.base.scope import Scope
from incremental.base.times import DAY
from incremental.decide.feed_home import LearnedSite
from incremental.decide.links import top_folder
from incremental.decide.not_news import Withheld
from incremental.decide.sections import MAX_NEW_SECTION, SectionFacts, folder_of_page, untranslated
from incremental.decide.url_dates import UrlDates
from incremental.fetch.status import ENDED
from incremental.parse import Page
from incremental.settings.sections import HubSettings
from incremental.visit.visit import Outcome
from store.enums import HubRole, PageState
from store.rules import COLUMNS
from store.values import HubRow, KnownPage, SeenLink, Sight, TopicScore, VerificationRow

# The most promising link counts as this many usual ones for its hub.
MAX_WORTH = 3.0


@dataclass(frozen=True, slots=True)
class Guesses:
    """What topics expect of links not fetched yet. Such a score only orders fetches."""

    scores: Mapping[str, tuple[TopicScore, ...]] = field(default_factory=dict)
    """By canonical key, one per topic."""
    contexts: Mapping[str, str] = field(default_factory=dict)
    """By canonical key, as :func:`incremental.topics.judging.to_context` writes them."""
    usual: float = 1.0
    """The score of a link about which nothing is known."""

    def expected(self, canonical_key: str) -> float | None:
        """Return the best score of a link by any topic; None = no guess."""
        return max((score.score for score in self.scores.get(canonical_key, ())), default=None)

    def expected_among(self, links: Iterable[SeenLink]) -> float:
        """Return how many usual links *links* are worth."""
        # Not how many are on topic: hubs that were never judged count as usual, and must not seem better
        # than those with one relevant page in five.
        parts = ((self.expected(link.canonical_key) or 0.0) / self.usual for link in links)
        return sum((min(part, MAX_WORTH) for part in parts), 0.0)

    def of_waiting(self, links: Iterable[SeenLink]) -> tuple[TopicScore, ...]:
        """Return the guesses for those of *links* that wait for verification."""
        waiting = (link for link in links if COLUMNS[link.fate].is_fetched)
        return tuple(score for link in waiting for score in self.scores.get(link.canonical_key, ()))


# Hubs that are known by a link, unlike the usual places of feeds.
LINKED = (HubRole.LIST, HubRole.ARTICLE)
# From here on the URL alone makes a hub, even one that is still empty.
SURE_SCORE = 0.95


@dataclass(frozen=True, slots=True)
class Since:
    """What decides on a whole site whether a link is new: times (unix seconds, UTC) and what users said."""

    now: float
    site_added_at: float
    backdated_days: float
    migrated_at: float | None = None
    """When the site last had a URL migration."""
    url_dates: UrlDates = field(default_factory=UrlDates)
    not_news: Withheld = field(default_factory=dict)
    """What users said is not news on the site."""

    @property
    def oldest_news(self) -> float:
        """A page dated before this is no news, whenever it appears."""
        return self.site_added_at - self.backdated_days * DAY


@dataclass(frozen=True, slots=True)
class HubView:
    """What was known of the links of a hub."""

    hub: HubRow
    since: Since
    found: Sequence[SeenLink]
    """The links of the page, canonical and in scope."""
    known: Mapping[str, KnownPage]
    """The known ones, by canonical key."""
    visible: frozenset[int]
    """Page ids that the hub showed at its last visit."""
    young: frozenset[int]
    """Those of them that it showed then for the first time; none after its baseline."""
    scores: Mapping[str, float]
    """Hub probability of the unknown ones by the classifier, by canonical key."""
    labels: Mapping[str, str]
    """Users' labels of the unknown ones, by canonical key."""
    counts: Mapping[str, int]
    """How many hubs the site has, by URL template."""
    limits: HubSettings
    awaited: bool
    """The hub is announced if it turns out to be an article: it appeared after its site's baseline."""
    by_article: bool
    """No list shows the hub: an article led to it, or a page that may be one."""
    new_folders: frozenset[str]
    """Top folders, as prefixes of canonical keys, below which nothing was known until lately."""
    quota: int
    """How many new pages the site may still announce today."""
    verifications: int
    """How many new pages may be verified before they are announced."""
    leading: frozenset[str]
    """Hosts that may only redirect to the page that is meant: always verified before announced."""
    lost_urls: Sequence[str]
    """URLs that it no longer shows; given when a URL migration is possible."""
    anchors: Mapping[str, int]
    """Page ids by headline among the unknown links; given when a URL migration is possible."""
    never_there: frozenset[str]
    """Those of the unknown ones with whose addresses no page ever was there, by canonical key."""
    guesses: Guesses | None
    """What topics expect of the unknown ones; None = there is no topic."""
    sights: Sequence[Sight]
    """All links that the hub has ever shown."""
    overflow_at: float
    """When a list of its site last overflowed; 0 = never."""
    overflow_since: float
    """Since when pages may have scrolled off that list."""
    resumed_at: float
    """When the last pause of the daemon ended; 0 = there was none."""

    def hub_score(self, canonical_key: str) -> float:
        """Return the probability that a link is a hub. Users' labels outrank the classifier."""
        label = self.labels.get(canonical_key)
        return self.scores.get(canonical_key, 0.0) if label is None else float(label == HUB)

    @property
    def is_new_section(self) -> bool:
        """Whether the hub appeared with its pages."""
        # An old archive has more unknown links than a section that appeared with its pages.
        unread = self.hub.baseline_at is None and self.awaited
        return unread and 0 < len(self.found) - len(self.known) <= MAX_NEW_SECTION

    def came_up(self, target: SeenLink) -> bool:
        """Whether a link belongs to a new section, whose pages are all news."""
        if top_folder(target.canonical_key) in self.new_folders:
            return True
        # The menu of a manual's new chapter names older chapters that no list had shown, too.
        return self.is_new_section and (not self.by_article or self._is_beside(target))

    def _is_beside(self, target: SeenLink) -> bool:
        """Whether a link leads into the hub's own folder, in any language."""
        here, there = (folder_of_page(one.canonical_key) for one in (self.hub, target))
        return untranslated(here) == untranslated(there)


@dataclass(frozen=True, slots=True)
class FirstReading:
    """What the first reading says of a page that only its URL made a hub."""

    probability: float
    """That it is one, by its URL and content."""
    threshold: float
    only_menu: bool
    """It links only to what the seed links to, or to known hubs."""

    def is_article(self, hub: HubRow) -> bool:
        """Whether the page is no hub: a leaf of its site, which the menu alone made look like one."""
        is_leaf = self.only_menu and hub.score < SURE_SCORE
        return is_leaf or self.probability < self.threshold

    @property
    def is_unsure(self) -> bool:
        """Whether the page is announced as well as monitored.

        A list may show just what the home page shows; so does a page that came late into the menu of every
        page.
        """
        return self.only_menu or self.probability < SURE_SCORE


@dataclass(frozen=True, slots=True)
class RobotsFacts:
    """A robots.txt was read."""

    now: float
    scope: Scope
    path_aliases: Sequence[str]
    sitemaps: Sequence[str]
    """Those that it names; none if only pages of the site are watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFacts:
    """What is known of any hub."""

    now: float
    hub: HubRow
    row: VerificationRow
    """Its page."""
    of_event: bool
    """Its page was announced with a backfill event."""
    not_news: Withheld = field(default_factory=dict)
    """What users said is not news on this site."""
    has_versions: bool = False
    """Stored changes of its text name earlier bodies, which are kept."""
    has_twin: bool = False
    """Another hub of the site had the same body at its latest visit."""

    @property
    def awaits_event(self) -> bool:
        """Whether it is an old page that a list gained, and no event has announced it yet."""
        return self.row.state == PageState.BACKFILL and not self.of_event


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectedFacts(HubFacts):
    """The hub redirects to another host."""

    url: str
    inside: bool
    """It is in the site's scope."""
    rules: str
    """JSON of the site's scope with its home moved there."""
    room: int
    """How many more hubs the site may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFacts(HubFacts):
    """There is no page."""

    def was_there(self, outcome: Outcome) -> bool | None:
        """Return False for a linked page that was not there when it was first asked for; else None."""
        first = self.hub.baseline_at is None and not self.hub.failures
        ended = outcome.response.status in ENDED
        return False if first and ended and self.hub.role in LINKED else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SameFacts(HubFacts):
    """The body is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAListFacts(HubFacts):
    """The body cannot be a hub."""

    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleFacts(HubFacts):
    """The page was taken for a hub by its URL, and is an article."""

    page: Page
    section: SectionFacts
    refreshes: bool
    """Announced pages are refreshed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameLinksFacts(HubFacts):
    """A page of links; *hub* is of the kind that its body turned out to be."""

    page: Page
    feed: LearnedSite | None
    """What the first entries of a feed say about its site; None = no such feed."""
    scope: Scope
    """The site's, already moved if this is a given feed read for the first time."""
    found: Sequence[SeenLink]
    """The links of the page, canonical and in scope."""
    room: int
    """How many more hubs the site may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFacts(SameLinksFacts):
    """A page whose links have changed."""

    view: HubView
    first: FirstReading | None
    """None = it was a hub before."""
    probes: Sequence[SeenLink] | None
    """The usual places of feeds and sitemaps; None = they are not due."""
    later_pages: int
    """How many later pages of this list were read because everything on them was new."""
