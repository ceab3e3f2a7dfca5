"""The rules that decide on pages, in words."""

from __future__ import annotations

from incremental.decide.rules import Rule

SENTENCES = {
    Rule.KNOWN: "known: another hub had shown it before",
    Rule.BASELINE: "known: it was there when a hub that shows it was first read",
    Rule.NEW_LINK: "a new link on a hub that was read before",
    Rule.NEW_SECTION: "it came up with its section",
    Rule.DATED_BY_FEED: "a feed dates it after its site was added",
    Rule.SHOWN_LATER: "known from another hub, and new on one that was read before",
    Rule.BACKDATED: "found, but dated long before its site was added, and no list gained it",
    Rule.BACKFILL: "an older page that a list gained, announced with one event",
    Rule.HUB: "a hub: visited for its links, not announced itself",
    Rule.LATER_PAGE: "a later page of a list",
    Rule.HUB_LIMIT: "it looks like a hub, and its site has as many as it may have",
    Rule.MIGRATED: "found when all of its site's addresses changed: one event, and no news",
    Rule.BURST: "found among more new addresses at once than its site may have: one event, and no news",
    Rule.SECTION: "a new page of its section links to it",
    Rule.TRANSLATION: "a new page in another language links to it",
    Rule.GAINED_LINK: "an article began to link to it",
    Rule.LED_ON: "leads on to another address, under which the page is known",
    Rule.ALIAS: "another address of a page that is known",
    Rule.CONFIRMED: "it was linked before it was there",
    Rule.UNREADABLE: "it could not be read; a hub shows it all the same",
    Rule.NOT_A_HUB: "it looked like a hub, and is an article",
    Rule.PERHAPS_A_HUB: "it may be a hub, so it is monitored as well",
    Rule.NOT_THERE: "found, and not announced: it is not there",
    Rule.NOT_THERE_YET: "found, and not announced: it is not there yet",
    Rule.HOME_INSTEAD: "found, and not announced: it leads to the home page instead",
    Rule.SAYS_NOT_THERE: "found, and not announced: it says that it is not there",
    Rule.ERROR_PAGE: "found, and not announced: an error page",
    Rule.COURTESY_PAGE: "found, and not announced: a page of thanks or donations",
    Rule.LIST_PAGE: "found, and not announced: a list of a tag, a category or an author",
    Rule.SAME_PAGE: "found, and not announced: another address of a known page",
}


def in_words(rule: str | None) -> str:
    """Return what a stored rule says; a page that was decided before rules were kept has none."""
    return SENTENCES[Rule(rule)] if rule else "known since before rules were kept with pages"
