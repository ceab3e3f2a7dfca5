"""Looking again at told pages: behind all that is new, within a share of each site's requests.

::

    told and read  ->  first check planned     (with the record of the look)
    frontier idle  ->  task   ->  visit  ->  judge_check  ->  record, next check planned

Nothing here goes before a new page or a new hub. Known hubs go first as well, as long as they leave
anything: where they take the whole budget, which the policy that fills it lets them, a look takes
their place when its share has been saved up. When there is more to look at again than the share
allows, the pages that became due last go first: those are the young ones, which still change.
"""

from __future__ import annotations

from dataclasses import replace

from incremental.crawl.gained import with_gained_links
from incremental.crawl.sites import WatchedSite
from incremental.fetch.decoding import decode_body
from incremental.history.plan import CheckTerms
from incremental.history.reading import read_text
from incremental.judge.recheck import CheckView, first_check, judge_check
from incremental.scope import trap
from incremental.settings import HistorySettings
from incremental.times import DAY
from incremental.urls import identity, normalize
from incremental.visit import Outcome
from store import Store
from store.answers.values import CheckRow
from store.values import LookRow, SeenLink, VisitRecord


class Rechecks:
    """Plans and judges looks at told pages. The crawler's thread owns it."""

    def __init__(self, store: Store, settings: HistorySettings) -> None:
        self._store = store
        self._share = settings.share
        self._terms = CheckTerms(settings.first_days * DAY, settings.max_days * DAY)

    def planned(self, record: VisitRecord, outcome: Outcome, row: LookRow) -> VisitRecord:
        """Return the record of a first look with the page's text, and with its first check if it is told."""
        if outcome.read is None or record.page_fields.get("state") in ("gone", "moved"):
            return record
        record = replace(record, text=outcome.read)
        told = row.announced_at is not None or record.announce_page
        if not told or not self._share:
            return record
        return replace(record, next_check=first_check(outcome, record.at, self._terms))

    def read_after_all(self, record: VisitRecord, outcome: Outcome) -> VisitRecord:
        """Return the record of a page that was read as a hub and is none, with its text."""
        page, digest = outcome.page, outcome.body_md5
        if page is None or digest is None:
            return record
        response = outcome.response
        html, _ = decode_body(response.body, response.headers.get("content-type", ""))
        record = replace(record, text=read_text(page, html, digest))
        if not record.announce_page or not self._share:
            return record
        return replace(record, next_check=first_check(outcome, record.at, self._terms))

    def judge(self, outcome: Outcome, site: WatchedSite, now: float) -> VisitRecord | None:
        """Return the record of another look; None when the page was removed meanwhile."""
        row = self._store.answers.check(outcome.task.page_id)
        if row is None:
            return None
        view = CheckView(
            row=row,
            before=self._store.answers.text(row.page_id),
            same_since=self._same_since(row),
            moved_to=self._elsewhere(outcome, row, site),
            terms=self._terms,
        )
        record = judge_check(outcome, view, now)
        if record.text is not None:
            # Both bodies explain the change; one that differs in noise alone is not kept.
            self._store.cache.put(row.url, outcome.response.body)
        return with_gained_links(record, outcome, row, site, self._store)

    def _same_since(self, row: CheckRow) -> float:
        told_at = row.found_at or 0.0
        latest = self._store.answers.history(row.page_id, limit=1)
        return max(told_at, latest[0].at) if latest else told_at

    def _elsewhere(self, outcome: Outcome, row: CheckRow, site: WatchedSite) -> SeenLink | None:
        """Return the address that the page has now, when that is another one which nobody knew."""
        # The same body under another address is not read, and has moved all the same.
        canonical = outcome.page.canonical_url if outcome.page is not None else None
        url = normalize(canonical or outcome.response.url)
        if url is None or identity(url) == row.identity:
            return None
        if not site.scope.verdict(url).inside or trap(url):
            return None
        known = self._store.read.known(row.site_id, [identity(url)])
        return None if known else SeenLink(identity(url), url)
