"""What topics do in a round: guess of links, judge pages, learn from examples, follow leads.

::

    hub visit   unknown links ── guess ──────────> scores that order the looks
    look        text ── opinion ─────────────────> scores, told by `new --topic`; the link that led
                                                   here teaches the guesses; leads out of the site
    errand      example ── settle_errand ────────> the topic learns (or says what it waits for)
                lead    ── settle_errand ────────> a relevant page: its site is watched

Scores travel in the visit's record, so they are written with it or not at all. Without a topic
nothing here costs anything, and no model is loaded.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from classifier.topic.values import Relevance, Verdict
from incremental.crawl.sites import WatchedSite
from incremental.crawl.topic_errands import TopicErrands
from incremental.decide.decision import Decision
from incremental.decide.hub_view import HubView
from incremental.decide.rules import Rule
from incremental.decide.topics import (
    EXAMPLE,
    Guesses,
    from_context,
    is_empty,
    leads_of,
    retry_at,
    to_context,
    to_text,
)
from incremental.fetch.status import FetchStatus
from incremental.parse import Page
from incremental.parse.topic_text import link_contexts, page_text
from incremental.seeds import add_seed
from incremental.settings import Settings
from incremental.topics.page_texts import text_of
from incremental.urls import host_of, identity, registered_domain
from incremental.visit import Outcome, Purpose
from store import Store
from store.enums import HubKind
from store.record import to_json
from store.topic_values import ExampleFields, ExampleRow, KeptPage, LeadRow, TopicRow
from store.updates import PageUpdate
from store.values import NewLead, SeenLink, TopicOpinion, TopicScore, VisitRecord

if TYPE_CHECKING:
    from incremental.topics.active_topic import TopicVoice
    from incremental.topics.model_store import TopicShelf

logger = logging.getLogger("hubwatch.topics")

KEEP_SECONDS = 600.0
"""How often what was learned of links and of words is written, and a lesson of all topics considered."""
CAUGHT_UP_AT_ONCE = 5
MAX_REDIRECTS = 5


class TopicWatch:
    """Topics at work. One thread, the crawler's, calls it."""

    def __init__(self, store: Store, settings: Settings, *, explore: int = 0) -> None:
        self._store = store
        self._settings = settings
        self._shelf: TopicShelf | None = None
        self._voices: dict[int, TopicVoice] = {}
        self._kept_at = 0.0
        self._learned_more = False
        per_day = settings.topics.explore_requests_per_day
        self.errands = TopicErrands(store, explore=explore, requests_per_day=per_day)

    @property
    def active(self) -> bool:
        """Whether any topic judges pages."""
        return bool(self._voices)

    def load(self, now: float) -> None:
        """Take up the topics as they stand in the store; those that changed learn first."""
        rows = self._store.topics.topics()
        if rows and self._shelf is None:
            # The models' libraries take a second to load; only who has a topic needs them.
            from incremental.topics.model_store import TopicShelf  # noqa: PLC0415

            wanted = self._settings.topics
            self._shelf = TopicShelf(self._store, wanted.trees, link_order=wanted.link_order.value)
        if self._shelf is not None:
            ready = [row for row in self._learned(rows) if row.state == "ready"]
            self._voices = self._shelf.voices(ready)
        self.errands.load(now)

    def _learned(self, rows: Iterable[TopicRow]) -> Iterable[TopicRow]:
        assert self._shelf is not None
        for row in rows:
            yield row if row.learned_at == row.changed_at else self._shelf.learn(row)

    # Hubs.

    def guess(self, page: Page, view: HubView) -> Guesses | None:
        """Return what topics expect of a hub's unknown links, as far as these may be news."""
        if not self._voices:
            return None
        baseline = (
            view.hub.baseline_at is None and not view.new_hub and view.hub.kind != HubKind.FEED
        )
        unknown = {t.url: t.identity for t in view.found if t.identity not in view.known}
        if baseline or not unknown:
            return Guesses()
        text, links = page_text(page), link_contexts(page)
        scores: dict[str, tuple[TopicScore, ...]] = {}
        contexts: dict[str, str] = {}
        for voice in self._voices.values():
            parent = voice.read_hub(text, links)
            fresh = [replace(link, parent_score=parent) for link in links if link.url in unknown]
            for link, value in zip(fresh, voice.expect(fresh), strict=True):
                key = unknown[link.url]
                contexts[key] = to_context(link)
                scores[key] = (*scores.get(key, ()), voice.guess(key, value))
        return Guesses(scores, contexts, max(voice.usual() for voice in self._voices.values()))

    # Pages.

    def opinion(
        self, decision: Decision, outcome: Outcome, site: WatchedSite
    ) -> TopicOpinion | None:
        """Return what every topic makes of the visited page, and where its links lead; None = nothing."""
        page, text = outcome.page, outcome.text
        if not self._voices or not decision.judge_topics or page is None:
            return None
        if text is None and outcome.task.purpose is Purpose.HUB:
            kind = outcome.response.headers.get("content-type", "")
            text = text_of(outcome.response.body, outcome.response.url, kind)
        row = self._store.read.look(outcome.task.page_id)
        if text is None or row is None or is_empty(text):
            return None
        assert self._shelf is not None
        self._shelf.observe(text)
        self._learned_more = True
        again = outcome.task.purpose is Purpose.RECHECK
        context, links = from_context(row.link_context), link_contexts(page)
        outside = [link for link in links if not site.scope.verdict(link.url).inside]
        scores, leads = [], {}
        for topic_id, voice in self._voices.items():
            relevance = voice.judge(text, again=again)
            scores.append(score_of(row.identity, topic_id, relevance))
            voice.learn_links(text, context, links, relevance)
            if relevance.verdict is Verdict.RELEVANT and outside:
                own = [replace(link, parent_score=relevance.score) for link in outside]
                leads[topic_id] = list(zip(own, voice.expect(own), strict=True))
        found = leads_of(leads, found_on=row.url, follows=lambda url: _follows(site, url))
        self.errands.offer(found)
        return TopicOpinion(tuple(scores), found)

    def catch_up(self, now: float) -> bool:
        """Judge a few pages that were told before their topic was ready; return whether more wait.

        Not before its examples were tried: the first of three is a poor judge.
        """
        if self.errands.next_at() <= now:
            return False
        for topic_id, voice in self._voices.items():
            if voice.caught_up:
                continue
            kept = self._store.topics.unjudged(topic_id, limit=CAUGHT_UP_AT_ONCE + voice.unreadable)
            for page in kept[voice.unreadable :]:
                if not self._judge_kept(page, now):
                    voice.unreadable += 1
            voice.caught_up = len(kept) < CAUGHT_UP_AT_ONCE + voice.unreadable
            return True
        return False

    def _judge_kept(self, page: KeptPage, now: float) -> bool:
        body = self._store.cache.get(page.url, page.body_md5)
        text = text_of(body, page.url) if body is not None else None
        if text is None or is_empty(text):
            return False
        scores = [
            score_of(page.identity, topic_id, voice.judge(text))
            for topic_id, voice in self._voices.items()
        ]
        self._learned_more = True
        self._store.topics.put_scores(page.site_id, scores, now=now)
        return True

    def keep(self, now: float, *, at_once: bool = False) -> None:
        """Write what was learned of links and of words, now and then; a kill loses some minutes of it.

        When much more was seen than at the last lessons, all topics have new ones.
        """
        late = now - self._kept_at >= KEEP_SECONDS
        if self._shelf is None or not self._learned_more or not (at_once or late):
            return
        outgrown = not at_once and self._shelf.outgrown()
        self._shelf.keep(self._voices.values(), now)
        self._kept_at, self._learned_more = now, False
        if outgrown:
            rows = [self._shelf.learn(voice.row) for voice in self._voices.values()]
            self._voices = self._shelf.voices([row for row in rows if row.state == "ready"])

    # Errands.

    def settle_errand(self, outcome: Outcome, now: float) -> bool:
        """Learn from an example, or follow a lead; return whether a site was found."""
        found = False
        if outcome.task.purpose is Purpose.EXAMPLE:
            example = self._store.topics.example(outcome.task.page_id)
            if example is not None:
                self._settle_example(example, outcome, now)
        else:
            lead = self._store.topics.lead(outcome.task.page_id)
            if lead is not None:
                found = self._settle_lead(lead, outcome, now)
        self.errands.done(outcome.task, now)
        return found

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
        self.load(now)

    def _lead_to_own_site(self, row: ExampleRow, now: float) -> None:
        """Take an example for a lead: there is no better one, if its site is not watched yet."""
        domain = registered_domain(host_of(row.url))
        lead = NewLead(row.topic_id, row.url, row.identity, domain, 1.0, row.url)
        self._store.topics.put_leads([lead], now=now)

    def _settle_lead(self, lead: LeadRow, outcome: Outcome, now: float) -> bool:
        voice, text = self._voices.get(lead.topic_id), outcome.text
        if outcome.response.status is not FetchStatus.FETCHED or text is None:
            self._store.topics.close_lead(lead.id, outcome.response.status.value)
            return False
        if voice is None or is_empty(text):
            self._store.topics.close_lead(lead.id, "not judged")
            return False
        relevance = voice.judge(text)
        if relevance.verdict is not Verdict.RELEVANT:
            self._store.topics.close_lead(lead.id, "off topic")
            return False
        self._watch_site_of(lead, outcome, relevance, voice.row.name, now)
        return True

    def _watch_site_of(
        self, lead: LeadRow, outcome: Outcome, relevance: Relevance, topic: str, now: float
    ) -> None:
        """Watch the site of a relevant page, as if you had added its home page, and tell the page."""
        url = outcome.response.url
        parts = urlsplit(url)
        site_id = add_seed(self._store, f"{parts.scheme}://{parts.netloc}/", now=now)
        origin = {"topic": topic, "page": url, "found_on": lead.found_on}
        self._store.write.update_site(site_id, origin=to_json(origin))
        self._store.topics.close_lead(lead.id, "followed")
        self._store.topics.close_leads_to(lead.domain, "watched")
        link = SeenLink(identity(url), url)
        page_id = self._store.write.add_pages(site_id, [link], now=now)[link.identity]
        fields = PageUpdate(looked_at=now, body_md5=outcome.body_md5, rule=Rule.NEW_LINK)
        if outcome.page is not None:
            fields |= {"title": outcome.page.title, "language": outcome.page.language}
        self._store.cache.put(url, outcome.response.body)
        self._store.write.visit(
            VisitRecord(
                site_id,
                page_id,
                now,
                outcome.response.status.value,
                page_fields=fields,
                announce_page=True,
            ),
            opinion=TopicOpinion((score_of(link.identity, lead.topic_id, relevance),)),
        )
        logger.info("%s is watched from now on: %s is on topic %s", parts.netloc, url, topic)


def score_of(key: str, topic_id: int, relevance: Relevance) -> TopicScore:
    """Return a judgement of a fetched page as the store keeps it."""
    return TopicScore(
        identity=key,
        topic_id=topic_id,
        score=round(relevance.score, 4),
        verdict=relevance.verdict.value,
        fetched=True,
        method=relevance.method,
        version=relevance.version,
        terms=relevance.terms,
    )


def _follows(site: WatchedSite, url: str) -> bool:
    """Tell whether a site's rules let us follow a link out of it: what they exclude stays out."""
    return not site.scope.verdict(url).rule.startswith("exclude ")
