"""The rules that decide what happens to a page, by name.

The name is stored with the page (``page.rule``); :mod:`incremental.base.texts` puts it into words, so
nothing is derived a second time.
"""

from __future__ import annotations

from enum import StrEnum


class Standing(StrEnum):
    """What a link on a hub page means as news."""

    KNOWN = "known"
    NEW = "new"
    BACKDATED = "backdated"
    """Dated long ago; whether a list gained it is decided for all links of the hub together."""
    BACKFILL = "backfill"
    """Dated long ago, and the hub gained it."""
    HUB = "hub"


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
    TRANSLATION = "translation"
    GAINED_LINK = "gained_link"
    """An article began to link to it."""
    ON_TOPIC = "on_topic"
    """A topic found it relevant, and its site is watched because of it."""
    LED_ON = "led_on"
    """The URL only redirects to another host."""
    ALIAS = "alias"

    # A page that was fetched.
    CONFIRMED = "confirmed"
    """It did not exist when it was first fetched, and does now."""
    UNREADABLE = "unreadable"
    """It may not be read, or the fetch failed; a hub shows it all the same."""
    NOT_A_HUB = "not_a_hub"
    """It was taken for a hub by its URL, and is an article."""
    LIKE_ARTICLES = "like_articles"
    """It was taken for a hub by its URL; pages of that form turned out to be articles."""
    PERHAPS_A_HUB = "perhaps_a_hub"
    """A doubtful hub: announced, and monitored as well."""

    # A page that was fetched and is withheld.
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

    @property
    def standing(self) -> Standing:
        """What a link decided by this rule means as news."""
        return _STANDINGS.get(self, Standing.KNOWN)

    @property
    def withholds(self) -> bool:
        """Whether the page was fetched and is withheld."""
        return self in _WITHHOLDING


_STANDINGS = {
    **dict.fromkeys(
        (Rule.NEW_LINK, Rule.NEW_SECTION, Rule.DATED_BY_FEED, Rule.SHOWN_LATER), Standing.NEW
    ),
    Rule.BACKDATED: Standing.BACKDATED,
    Rule.BACKFILL: Standing.BACKFILL,
    Rule.HUB: Standing.HUB,
    Rule.LATER_PAGE: Standing.HUB,
}
_WITHHOLDING = frozenset(
    {
        Rule.NOT_THERE,
        Rule.NOT_THERE_YET,
        Rule.NEVER_THERE,
        Rule.OLDER,
        Rule.HOME_INSTEAD,
        Rule.SAYS_NOT_THERE,
        Rule.ERROR_PAGE,
        Rule.COURTESY_PAGE,
        Rule.LIST_PAGE,
        Rule.SAME_PAGE,
    }
)


def is_withheld(rule: str | None) -> bool:
    """Whether a stored rule withholds its page."""
    return rule is not None and Rule(rule).withholds
