"""What comes of pages that were fetched for topics.

::

    example ── settle ───────> the topic learns (or says what it waits for)
    candidate ── settle ─────> if the page is relevant, its site is watched, and the page announced
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from urllib.parse import urlsplit

from classifier.words.values import PageText, Relevance, Verdict
from incremental.base.urls import canonical_key, host_of, registered_domain
from incremental.decide.verification import decide_first_page
from incremental.fetch.status import FetchStatus
from incremental.settings.seeds import add_seed
from incremental.topics.judging import EXAMPLE, retry_at, score_of, to_text
from incremental.visit.visit import Outcome, Purpose
from store import Store
from store.database.texts import to_json
from store.topics.values import ExampleFields, ExampleRow, ExternalCandidateRow
from store.values import NewExternalCandidate, SeenLink, TopicOpinion

logger = logging.getLogger("hubwatch.topics")

MAX_REDIRECTS = 5

Judge = Callable[[int, PageText, float], "tuple[str, Relevance] | None"]
"""Returns a topic's name and its judgement of a page, given its id, the text and the time."""


class TopicSettling:
    """Settles fetches of examples and of external candidates.

    *judge* is asked about candidates; *learn* lets topics learn what changed, at a time.
    """

    def __init__(self, store: Store, *, judge: Judge, learn: Callable[[float], None]) -> None:
        self._store = store
        self._judge = judge
        self._learn = learn

    def settle(self, outcome: Outcome, now: float) -> bool:
        """Learn from an example, or follow a candidate; return whether a site was found."""
        if outcome.task.purpose is Purpose.EXAMPLE:
            example = self._store.topics.example(outcome.task.page_id)
            if example is not None:
                self._settle_example(example, outcome, now)
            return False
        external_candidate = self._store.topics.external_candidate(outcome.task.page_id)
        return external_candidate is not None and self._settle_external_candidate(
            external_candidate, outcome, now
        )

    def _settle_example(self, row: ExampleRow, outcome: Outcome, now: float) -> None:
        response, text = outcome.response, outcome.text
        fields: ExampleFields = {"status": response.status.value, "tried_at": now}
        if response.status is FetchStatus.REDIRECTED and response.location:
            if row.failures < MAX_REDIRECTS:
                fields |= {"url": response.location, "due_at": now, "failures": row.failures + 1}
        elif text is not None:
            fields |= {"text": to_text(text), "title": text.title, "due_at": None, "failures": 0}
        if "due_at" not in fields:
            failures = row.failures + 1
            fields |= {"failures": failures, "due_at": retry_at(failures, now)}
            logger.warning("example %s: %s", row.url, response.status.value)
        self._store.topics.update_example(row.id, **fields)
        self._store.topics.update(row.topic_id, changed_at=now)
        if text is not None and row.origin == EXAMPLE:
            self._lead_to_own_site(row, now)
        self._learn(now)

    def _lead_to_own_site(self, row: ExampleRow, now: float) -> None:
        """Make an example an external candidate, of the highest score."""
        domain = registered_domain(host_of(row.url))
        external_candidate = NewExternalCandidate(
            row.topic_id, row.url, row.canonical_key, domain, 1.0, row.url
        )
        self._store.topics.put_external_candidates([external_candidate], now=now)

    def _settle_external_candidate(
        self, external_candidate: ExternalCandidateRow, outcome: Outcome, now: float
    ) -> bool:
        response, text = outcome.response, outcome.text
        if response.status is not FetchStatus.FETCHED or text is None:
            closed = response.status.value
        else:
            judged = self._judge(external_candidate.topic_id, text, now)
            if judged is not None and judged[1].verdict is Verdict.RELEVANT:
                self._watch_site_of(external_candidate, outcome, judged, now)
                return True
            closed = "not judged" if judged is None else "off topic"
        self._store.topics.close_external_candidate(external_candidate.id, closed)
        return False

    def _watch_site_of(
        self,
        external_candidate: ExternalCandidateRow,
        outcome: Outcome,
        judged: tuple[str, Relevance],
        now: float,
    ) -> None:
        """Watch the site of a relevant page, as if you had added its home page, and announce the page."""
        topic, relevance = judged
        url = outcome.response.url
        parts = urlsplit(url)
        site_id = add_seed(self._store, f"{parts.scheme}://{parts.netloc}/", now=now)
        origin = {"topic": topic, "page": url, "found_on": external_candidate.found_on}
        self._store.write.update_site(site_id, origin=to_json(origin))
        self._store.topics.close_external_candidate(external_candidate.id, "followed")
        self._store.topics.close_external_candidates_to(external_candidate.domain, "watched")
        link = SeenLink(canonical_key(url), url)
        page_id = self._store.write.add_pages(site_id, [link], now=now)[link.canonical_key]
        kind = outcome.response.headers.get("content-type", "")
        self._store.cache.put(url, outcome.response.body, kind)
        score = score_of(link.canonical_key, external_candidate.topic_id, relevance)
        self._store.write.visit(
            decide_first_page(outcome, site_id, page_id, now).record,
            opinion=TopicOpinion((score,)),
        )
        logger.info("%s is watched from now on: %s is on topic %s", parts.netloc, url, topic)
