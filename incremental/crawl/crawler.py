"""The crawler: one round after another, as steps that take the time as a parameter.

::

    due(now)  ->  visit  ->  facts  ->  decide  ->  reschedule     ->  record
    store         engine     store      decide      revisit policy     store
    + frontier    (threads)             (pure)                         1 transaction

:meth:`Crawler.step` does whatever can be done at *now* and returns when it wants to be called next.
The daemon repeats it under a real clock, the replay under a simulated one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from incremental.base.attempts import attempt
from incremental.base.times import HOUR
from incremental.crawl.engine import Engine
from incremental.crawl.facts import FactReader
from incremental.crawl.frontier import Frontier
from incremental.crawl.overflows import Overflows
from incremental.crawl.part import Part
from incremental.crawl.quarantine import CrawlQuarantine, as_failed
from incremental.crawl.rescheduling import reschedule, take_hints
from incremental.crawl.sites import PAUSE_SECONDS, WatchedSite
from incremental.crawl.topics import TopicWatch
from incremental.crawl.upkeep import Upkeep
from incremental.decide.cases import Facts, decide
from incremental.decide.decision import Decision
from incremental.decide.hub_facts import FailedFacts, HubFacts, RobotsFacts
from incremental.decide.hub_visit import sitemap_hubs
from incremental.decide.hubs import HubScorer
from incremental.decide.verification import VerifiedFacts
from incremental.parse import PageKind
from incremental.sandbox import Read, read_body
from incremental.schedule.allocation import YOUNG_SECONDS
from incremental.schedule.budget import spend
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Outcome, Purpose
from store import Store
from store.enums import HubKind, HubStatus, PageState
from store.rules import COLUMNS
from store.values import HostRow, SiteChanges, SiteUpdate, TopicScore, VisitPlan, VisitRecord

if TYPE_CHECKING:
    from incremental.topics.embedding.page_embedder import PageEmbedder

# The clock may go back this far unnoticed: clocks are corrected by seconds all the time.
CLOCK_BACK_SECONDS = 60.0
MAX_FEEDS_AT_ONCE = 2

Announced = Callable[[VisitRecord, Sequence[int]], None]
Follower = Callable[[VisitRecord], object]
"""A feature's work after a visit, in its transaction. Used by the crawler's thread only."""
"""Called after each recorded visit with the record and the ids of the announced pages."""


class Crawler:
    """Runs rounds. Called from one thread; visits run in the engine's."""

    def __init__(  # noqa: PLR0913 - the one place where everything meets
        self,
        store: Store,
        settings: Settings,
        *,
        engine: Engine,
        scorer: HubScorer,
        announced: Announced | None = None,
        gate: HostGate | None = None,
        read: Read = read_body,
        embedder: PageEmbedder | None = None,
        part: Part | None = None,
    ) -> None:
        """Make a crawler; *gate* knows what hosts are owed after fetches of another one.

        *part*: which sites it visits; None = all.
        """
        part = part or Part()
        self._store = store
        self._settings = settings
        self.engine = engine
        """What runs the visits."""
        self.quarantine = CrawlQuarantine(store)
        self.topics = TopicWatch(
            store,
            settings,
            self.quarantine,
            read=read,
            embedder=embedder,
            part=part,
        )
        gate = gate or HostGate(store, settings)
        self._facts = FactReader(store, settings, scorer, self.topics, gate=gate, read=read)
        self._upkeep = Upkeep(store, self._facts, settings.hubs.threshold)
        self._followers: list[Follower] = [*settings.enabled.asked("follows", store)]
        self._announced = announced
        self._overflows = Overflows(store, self._upkeep, settings.hubs.max_next_pages)
        self._stepped_at = 0.0
        self._wake_at = inf
        self._loaded, self._loaded_at = False, 0.0
        # A visit changed which sites there are.
        self._outdated = False
        self.frontier = Frontier(
            store,
            settings,
            self._refuse,
            topic_fetches=self.topics.topic_fetches,
            overflows=self._overflows,
            replan=self._upkeep.replan,
            quarantine=self.quarantine,
            gate=gate,
            part=part,
        )

    def load(self, now: float) -> None:
        """Read sites and topics from the store: at start, and after another process changed them."""
        if not self._loaded:
            self.quarantine.load(now)
            self._loaded = True
        self._loaded_at = now
        self._outdated = False
        self.topics.load(now)
        self.frontier.likely_first = self.topics.active
        self.frontier.load(now)

    def step(self, now: float, when_done: Callable[[], object] | None = None) -> float:
        """Record finished visits, start due ones; return when to call again (unix seconds).

        *when_done* is called from a worker thread when a visit ends, and means "call step soon"; without it,
        visits that end within this step are settled in it.
        """
        if now < self._stepped_at - CLOCK_BACK_SECONDS:
            self.frontier.set_back(self._stepped_at - now, now)
        # The process was suspended: lists that overflowed meanwhile are followed as after any overflow.
        if now > self._wake_at + PAUSE_SECONDS:
            self.frontier.watched.resume(now)
        self._stepped_at = now
        if self.quarantine.next_at(self._loaded_at) <= now:
            self.load(now)
        self._record(now)
        # Before the next pages are chosen: the guesses say which.
        self.topics.step(now)
        while self.engine.free:
            task = self.frontier.next_task(now, quick=self.engine.only_quick)
            if task is None:
                break
            judged = task.first_reading or task.purpose in (Purpose.VERIFY, Purpose.REFRESH)
            if judged and self.topics.active:
                task = replace(task, for_topics=True)
            self.engine.start(task, when_done)
            # A step may take long; what ends meanwhile belongs to a later time than *now*.
            if when_done is None:
                self._record(now)
        self.topics.keep(now)
        wake_at = min(self.frontier.wake_at(now), self.topics.refines_at(now))
        self._wake_at = self.engine.again_at(wake_at, now)
        self.frontier.watched.evict()
        return now if self.engine.has_finished else self._wake_at

    def drain(self, now: float) -> None:
        """Record finished visits; start nothing."""
        for outcome in self.engine.finished():
            self._settle(outcome, now)
        self.topics.keep(now, at_once=True)

    def is_due(self, now: float, patience_seconds: float) -> bool:
        """Whether something is due that politeness delays by at most *patience_seconds*.

        Topics that wait for vectors of their examples are.
        """
        return self.topics.awaits_vectors or self.frontier.is_due(now, patience_seconds)

    @property
    def idle(self) -> bool:
        """Whether no visit is under way."""
        return self.engine.idle

    def abandon(self, now: float) -> bool:
        """Drop finished visits, which are due again; return whether all have ended.

        What their hosts are owed stays known to the gate.
        """
        for outcome in self.engine.finished():
            self.frontier.gate.release(outcome.task.url, outcome.response, now)
        return self.engine.idle

    def _record(self, now: float) -> None:
        """Settle finished visits, and read again what they changed beyond their own site."""
        for outcome in self.engine.finished():
            self._settle(outcome, now)
        if self.topics.learn_examples(now) or self._outdated:
            self.load(now)

    def _settle(self, outcome: Outcome, now: float) -> None:
        """Decide on, record and reschedule one visit."""
        task = outcome.task
        outcome, host = self.frontier.release(outcome, now)
        if outcome.lost:
            self.frontier.give_back(task, now)
            return
        self._take(outcome, host, now)

    def _refuse(self, outcome: Outcome, now: float) -> None:
        """Record a fetch denied by robots.txt: a page is announced all the same, only not read."""
        self._take(outcome, None, now)

    def _take(self, outcome: Outcome, host: HostRow | None, now: float) -> None:
        """Record an outcome; after an unexpected exception alone, without what follows, else as a failure.

        If that fails as well, the page waits. *host*: None = nothing was requested.
        """
        task = outcome.task
        bug = attempt(partial(self._take_one, outcome, host, now))
        if bug is None:
            return
        failed = as_failed(outcome, bug)
        for again, alone in ((replace(outcome, bug=bug), True), (failed, False), (failed, True)):
            # What was not recorded must not be in memory either.
            self.frontier.reread(task.site_id, now)
            bug = attempt(partial(self._take_one, again, host, now, alone=alone))
            if bug is None:
                return
        again_at = self.quarantine.page(task, bug, now, waits=True)
        self.topics.topic_fetches.put_off(task, again_at)
        self.frontier.reread(task.site_id, now)

    def _take_one(
        self, outcome: Outcome, host: HostRow | None, now: float, *, alone: bool = False
    ) -> None:
        site = self.frontier.watched.in_memory(outcome.task.site_id)
        if not outcome.task.site_id:
            self._settle_topic_fetch(outcome, host, now)
            return
        if site is None:
            return
        facts = self._facts.ask(outcome, site, now)
        if isinstance(facts, RobotsFacts):
            fields, named = SiteUpdate(budget=site.budget.to_text()), sitemap_hubs(facts)
            with self._store.write.together():
                if host is not None:
                    self._store.write.put_host(host)
                changes = SiteChanges(fields=fields, added=tuple(named))
                self._store.write.change_site(site.row.id, changes, now)
                site.other_hubs = None
                self.quarantine.visited(outcome.task, outcome.bug, now)
        elif facts is not None:
            self._apply(facts, outcome, site, host, now, alone=alone)
        # What was denied is no end of a visit: the next one is being chosen.
        if host is not None and self.frontier.watched.in_memory(site.row.id) is site:
            self.frontier.refresh(site, now)

    def _apply(  # noqa: PLR0913 - what happened, where, and what of it is written
        self,
        facts: Facts,
        outcome: Outcome,
        site: WatchedSite,
        host: HostRow | None,
        now: float,
        *,
        alone: bool,
    ) -> None:
        """Decide and carry it out: the body, then all rows, in one transaction.

        What follows from the visit is part of it, unless it is recorded *alone*.
        """
        decision = decide(outcome, facts)
        record = decision.record
        if decision.keep_body:
            self._keep_body(outcome, facts)
        if decision.is_hub is not None:
            # Counted by URL template, so that a site of unusual style fools the classifier only a few
            # times.
            self._facts.context(site, now).add(outcome.task.url, hub=decision.is_hub)
        if isinstance(facts, VerifiedFacts | FailedFacts):
            there = facts.was_there(outcome)
            if there is not None:
                self._facts.context(site, now).asked_for(outcome.task.url, there=there)
        due = reschedule(decision, site, now)
        opinion = self.topics.opinion(decision, outcome, now)
        with self._store.write.together():
            if isinstance(facts, HubFacts):
                self._learn(facts, decision, outcome, site)
            announced = self._write(record, site, VisitPlan(due, host=host), opinion)
            if not alone and self._follow_up(decision, outcome, site, now):
                self._outdated = True
            self.quarantine.visited(outcome.task, outcome.bug, now)
        self.topics.refine_later(record)
        if self._announced is not None:
            self._announced(record, announced)

    def _learn(
        self, facts: HubFacts, decision: Decision, outcome: Outcome, site: WatchedSite
    ) -> None:
        """Record what the visit of a hub tells about other hubs and pages."""
        record = decision.record
        self._upkeep.learn_aliases(outcome, decision, site, record.at, has_twin=facts.has_twin)
        if outcome.page is not None and outcome.page.kind is PageKind.SITEMAP:
            take_hints(self._store, outcome.page, site, record.at)
        if record.overflow:
            self._overflows.note(record, facts.hub, site)

    def _write(
        self,
        record: VisitRecord,
        site: WatchedSite,
        plan: VisitPlan,
        opinion: Sequence[TopicScore] | None,
    ) -> list[int]:
        """Write a visit; return the ids of announced pages."""
        if not 0 <= record.at - site.beside_at < HOUR:
            site.beside_at = record.at
            beside = sum(self._settings.enabled.asked("requests", self._store, site.row.id))
            site.budget = spend(site.budget, site.terms.requests_per_day, record.at, others=beside)
        state = SiteUpdate(budget=site.budget.to_text(), revisit=site.state.to_text())
        before = site.named.get(record.page_id, frozenset())
        plan = replace(plan, site_fields=state, named=before)
        announced = self._store.write.visit(record, plan, opinion)
        named = before.union(one.canonical_key for one in record.more_pages)
        if record.drop_hub:
            site.named.pop(record.page_id, None)
        elif named != before:
            site.named[record.page_id] = named
        moved = record.drop_hub or record.moved_to is not None
        if named != before or moved or any(link.hub for link in record.links or ()):
            site.other_hubs = None
        site.follow(record.site_fields)
        return announced

    def _keep_body(self, outcome: Outcome, facts: Facts) -> None:
        """Cache the body."""
        digest, url = outcome.body_md5, outcome.task.url
        if digest is None:
            return
        response = outcome.response
        self._store.cache.put(url, response.body, response.headers.get("content-type", ""))
        if isinstance(facts, HubFacts):
            # The last two bodies of a hub stay, because they explain a change.
            keep = {digest, facts.hub.body_md5 or ""}
            if facts.has_versions or facts.row.body_md5:
                # An announced page that became a hub keeps the versions that its history names.
                versions = self._store.answers.versions(facts.hub.page_id)
                keep.update(version.body_md5 for version in versions)
            self._store.cache.forget(url, keep=frozenset(keep))

    def _follow_up(
        self, decision: Decision, outcome: Outcome, site: WatchedSite, now: float
    ) -> bool:
        """Write what a visit makes urgent and what is computed from time to time, in its transaction.

        Returns whether the site was withdrawn, so that all sites are read again.
        """
        record = decision.record
        first = record.hub_fields.get("baseline_at") == now
        if first and self._upkeep.hand_over(record.page_id, site, now):
            return True
        if "scope" in record.site_fields:
            self._upkeep.rename(record.page_id, site)
        self._overflows.settle(decision, site, now)
        self._verify(record, site)
        self._upkeep.after(outcome.task.url, site, now, is_hub=decision.is_hub)
        for follower in self._followers:
            follower(record)
        return False

    def _settle_topic_fetch(self, outcome: Outcome, host: HostRow | None, now: float) -> None:
        """Keep an example for topics to learn from."""
        with self._store.write.together():
            if host is not None:
                self._store.write.put_host(host)
            # The fetch that waited for a robots.txt is due as before.
            if outcome.task.purpose is not Purpose.ROBOTS:
                self.topics.settle_topic_fetch(outcome, now)
            self.quarantine.visited(outcome.task, outcome.bug, now)

    def _verify(self, record: VisitRecord, site: WatchedSite) -> None:
        """Queue pages that are news unless they turn out to be hubs or missing."""
        # The feed of a new section goes first: it lists at once what its pages link to one by one.
        for page_id in self._new_feeds(record, site):
            site.urgent.push_first(page_id)
        # What a new page leads to is read with it: pages chained by "next" were found one an hour.
        links = (*(record.links or ()), *record.more_pages, *filter(None, [record.moved_to]))
        pending = [
            link.canonical_key for link in links if COLUMNS[link.fate].state == PageState.PENDING
        ]
        known = self._store.read.known(site.row.id, pending) if pending else {}
        waiting = (page.id for page in known.values() if page.state == PageState.PENDING)
        again = (one.page_id for one in record.verify_again if one.state == PageState.MISSING)
        site.urgent.verify(*waiting, *again)

    def _new_feeds(self, record: VisitRecord, site: WatchedSite) -> list[int]:
        """Return unread feeds that a page names, once most of the site is known."""
        named = [
            link.canonical_key
            for link in record.more_pages
            if link.hub and link.hub.kind == HubKind.FEED
        ]
        # Until most of the site is known, an unread feed is not yet that of a new section.
        if not named or record.at - site.row.added_at < YOUNG_SECONDS:
            return []
        known = self._store.read.known(site.row.id, named[:MAX_FEEDS_AT_ONCE])
        hubs = [self._store.read.hub(page.id) for page in known.values() if page.is_hub]
        return [
            hub.page_id
            for hub in hubs
            if hub and hub.visits == 0 and hub.state != HubStatus.DROPPED
        ]
