"""URL migrations and bursts of addresses, as opposed to a busy day. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incremental.base.scope import template
from incremental.base.texts import Text
from store.enums import SiteEventKind
from store.values import SeenLink

MIGRATION_MIN_LINKS = 8
MIGRATION_LOST_SHARE = 0.8
MIGRATION_FORM_SHARE = 0.8
MIGRATION_ANCHOR_SHARE = 0.5
# An anchor this long is likely one page's headline and not "more".
MIN_HEADLINE_CHARS = 8


@dataclass(frozen=True, slots=True)
class Migration:
    """One event instead of thousands of new pages."""

    reason: Text
    moved: Mapping[str, int]
    """Page ids by canonical key of the new address, matched by headline."""
    kind: SiteEventKind = SiteEventKind.URL_MIGRATION
    """``url_migration``, or ``burst``: something generates endless addresses."""


def migration(
    news: Sequence[SeenLink],
    lost_urls: Sequence[str],
    kept: int,
    anchors: Mapping[str, int],
) -> Migration | None:
    """Return the URL migration of a hub: almost all links went, and the new ones look different.

    *news* are the unknown links, *lost_urls* those that went, *kept* how many stayed, *anchors* page ids
    of known pages by headline. The new links have another form, or the old headlines.
    """
    if len(news) < MIGRATION_MIN_LINKS or len(lost_urls) < MIGRATION_MIN_LINKS:
        return None
    if len(lost_urls) < MIGRATION_LOST_SHARE * (len(lost_urls) + kept):
        return None
    moved = {
        t.canonical_key: anchors[t.anchor]
        for t in news
        if len(t.anchor) >= MIN_HEADLINE_CHARS and t.anchor in anchors
    }
    if len(moved) >= MIGRATION_ANCHOR_SHARE * len(news):
        return Migration(Text("site_event.headlines", n=len(moved)), moved)
    forms = {template(url) for url in lost_urls}
    other_form = sum(template(t.url) not in forms for t in news)
    if other_form >= MIGRATION_FORM_SHARE * len(news):
        return Migration(Text("site_event.forms", others=other_form, n=len(news)), moved)
    return None
