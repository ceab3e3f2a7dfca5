"""Names of cases (outcomes of a visit), fates (of a page) and rules (reasons).

The rule is stored with the page (``page.rule``); :mod:`incremental.base.texts` puts it into words, so
nothing is derived a second time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from store.enums import PageState


class Case(StrEnum):
    """Outcome of a visit; ``decide.cases`` has the table."""

    ROBOTS = "robots"
    VERIFIED = "verified"
    """A page that was fetched before it is announced, or to be read."""
    COMPARED = "compared"
    """An announced or watched page, with its last text."""

    # A page that was visited as a hub.
    REDIRECTED = "redirected"
    FAILED = "failed"
    SAME = "same"
    """The body is the same."""
    NOT_A_LIST = "not_a_list"
    ARTICLE = "article"
    """Only its URL made it a hub."""
    SAME_LINKS = "same_links"
    LIST = "list"
    """Its links have changed."""


class Fate(StrEnum):
    """Fate of a page that a visit shows; :data:`COLUMNS` gives the columns it sets."""

    KNOWN = "known"
    """Recorded, and no news."""
    ANNOUNCE = "announce"
    VERIFY = "verify"
    """Announced once verified."""
    BACKDATED = "backdated"
    """Dated long ago, and its list did not gain it."""
    BACKFILL = "backfill"
    """Dated long ago, and its list gained it: part of the visit's backfill event."""
    EVENT = "event"
    """Part of a URL migration or a burst."""
    HUB = "hub"
    HUB_AND_VERIFY = "hub_and_verify"
    """Read as a hub; announced if it turns out to be an article."""
    HUB_AND_BACKFILL = "hub_and_backfill"
    """Read as a hub; part of a backfill event if it turns out to be an article."""
    ALIAS = "alias"
    """Another address of a known page."""
    NEVER_THERE = "never_there"
    """Recorded as a page that does not exist, and not asked for."""


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns that a fate sets on a new page."""

    state: PageState
    is_fetched: bool = False
    """Verified at once; so is a known page that was never read, when it is announced."""


COLUMNS: Mapping[Fate, Columns] = {
    Fate.KNOWN: Columns(PageState.KNOWN),
    Fate.ANNOUNCE: Columns(PageState.KNOWN, is_fetched=True),
    Fate.VERIFY: Columns(PageState.PENDING, is_fetched=True),
    Fate.BACKDATED: Columns(PageState.BACKDATED),
    Fate.BACKFILL: Columns(PageState.BACKFILL),
    Fate.EVENT: Columns(PageState.MIGRATED),
    Fate.HUB: Columns(PageState.KNOWN),
    Fate.HUB_AND_VERIFY: Columns(PageState.PENDING),
    Fate.HUB_AND_BACKFILL: Columns(PageState.BACKFILL),
    Fate.ALIAS: Columns(PageState.ALIAS),
    Fate.NEVER_THERE: Columns(PageState.GONE),
}


class Rule(StrEnum):
    """Why a page is announced, or is not."""

    # A link on a hub page.
    KNOWN = "known"
    BASELINE = "baseline"
    """It was on the hub at its first visit."""
    NEW_LINK = "new_link"
    NEW_SECTION = "new_section"
    """Its section appeared with it, after the site's baseline."""
    DATED_BY_FEED = "dated_by_feed"
    """On a feed's baseline, and dated after the site was added."""
    SHOWN_LATER = "shown_later"
    """It was on another hub's baseline; this hub has shown it only since its last visit."""
    BACKDATED = "backdated"
    BACKFILL = "backfill"
    HUB = "hub"
    LATER_PAGE = "later_page"
    """A later page of a list."""
    HUB_LIMIT = "hub_limit"
    """It looks like a hub, but the site has reached its limit."""
    MIGRATED = "migrated"
    """It came with a URL migration."""
    BURST = "burst"
    """It came with more new links than the site may announce in a day."""

    # A page that another page links to.
    SECTION = "section"
    """A new page of a new folder links to it."""
    SAME_FOLDER = "same_folder"
    """A new page of its folder links to it; announced if its file is as new, or a hub begins to show it."""
    TRANSLATION = "translation"
    GAINED_LINK = "gained_link"
    """An article began to link to it."""
    LED_ON = "led_on"
    """The URL only redirects to another host."""
    ALIAS = "alias"

    # A page that was fetched.
    CONFIRMED = "confirmed"
    """It did not exist when it was first fetched, and does now."""
    UNREADABLE = "unreadable"
    """It may not be read, or the fetch failed, but a hub shows it."""
    NOT_A_HUB = "not_a_hub"
    """It looked like a hub by its URL, and is an article."""
    LIKE_ARTICLES = "like_articles"
    """It looked like a hub by its URL; pages of that form turned out to be articles."""
    PERHAPS_A_HUB = "perhaps_a_hub"
    """A doubtful hub: announced, and monitored as well."""

    # A page that is withheld, most of them once it was fetched: all from here on.
    NOT_NEWS = "not_news"
    """Users said that pages like it are not news."""
    NOT_THERE = "not_there"
    NOT_THERE_YET = "not_there_yet"
    NEVER_THERE = "never_there"
    """An article links to it, and ten pages in a row with such an address were not there."""
    OLDER = "older"
    """Only an article links to it, and it is older than the site has been watched."""
    HOME_INSTEAD = "home_instead"
    SAYS_NOT_THERE = "says_not_there"
    ERROR_PAGE = "error_page"
    COURTESY_PAGE = "courtesy_page"
    LIST_PAGE = "list_page"
    SAME_PAGE = "same_page"

    fate: Fate
    """Of a link by this rule, unless an objection applies (``decide.news``)."""

    @property
    def withholds(self) -> bool:
        """Whether the page is withheld."""
        return self in _WITHHOLDING


_FATES = {
    **dict.fromkeys(
        (Rule.NEW_LINK, Rule.NEW_SECTION, Rule.DATED_BY_FEED, Rule.SHOWN_LATER), Fate.ANNOUNCE
    ),
    Rule.BACKDATED: Fate.BACKDATED,
    Rule.BACKFILL: Fate.BACKFILL,
    Rule.HUB: Fate.HUB,
    Rule.LATER_PAGE: Fate.HUB,
    Rule.NEVER_THERE: Fate.NEVER_THERE,
}
# Looked up for each link, several times.
for _rule in Rule:
    _rule.fate = _FATES.get(_rule, Fate.KNOWN)
_WITHHOLDING = frozenset(islice(Rule, list(Rule).index(Rule.NOT_NEWS), None))


def is_withheld(rule: str | None) -> bool:
    """Whether a stored rule withholds its page."""
    return rule is not None and Rule(rule).withholds
