"""The rules that decide what becomes of a page, by name. The name is stored with the page.

Explaining reads the name; nothing is derived a second time.
"""

from __future__ import annotations

from enum import StrEnum


class Standing(StrEnum):
    """What a link on a hub page is to the reader of news."""

    KNOWN = "known"
    NEW = "new"
    BACKDATED = "backdated"
    """Dated long ago: whether the list gained it is asked of all links of the hub together."""
    BACKFILL = "backfill"
    """Dated long ago, and the hub gained it."""
    HUB = "hub"


class Rule(StrEnum):
    """Why a page is announced, or is not."""

    # A link on a hub page.
    KNOWN = "known"
    BASELINE = "baseline"
    """It stood on the hub when that was first read."""
    NEW_LINK = "new_link"
    NEW_SECTION = "new_section"
    """Its section came up with it, after the site's baseline."""
    DATED_BY_FEED = "dated_by_feed"
    """On a feed's baseline, and dated after the site was added."""
    SHOWN_LATER = "shown_later"
    """Another hub's baseline held it; this hub shows it only since its last visit."""
    BACKDATED = "backdated"
    BACKFILL = "backfill"
    HUB = "hub"
    LATER_PAGE = "later_page"
    """A later page of a list."""
    HUB_LIMIT = "hub_limit"
    """It looks like a hub, and the site has as many as it may have."""
    MIGRATED = "migrated"
    """It came when all addresses of the site changed their form."""
    BURST = "burst"
    """It came with more new addresses at once than the site may have in a day."""

    # A page that another page led to.
    SECTION = "section"
    """A new page of a new folder leads to it."""
    TRANSLATION = "translation"
    GAINED_LINK = "gained_link"
    """An article began to link to it."""
    ON_TOPIC = "on_topic"
    """A topic found it relevant, and its site is watched because of it."""
    LED_ON = "led_on"
    """The address only leads on to another one."""
    ALIAS = "alias"

    # A page that was fetched.
    CONFIRMED = "confirmed"
    """It was not there when it was first looked for, and is now."""
    UNREADABLE = "unreadable"
    """It may not be read, or the fetch failed: the hub shows it all the same."""
    NOT_A_HUB = "not_a_hub"
    """It was taken for a hub by its address, and is an article."""
    PERHAPS_A_HUB = "perhaps_a_hub"
    """Nobody is sure that it is a hub: it is announced, and monitored as well."""

    # A page that was fetched, or looked for, and is withheld.
    NOT_THERE = "not_there"
    NOT_THERE_YET = "not_there_yet"
    HOME_INSTEAD = "home_instead"
    SAYS_NOT_THERE = "says_not_there"
    ERROR_PAGE = "error_page"
    COURTESY_PAGE = "courtesy_page"
    LIST_PAGE = "list_page"
    SAME_PAGE = "same_page"

    @property
    def standing(self) -> Standing:
        """What a link that this rule decides is to the reader of news."""
        return _STANDINGS.get(self, Standing.KNOWN)

    @property
    def keeps_back(self) -> bool:
        """Whether the page was fetched, and is none to announce."""
        return self in _KEEPS_BACK


_STANDINGS = {
    **dict.fromkeys(
        (Rule.NEW_LINK, Rule.NEW_SECTION, Rule.DATED_BY_FEED, Rule.SHOWN_LATER), Standing.NEW
    ),
    Rule.BACKDATED: Standing.BACKDATED,
    Rule.BACKFILL: Standing.BACKFILL,
    Rule.BACKFILL: Standing.BACKFILL,
    Rule.HUB: Standing.HUB,
    Rule.LATER_PAGE: Standing.HUB,
}
_KEEPS_BACK = frozenset(
    {
        Rule.NOT_THERE,
        Rule.NOT_THERE_YET,
        Rule.HOME_INSTEAD,
        Rule.SAYS_NOT_THERE,
        Rule.ERROR_PAGE,
        Rule.COURTESY_PAGE,
        Rule.LIST_PAGE,
        Rule.SAME_PAGE,
    }
)


def is_withheld(rule: str | None) -> bool:
    """Return whether the rule that a store holds keeps a page back."""
    return rule is not None and Rule(rule).keeps_back
