"""Telling a URL migration, or a burst of addresses, from a busy day. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from incremental.scope import template
from store.enums import SiteEventKind
from store.values import SeenLink

MIGRATION_MIN_LINKS = 8
MIGRATION_LOST_SHARE = 0.8
MIGRATION_FORM_SHARE = 0.8
MIGRATION_ANCHOR_SHARE = 0.5
# Characters from which an anchor is likely one page's headline and not "more".
MIN_HEADLINE_CHARS = 8


@dataclass(frozen=True, slots=True)
class Migration:
    """A site changed the form of its links: one event, not thousands of new pages."""

    reason: str
    moved: Mapping[str, int]
    """Canonical keys of the new addresses with the ids of the pages that they were, by headline."""
    kind: SiteEventKind = SiteEventKind.URL_MIGRATION
    """``url_migration``, or ``burst``: something makes addresses without end."""


def migration(
    news: Sequence[SeenLink],
    lost_urls: Sequence[str],
    kept: int,
    anchors: Mapping[str, int],
) -> Migration | None:
    """Tell a URL migration from a busy day.

    *news* are the unknown links, *lost_urls* what the hub showed and no longer shows, *kept* how many
    stayed, *anchors* page ids by headline of pages known before. Almost everything went, and what came
    has another form, or the old headlines under new addresses.
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
        return Migration(f"{len(moved)} known headlines under new addresses", moved)
    forms = {template(url) for url in lost_urls}
    other_form = sum(template(t.url) not in forms for t in news)
    if other_form >= MIGRATION_FORM_SHARE * len(news):
        return Migration(f"{other_form} of {len(news)} links have a form never seen here", moved)
    return None
