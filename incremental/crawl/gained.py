"""Links that an article has gained since it was last kept: pages that hang on it alone.

An article that is fetched again is compared with the body in the cache, as a hub is with its last
visit: what it leads to now, did not lead to then and what nobody knew is verified like any new page,
and the article is monitored from then on.
"""

from __future__ import annotations

from dataclasses import replace

from incremental.crawl.sites import WatchedSite
from incremental.fetch.decoding import decode_body
from incremental.judge.links import Target, targets
from incremental.parse import Page, PageKind, parse
from incremental.scope import page_number
from incremental.visit import Outcome
from store import Store
from store.answers.values import CheckRow
from store.values import ARTICLE, NewHub, SeenLink, VisitRecord

MAX_GAINED = 20
"""An article that leads to more new pages at once was not edited but replaced."""


def with_gained_links(
    record: VisitRecord, outcome: Outcome, row: CheckRow, site: WatchedSite, store: Store
) -> VisitRecord:
    """Return the record of an article that was fetched again with the pages that it leads to since."""
    page = outcome.page
    if page is None or page.kind is not PageKind.HTML or record.page_change in ("gone", "moved"):
        return record
    before = _before(row, store)
    if before is None:
        return record
    found = _led_to(page, row, site)
    old = {target.identity for target in _led_to(before, row, site)}
    gained = [t for t in found if t.identity not in old and page_number(t.url) is None]
    known = store.read.known(row.site_id, [t.identity for t in gained])
    gained = [t for t in gained if t.identity not in known]
    if not 0 < len(gained) <= MAX_GAINED:
        return record
    new = tuple(
        SeenLink(t.identity, t.url, t.anchor, state="pending", look_due_at=record.at)
        for t in gained
    )
    hub = NewHub("html", ARTICLE, 0.5, "gained links to pages that no list showed", record.at)
    itself = SeenLink(row.identity, row.url, hub=hub)
    return replace(record, more_pages=(*record.more_pages, *new, itself))


def _before(row: CheckRow, store: Store) -> Page | None:
    """Return the page as it was when its text was last kept; None when its body is not there."""
    body = store.cache.get(row.url, row.body_md5) if row.body_md5 else None
    return parse(body, row.url, content_type="text/html", decode=decode_body) if body else None


def _led_to(page: Page, row: CheckRow, site: WatchedSite) -> list[Target]:
    return targets(page.links, site.scope, mirrors=site.mirrors, own=row.identity)
