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

from incremental.cover_watch import CoverWatch
from incremental.engine import Engine
from incremental.frontier import Frontier
from incremental.hub_visits import PATROL, HubVisits
from incremental.judge.hubs import HubScorer
from incremental.judge.links import without_mirror
from incremental.judge.outcome import judge_look, section_links
from incremental.revisit import Policy, Terms
from incremental.scope import trap
from incremental.settings import Settings
from incremental.sites import WatchedSite
from incremental.times import DAY
from incremental.urls import identity, normalize
from incremental.visit import Outcome, Purpose
from store import Store
from store.record import to_json
from store.values import LookRow, NewHub, SeenLink, VisitRecord

BACKUPS = 3
"""Resting hubs that are read when everything on a hub without a next page was new."""

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
    ) -> None:
        self._store = store
        self._settings = settings
        self._engine = engine
        self._hubs = HubVisits(store, settings, scorer)
        self._cover = CoverWatch(store)
        self._told = told
        self._max_next_pages = settings.hubs.max_next_pages
        self.frontier = Frontier(store, settings, make_policy, self._refuse)

    def step(self, now: float, when_done: Callable[[], object] | None = None) -> float:
        """Record what came in, start what is due; return when to call again (unix seconds).

        While visits are under way that moment may be far off: *when_done* is called from a worker's
        thread when one ends, and means "call step soon".
        """
        for outcome in self._engine.finished():
            self._settle(outcome, now)
        while self._engine.free:
            task = self.frontier.next_task(now)
            if task is None:
                break
            self._engine.start(task, when_done)
            for outcome in self._engine.finished():
                self._settle(outcome, now)
        return self.frontier.wake_at(now)

    def drain(self, now: float) -> None:
        """Record what came in, and start nothing."""
        for outcome in self._engine.finished():
            self._settle(outcome, now)

    def is_due(self, now: float, patience_seconds: float) -> bool:
        """Tell whether something is due that politeness delays by no more than *patience_seconds*."""
        return self.frontier.is_due(now, patience_seconds)

    @property
    def idle(self) -> bool:
        """Whether no visit is under way."""
        return self._engine.idle

    def _settle(self, outcome: Outcome, now: float) -> None:
        """Judge, record and reschedule one visit."""
        outcome = self.frontier.obey(outcome)
        site = self.frontier.site(outcome.task.site_id)
        host = self.frontier.release(outcome, now)
        if site is None:
            return
        if outcome.task.purpose is Purpose.ROBOTS:
            self._store.write.put_host(host)
            budget = to_json(site.budget.to_json())
            self._store.write.update_site(site.row.id, budget=budget)
            self._learn_sitemaps(outcome, site, now)
            self.frontier.refresh(site, now)
            return
        if outcome.task.purpose is Purpose.LOOK:
            record = self._judge_look(outcome, now)
        else:
            record = self._hubs.settle(outcome, site, now)
        if record is not None:
            self._write(replace(record, host=host), site)
            self._verify(record, site)
            if record.gap:
                self._follow(outcome, site, now)
            else:
                site.followed = 0
            self._cover.refresh(site, now)
            self._cover.replan(site, now)
        self.frontier.refresh(site, now)

    def _follow(self, outcome: Outcome, site: WatchedSite, now: float) -> None:
        """After a gap, read the next page of the list at once: what is unknown there is new as well.

        It goes on from page to page while everything on them is new, up to a number of pages. A hub
        without a next page is helped out by those that rest behind it: an archive shows more.
        """
        url = normalize(outcome.page.next_url or "") if outcome.page is not None else None
        if url is None or not site.scope.verdict(url).inside:
            site.send(*site.cover.behind(outcome.task.page_id, limit=BACKUPS))
            return
        if site.followed >= self._max_next_pages:
            return
        site.followed += 1
        url = without_mirror(url, site.mirrors)
        hub = NewHub("html", "list", 0.9, f"next page of {outcome.task.url}", now)
        link = SeenLink(identity=identity(url), url=url, hub=hub)
        ids = self._store.write.add_pages(site.row.id, [link], now=now)
        for page_id in ids.values():
            self._store.write.begin_baseline(page_id, site.row.added_at)
            # Before the looks at what is new, which fill the errands on a day with a gap.
            site.errands.appendleft(page_id)

    def _refuse(self, outcome: Outcome, now: float) -> None:
        """Record a look that robots.txt denies: a page is told all the same, it is only not read."""
        site = self.frontier.site(outcome.task.site_id)
        record = self._judge_look(outcome, now)
        if site is not None and record is not None:
            self._write(record, site)

    def _verify(self, record: VisitRecord, site: WatchedSite) -> None:
        """Read at once the pages that are news unless they are hubs, or not there."""
        pending = [link.identity for link in record.links or () if link.state == "pending"]
        known = self._store.read.known(site.row.id, pending) if pending else {}
        site.send(*(page.id for page in known.values() if page.state == "pending"))

    def _write(self, record: VisitRecord, site: WatchedSite) -> None:
        fields = {**record.site_fields, "budget": to_json(site.budget.to_json())}
        fields["revisit"] = to_json(site.state.to_json())
        record = replace(record, site_fields=fields)
        announced = self._store.write.visit(record)
        if self._told is not None:
            self._told(record, announced)

    def _learn_sitemaps(self, outcome: Outcome, site: WatchedSite, now: float) -> None:
        """Make the sitemaps that robots.txt names known as hubs."""
        links = []
        for address in self.frontier.sitemaps_of(outcome.task.url):
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
        record = self._merged(judge_look(outcome, row, now), outcome, row)
        site = self.frontier.site(row.site_id)
        if site is not None and outcome.page is not None and record.page_change is None:
            page, by = outcome.page, row.first_hub_id
            section = self._hubs.section(page, row.identity, site, now, found_by=by)
            more = (*record.more_pages, *section_links(section, now))
            if self._hubs.is_structure(page, row.identity, site, now, found_by=by):
                patrol = NewHub("html", PATROL, 0.0, "leads to others of its folder", now + DAY)
                more = (*more, SeenLink(row.identity, row.url, hub=patrol))
            record = replace(record, more_pages=more)
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
