"""The decision rules in words."""

from __future__ import annotations

from incremental.decide.rules import Rule

SENTENCES = {
    Rule.KNOWN: "already known from another hub",
    Rule.BASELINE: "part of the baseline: already on the hub at its first visit",
    Rule.NEW_LINK: "new link on a hub",
    Rule.NEW_SECTION: "part of a new section",
    Rule.DATED_BY_FEED: "dated by its feed after the site was added",
    Rule.SHOWN_LATER: "known from another hub, new on this one",
    Rule.BACKDATED: "not announced: dated long before the site was added and not newly listed",
    Rule.BACKFILL: "older page added to a list: part of a backfill event",
    Rule.HUB: "hub page: visited for its links, not announced itself",
    Rule.LATER_PAGE: "later page of a list",
    Rule.HUB_LIMIT: "looks like a hub, but the site is at its hub limit",
    Rule.MIGRATED: "not announced: it appeared when the site's addresses changed",
    Rule.BURST: "not announced: part of a burst of new addresses",
    Rule.SECTION: "linked by a new page of its section",
    Rule.TRANSLATION: "linked by a new page in another language",
    Rule.GAINED_LINK: "linked by an article that was edited",
    Rule.ON_TOPIC: "found relevant by a topic: the reason to watch its site",
    Rule.LED_ON: "redirects to another address, which is recorded instead",
    Rule.ALIAS: "another address of a known page",
    Rule.CONFIRMED: "linked before it existed",
    Rule.UNREADABLE: "unreadable, but listed on a hub",
    Rule.NOT_A_HUB: "looked like a hub, but is an article",
    Rule.LIKE_ARTICLES: "looked like a hub, but pages with such addresses are articles",
    Rule.PERHAPS_A_HUB: "may be a hub, so it is monitored as well",
    Rule.NOT_THERE: "found, not announced: the page does not exist",
    Rule.NOT_THERE_YET: "found, not announced: the page does not exist yet",
    Rule.NEVER_THERE: "not announced: pages with such addresses never existed",
    Rule.OLDER: "found, not announced: older than the site has been watched",
    Rule.HOME_INSTEAD: "found, not announced: it redirects to the home page",
    Rule.SAYS_NOT_THERE: "found, not announced: the page says it does not exist",
    Rule.ERROR_PAGE: "found, not announced: an error page",
    Rule.COURTESY_PAGE: "found, not announced: a thank-you or donation page",
    Rule.LIST_PAGE: "found, not announced: a tag, category or author list",
    Rule.SAME_PAGE: "found, not announced: another address of a known page",
}


def in_words(rule: str | None) -> str:
    """Return a stored rule in words; None = nothing was decided about the page."""
    return SENTENCES[Rule(rule)] if rule else "known, with no decision about it so far"
