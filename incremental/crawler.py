"""The crawler: one round after another, as steps that are given the time.

::

    due(now)  ->  visit  ->  judge  ->  record  ->  reschedule
    store         engine     judge      store       revisit policy
    + frontier    (threads)  (pure)     1 transaction

:meth:`Crawler.step` does whatever can be done at *now* and says when it wants to be called next.
The daemon repeats it under a real clock, the replay under a simulated one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from incremental.engine import Engine
from incremental.fetch.status import FetchStatus
from incremental.frontier import Frontier
from incremental.judge.hubs import HubCounts, HubLimits, HubScorer, score_targets
from incremental.judge.mirrors import ALIKE_SHARE, MIN_BODY_BYTES, mirror_prefix, rules, stripped
from incremental.judge.links import Target, links_digest, targets, without_mirror
from incremental.judge.news import RELAUNCH_MIN_LINKS, Since
from incremental.judge.outcome import (
    NEVER,
    HubView,
    Judgement,
    base_record,
    judge_failure,
    judge_hub,
    judge_look,
    judge_same_links,
    judge_unchanged,
)
from incremental.parse import PageKind
from incremental.probes import probes
from incremental.revisit import Policy, Terms, Visit
from incremental.scope import template
from incremental.settings import Settings
from incremental.sites import WatchedSite
from incremental.urls import identity, normalize
from incremental.visit import Outcome, Purpose
from store import Store
from store.record import to_json
from store.values import HubRow, KnownPage, LookRow, NewHub, SeenLink, VisitRecord

logger = logging.getLogger("hubwatch.crawler")

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
        self._scorer = scorer
        self._told = told
        self.frontier = Frontier(store, settings, make_policy)

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

    @property
    def idle(self) -> bool:
        """Whether no visit is under way."""
        return self._engine.idle

    def _settle(self, outcome: Outcome, now: float) -> None:
        """Judge, record and reschedule one visit."""
        site = self.frontier.site(outcome.task.site_id)
        host = self.frontier.release(outcome, now)
        if site is None:
            return
        if outcome.task.purpose is Purpose.ROBOTS:
            self._store.write.put_host(host)
            self._learn_sitemaps(outcome, site, now)
            self.frontier.refresh(site, now)
            return
        if outcome.task.purpose is Purpose.LOOK:
            record = self._judge_look(outcome, now)
        else:
            record = self._judge_hub_visit(outcome, site, now)
        if record is not None:
            self._write(replace(record, host=host), site)
        self.frontier.refresh(site, now)

    def _write(self, record: VisitRecord, site: WatchedSite) -> None:
        fields = {**record.site_fields, "budget": to_json(site.budget.to_json())}
        fields["revisit"] = to_json(site.state.to_json())
        record = replace(record, site_fields=fields)
        announced = self._store.write.visit(record)
        if self._told is not None:
            self._told(record, announced)

    # Hubs.

    def _judge_hub_visit(
        self, outcome: Outcome, site: WatchedSite, now: float
    ) -> VisitRecord | None:
        hub = self._store.read.hub(outcome.task.page_id)
        if hub is None:  # the site was removed meanwhile
            return None
        judgement = self._judgement(outcome, hub, site, now)
        record = self._reschedule(judgement, outcome, hub, site, now)
        self._keep_body(outcome, hub, judgement)
        self._learn_mirror(outcome, hub, judgement, site, now)
        return record

    def _judgement(
        self, outcome: Outcome, hub: HubRow, site: WatchedSite, now: float
    ) -> Judgement:
        response, page = outcome.response, outcome.page
        if response.status is FetchStatus.REDIRECTED:
            return self._redirected(outcome, hub, site, now)
        if response.status not in (FetchStatus.FETCHED, FetchStatus.NOT_MODIFIED):
            return judge_failure(outcome, hub, now)
        if outcome.unchanged and hub.baseline_at is not None:
            return judge_unchanged(outcome, hub, now)
        if page is None or page.kind is PageKind.OTHER:
            failed = replace(outcome.response, status=FetchStatus.GONE, detail="not a page of links")
            return judge_failure(replace(outcome, response=failed), hub, now)
        hub = replace(hub, kind=_kind(page.kind))
        found = targets(page.links, site.scope, mirrors=site.mirrors, own=hub.identity)
        if hub.baseline_at is not None and links_digest(found) == hub.links_md5:
            return judge_same_links(outcome, hub, now)
        judgement = judge_hub(outcome, self._view(found, hub, site, now))
        return self._probe(judgement, outcome, hub, site, now)

    def _view(
        self, found: Sequence[Target], hub: HubRow, site: WatchedSite, now: float
    ) -> HubView:
        """Look up what bears on the judgement."""
        read = self._store.read
        known = read.known(site.row.id, [t.identity for t in found])
        visible = read.visible(hub.page_id)
        unknown = [t for t in found if t.identity not in known]
        lost = visible - {k.id for k in known.values()}
        suspicious = min(len(unknown), len(lost)) >= RELAUNCH_MIN_LINKS
        return HubView(
            hub=hub,
            since=Since(now, site.row.added_at, self._settings.news.backdated_days),
            found=found,
            known=known,
            visible=frozenset(visible),
            scores=score_targets(unknown, self._scorer) if hub.kind != "feed" else {},
            counts=self._hub_counts(site.row.id) if unknown else HubCounts(0, {}),
            limits=self._limits(),
            lost_urls=read.urls(lost) if suspicious else (),
            anchors=self._anchors(site.row.id, unknown) if suspicious else {},
        )

    def _anchors(self, site_id: int, unknown: Sequence[Target]) -> dict[str, int]:
        return self._store.read.known_anchors(site_id, [t.anchor for t in unknown if t.anchor])

    def _hub_counts(self, site_id: int) -> HubCounts:
        urls = self._store.read.hub_urls(site_id)
        by_template: dict[str, int] = {}
        for url in urls:
            form = template(url)
            by_template[form] = by_template.get(form, 0) + 1
        return HubCounts(len(urls), by_template)

    def _limits(self) -> HubLimits:
        hubs = self._settings.hubs
        return HubLimits(hubs.threshold, hubs.max_per_site, hubs.max_per_template)

    def _redirected(
        self, outcome: Outcome, hub: HubRow, site: WatchedSite, now: float
    ) -> Judgement:
        """A hub led to another host: follow it if that is in scope, or if it is a new seed's home."""
        location = normalize(outcome.response.location or "")
        judgement = judge_failure(outcome, hub, now)
        if location is None:
            return judgement
        fields: dict[str, object] = {}
        first_seed = hub.role == "seed" and hub.baseline_at is None
        if not site.scope.verdict(location).inside:
            if not first_seed:
                return judgement
            fields["scope"] = to_json({**json.loads(site.row.scope), "home": location})
        new = NewHub("html", hub.role, 1.0, f"{hub.url} leads to it", now)
        link = SeenLink(identity=identity(location), url=location, hub=new)
        record = judgement.record
        record = replace(record, more_pages=(link,), site_fields=record.site_fields | fields)
        retired = record.hub_fields | {"state": "dead", "due_at": NEVER}
        record = replace(record, hub_fields=retired, page_change="moved", change_detail=location)
        return replace(judgement, record=record, gone=True)

    def _reschedule(
        self,
        judgement: Judgement,
        outcome: Outcome,
        hub: HubRow,
        site: WatchedSite,
        now: float,
    ) -> VisitRecord:
        """Tell the policy what came of the visit, and set the next one."""
        policy, state = site.policy, site.hub_state(hub)
        state = replace(state, key=str(hub.page_id), kind=_policy_kind(hub, judgement))
        record = judgement.record
        if judgement.gone:
            site.state = policy.retire(state, site.state)
            return record
        state, site.state = policy.observe(state, site.state, _numbers(judgement, outcome, now))
        site.hub_states[hub.page_id] = state
        due_at = policy.due_at(state, site.state, site.budget, now)
        fields: dict[str, object] = {
            "due_at": min(due_at, NEVER),
            "interval_seconds": min(due_at, NEVER) - now,
            "revisit": to_json(state.to_json()),
        }
        return replace(record, hub_fields=record.hub_fields | fields)

    def _keep_body(self, outcome: Outcome, hub: HubRow, judgement: Judgement) -> None:
        """Put a hub's changed body into the cache: its latest two, because only they explain a change."""
        if outcome.page is None or outcome.body_md5 is None or judgement.failed:
            return
        keep = frozenset({outcome.body_md5, hub.body_md5 or ""})
        self._store.cache.put(hub.url, outcome.response.body)
        self._store.cache.forget(hub.url, keep=keep)

    def _probe(
        self,
        judgement: Judgement,
        outcome: Outcome,
        hub: HubRow,
        site: WatchedSite,
        now: float,
    ) -> Judgement:
        """After a seed's first visit, plan to look for feeds and sitemaps at their usual places."""
        record = judgement.record
        if hub.role != "seed" or site.row.probed_at is not None or outcome.page is None:
            return judgement
        more = probes(outcome.page, outcome.response.url, now)
        record = replace(record, more_pages=record.more_pages + more)
        fields = record.site_fields | {"probed_at": now}
        site.row = replace(site.row, probed_at=now)
        return replace(judgement, record=replace(record, site_fields=fields))

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

    def _learn_mirror(
        self, outcome: Outcome, hub: HubRow, judgement: Judgement, site: WatchedSite, now: float
    ) -> None:
        """Take two addresses with one body as evidence that a path prefix only mirrors the site."""
        if outcome.page is None or outcome.body_md5 is None:
            return
        if len(outcome.response.body) < MIN_BODY_BYTES:
            return
        if judgement.baseline:
            self._suspect_mirror(hub, judgement, site)
        evidence: dict[str, list[str]] = json.loads(site.row.mirrors)
        for other in self._store.read.hubs_with_body(site.row.id, outcome.body_md5):
            prefix = mirror_prefix(hub.url, other)
            path = urlsplit(min(hub.url, other, key=len)).path
            if prefix is None or prefix in site.mirrors or path in evidence.get(prefix, ()):
                continue
            evidence.setdefault(prefix, []).append(path)
            site.row = replace(site.row, mirrors=to_json(evidence))
            site.mirrors = rules(evidence)
            self._store.write.update_site(site.row.id, mirrors=site.row.mirrors)
            below = f"//{urlsplit(hub.url).netloc}{prefix}"
            if prefix in site.mirrors:
                self._fold_mirror(site, prefix, below, now)
            else:
                self._compare_twins(site, prefix, below, now)

    def _suspect_mirror(self, hub: HubRow, judgement: Judgement, site: WatchedSite) -> None:
        """Send for two hubs at once whose addresses differ by a prefix and that lead to much the same."""
        here = {link.identity for link in judgement.record.links or ()}
        for other in self._store.read.hubs(site.row.id):
            if other.kind != hub.kind or mirror_prefix(hub.url, other.url) is None:
                continue
            there = self._store.read.shown_by(other.page_id)
            if here and len(here & there) >= ALIKE_SHARE * len(here | there):
                site.send(other.page_id, hub.page_id)

    def _compare_twins(self, site: WatchedSite, prefix: str, below: str, now: float) -> None:
        """Visit a few hubs below the prefix together with their counterparts, to see whether they agree."""
        pairs = self._store.read.pages_below(site.row.id, below, hubs_only=True, limit=3)
        for page_id, url, _ in pairs:
            twin = stripped(url, prefix)
            new = NewHub("html", "list", 0.5, f"may be the same as {url}", now)
            link = SeenLink(identity=identity(twin), url=twin, hub=new)
            ids = self._store.write.add_pages(site.row.id, [link], now=now)
            site.send(page_id, *ids.values())

    def _fold_mirror(self, site: WatchedSite, prefix: str, below: str, now: float) -> None:
        logger.info("%s: %s shows the same pages as the path without it", site.row.name, prefix)
        moves = []
        for page_id, url, _ in self._store.read.pages_below(site.row.id, below):
            twin = stripped(url, prefix)
            if twin != url:
                moves.append((page_id, SeenLink(identity=identity(twin), url=twin)))
        self._store.write.fold_mirror(site.row.id, moves, now)

    # Looks.

    def _judge_look(self, outcome: Outcome, now: float) -> VisitRecord | None:
        row = self._store.read.look(outcome.task.page_id)
        if row is None:
            return None
        record = judge_look(outcome, row, now)
        if outcome.page is not None and outcome.body_md5 is not None:
            self._store.cache.put(row.url, outcome.response.body)
        return record


def _kind(kind: PageKind) -> str:
    if kind is PageKind.FEED:
        return "feed"
    return "html" if kind is PageKind.HTML else "sitemap"


def _policy_kind(hub: HubRow, judgement: Judgement) -> str:
    kind = str(judgement.record.hub_fields.get("kind", hub.kind))
    if kind != "html":
        return kind
    return "home" if hub.role == "seed" else "page"


def _numbers(judgement: Judgement, outcome: Outcome, now: float) -> Visit:
    return Visit(
        at=now,
        shown=judgement.shown,
        novel=judgement.novel,
        baseline=judgement.baseline,
        all_new=judgement.all_new,
        not_modified=outcome.unchanged,
        failed=judgement.failed,
        wait_seconds=_wait_seconds(outcome),
        published=judgement.published,
        shared=judgement.shared,
    )


def _wait_seconds(outcome: Outcome) -> float:
    """Return how long the server or the feed asks to be left alone."""
    ttl = outcome.page.ttl_seconds if outcome.page is not None else None
    return max(outcome.response.retry_after_seconds or 0.0, min(ttl or 0.0, 86_400.0))


__all__ = ["Crawler", "KnownPage", "LookRow", "base_record"]
