"""The frontier: what may be fetched now, and when something may be next.

For each site in turn, the one that may be asked first::

    asked for by a user? -> first, even over budget
    something urgent?    -> first, even over budget (a list overflowed)
    a new site?          -> hubs that were never read, when nothing else is due, beyond the budget
    budget spent?        -> wait for the next grant
    allocation           -> the class whose turn it is: known hubs, new hubs, new pages, ...
    nothing due          -> a refresh; or its share, if known hubs never leave any
    the host gate        -> busy or owed a pause? robots.txt first? denied? (recorded, no request)

Fetches of topics (example pages) go before all sites. They pass the same gate, and count against no site.

Only what is under way is in memory; everything that must survive the process is in the store.
"""

import heapq
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from incremental.base.attempts import Bug, attempt
from incremental.base.times import DAY, HOUR, NEVER
from incremental.crawl.overflows import Overflows
from incremental.crawl.part import Part
from incremental.crawl.quarantine import CrawlQuarantine, put_off
from incremental.crawl.requested_visits import RequestedVisits
from incremental.crawl.sites import WatchedSite
from incremental.crawl.topic_fetches import TopicFetches
from incremental.crawl.watched_sites import WatchedSites
from incremental.decide.articles import next_to_read, reading_weight
from incremental.fetch.politeness import host_key, staggered_start
from incremental.fetch.robots import robots_url
from incremental.fetch.status import Response
from incremental.schedule.allocation import AFTER_GAIN_SECONDS, QUOTAS, Share
from incremental.schedule.budget import spend
from incremental.schedule.pacing import in_window
from incremental.schedule.replanning import next_at
from incremental.schedule.state import not_ahead
from incremental.settings import Settings
from incremental.visit.host_gate import Answer, HostGate
from incremental.visit.visit import (
    Outcome,
    Purpose,
    VisitTask,
    hub_task,
    refresh_task,
    verification_task,
)
from store import Store
from store.crawl.quarantine import QuarantineKind
from store.enums import HubClass, PageState
from store.values import DueTimes, HostRow, HubRow, VerificationRow

# When to ask again a site that had less to do than expected.
SOON_SECONDS = 1.0
# A site that is not in memory is read this long after the start, in case its price has fallen meanwhile.
REPLAN_SECONDS = HOUR
# How many of the most overdue hubs are compared.
CHOICE = 8
# Until a site was watched this long its hubs are still being learned and leave nothing for refreshes: on
# ten recorded days of a busy news site one refresh in twenty requests doubled the mean delay of news.
SETTLED_SECONDS = 7 * DAY
# Sites that one search for a quick host passes over.
MOST_HELD_AT_ONCE = 32
# Most rows of one site considered in one go; each that may not be fetched now is put off.
MAX_TURNS = 64


class Frontier:
    """Chooses tasks. Used by the crawler's thread only."""

    def __init__(  # noqa: PLR0913 - all that may want something fetched
        self,
        store: Store,
        settings: Settings,
        refuse: Callable[[Outcome, float], None],
        *,
        topic_fetches: TopicFetches,
        overflows: Overflows,
        replan: Callable[[WatchedSite, float], None],
        quarantine: CrawlQuarantine,
        gate: HostGate,
        part: Part,
    ) -> None:
        self._store = store
        self._overflows = overflows
        self._replan = replan
        self._topic_fetches = topic_fetches
        self.likely_first = False
        """Whether verification fetches are ordered by what topics expect of them."""
        self._refuse = refuse
        self._quarantine = quarantine
        self.gate = gate
        self._part = part
        self.watched = WatchedSites(store, settings, quarantine, self._part)
        """The sites at work; callers must not keep one after :meth:`WatchedSites.evict`."""
        # What is due of each site when it was last looked at, in memory or not.
        self._due: dict[int, DueTimes] = {}
        # Ids of sites whose entry there is still current.
        self._current: set[int] = set()
        # Ids of waiting sites, by the busy host.
        self._waiting: dict[str, set[int]] = {}
        self._queue: list[tuple[float, int]] = []
        # Ids of sites whose host may be slow, while the last workers are kept for quick ones.
        self._held: OrderedDict[int, None] = OrderedDict()
        self._only_quick = False
        self._requested = RequestedVisits(store)

    # Sites.

    def load(self, now: float) -> None:
        """Read the watched sites from the store: at start, and after another process changed them."""
        starts = not self._due
        changed = self.watched.load(now)
        read = self._store.read.all_due_times().items()
        due = {one: times for one, times in read if one in self.watched}
        first_at = self._staggered(now) if starts else {}
        wanted = [*due, *(changed - due.keys())]
        for place, site_id in enumerate(wanted):
            times = due.get(site_id)
            # Each kind counts: what waits for its share may hide that a hub is due now.
            if times == self._due.get(site_id) and site_id not in changed:
                continue
            due_at = NEVER if times is None or times.first is None else times.first
            site = self.watched.in_memory(site_id)
            if site is not None:
                self.refresh(site, now)
            else:
                # A price that fell brings visits forward, as does a clock that was ahead.
                again_at = now + REPLAN_SECONDS * (1 + place / len(wanted))
                at = max(min(due_at, again_at), first_at.get(site_id, 0.0))
                heapq.heappush(self._queue, (at, site_id))
        self._due = due
        for site_id in self._requested.load():
            if (requested := self.watched.get(site_id, now)) is not None:
                self.refresh(requested, now)

    def _staggered(self, now: float) -> dict[int, float]:
        """Return when each site may be asked first: a start is spread over a minute."""
        seeds = self._store.read.seeds()
        at = staggered_start((host_key(url) for url in seeds.values()), now)
        return {site_id: at[host_key(url)] for site_id, url in seeds.items()}

    def reread(self, site_id: int, now: float) -> None:
        """Drop what is in memory of a site, and read its row again."""
        site = self.watched.reread(site_id, now)
        if site is not None:
            self.refresh(site, now)

    def set_back(self, seconds: float, now: float) -> None:
        """Plan again after the clock went back, which put everything planned too far off.

        Hosts are owed what they were owed before.
        """
        self.gate.set_back(seconds)
        self._store.write.bring_forward(seconds, now)
        for site in self.watched:
            # A spent budget would be granted nothing until the old time comes again.
            site.budget = not_ahead(site.budget, now)
            site.state = not_ahead(site.state, now)
            site.hub_states = {key: not_ahead(one, now) for key, one in site.hub_states.items()}
            self._replan(site, now)
        self._queue.clear()
        self._held.clear()
        self._due.clear()
        self.load(now)

    # When.

    def refresh(self, site: WatchedSite, now: float) -> None:
        """Queue *site* for when it has something due."""
        self._current.add(site.row.id)
        site.next_due_at = self._next_due_at(site, now)
        heapq.heappush(self._queue, (self._ready_at(site, now), site.row.id))

    def _next_due_at(self, site: WatchedSite, now: float) -> float:
        """Return when any class of fetches has something due that its share allows."""
        due = self._store.read.due_times(site.row.id)
        self._due[site.row.id] = due
        bounded: tuple[tuple[float | None, Callable[[float], float] | None], ...] = (
            (due.hubs[HubClass.REVISIT], None),
            (due.hubs[HubClass.COVERED], partial(site.even_at, Share.COVERED)),
            (due.hubs[HubClass.EXPLORE], site.unread_at),
            (due.hubs[HubClass.ARTICLE], site.reserve_at),
            (due.read, partial(site.allows_at, Share.READ)),
            (due.awaited, None),
            (due.watch, None),
            (due.refresh, partial(site.allows_at, Share.REFRESH)),
        )
        moments = [
            max(due_at, now if open_at is None else open_at(now))
            for due_at, open_at in bounded
            if due_at is not None
        ]
        known = (due_at for kind, due_at in due.hubs.items() if kind is not HubClass.EXPLORE)
        if any(due_at is not None and due_at < NEVER for due_at in known):
            # A price that fell brings visits forward.
            moments.append(next_at(site.planned_at, site.planned_price, site.price, now))
        return min(moments, default=NEVER)

    def _ready_at(self, site: WatchedSite, now: float) -> float:
        owed = self.gate.allowed_at(site.scope.seed_url, now)
        planned_at = max(site.next_due_at, site.open_at(now))
        due = self._due.get(site.row.id)
        unread_at = None if due is None else due.hubs[HubClass.EXPLORE]
        if unread_at is not None and site.has_grant(now):
            planned_at = min(planned_at, max(unread_at, now))
        urgent_at = now if self._requested.waits(site.row.id) else site.urgent_at(now)
        return in_window(max(min(urgent_at, planned_at), owed), site.terms)

    def is_due(self, now: float, patience_seconds: float) -> bool:
        """Whether something is due at *now* that politeness delays by at most *patience_seconds*."""
        # What becomes due later does not count, or a single run would never end.
        if self._topic_fetches_at() <= now + patience_seconds:
            return True
        queued = sorted(one for one in self._queue if one[0] <= now + patience_seconds)
        sites = (*self._held, *(site_id for _, site_id in queued))
        return any(self._waits(site_id, now, patience_seconds) for site_id in sites)

    def _waits(self, site_id: int, now: float, patience_seconds: float) -> bool:
        times = self._due.get(site_id)
        later = times is not None and times.first is not None and times.first > now
        if later and self.watched.in_memory(site_id) is None:
            return False
        site = self.watched.get(site_id, now)
        if site is None:
            return False
        if not site.next_due_at:
            site.next_due_at = self._next_due_at(site, now)
        due = min(site.next_due_at, site.urgent_at(now)) <= now
        due = due or self._requested.waits(site_id)
        return due and self._ready_at(site, now) <= now + patience_seconds

    def wake_at(self, now: float) -> float:
        """Return when there may be something to do; infinite = nothing is planned."""
        again_at = self._quarantine.next_at(now)
        return min(self._next_site_at(now), self._topic_fetches_at(), again_at)

    def _topic_fetches_at(self) -> float:
        """Return when a topic wants something; infinite where another daemon fetches it."""
        return self._topic_fetches.next_at() if self._part.is_leader else math.inf

    def _next_site_at(self, now: float) -> float:
        """Return when the first site of the queue may be asked; removes stale entries."""
        while self._queue:
            at, site_id = self._queue[0]
            site = self.watched.in_memory(site_id)
            if site is None and site_id in self.watched:
                return at  # what exactly it waits for is known when it is read
            ready_at = math.inf if site is None or site.busy else self._ready_at(site, now)
            if ready_at <= max(at, now):
                return at
            heapq.heappop(self._queue)
            if ready_at < math.inf:
                heapq.heappush(self._queue, (ready_at, site_id))
        return math.inf

    # Tasks.

    def next_task(self, now: float, *, quick: bool = False) -> VisitTask | None:
        """Return the next fetch at *now* and mark its site and host as busy; None = nothing.

        *quick*: only from a host that answered its last request quickly.
        """
        waiting: list[WatchedSite] = []
        self._only_quick = quick
        task = None if quick else self._topic_fetch(now)
        if not quick and self._held:
            self._take_back(now)
        before = len(self._held)
        # Others are looked at in the next step: thousands of sites that nobody knows yet may be due at once.
        while (
            task is None
            and len(self._held) - before < MOST_HELD_AT_ONCE
            and self._next_site_at(now) <= now
        ):
            _, site_id = heapq.heappop(self._queue)
            site = self.watched.get(site_id, now)
            if site is None:
                self._due.pop(site_id, None)  # so that it is queued when it is watched again
            if site is None or site.busy:
                continue
            if quick and not self.gate.is_quick(site.scope.seed_url, now):
                self._held[site_id] = None
                continue
            chosen = attempt(partial(self._task_of, site, now))
            if isinstance(chosen, Bug):
                self.watched.hold(site_id, chosen, now)
                self._due.pop(site_id, None)
                continue
            self._quarantine.passed(QuarantineKind.SITE, site_id)
            task = chosen
            if task is None and not site.busy:
                waiting.append(site)
        for site in waiting:
            self._enqueue_later(site, now)
        if task is not None:
            self.gate.occupy(task.url, now)
        return task

    def _take_back(self, now: float) -> None:
        """Queue the site that was passed over longest ago, one for each worker: it goes first."""
        site_id, _ = self._held.popitem(last=False)
        if (held := self.watched.get(site_id, now)) is not None:
            heapq.heappush(self._queue, (self._ready_at(held, now), site_id))

    def _topic_fetch(self, now: float) -> VisitTask | None:
        """Return the first topic fetch whose host may be asked, or the robots.txt that it needs."""
        for task in self._topic_fetches.due(now) if self._part.is_leader else ():
            answer = self.gate.ask(task.url, now)
            if not answer.busy:
                answer = self.gate.take(task.url, answer, now)
            if answer.busy or answer.allowed_at > now:
                self._topic_fetches.put_off(task, max(answer.allowed_at, now + SOON_SECONDS))
                continue
            admitted = self._admit(task, answer, now)
            if admitted is not None:
                return admitted
        return None

    def _enqueue_later(self, site: WatchedSite, now: float) -> None:
        """Queue a site that had nothing to do after all: its host was busy, or its rows were put off."""
        if site.row.id in self._held:
            return  # next_task() queues it when a worker is free that slow hosts may have
        if any(site.row.id in ids for ids in self._waiting.values()):
            return  # release() queues it when its host is free
        self._replan(site, now)
        site.next_due_at = self._next_due_at(site, now)
        at = max(self._ready_at(site, now), now + SOON_SECONDS)
        heapq.heappush(self._queue, (at, site.row.id))

    def _task_of(self, site: WatchedSite, now: float) -> VisitTask | None:
        """Return what to do for *site*, or None."""
        for _ in range(MAX_TURNS):
            requested = self._requested.task(site.row.id)
            urgent = None if requested else self._overflows.task(site, now)
            task = requested or urgent or self._candidate(site, now)
            answer = None if task is None else self._turn(site, task, now)
            if task is None or answer is None or (requested and answer.allowed_at > now):
                return None
            admitted = self._admit(task, answer, now)
            if admitted is None or admitted.purpose is not Purpose.ROBOTS:
                if requested:
                    self._requested.drop(task.site_id, task.page_id)
                elif urgent:
                    site.take_urgent(task, put_off=admitted is None)
            if admitted is not None:
                site.busy = True
                return admitted
            if self.watched.in_memory(site.row.id) is not site:
                return None  # read again after a bug, and queued
        return None

    def _turn(self, site: WatchedSite, task: VisitTask, now: float) -> Answer | None:
        """Ask for the host of a task; None = all of the site waits for it."""
        answer = self.gate.ask(task.url, now)
        if answer.busy:
            self._waiting.setdefault(host_key(task.url), set()).add(site.row.id)
            return None
        if self._only_quick and not self.gate.is_quick(task.url, now):
            self._held[site.row.id] = None
            return None
        turn = self.gate.take(task.url, answer, now)
        # Another daemon asks the host: all of the site waits, not one page after the other.
        waits = turn is not answer and host_key(task.url) == host_key(site.scope.seed_url)
        return None if waits and turn.allowed_at > now else turn

    def _admit(self, task: VisitTask, answer: Answer, now: float) -> VisitTask | None:
        """Return what the host gate admits: the task, or the robots.txt that it needs.

        None if the page was put off, or denied, which is recorded.
        """
        # Only this page is put off: others of the site may be on other hosts.
        if answer.allowed_at > now:
            put_off(self._store, task.purpose, task.page_id, answer.allowed_at)
            return None
        if answer.robots_due:
            return replace(task, purpose=Purpose.ROBOTS, url=robots_url(task.url))
        if answer.refusal is None:
            # What belongs to a hub may be fetched with it.
            hub = task.purpose is Purpose.HUB
            return replace(task, rules=self.gate.rules(task.url)) if hub else task
        if task.purpose is Purpose.HUB:
            self._store.write.postpone(task.page_id, now, answer.retry_at, answer.refusal.value)
        else:
            self._refuse(Outcome(task, Response(url=task.url, status=answer.refusal)), now)
        return None

    def _candidate(self, site: WatchedSite, now: float) -> VisitTask | None:
        """Return the next fetch of *site*: what is due in the class whose turn it is."""
        has_grant = site.has_grant(now)
        closed = site.open_at(now) > now
        if closed and not has_grant:
            return None
        due = self._due_times(site.row.id)
        if closed:
            never_read = _is_due(due.hubs[HubClass.EXPLORE], now)
            return self._hub(site, Share.EXPLORE, now) if never_read else None
        found, missing = self._found(site, due, now)
        if has_grant and (unread := found.pop(Share.EXPLORE, None)) and not found:
            return unread
        rest = found.keys() - {Share.ARTICLE}
        idle = not rest and (not found or site.reserve_at(now) > now)
        if idle or (rest <= {Share.REVISIT} and self._refresh_starves(site, now)):
            may = site.allows_at(Share.REFRESH, now) <= now
            again = self._refresh(site, due.refresh, now, watched=False) if may else None
            if again is not None:
                site.allocation.draw(Share.REFRESH)
            if again is not None or idle:
                return again
        share = site.turn(found.keys(), now)
        site.allocation.count(share)
        if share in (Share.VERIFY, Share.READ) and not missing:
            # Missing pages take no verification fetches from new ones: on a recorded site whose sitemap
            # names pages twice, wrongly, new pages got none.
            site.allocation.draw(Share.READ)
        return found[share]

    def _due_times(self, site_id: int) -> DueTimes:
        """Return what is due at a site; what :meth:`refresh` read serves once, as the choice changes it."""
        known = self._due.get(site_id) if site_id in self._current else None
        self._current.discard(site_id)
        return known or self._store.read.due_times(site_id)

    def _found(
        self, site: WatchedSite, due: DueTimes, now: float
    ) -> tuple[dict[Share, VisitTask], bool]:
        """Return what is due by class, refreshes aside, and whether the page to verify was missing."""
        found: dict[Share, VisitTask] = {}
        for kind, due_at in due.hubs.items():
            due_now = _is_due(due_at, now)
            if kind is HubClass.EXPLORE:
                due_now = due_now and site.unread_at(now) <= now
            elif kind is not HubClass.REVISIT:
                due_now = due_now and site.even_at(Share(kind), now) <= now
            if due_now and (hub := self._hub(site, Share(kind), now)) is not None:
                found[Share(kind)] = hub
        missing = False
        for row in self._verifications(site, due, now):
            missing = row.state == PageState.MISSING
            waits = missing or row.state == PageState.PENDING
            found[Share.VERIFY if waits else Share.READ] = verification_task(row)
        if (watched := self._refresh(site, due.watch, now, watched=True)) is not None:
            found[Share.WATCH] = watched
        return found, missing

    def _verifications(
        self, site: WatchedSite, due: DueTimes, now: float
    ) -> Sequence[VerificationRow]:
        """Return the page to verify next, if any."""
        # News that waits to be announced is limited by the budget, not by verify_share.
        ask, likely = self._store.read.due_verifications, self.likely_first
        if _is_due(due.awaited, now):
            return ask(site.row.id, now, pending=True, likely_first=likely)
        if _is_due(due.read, now) and site.allows_at(Share.READ, now) <= now:
            return ask(site.row.id, now, likely_first=likely)
        return ()

    def _refresh(
        self, site: WatchedSite, due_at: float | None, now: float, *, watched: bool
    ) -> VisitTask | None:
        """Return the page to refresh next, if any."""
        is_due = _is_due(due_at, now)
        row = self._store.refreshes.due(site.row.id, now, watched=watched) if is_due else None
        return refresh_task(row) if row is not None else None

    def _refresh_starves(self, site: WatchedSite, now: float) -> bool:
        """Whether refreshes have saved up all they may, so that hubs must make room."""
        saved = site.allocation.saved(Share.REFRESH, site.terms.requests_per_day, now)
        settled = now - site.row.added_at >= SETTLED_SECONDS
        return settled and saved >= QUOTAS[Share.REFRESH].least

    def _hub(self, site: WatchedSite, share: Share, now: float) -> VisitTask | None:
        """Return the due visit of a class of hubs that is most deserved; None = all that were are put off."""
        limit = {Share.REVISIT: CHOICE, Share.ARTICLE: None}.get(share, 1)
        ask = partial(self._store.read.due_hubs, site.row.id, share=HubClass(share))
        while due := ask(now, limit=limit):
            index = {hub.page_id: site.index(hub, now) for hub in due}
            ready = [hub for hub in due if self._is_ready(hub, site, index[hub.page_id], now)]
            if ready and share is Share.ARTICLE:
                articles = [one for one in ask(NEVER, limit=None) if one.due_at < NEVER]
                return hub_task(next_to_read(articles, ready, partial(_weight, site, now), now))
            if ready:
                return hub_task(max(ready, key=lambda hub: index[hub.page_id]))
        return None

    def _is_ready(self, hub: HubRow, site: WatchedSite, index: float, now: float) -> bool:
        """Whether a due hub is to be visited now; else it is put off."""
        # Visited before the clock went back, it would be put off again and again.
        if hub.visited_at is None or hub.visited_at > now or site.is_overdue(hub, index, now):
            return True
        # The policy's state may have changed since the row was written.
        due_at = site.hub_due_at(hub, now)
        if due_at > now + SOON_SECONDS:
            self._store.write.update_hub(hub.page_id, due_at=min(due_at, NEVER))
        return due_at <= now + SOON_SECONDS

    # What came back.

    def release(self, outcome: Outcome, now: float) -> tuple[Outcome, HostRow]:
        """Count a finished visit and free its site; return it, without a denied body, and the host's row."""
        task, response = outcome.task, outcome.response
        robots = task.purpose is Purpose.ROBOTS
        more = outcome.more_requests
        host = self.gate.release(task.url, response, now, robots=robots, requests=1 + more)
        site = self.watched.in_memory(task.site_id)
        if site is not None:
            site.busy = False
            # Exploration and monitored articles must not count as what known hubs need.
            revisit = task.purpose is Purpose.HUB and not task.extra
            others = len(response.redirects) + (not revisit) + more
            per_day = site.terms.requests_per_day
            unread = task.purpose is Purpose.HUB and task.unread and site.has_grant(now)
            site.budget = spend(
                site.budget,
                per_day,
                now,
                visits=int(revisit),
                others=0 if unread else others,
                granted=others if unread else 0,
            )
        for site_id in self._waiting.pop(host.name, ()):
            if (waits := self.watched.get(site_id, now)) is not None:
                heapq.heappush(self._queue, (self._ready_at(waits, now), site_id))
        allowed = response if robots else self.gate.obey(response)
        return (outcome if allowed is response else Outcome(task, allowed)), host

    def give_back(self, task: VisitTask, now: float) -> None:
        """Let a task be due again of whose visit nothing is known."""
        if not task.site_id:
            self._topic_fetches.put_off(task, now + SOON_SECONDS)
            return
        site = self.watched.in_memory(task.site_id)
        if site is not None:
            site.urgent.give_back(task)
            self.refresh(site, now)


def _weight(site: WatchedSite, now: float, article: HubRow) -> float:
    state = site.hub_state(article)
    begun = max(state.last_novel_at, article.baseline_at or now)
    return reading_weight(state, lately=now - begun < AFTER_GAIN_SECONDS)


def _is_due(due_at: float | None, now: float) -> bool:
    return due_at is not None and due_at <= now
