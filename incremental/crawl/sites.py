"""A watched site in memory: what its row in the store says, read once, and its budget."""

from __future__ import annotations

import json
import math
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from incremental.decide.path_aliases import rules
from incremental.decide.site_context import SiteContext
from incremental.revisit.allocation import (
    AFTER_GAIN_SECONDS,
    QUOTAS,
    YOUNG_SECONDS,
    Allocation,
    Demand,
    Share,
    shares,
)
from incremental.revisit.budget import BudgetState, advance, open_at, price_minutes, reserve_at
from incremental.revisit.coverage import Coverage
from incremental.revisit.pacing import in_window
from incremental.revisit.protocol import Policy, Terms
from incremental.revisit.state import HubState, ListKind, SiteState
from incremental.scope import Scope, read_scope
from incremental.settings import RevisitSettings, Settings, windows
from incremental.times import DAY, HOUR, MINUTE, NEVER
from incremental.urls import normalize
from incremental.visit import Purpose, VisitTask
from store.enums import HubRole, SiteStatus
from store.updates import SiteUpdate
from store.values import ARTICLE, HubRow, SiteRow

# So long without anybody to look after a site is a pause: lists may have been turned over.
PAUSE_SECONDS = HOUR
COVERED_SECONDS = 7 * DAY
DAILY_COVERED_SECONDS = DAY
# How soon a monitored article may be read again.
ARTICLE_SECONDS = DAY
# The same after one of its site gained a link.
SOON_ARTICLE_SECONDS = 3 * HOUR


MAX_URGENT_PAGES = 8
# What of a site is in memory alone, by field.
_CARRIED = (
    *(
        "allocation",
        "busy",
        "urgent",
        "resumed_at",
        "coverage",
        "coverage_at",
        "next_pages",
        "first_pages",
    ),
    *("articles_gained_at", "articles_at", "baselines", "context", "depths"),
)


@dataclass
class UrgentQueue:
    """What is fetched before all that is due: page ids of hubs and of pages, each once. In memory.

    Nothing that it holds or turns away is lost with it. A hub that is owed a visit carries that in the
    store and is due there (:mod:`incremental.crawl.overflows`); a page to verify has its due time. The
    queue only makes them sooner: hubs first, within their share, then a few pages.
    """

    hubs: deque[int] = field(default_factory=deque)
    """Bounded by the number of hubs that a site may have."""
    pages: deque[int] = field(default_factory=deque)

    def push(self, *page_ids: int) -> None:
        """Queue hubs behind those that wait."""
        self.hubs.extend(one for one in dict.fromkeys(page_ids) if one not in self.hubs)

    def push_first(self, page_id: int) -> None:
        """Queue a hub before those that wait."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
        self.hubs.appendleft(page_id)

    def verify(self, *page_ids: int) -> None:
        """Queue verification fetches as far as there is room; the others are fetched when due."""
        self.pages.extend(page_ids[: self.room])

    @property
    def room(self) -> int:
        """How many more verification fetches it takes."""
        return max(MAX_URGENT_PAGES - len(self.pages), 0)

    def take(self, page_id: int) -> bool:
        """Take out what is fetched now, or makes no sense any more; return whether it was queued."""
        if page_id in self.hubs:
            self.hubs.remove(page_id)
            return True
        if page_id in self.pages:
            self.pages.remove(page_id)
            return True
        return False


@dataclass
class WatchedSite:
    """One site as the crawler works on it. Mutable: only the crawler's own thread touches it."""

    row: SiteRow
    scope: Scope
    terms: Terms
    path_aliases: tuple[str, ...]
    """Path prefixes that are stripped."""
    policy: Policy
    state: SiteState
    budget: BudgetState
    hub_states: dict[int, HubState] = field(default_factory=dict)
    """What the policy learned of each hub, by page id, as far as it was asked for."""
    allocation: Allocation = field(default_factory=Allocation)
    """Whose turn it is, and what each class of work has saved up."""
    articles_gained_at: float = -math.inf
    """When a monitored article last led to a new page; minus infinity = the store was not asked yet."""
    articles_at: float = 0.0
    """When the monitored articles were last chosen."""
    next_due_at: float = 0.0
    """The earliest due time of its hubs and looks."""
    busy: bool = False
    """A visit is under way."""
    coverage: Coverage = field(default_factory=Coverage)
    resumed_at: float = 0.0
    """When it was first looked after again after a pause: the daemon was down, or suspended; 0 = never."""
    next_pages: dict[int, int] = field(default_factory=dict)
    """Later pages of lists that are being read because everything on the one before was new, by page id:
    the how manieth of its list."""
    first_pages: dict[int, int] = field(default_factory=dict)
    """The hub whose list overflowed first, by the page ids of such later pages."""
    planned_at: float = 0.0
    """When the due times of all its hubs were last asked for again."""
    planned_price: float = 0.0
    """The price at that time."""
    coverage_at: float = 0.0
    """When the cover was last worked out."""
    context: SiteContext | None = None
    """What the site's known URLs say of a new one."""
    depths: dict[int, int | None] = field(default_factory=dict)
    """Steps from the seed of the hubs whose links were scored, by page id; they never change."""
    baselines: int = 0
    """Hubs read for the first time since."""
    urgent: UrgentQueue = field(default_factory=UrgentQueue)
    """What to fetch next, before all else and even if the budget is spent: what is worth something only
    at once (what scrolled by, two addresses that may be one page)."""

    def take_over(self, before: WatchedSite) -> None:
        """Go on from the same site as it was in memory before its row was read again.

        Left out is what the row says, what is read from the store when it is asked for, and the next
        due times. Other terms are planned again, for all hubs.
        """
        for name in _CARRIED:
            setattr(self, name, getattr(before, name))
        if self.terms == before.terms:
            self.planned_at, self.planned_price = before.planned_at, before.planned_price

    def hub_state(self, hub: HubRow) -> HubState:
        """Return what the policy learned of a hub."""
        state = self.hub_states.get(hub.page_id)
        if state is None:
            state = HubState.from_json(json.loads(hub.revisit))
            self.hub_states[hub.page_id] = state
        return state

    def price(self, now: float) -> float:
        """Return what a visit must be worth now, in minutes of accrued delay."""
        budget = advance(self.budget, self.terms.requests_per_day, now)
        return price_minutes(budget, self.terms.requests_per_day, self.state.weight_total)

    def open_at(self, now: float) -> float:
        """Return from when on budget and hours allow a request."""
        return in_window(open_at(self.budget, self.terms.requests_per_day, now), self.terms)

    def reserve_at(self, now: float) -> float:
        """Return from when on enough is saved up for a request that is worth little."""
        return in_window(reserve_at(self.budget, self.terms.requests_per_day, now), self.terms)

    def due_at(self, page_id: int, role: str, state: HubState, now: float) -> float:
        """Return when the policy wants the hub; later while it is covered by hubs that show more.

        Later pages of a list are read once, and again only after an overflow on the first.
        """
        if state.owed_at and not state.failures:
            return in_window(max(now, state.wait_until), self.terms)
        if role == HubRole.PAGE and state.visits:
            return NEVER
        if role == ARTICLE:
            return article_due_at(state, self.articles_gained_at, now)
        due_at = self.policy.due_at(state, self.state, self.budget, now)
        pinged = state.pinged_at > state.visited_at
        if not self.is_covered(page_id, role) or not state.visits or state.failures or pinged:
            return due_at
        share = QUOTAS[Share.COVERED].turn * max(self.terms.requests_per_day, 1.0)
        interval = max(COVERED_SECONDS, len(self.coverage.covered) / share * DAY)
        if state.kind in (ListKind.SITEMAP, ListKind.HOME):
            # Few and cheap, and now and then the only place where a page is shown.
            interval = min(interval, DAILY_COVERED_SECONDS)
        elif state.kind == ListKind.FEED:
            # A home page may link to a page wrongly, or leave it out; tags may have hundreds of feeds.
            interval = max(DAILY_COVERED_SECONDS, len(self.coverage.covered) / share * DAY)
        return max(due_at, state.visited_at + interval)

    def follow(self, changes: SiteUpdate) -> None:
        """Take up what a visit changed in the site's row."""
        if changes:
            self.row = replace(self.row, **changes)
            self.scope = read_scope(self.row)

    def index(self, hub: HubRow, now: float) -> float:
        """Return how urgent a visit of the hub is, in the policy's own measure."""
        return self.policy.index(self.hub_state(hub), self.state, self.budget, now)

    def is_covered(self, page_id: int, role: str) -> bool:
        """Return whether a hub is covered by others. What a user called a hub never does."""
        return page_id in self.coverage.covered and role != HubRole.USER

    def allows_at(self, share: Share, now: float) -> float:
        """Return from when on a bounded class of work may make a request; infinite = never."""
        return self.allocation.open_at(share, self.terms.requests_per_day, now)

    def verifications_now(self, now: float) -> int:
        """Return how many verification fetches may go before all else now."""
        saved = self.allocation.saved(Share.READ, self.terms.requests_per_day, now)
        return max(min(int(saved), self.urgent.room), 0)

    def urgent_at(self, now: float) -> float:
        """Return when the urgent queue has something to fetch; infinite when nothing waits."""
        if self.urgent.pages:
            return now
        return self.allows_at(Share.URGENT, now) if self.urgent.hubs else math.inf

    def first_urgent(self, now: float) -> int | None:
        """Return what of the urgent queue to fetch now; it stays queued. Hubs may have to wait."""
        if self.urgent.hubs and self.allows_at(Share.URGENT, now) <= now:
            return self.urgent.hubs[0]
        return self.urgent.pages[0] if self.urgent.pages else None

    def take_urgent(self, task: VisitTask, *, put_off: bool) -> None:
        """Take what is fetched now, or put off, out of the urgent queue, and count it."""
        self.urgent.take(task.page_id)
        if task.purpose is Purpose.VERIFY:
            # Looks that go first are looks all the same: fewer of the others are left.
            self.allocation.draw(Share.READ)
        elif not put_off:
            self.allocation.draw(Share.URGENT)

    def turn(self, waiting: Collection[Share], now: float) -> Share:
        """Return which of the classes in *waiting* is served next."""
        young = now - self.row.added_at < YOUNG_SECONDS
        gained = 0 <= now - self.articles_gained_at < AFTER_GAIN_SECONDS
        return self.allocation.turn(waiting, young=young, gained=gained)


def article_due_at(state: HubState, gained_at: float, now: float) -> float:
    """Return when a monitored article may be read again; a failed read waits ever longer.

    Sooner while others of its site have just gained links (*gained_at*), or when there was a change
    hint since.
    """
    if not state.tried_at:
        return now
    hinted = state.hinted_at > state.tried_at
    soon = hinted or 0 <= now - gained_at < AFTER_GAIN_SECONDS
    wait = SOON_ARTICLE_SECONDS if soon else ARTICLE_SECONDS
    return min(state.tried_at, now) + wait * 2.0 ** min(state.failures, 5)


def _hours(row: SiteRow, settings: Settings) -> tuple[str, ...]:
    """Return the hours in which the site may be asked: its own in the settings file, else everyone's."""
    for site in settings.site:
        if site.hours is not None and normalize(site.url) == normalize(row.seed_url):
            return site.hours
    return settings.revisit.hours


def share_out(
    rows: Sequence[SiteRow], defaults: RevisitSettings, needs: Mapping[int, float] | None = None
) -> dict[int, float]:
    """Return the requests a day of each site when all of them share one budget; empty if they do not.

    *needs* are newer than what the rows say.
    """
    if not defaults.total_requests_per_day:
        return {}
    demands = {}
    for row in rows:
        if row.state == SiteStatus.ACTIVE:
            need = (needs or {}).get(row.id)
            if need is None:
                need = SiteState.from_text(row.revisit).weight_total
            demands[row.id] = Demand(_asked(row, defaults), need)
    return shares(defaults.total_requests_per_day, demands, defaults.floor_share)


def _asked(row: SiteRow, defaults: RevisitSettings) -> float:
    return defaults.requests_per_day if row.requests_per_day is None else row.requests_per_day


def watch(
    row: SiteRow,
    settings: Settings,
    make_policy: Callable[[Terms], Policy],
    *,
    per_day: float | None = None,
) -> WatchedSite:
    """Read a site's row. *per_day* is its part of a shared budget; None = as when it was last asked."""
    defaults = settings.revisit
    asked, budget = _asked(row, defaults), BudgetState.from_text(row.budget)
    if per_day is None and defaults.total_requests_per_day and budget.updated_at:
        per_day = budget.per_day
    terms = Terms(
        requests_per_day=asked if per_day is None else per_day,
        min_interval_seconds=row.min_interval_seconds or defaults.min_interval_minutes * MINUTE,
        max_interval_seconds=row.max_interval_seconds or defaults.max_interval_hours * HOUR,
        windows=windows(_hours(row, settings)),
    )
    return WatchedSite(
        row=row,
        scope=read_scope(row),
        terms=terms,
        policy=make_policy(terms),
        path_aliases=rules(json.loads(row.path_aliases)),
        state=SiteState.from_json(json.loads(row.revisit)),
        budget=budget,
        allocation=Allocation(
            {Share.READ: settings.news.verify_share, Share.REFRESH: settings.refresh.share}
        ),
    )
