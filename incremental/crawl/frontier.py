"""The frontier: what may be fetched now, and when something may be next.

For each site in turn (the one that may be asked first)::

    something urgent?    -> first, whatever the budget says (a list overflowed)
    budget spent?        -> wait for the next grant
    host busy, or owed?  -> wait (one request at a time, delay, Retry-After, back-off)
    robots.txt unknown?  -> fetch it first
    a share of the site  -> known hubs · new hubs · new pages themselves, whose turn it is
    nothing of it is due -> a told page again; or its share, if known hubs alone never leave any
    robots.txt denies?   -> recorded without a request

Errands of topics (example pages, leads to new sites) go before all sites. They wait for their host
and its robots.txt alike, and cost the budget of the site in whose scope they lie, if there is one.

It remembers what is under way; everything that must outlive the process is in the store.
"""

from __future__ import annotations

import heapq
import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace

from incremental.crawl.overflows import Overflows
from incremental.crawl.rechecks import Rechecks
from incremental.crawl.rescheduling import Signs
from incremental.crawl.sites import PAUSE_SECONDS, WatchedSite, share_out, watch
from incremental.crawl.tasks import hub_task, look_task
from incremental.crawl.topic_errands import TopicErrands
from incremental.fetch.politeness import HostState, after_visit, host_key, staggered_start
from incremental.fetch.robots import RobotsCache, RobotsPolicy, robots_url
from incremental.fetch.status import FetchStatus, Response
from incremental.revisit import HubState, Policy, Terms, spend
from incremental.revisit.allocation import Share
from incremental.revisit.pacing import in_window
from incremental.settings import Settings
from incremental.times import DAY, HOUR, NEVER
from incremental.visit import Outcome, Purpose, VisitTask
from store import Store
from store.enums import HubClass
from store.values import ARTICLE, HostRow, HubRow, LookRow

SOON_SECONDS = 1.0
"""When a site is asked again that had less to do than it seemed."""
REPLAN_SECONDS = HOUR
"""How long a site may have nothing due until it is looked whether the price has fallen."""
SHARE_SECONDS = 6 * HOUR
"""How often a budget that all sites share is divided anew."""
CHOICE = 8
"""How many of the hubs longest overdue are compared."""
DENIED_RETRY_SECONDS = DAY
"""How long a page that robots.txt denies is left before the rules are asked again."""


class Frontier:
    """Chooses tasks. Not thread-safe: the crawler's thread owns it."""

    def __init__(  # noqa: PLR0913 - all that may want something fetched
        self,
        store: Store,
        settings: Settings,
        make_policy: Callable[[Terms], Policy],
        refuse: Callable[[Outcome, float], None],
        *,
        errands: TopicErrands,
        rechecks: Rechecks,
        overflows: Overflows,
        replan: Callable[[WatchedSite, float], None],
    ) -> None:
        self._store = store
        self._rechecks = rechecks
        self._overflows = overflows
        self._replan = replan
        self._errands = errands
        self.likely_first = False
        """Whether looks are taken by what topics expect of them."""
        self._settings = settings
        self._make_policy = make_policy
        self._refuse = refuse
        self._sites: dict[int, WatchedSite] = {}
        self._hosts: dict[str, HostState] = {}
        self._busy_hosts: set[str] = set()
        self._waiting: dict[str, set[int]] = {}
        """Ids of sites by the busy host that they wait for."""
        self._robots = RobotsCache()
        self._look_share = settings.news.look_share
        self._queue: list[tuple[float, int]] = []
        self._signs = Signs(store)
        self._shared_at = 0.0

    # Sites.

    def load(self, now: float) -> None:
        """Read the watched sites from the store: at the start, and when another process changed them."""
        rows = {row.id: row for row in self._store.read.sites() if row.state == "active"}
        for gone in set(self._sites) - set(rows):
            del self._sites[gone]
        parts = share_out(list(rows.values()), self._settings.revisit)
        self._shared_at = now
        for row in rows.values():
            site = watch(row, self._settings, self._make_policy, per_day=parts.get(row.id))
            before = self._sites.get(row.id)
            if before is None:
                asked_at = site.budget.updated_at
                site.resumed_at = now if asked_at and now - asked_at > PAUSE_SECONDS else 0.0
            else:
                site.take_over(before)
            self._sites[row.id] = site
        if not self._hosts:
            self._stagger(now)
        self._queue.clear()
        for site in self._sites.values():
            self.refresh(site, now)

    def _stagger(self, now: float) -> None:
        """Spread the first requests of a start over a minute, so that not all sites are asked at once."""
        names = [host_key(site.scope.seed_url) for site in self._sites.values()]
        for name, at in staggered_start(names, now).items():
            state = self._host(name)
            self._hosts[name] = replace(state, next_allowed_at=max(state.next_allowed_at, at))

    def set_back(self, seconds: float, now: float) -> None:
        """Plan anew after the clock went back by so much: what was planned lies too far off.

        Hosts keep what they were owed, no longer. Pages and hubs found just before and not read yet
        wait until the old time comes again.
        """
        for name, state in self._hosts.items():
            allowed_at = state.next_allowed_at - seconds
            self._hosts[name] = replace(state, next_allowed_at=allowed_at)
        self._queue.clear()
        for site in self._sites.values():
            self._replan(site, now)
            self._store.write.hasten_hubs(site.row.id, ARTICLE, latest=now + DAY)
            self.refresh(site, now)

    def resume(self, now: float) -> None:
        """Note that nobody looked after the sites until now: the process was suspended."""
        for site in self._sites.values():
            site.resumed_at = now

    def share_again(self, now: float) -> None:
        """Divide a budget that all sites share anew, by what they have been found to need."""
        if now - self._shared_at < SHARE_SECONDS and now >= self._shared_at:
            return
        self._shared_at = now
        needs = {site.row.id: site.state.weight_total for site in self._sites.values()}
        rows = [site.row for site in self._sites.values()]
        for site_id, per_day in share_out(rows, self._settings.revisit, needs).items():
            site = self._sites[site_id]
            site.terms = replace(site.terms, requests_per_day=per_day)
            site.policy = self._make_policy(site.terms)
            self.refresh(site, now)

    def note(self, page_id: int, change: Callable[[HubState], HubState], now: float) -> None:
        """Change what is known of a hub for other reasons than a visit, and plan its next one anew."""
        hub = self._store.read.hub(page_id)
        site = self._sites.get(hub.site_id) if hub is not None else None
        if hub is not None and site is not None:
            self._signs.note(site, hub, change, now)
            self.refresh(site, now)

    def site(self, site_id: int) -> WatchedSite | None:
        """Return a watched site, None when it was removed or paused."""
        return self._sites.get(site_id)

    def sites(self) -> list[WatchedSite]:
        """Return the watched sites."""
        return list(self._sites.values())

    def refresh(self, site: WatchedSite, now: float) -> None:
        """Look up when *site* has something due, and queue it for then."""
        site.next_due_at = self._next_due_at(site, now)
        self._enqueue(site, now)

    def _next_due_at(self, site: WatchedSite, now: float) -> float:
        hub_at = self._store.read.next_hub_due_at(site.row.id)
        article_at = self._store.read.next_article_due_at(site.row.id)
        if article_at is not None:
            article_at = max(article_at, site.reserve_at(now))
            hub_at = article_at if hub_at is None else min(hub_at, article_at)
        look_at = self._store.read.next_look_due_at(site.row.id)
        if look_at is not None:
            look_at = max(look_at, site.look_open_at(self._look_share, now))
            pending_at = self._store.read.next_look_due_at(site.row.id, pending=True)
            look_at = look_at if pending_at is None else min(look_at, pending_at)
        due_at = min(NEVER if hub_at is None else hub_at, NEVER if look_at is None else look_at)
        if hub_at is not None and hub_at < NEVER:
            due_at = min(due_at, now + REPLAN_SECONDS)  # a price that fell brings visits forward
        return min(due_at, self._rechecks.next_at(site, now))

    def _enqueue(self, site: WatchedSite, now: float) -> None:
        heapq.heappush(self._queue, (self._ready_at(site, now), site.row.id))

    def _ready_at(self, site: WatchedSite, now: float) -> float:
        owed = self._host(host_key(site.scope.seed_url)).next_allowed_at
        urgent_at = site.urgent.open_at(site.terms.requests_per_day, now)
        planned_at = max(site.next_due_at, site.open_at(now))
        return in_window(max(min(urgent_at, planned_at), owed), site.terms)

    def is_due(self, now: float, patience_seconds: float) -> bool:
        """Tell whether something is due at *now* that politeness delays by no more than *patience_seconds*.

        What will be due only later does not count: a single run would go on from one to the next.
        """
        return self._errands.next_at() <= now + patience_seconds or any(
            min(site.next_due_at, site.urgent.open_at(site.terms.requests_per_day, now)) <= now
            and self._ready_at(site, now) <= now + patience_seconds
            for site in self._sites.values()
        )

    def wake_at(self, now: float) -> float:
        """Return when there may be something to do; infinite when nothing is planned."""
        return min(self._next_site_at(now), self._errands.next_at())

    def _next_site_at(self, now: float) -> float:
        while self._queue:
            at, site_id = self._queue[0]
            site = self._sites.get(site_id)
            if site is None or site.busy or self._is_stale(at, site, now):
                heapq.heappop(self._queue)
                continue
            return at
        return math.inf

    def _is_stale(self, at: float, site: WatchedSite, now: float) -> bool:
        ready_at = self._ready_at(site, now)
        if ready_at > max(at, now):
            heapq.heappush(self._queue, (ready_at, site.row.id))
            return True
        return False

    # Tasks.

    def next_task(self, now: float) -> VisitTask | None:
        """Return the next thing to fetch at *now* and mark its site and host as busy, or None."""
        waiting: list[WatchedSite] = []
        task = self._errand_of_topics(now)
        while task is None and self._next_site_at(now) <= now:
            _, site_id = heapq.heappop(self._queue)
            site = self._sites[site_id]
            task = self._task_of(site, now)
            if task is None and not site.busy:
                waiting.append(site)
        for site in waiting:
            self._enqueue_later(site, now)
        return task

    def _errand_of_topics(self, now: float) -> VisitTask | None:
        """Return the first errand whose host may be asked, or the robots.txt that it waits for."""
        for task in self._errands.due(now):
            host = host_key(task.url)
            allowed_at = self._host(host).next_allowed_at
            if host in self._busy_hosts or allowed_at > now:
                self._errands.put_off(task, max(allowed_at, now + SOON_SECONDS))
                continue
            asked = self._ask_robots(task, now)
            if asked is not None:
                self._busy_hosts.add(host)
                return asked
        return None

    def _enqueue_later(self, site: WatchedSite, now: float) -> None:
        """Queue a site that had nothing to do after all: its host is busy, or its rows were pushed back."""
        if any(site.row.id in ids for ids in self._waiting.values()):
            return  # release() queues it when the visit that it waits for ends
        self._replan(site, now)
        site.next_due_at = self._next_due_at(site, now)
        at = max(self._ready_at(site, now), now + SOON_SECONDS)
        heapq.heappush(self._queue, (at, site.row.id))

    def _task_of(self, site: WatchedSite, now: float) -> VisitTask | None:
        """Return what to do for *site*, or None."""
        for _ in range(64):  # bounded: each turn takes one row out of those that are due
            urgent = self._overflows.task(site, now)
            task = urgent or self._candidate(site, now)
            if task is None:
                return None
            host = host_key(task.url)
            if host in self._busy_hosts:
                self._waiting.setdefault(host, set()).add(site.row.id)
                return None
            asked = self._permitted(task, now)
            if urgent and (asked is None or asked.purpose is not Purpose.ROBOTS):
                site.take_urgent(task, put_off=asked is None)
            if asked is not None:
                site.busy = True
                self._busy_hosts.add(host)
                return asked
        return None

    def _permitted(self, task: VisitTask, now: float) -> VisitTask | None:
        """Return what may be asked of the host now; None when the page was put off.

        It waits for its host alone: other pages of the site may have other hosts.
        """
        allowed_at = self._host(host_key(task.url)).next_allowed_at
        if allowed_at <= now:
            return self._ask_robots(task, now)
        if task.purpose is Purpose.LOOK:
            self._store.write.update_page(task.page_id, look_due_at=allowed_at)
        elif task.purpose is Purpose.RECHECK:
            self._rechecks.put_off(task.page_id, allowed_at)
        else:
            self._store.write.update_hub(task.page_id, due_at=allowed_at)
        return None

    def _candidate(self, site: WatchedSite, now: float) -> VisitTask | None:
        """Return what *site* would fetch next: what is due of the share whose turn it is."""
        if site.open_at(now) > now:
            return None
        found: dict[Share, VisitTask] = {}
        for share in (Share.REVISIT, Share.COVERED, Share.EXPLORE, Share.ARTICLE):
            hub = self._due_hub(site, now, share)
            if hub is not None:
                found[share] = hub_task(hub)
        look = self._due_look(site, now)
        if look is not None:
            share = Share.VERIFY if look.state in ("pending", "missing") else Share.LOOK
            found[share] = look_task(look)
        if not found:
            return self._rechecks.task(site, now)
        if found.keys() <= {Share.REVISIT, Share.ARTICLE} and self._rechecks.starves(site, now):
            again = self._rechecks.task(site, now)
            if again is not None:
                return again
        if found.keys() == {Share.ARTICLE} and site.reserve_at(now) > now:
            return self._rechecks.task(site, now)
        share = site.turn(found.keys(), now)
        missing = look is not None and look.state == "missing"
        site.count(share, looked=share in (Share.VERIFY, Share.LOOK) and not missing)
        return found[share]

    def _due_look(self, site: WatchedSite, now: float) -> LookRow | None:
        """Return the page to look at next: first those that are told only when they were looked at.

        These are news that wait, so the share of looks does not bind them; the budget does.
        """
        waiting = self._store.read.due_looks(
            site.row.id, now, pending=True, likely_first=self.likely_first
        )
        if not waiting and site.look_open_at(self._look_share, now) <= now:
            waiting = self._store.read.due_looks(site.row.id, now, likely_first=self.likely_first)
        return waiting[0] if waiting else None

    def _due_hub(self, site: WatchedSite, now: float, share: Share) -> HubRow | None:
        """Return the hub that most deserves its visit among those of a class that are due."""
        limit = CHOICE if share is Share.REVISIT else 1
        while due := self._store.read.due_hubs(site.row.id, now, HubClass(share), limit=limit):
            ready = [hub for hub in due if not self._pushed_back(hub, site, now)]
            if ready:
                return max(ready, key=lambda hub: site.index(hub, now))
        return None

    def _pushed_back(self, hub: HubRow, site: WatchedSite, now: float) -> bool:
        """Ask the policy once more: what it knows may have moved since the row was written."""
        if hub.visited_at is None or hub.visited_at > now:
            return False  # visited before the clock went back: it would be pushed on and on
        due_at = site.due_at(hub.page_id, hub.role, site.hub_state(hub), now)
        if due_at <= now + SOON_SECONDS:
            return False
        self._store.write.update_hub(hub.page_id, due_at=min(due_at, NEVER))
        return True

    # Robots.

    def _ask_robots(self, task: VisitTask, now: float) -> VisitTask | None:
        """Return *task* if robots.txt allows it, or the task to fetch robots.txt if it is not known.

        None when the page is denied or must wait; that is recorded then.
        """
        policy = self._policy(task.url)
        if policy is None or policy.expires_at <= now:
            return replace(task, purpose=Purpose.ROBOTS, url=robots_url(task.url))
        if policy.allows(task.url):
            return task
        status = FetchStatus.ROBOTS_DENIED if policy.reachable else _why_unreachable(policy)
        if task.purpose is not Purpose.HUB:
            self._refuse(Outcome(task, Response(url=task.url, status=status)), now)
            return None
        retry_at = policy.expires_at if not policy.reachable else now + DENIED_RETRY_SECONDS
        self._store.write.postpone(task.page_id, retry_at, status.value)
        return None

    def _policy(self, url: str) -> RobotsPolicy | None:
        policy = self._robots.get(url)
        if policy is None:
            row = self._store.read.host(host_key(url))
            stored = json.loads(row.robots or "{}").get(robots_url(url)) if row else None
            # What the settings refused then, they may allow now; if not, nothing leaves.
            if stored is not None and stored["status"] != FetchStatus.FORBIDDEN_ADDRESS:
                agent = self._settings.fetch.product_token
                policy = RobotsPolicy.from_stored(**stored, user_agent=agent)
                self._robots.put(url, policy)
        return policy

    def sitemaps_of(self, url: str) -> tuple[str, ...]:
        """Return the sitemaps that the robots.txt for *url* names."""
        policy = self._robots.get(url)
        return policy.sitemaps if policy is not None else ()

    def obey(self, outcome: Outcome) -> Outcome:
        """Drop what came from an address that robots.txt denies: a redirect may lead there."""
        response = outcome.response
        policy = self._policy(response.url) if response.redirects else None
        if policy is None or outcome.task.purpose is Purpose.ROBOTS or policy.allows(response.url):
            return outcome
        denied = replace(response, status=FetchStatus.ROBOTS_DENIED, body=b"")
        return replace(outcome, response=denied, page=None, body_md5=None)

    # Hosts.

    def _host(self, name: str) -> HostState:
        state = self._hosts.get(name)
        if state is None:
            row = self._store.read.host(name)
            state = HostState(name)
            if row is not None:
                state = HostState(name, row.next_allowed_at, row.failures, row.crawl_delay_seconds)
            self._hosts[name] = state
        return state

    def release(self, outcome: Outcome, now: float) -> HostRow:
        """Count a visit that ended, free its site and host, and return what the host is owed now."""
        task, response = outcome.task, outcome.response
        name = host_key(task.url)
        self._busy_hosts.discard(name)
        wait = response.retry_after_seconds
        before = self._host(name)
        if task.purpose is Purpose.ROBOTS:
            # A crawl delay of a day after a file that is asked for once a day would leave no page.
            before = replace(before, crawl_delay_seconds=None)
        state = after_visit(before, response.status, wait, now, self._settings.politeness)
        robots: dict[str, object] = {}
        if task.purpose is Purpose.ROBOTS:
            policy = self._learn_robots(outcome, now)
            state = replace(state, crawl_delay_seconds=policy.crawl_delay_seconds)
            robots[task.url] = {
                key: value for key, value in asdict(policy).items() if key != "user_agent"
            }
        self._hosts[name] = state
        self._charge(outcome, now)
        for site_id in self._waiting.pop(name, ()):
            if site_id in self._sites:
                self._enqueue(self._sites[site_id], now)
        return self._host_row(state, robots)

    def _learn_robots(self, outcome: Outcome, now: float) -> RobotsPolicy:
        agent = self._settings.fetch.product_token
        previous = self._policy(outcome.task.url)
        policy = RobotsPolicy.from_response(outcome.response, agent, now, previous)
        self._robots.put(outcome.task.url, policy)
        return policy

    def _charge(self, outcome: Outcome, now: float) -> None:
        """Take the requests of a visit from its site's budget."""
        site = self._sites.get(outcome.task.site_id)
        if site is not None:
            site.busy = False
        elif not outcome.task.site_id:
            site = self._around(outcome.task.url)
        if site is None:
            return
        # Exploration and the reading of articles must not look like what known hubs need.
        revisit = outcome.task.purpose is Purpose.HUB and not outcome.task.extra
        others = len(outcome.response.redirects) + (not revisit)
        per_day = site.terms.requests_per_day
        site.budget = spend(site.budget, per_day, now, visits=int(revisit), others=others)

    def _around(self, url: str) -> WatchedSite | None:
        """Return the watched site in whose scope an address lies that was asked for no site."""
        sites = (site for site in self._sites.values() if site.scope.verdict(url).inside)
        return next(sites, None)

    def _host_row(self, state: HostState, robots: dict[str, object]) -> HostRow:
        before = self._store.read.host(state.name) if robots else None
        known = json.loads(before.robots or "{}") if before else {}
        return HostRow(
            name=state.name,
            next_allowed_at=state.next_allowed_at,
            failures=state.failures,
            crawl_delay_seconds=state.crawl_delay_seconds,
            robots=json.dumps({**known, **robots}, ensure_ascii=False) if robots else None,
        )


def _why_unreachable(policy: RobotsPolicy) -> FetchStatus:
    """Return what people need to know: an address that is refused is no trouble of robots.txt."""
    forbidden = policy.status is FetchStatus.FORBIDDEN_ADDRESS
    return FetchStatus.FORBIDDEN_ADDRESS if forbidden else FetchStatus.ROBOTS_UNREACHABLE
