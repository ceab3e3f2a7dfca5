"""A watched site in memory: its row, read once, its budget and what the policy learned."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from incremental.base.path_aliases import rules
from incremental.base.scope import Scope, read_scope
from incremental.base.times import DAY, HOUR, MINUTE, NEVER
from incremental.base.urls import normalize
from incremental.schedule.allocation import (
    AFTER_GAIN,
    AFTER_GAIN_SECONDS,
    QUOTAS,
    SAVED_DAYS,
    YOUNG_SECONDS,
    Allocation,
    Share,
)
from incremental.schedule.budget import (
    LOW_VALUE_SHARE,
    BudgetState,
    advance,
    even_share,
    grant_left,
    open_at,
    price_minutes,
    reserve_at,
)
from incremental.schedule.coverage import Coverage
from incremental.schedule.pacing import in_window, share_at
from incremental.schedule.price import PricePolicy
from incremental.schedule.state import HubState, ListKind, SiteState, Terms
from incremental.settings import Settings, windows
from incremental.visit.visit import Purpose, VisitTask
from store.enums import HubRole
from store.values import ARTICLE, HubRow, SiteRow, SiteUpdate

if TYPE_CHECKING:
    from incremental.decide.hubs import SiteContext

# So long without a running crawler is a pause, in which whole lists may have been replaced.
PAUSE_SECONDS = HOUR
# Visited just often enough to notice that a covered hub shows something of its own.
COVERED_SECONDS = 7 * DAY
DAILY_COVERED_SECONDS = DAY
# Multiples of it lie evenly between whole numbers.
_GOLDEN = 0.618034
# How soon a monitored article may be read again.
ARTICLE_SECONDS = DAY
# The same after an article of its site gained a link.
SOON_ARTICLE_SECONDS = 3 * HOUR
MAX_URGENT_PAGES = 8
# Fields of a site that only memory knows, and that are kept when it is evicted.
_REMEMBERED = (
    *("allocation", "resumed_at", "coverage", "coverage_at", "planned_at", "planned_price"),
    *("covered_daily", "articles_gained_at", "articles_at", "baselines", "budget", "beside_at"),
    "terms",
)
# And while it is at work.
_AT_WORK = ("busy", "urgent", "next_pages", "context")
Memory = dict[str, object]
"""What is kept of an evicted site."""


@dataclass
class UrgentQueue:
    """Page ids fetched before everything that is due, each once: hubs within their share, then a few pages.

    In memory only.
    """

    # Nothing is lost with the process: a hub that is owed a visit is due in the store
    # (incremental.crawl.overflows), and so is a page to verify. The queue only makes them sooner.
    hubs: deque[int] = field(default_factory=deque)
    """Bounded by the site's limit of hubs."""
    pages: deque[int] = field(default_factory=deque)

    def push(self, *page_ids: int) -> None:
        """Append hubs."""
        self.hubs.extend(one for one in dict.fromkeys(page_ids) if one not in self.hubs)

    def push_first(self, page_id: int) -> None:
        """Put a hub first."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
        self.hubs.appendleft(page_id)

    def verify(self, *page_ids: int) -> None:
        """Queue verification fetches while there is room; the others run when due."""
        self.pages.extend(page_ids[: self.room])

    def give_back(self, task: VisitTask) -> None:
        """Put a visit first of which nothing is known; what else it may have been is due in the store."""
        if task.purpose is Purpose.HUB:
            self.push_first(task.page_id)
        elif task.purpose is Purpose.VERIFY and task.page_id not in self.pages:
            self.verify(task.page_id)

    @property
    def room(self) -> int:
        """How many more verification fetches fit."""
        return max(MAX_URGENT_PAGES - len(self.pages), 0)

    def take(self, page_id: int) -> bool:
        """Remove a page or hub; return whether it was queued."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
            return True
        if page_id in self.pages:
            self.pages.remove(page_id)
            return True
        return False


@dataclass
class WatchedSite:
    """One site as the crawler works on it. Mutable; used by the crawler's thread only."""

    row: SiteRow
    scope: Scope
    terms: Terms
    path_aliases: tuple[str, ...]
    """Path prefixes to strip."""
    policy: PricePolicy
    state: SiteState
    budget: BudgetState
    hub_states: dict[int, HubState] = field(default_factory=dict)
    """What the policy learned of each hub, by page id; loaded on demand."""
    allocation: Allocation = field(default_factory=Allocation)
    """Whose turn it is, and what each class of fetches has saved up."""
    articles_gained_at: float = -math.inf
    """When a monitored article last led to a new page; minus infinity = not read from the store yet."""
    articles_at: float = 0.0
    """When the monitored articles were last chosen."""
    next_due_at: float = 0.0
    """When something is due that its class may fetch."""
    busy: bool = False
    """A visit is under way."""
    coverage: Coverage = field(default_factory=Coverage)
    beside_at: float = 0.0
    """When requests that features made beside its visits were last counted."""
    covered_daily: int = 0
    """Covered hubs that are read daily, if their share of the budget allows."""
    resumed_at: float = 0.0
    """When the last pause ended in which the daemon was down or suspended; 0 = never."""
    next_pages: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Of each later page that is read because everything before it was new, by page id: its number within
    its list, and the hub whose list overflowed."""
    planned_at: float = 0.0
    """When all its hubs were last rescheduled."""
    planned_price: float = 0.0
    """The price at that time."""
    coverage_at: float = 0.0
    """When coverage was last computed."""
    context: SiteContext | None = None
    """What the site's known URLs say about a new one."""
    shown: dict[int, tuple[int, str]] = field(default_factory=dict)
    """Hash of the links that each hub showed, as written, and MD5 of where they lead, by page id."""
    other_hubs: int | None = None
    """How many feeds and sitemaps there are; None = to be counted again."""
    named: dict[int, frozenset[str]] = field(default_factory=dict)
    """Canonical keys of what each hub named besides its links, already stored, by page id."""
    baselines: int = 0
    """Hubs read for the first time since *coverage_at*."""
    urgent: UrgentQueue = field(default_factory=UrgentQueue)
    """What to fetch first, even over budget, because it is worthless later (what scrolled off, two
    URLs that may be one page)."""

    def take_over(self, before: WatchedSite) -> None:
        """Keep what is only in memory after the site's row was read again."""
        self.remember(before.memory)
        for name in _AT_WORK:
            setattr(self, name, getattr(before, name))

    @property
    def may_go(self) -> bool:
        """Whether nothing is under way that only memory knows."""
        owes = self.urgent.hubs or self.urgent.pages or self.next_pages or self.state.overflowed
        return not self.busy and not owes

    @property
    def memory(self) -> Memory:
        """What only memory knows."""
        return {name: getattr(self, name) for name in _REMEMBERED}

    def remember(self, memory: Memory) -> None:
        """Take what was known before the site was evicted."""
        # The plan is dropped if the terms changed, so that all hubs are rescheduled.
        plan = {} if memory["terms"] == self.terms else {"planned_at": 0.0, "planned_price": 0.0}
        for name, value in (memory | plan | {"terms": self.terms}).items():
            setattr(self, name, value)

    def hub_state(self, hub: HubRow) -> HubState:
        """Return what the policy learned of a hub."""
        state = self.hub_states.get(hub.page_id)
        if state is None:
            state = HubState.from_text(hub.revisit)
            self.hub_states[hub.page_id] = state
        return state

    def price(self, now: float) -> float:
        """Return the price now, in minutes of accrued delay."""
        budget = advance(self.budget, self.terms.requests_per_day, now)
        return price_minutes(budget, self.terms.requests_per_day, self.state.weight_total)

    def open_at(self, now: float) -> float:
        """Return from when on budget and hours allow a request."""
        return in_window(open_at(self.budget, self.terms.requests_per_day, now), self.terms)

    def has_grant(self, now: float) -> bool:
        """Whether a hub that was never read may be read beyond the budget, because the site is new."""
        terms = self.terms
        left = grant_left(self.budget, terms.grant, terms.requests_per_day, now)
        return left >= 1 and in_window(now, terms) <= now

    def unread_at(self, now: float) -> float:
        """Return from when on a hub that was never read may be read."""
        # What the grant did not pay for waits, so that the first hour's budget is left for a second look.
        waits = self.budget.granted and not self.has_grant(now)
        return max(now, self.budget.started_at + HOUR) if waits else now

    def reserve_at(self, now: float) -> float:
        """Return from when on enough is saved up for low-value requests."""
        reserve = reserve_at(self.budget, self.terms.requests_per_day, now)
        return in_window(max(reserve, self.even_at(Share.ARTICLE, now)), self.terms)

    def even_at(self, share: Share, now: float) -> float:
        """Return from when on low-value requests of a class leave enough of the day to the lists."""
        own = LOW_VALUE_SHARE
        if share is Share.ARTICLE:
            own = max(own, self.articles_turn(now))
        passed = even_share(self.budget, self.terms.requests_per_day, now, own)
        return in_window(share_at(passed, now, self.terms), self.terms)

    def articles_turn(self, now: float) -> float:
        """Return the part of the requests that monitored articles deserve: more after one gained a link."""
        gained = 0 <= now - self.articles_gained_at < AFTER_GAIN_SECONDS
        return AFTER_GAIN if gained else self.allocation.articles

    def due_at(self, page_id: int, role: str, state: HubState, now: float) -> float:
        """Return when the policy wants the hub; later while it is covered."""
        if state.owed_at and not state.failures:
            return in_window(max(now, state.wait_until), self.terms)
        # Later pages of a list are read once, and again only after an overflow of the first.
        if role == HubRole.PAGE and state.visits:
            return NEVER
        if role == ARTICLE:
            return article_due_at(state, self.articles_gained_at, now)
        due_at = self.policy.due_at(state, self.state, self.budget, now)
        if not self.is_covered(page_id, role) or not state.visits or state.failures:
            return due_at
        # Apart, although the first hour read them together: on a recorded weblog 25 tags of one day left its
        # home page unread for ten hours.
        apart = 0.75 + page_id * _GOLDEN % 1 / 2
        # Never so often that the covered hubs together exceed their share of the budget.
        share = QUOTAS[Share.COVERED].turn * max(self.terms.requests_per_day, 1.0)
        shared = len(self.coverage.covered) / share * DAY * apart
        interval = max(COVERED_SECONDS * apart, shared)
        if state.kind in (ListKind.SITEMAP, ListKind.HOME) or self.coverage.follows(page_id):
            # Usually few and cheap, and sometimes the only place that shows a page.
            interval = min(interval, max(DAILY_COVERED_SECONDS, self.covered_daily / share * DAY))
        elif state.kind == ListKind.FEED:
            # Daily, as a home page may miss a page or mislink it; but tags may have hundreds of feeds.
            interval = max(DAILY_COVERED_SECONDS, shared)
        return max(due_at, state.visited_at + interval)

    def hub_due_at(self, hub: HubRow, now: float) -> float:
        """Return when the policy wants the hub, by what it learned of it."""
        return self.due_at(hub.page_id, hub.role, self.hub_state(hub), now)

    def follow(self, changes: SiteUpdate) -> None:
        """Apply what a visit changed in the site's row."""
        if changes:
            self.row = replace(self.row, **changes)
            self.scope = read_scope(self.row)

    def index(self, hub: HubRow, now: float) -> float:
        """Return how urgent a visit of the hub is, on the policy's own scale."""
        return self.policy.index(self.hub_state(hub), self.state, self.budget, now)

    def is_overdue(self, hub: HubRow, index: float, now: float) -> bool:
        """Whether a hub of this *index* is surely due, which costs less than finding out since when."""
        if hub.role in {HubRole.PAGE, ARTICLE} or self.is_covered(hub.page_id, hub.role):
            return False
        return self.policy.is_overdue(self.hub_state(hub), self.state, self.budget, index, now)

    def is_covered(self, page_id: int, role: str) -> bool:
        """Whether a hub is covered by others; a hub labelled by a user never is."""
        return page_id in self.coverage.covered and role != HubRole.USER

    def allows_at(self, share: Share, now: float) -> float:
        """Return from when on a bounded class may make a request; infinite = never."""
        return self.allocation.open_at(share, self.terms.requests_per_day, now)

    def verifications_now(self, now: float) -> int:
        """Return how many verification fetches may go first now."""
        saved = self.allocation.saved(Share.READ, self.terms.requests_per_day, now)
        return max(min(int(saved), self.urgent.room), 0)

    def urgent_at(self, now: float) -> float:
        """Return when the urgent queue has something to fetch; infinite = nothing."""
        hubs_at = self.allows_at(Share.URGENT, now) if self.urgent.hubs else math.inf
        return min(hubs_at, self.pages_at(now) if self.urgent.pages else math.inf)

    def first_urgent(self, now: float) -> int | None:
        """Return what to fetch now from the urgent queue, where it stays; hubs may have to wait."""
        # What a list lost comes before everything else, verification fetches included.
        if self.urgent.hubs and self.allows_at(Share.URGENT, now) <= now:
            return self.urgent.hubs[0]
        may = self.urgent.pages and self.pages_at(now) <= now
        return self.urgent.pages[0] if may else None

    def pages_at(self, now: float) -> float:
        """Return from when on urgent pages may be read: half a day's requests may exceed their share.

        Hundreds of pages may lead to one another; the others take turns with the lists.
        """
        per_day = self.terms.requests_per_day
        return self.allocation.open_at(Share.READ, per_day, now, overdraft=per_day * SAVED_DAYS)

    def take_urgent(self, task: VisitTask, *, put_off: bool) -> None:
        """Remove what is fetched now, or put off, from the urgent queue, and count it."""
        self.urgent.take(task.page_id)
        if task.purpose is Purpose.VERIFY:
            # Urgent verification fetches count against the same bound.
            self.allocation.draw(Share.READ)
        elif not put_off:
            self.allocation.draw(Share.URGENT)

    def turn(self, waiting: Collection[Share], now: float) -> Share:
        """Return the class in *waiting* that is served next."""
        young = now - self.row.added_at < YOUNG_SECONDS
        return self.allocation.turn(waiting, young=young, articles=self.articles_turn(now))


def article_due_at(state: HubState, gained_at: float, now: float) -> float:
    """Return when a monitored article may be read again; failures double the wait.

    Sooner after an article of its site gained a link (*gained_at*), or after a change hint.
    """
    if not state.tried_at:
        return now
    hinted = state.hinted_at > state.tried_at
    soon = hinted or 0 <= now - gained_at < AFTER_GAIN_SECONDS
    wait = SOON_ARTICLE_SECONDS if soon else ARTICLE_SECONDS
    return min(state.tried_at, now) + wait * 2.0 ** min(state.failures, 5)


def _hours(row: SiteRow, settings: Settings) -> tuple[str, ...]:
    """Return the hours in which the site may be asked: its own, else the general ones."""
    for site in settings.site:
        if site.hours is not None and normalize(site.url) == normalize(row.seed_url):
            return site.hours
    return settings.revisit.hours if row.hours is None else tuple(json.loads(row.hours))


def watch(row: SiteRow, settings: Settings) -> WatchedSite:
    """Read a site's row."""
    defaults, asked = settings.revisit, row.requests_per_day
    terms = Terms(
        requests_per_day=defaults.requests_per_day if asked is None else asked,
        min_interval_seconds=(row.min_interval_minutes or defaults.min_interval_minutes) * MINUTE,
        max_interval_seconds=(row.max_interval_hours or defaults.max_interval_hours) * HOUR,
        windows=windows(_hours(row, settings)),
        grant=defaults.first_requests,
    )
    return WatchedSite(
        row=row,
        scope=read_scope(row),
        terms=terms,
        policy=PricePolicy(terms),
        path_aliases=rules(json.loads(row.path_aliases)),
        state=SiteState.from_text(row.revisit),
        budget=BudgetState.from_text(row.budget),
        allocation=Allocation(
            {Share.READ: settings.news.verify_share, Share.REFRESH: settings.refresh.share}
        ),
    )
