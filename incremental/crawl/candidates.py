"""Candidates: addresses that look like lists and were not read yet.

Of each form of address a few are read first (:func:`incremental.decide.news.decide_links`). When one turns
out to be a hub, the others follow at once; when it is an article, they are judged again, by what is known of
the form by now.
"""

from __future__ import annotations

import logging

from incremental.crawl.facts import FactReader
from incremental.crawl.sites import WatchedSite
from incremental.decide.address_forms import form_of
from incremental.decide.decision import Decision
from incremental.decide.news import TRIED_FIRST
from store import Store

logger = logging.getLogger(__name__)


class CandidateReview:
    """Used by the crawler's thread only."""

    def __init__(self, store: Store, facts: FactReader, threshold: float) -> None:
        self._store = store
        self._facts = facts
        self._threshold = threshold

    def after(self, decision: Decision, url: str, site: WatchedSite, now: float) -> None:
        """Judge the candidates of the same form again, after *url* was read.

        It is a hub: they need not wait any longer. It is an article: those that no longer look like lists go.
        """
        if decision.is_hub is None:
            return
        form = form_of(url)
        if sum(self._facts.context(site, now).verdicts.get(form, ())) < TRIED_FIRST:
            return
        waiting = {
            page_id: link
            for page_id, link in self._store.read.candidates(site.row.id).items()
            if form_of(link.url) == form
        }
        if not waiting:
            return
        if decision.is_hub:
            self._store.write.hasten_candidates(list(waiting), now)
            return
        scores = self._facts.scores(list(waiting.values()), site, now)
        gone = [
            page_id
            for page_id, link in waiting.items()
            if scores[link.canonical_key] < self._threshold
        ]
        if gone:
            logger.debug("%s: %d candidates like %s go", site.row.name, len(gone), url)
            self._store.write.withdraw_candidates(gone)
