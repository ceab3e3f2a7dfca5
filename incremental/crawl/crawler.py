"""The crawler: one round after another, as steps that are given the time.

::

    due(now)  ->  visit  ->  judge  ->  record  ->  reschedule
    store         engine     judge      store       revisit policy
    + frontier    (threads)  (pure)     1 transaction

:meth:`Crawler.step` does whatever can be done at *now* and says when it wants to be called next.
The daemon repeats it under a real clock, the replay under a simulated one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

from incremental.crawl.articles import ArticleMonitor
from incremental.crawl.cover_watch import CoverWatch
from incremental.crawl.engine import Engine
from incremental.crawl.frontier import Frontier
from incremental.crawl.given_feeds import GivenFeeds
from incremental.crawl.hub_visits import HubVisits
from incremental.crawl.overflows import Overflows
from incremental.crawl.rechecks import Rechecks
from incremental.crawl.sites import PAUSE_SECONDS, WatchedSite
from incremental.crawl.topics import TopicWatch
from incremental.judge.hubs import HubScorer
from incremental.judge.kept_back import KeptBack
from incremental.judge.links import without_mirror
from incremental.judge.looks import judge_look
from incremental.judge.outcome import section_links
from incremental.revisit import Policy, Terms
from incremental.revisit.allocation import YOUNG_SECONDS
from incremental.scope import trap
from incremental.settings import Settings
from incremental.times import DAY
from incremental.urls import identity, normalize
from incremental.visit import Outcome, Purpose
from store import Store
from store.record import to_json
from store.values import ARTICLE, LookRow, NewHub, SeenLink, VisitRecord

CLOCK_BACK_SECONDS = 60.0
"""By how much the clock may go back unnoticed: a machine's clock is set by seconds all the time."""
MAX_FEEDS_AT_ONCE = 2

Told = Callable[[VisitRecord, Sequence[int]], None]
"""Called after each recorded visit with the record and the ids of the pages that were announced."""


class Crawler:
    """Carries out rounds. One thread calls it; visits run in the engine's."""

    def __init__(  # noqa: PLR0913 - the one place where everything meets
        self,
        store: Store,
        settings: Settings,
        *,
        engine: Engine,
        scorer: HubScorer,
        make_policy: Callable[[Terms], Policy],
        told: Told | None = None,
        explore: int = 0,
    ) -> None:
        self._store = store
        self._settings = settings
        self._engine = engine
        self.topics = TopicWatch(store, settings, explore=explore)
        self._hubs = HubVisits(store, settings, scorer, self.topics)
        self._cover = CoverWatch(store)
        self._given_feeds = GivenFeeds(store)
        self._articles = ArticleMonitor(store)
        self._told = told
        self._overflows = Overflows(store, self._cover, settings.hubs.max_next_pages)
        self._stepped_at = 0.0
        self._wake_at = inf
        self._rechecks = Rechecks(store, settings.history)
        self.frontier = Frontier(
            store,
            settings,
            make_policy,
            self._refuse,
            errands=self.topics.errands,
            overflows=self._overflows,
            replan=self._cover.replan,
        )

    def load(self, now: float) -> None:
        """Read sites and topics from the store: at the start, and when another process changed them."""
        self.topics.load(now)
        self.frontier.likely_first = self.topics.active
        self.frontier.load(now)

    def step(self, now: float, when_done: Callable[[], object] | None = None) -> float:
        """Record what came in, start what is due; return when to call again (unix seconds).

        While visits are under way that moment may be far off: *when_done* is called from a worker's
        thread when one ends, and means "call step soon".
        """
        if now < self._stepped_at - CLOCK_BACK_SECONDS:
            self.frontier.set_back(self._stepped_at - now, now)
        if now > self._wake_at + PAUSE_SECONDS:
            self.frontier.resume(now)
        self._stepped_at = now
        for outcome in self._engine.finished():
            self._settle(outcome, now)
        while self._engine.free:
            task = self.frontier.next_task(now)
            if task is None:
                break
            if task.purpose in (Purpose.LOOK, Purpose.RECHECK) and self.topics.active:
                task = replace(task, for_topics=True)
            self._engine.start(task, when_done)
            for outcome in self._engine.finished():
                self._settle(outcome, now)
        self.topics.keep(now)
        self.frontier.share_again(now)
        self._wake_at = self.frontier.wake_at(now)
        return self._wake_at

    def drain(self, now: float) -> None:
        """Record what came in, and start nothing."""
        for outcome in self._engine.finished():
            self._settle(outcome, now)
        self.topics.keep(now, at_once=True)

    def catch_up(self, now: float) -> bool:
        """Judge a few pages that were found before a topic was; return whether there are more."""
        return self.topics.catch_up(now)

    def is_due(self, now: float, patience_seconds: float) -> bool:
        """Tell whether something is due that politeness delays by no more than *patience_seconds*."""
        return self.frontier.is_due(now, patience_seconds)

    @property
    def idle(self) -> bool:
        """Whether no visit is under way."""
        return self._engine.idle

    def _settle(self, outcome: Outcome, now: float) -> None:
        """Judge, record and reschedule one visit."""
        outcome, host = self.frontier.release(outcome, now)
        site = self.frontier.site(outcome.task.site_id)
        if not outcome.task.site_id:
            self._store.write.put_host(host)
            self._settle_errand(outcome, now)
            return
        if site is None:
            return
        if outcome.task.purpose is Purpose.ROBOTS:
            self._store.write.put_host(host)
            budget = to_json(site.budget.to_json())
            self._store.write.update_site(site.row.id, budget=budget)
            self._learn_sitemaps(outcome, site, now)
            self.frontier.refresh(site, now)
            return
        record = self._judged(outcome, site, now)
        if record is not None:
            self._write(replace(self._overflows.note(record, site), host=host), site)
            first = record.hub_fields.get("baseline_at") == now
            if first and self._given_feeds.handed_over(outcome.task.page_id, site, now):
                self.load(now)
                return
            if "scope" in record.site_fields:
                self._given_feeds.rename(outcome.task.page_id, site)
            self._overflows.settle(record, site, now)
            self._verify(record, site)
            self._cover.refresh(site, now)
            self._cover.replan(site, now)
            self._articles.refresh(site, now)
            self._articles.hasten(site, now)
        self.frontier.refresh(site, now)

    def _judged(self, outcome: Outcome, site: WatchedSite, now: float) -> VisitRecord | None:
        """Judge a visit by what it was for, and let topics judge the page that it brought."""
        if outcome.task.purpose is Purpose.LOOK:
            return self._judge_look(outcome, now)
        if outcome.task.purpose is Purpose.RECHECK:
            record = self._rechecks.judge(outcome, site, now)
            return record and self.topics.judged_again(record, outcome, site)
        record = self._hubs.settle(outcome, site, now)
        if record is not None and record.drop_hub:
            record = self._rechecks.read_after_all(record, outcome)
        if record is not None and (record.drop_hub or record.announce_page):
            record = self.topics.judged_hub(record, outcome, site)
        return record

    def _settle_errand(self, outcome: Outcome, now: float) -> None:
        """Let topics learn from an example, or follow a lead to a new site."""
        if outcome.task.purpose is Purpose.ROBOTS:
            return  # what waited for it is due as before
        before = self.topics.active
        found_site = self.topics.settle_errand(outcome, now)
        if found_site or self.topics.active != before:
            self.load(now)

    def _refuse(self, outcome: Outcome, now: float) -> None:
        """Record a look that robots.txt denies: a page is told all the same, it is only not read."""
        if not outcome.task.site_id:
            self._settle_errand(outcome, now)
            return
        site = self.frontier.site(outcome.task.site_id)
        if site is None:
            return
        again = outcome.task.purpose is Purpose.RECHECK
        judged = (
            self._rechecks.judge(outcome, site, now) if again else self._judge_look(outcome, now)
        )
        if judged is not None:
            self._write(judged, site)

    def _verify(self, record: VisitRecord, site: WatchedSite) -> None:
        """Read at once the pages that are news unless they are hubs, or not there.

        Before them the feed of a section that came up: it lists at once what its pages lead to one by one.
        """
        for page_id in self._new_feeds(record, site):
            site.urgent.push_first(page_id)
        pending = [link.identity for link in record.links or () if link.state == "pending"]
        known = self._store.read.known(site.row.id, pending) if pending else {}
        waiting = (page.id for page in known.values() if page.state == "pending")
        site.urgent.verify(*waiting, *record.look_again)

    def _new_feeds(self, record: VisitRecord, site: WatchedSite) -> list[int]:
        """Return the feeds that a page names and that were never read, once most of the site is known."""
        named = [
            link.identity for link in record.more_pages if link.hub and link.hub.kind == "feed"
        ]
        if not named or record.at - site.row.added_at < YOUNG_SECONDS:
            return []
        known = self._store.read.known(site.row.id, named[:MAX_FEEDS_AT_ONCE])
        hubs = [self._store.read.hub(page.id) for page in known.values() if page.is_hub]
        return [hub.page_id for hub in hubs if hub and hub.visits == 0 and hub.state != "dead"]

    def _write(self, record: VisitRecord, site: WatchedSite) -> None:
        fields = {**record.site_fields, "budget": to_json(site.budget.to_json())}
        fields["revisit"] = to_json(site.state.to_json())
        record = replace(record, site_fields=fields)
        announced = self._store.write.visit(record)
        if record.leads:
            self.topics.errands.load(record.at)
        if self._told is not None:
            self._told(record, announced)

    def _learn_sitemaps(self, outcome: Outcome, site: WatchedSite, now: float) -> None:
        """Make the sitemaps that robots.txt names known as hubs."""
        links = []
        for address in self.frontier.gate.sitemaps(outcome.task.url):
            url = normalize(address)
            if url is not None and site.scope.verdict(url).inside:
                url = without_mirror(url, site.mirrors)
                hub = NewHub("sitemap", "sitemap", 1.0, "named in robots.txt", now)
                links.append(SeenLink(identity=identity(url), url=url, hub=hub))
        if links:
            self._store.write.add_pages(site.row.id, links, now=now)

    def _judge_look(self, outcome: Outcome, now: float) -> VisitRecord | None:
        row = self._store.read.look(outcome.task.page_id)
        if row is None:
            return None
        site = self.frontier.site(row.site_id)
        led_on = self._given_feeds.led_on(outcome, row, site, now) if site is not None else None
        if led_on is not None:
            return led_on
        record = self._merged(judge_look(outcome, row, now), outcome, row)
        if site is not None and outcome.page is not None and record.page_change is None:
            page, by = outcome.page, row.first_hub_id
            section = self._hubs.sections.section(page, row.identity, site, now, found_by=by)
            more = (*record.more_pages, *section_links(section, now))
            if self._hubs.sections.is_structure(page, row.identity, site, now, found_by=by):
                monitored = NewHub("html", ARTICLE, 0.5, "leads to others of its folder", now + DAY)
                more = (*more, SeenLink(row.identity, row.url, hub=monitored))
            record = replace(record, more_pages=more)
            record = self.topics.judged(record, outcome, row, site)
        record = self._rechecks.planned(record, outcome, row)
        if outcome.page is not None and outcome.body_md5 is not None:
            self._store.cache.put(row.url, outcome.response.body)
        return record

    def _merged(self, record: VisitRecord, outcome: Outcome, row: LookRow) -> VisitRecord:
        """Let a page whose redirect or canonical link names a known page be one with that page."""
        canonical = outcome.page.canonical_url if outcome.page is not None else None
        true_url = normalize(canonical or outcome.response.url)
        if true_url is None or identity(true_url) == row.identity:
            return record
        known = self._store.read.known(row.site_id, [identity(true_url)])
        other = known.get(identity(true_url))
        if other is None:
            return self._with_alias(record, true_url, row)
        # A canonical link to a hub (a home page, most often) is a mistake of the site's template.
        if other.is_hub or other.id == row.page_id:
            return record
        fields = record.page_fields | {"state": "moved", "moved_to": other.id}
        fields["kept_back"] = None if other.announced_at is None else KeptBack.SAME_PAGE.value
        return replace(
            record,
            page_fields=fields,
            page_change="moved",
            change_detail=true_url,
            announce_page=record.announce_page and other.announced_at is None,
        )

    def _with_alias(self, record: VisitRecord, url: str, row: LookRow) -> VisitRecord:
        """Make the other address of a page known, so that it is not told a second time under that."""
        site = self.frontier.site(row.site_id)
        if site is None or not site.scope.verdict(url).inside or trap(url):
            return record
        alias = SeenLink(identity(url), url, row.anchor, state="alias")
        return replace(record, more_pages=(*record.more_pages, alias))
