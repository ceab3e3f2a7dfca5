"""Train topics on pages fetched by other daemons: the leader reads them from the store.

::

    visits of all daemons ── after the last one heard ──> pages of others' sites, with text and judgements
                                                            │ a few in each step
                                                            └> term counts and link orders of the leader

Links on those pages are not stored, so others' pages teach what a link to them says, not where theirs lead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from classifier.words.values import LinkContext, PageText, Relevance, Verdict
from incremental.crawl.part import Part
from incremental.topics.judging import from_context
from incremental.topics.model_store import HEARD
from store import Store
from store.topics.values import JudgedPage

# They are cut into terms in the crawler's thread, which waits meanwhile.
AT_ONCE: Final = 20
VISITS_AT_ONCE: Final = 1_000
# Skip the backlog beyond this: a leader cannot read what hundreds of daemons fetch.
MOST_BEHIND: Final = 20_000


@dataclass(frozen=True, slots=True)
class OthersPage:
    """A page that another daemon fetched, and what topics made of it."""

    text: PageText
    context: LinkContext | None
    """The link that led to it."""
    judged: Mapping[int, Relevance]
    """By topic id."""


class OthersPages:
    """Pages that a daemon has not heard of since it leads. Used by the crawler's thread only."""

    def __init__(self, store: Store, part: Part) -> None:
        self._store = store
        self._part = part
        # None = a daemon that shares its store with nobody hears nothing.
        self._heard: int | None = None
        # From then on this daemon learned from its own visits as they came.
        self._led_from = 0

    def keep(self, now: float) -> None:
        """Store how far this daemon has heard."""
        if self._heard is not None:
            self._store.topics.put_background(HEARD, str(self._heard), now=now)

    def next(self, now: float) -> Iterator[OthersPage]:
        """Yield a few pages, oldest first; the first time where the last leader stood."""
        last = self._store.topics.last_visit()
        if self._heard is None:
            kept = self._store.topics.background(HEARD)
            self._led_from = last
            self._heard = min(int(kept), last) if kept.isdecimal() else last
            self.keep(now)
        after = max(self._heard, last - MOST_BEHIND)
        self._heard = min(after + VISITS_AT_ONCE, last)
        others = [one for one in self._store.topics.judged_in(after, self._heard) if self._new(one)]
        if len(others) > AT_ONCE:
            self._heard = others[AT_ONCE - 1].visit_id
        for one in others[:AT_ONCE]:
            if (other := self._read(one)) is not None:
                yield other

    def _new(self, page: JudgedPage) -> bool:
        return page.visit_id <= self._led_from or not self._part.has(page.site_id)

    def _read(self, page: JudgedPage) -> OthersPage | None:
        kept = self._store.answers.text(page.page_id)
        if kept is None or not kept.text:
            return None
        text = PageText(page.url, kept.title, body=kept.text, language=kept.language)
        judged = {
            row.topic_id: Relevance(row.score, Verdict(row.verdict), row.method, row.version)
            for row in self._store.topics.scores([page.page_id])
            if row.fetched
        }
        return OthersPage(text, from_context(page.link_context), judged)
