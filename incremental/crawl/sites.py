"""A watched site in memory: what its row in the store says, read once, and its budget."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from incremental.crawl.urgent import UrgentQueue
from incremental.judge.mirrors import rules
from incremental.judge.site_context import SiteContext
from incremental.revisit import (
    BudgetState,
    HubKind,
    HubState,
    Policy,
    SiteState,
    Terms,
    advance,
    open_at,
    price_minutes,
    reserve_at,
)
from incremental.revisit.allocation import (
    AFTER_GAIN,
    AFTER_GAIN_SECONDS,
    YOUNG_SECONDS,
    Share,
    Want,
    counted,
    next_share,
    shares,
)
from incremental.revisit.cover import Cover
from incremental.revisit.pacing import in_window
from incremental.scope import Reach, Scope
from incremental.settings import RevisitSettings, Settings, windows
from incremental.times import DAY, HOUR, MINUTE, NEVER
from incremental.urls import normalize
from incremental.visit import Purpose, VisitTask
from store.values import ARTICLE, HubRow, SiteRow

PAUSE_SECONDS = HOUR
"""So long without anybody to look after a site is a pause: lists may have been turned over."""
REST_SECONDS = 7 * DAY
DAILY_REST_SECONDS = DAY
REST_SHARE = 0.1
"""Share of the budget that resting hubs may take together."""
ARTICLE_SECONDS = DAY
"""How soon a monitored article may be read again."""
SOON_ARTICLE_SECONDS = 3 * HOUR
"""The same after one of its site gained a link."""


_CARRIED = (
    *("used", "busy", "urgent", "resumed_at", "cover", "cover_at", "next_pages", "first_pages"),
    *("articles_share", "articles_gained_at", "articles_at", "look_allowance", "look_allowance_at"),
    *("baselines", "context", "depths"),
)
"""What of a site is in memory alone, by field."""


@dataclass
class WatchedSite:
    """One site as the crawler works on it. Mutable: only the crawler's own thread touches it."""

    row: SiteRow
    scope: Scope
    terms: Terms
    mirrors: tuple[str, ...]
    """Path prefixes that are stripped."""
    policy: Policy
    state: SiteState
    budget: BudgetState
    hub_states: dict[int, HubState] = field(default_factory=dict)
    """What the policy learned of each hub, by page id, as far as it was asked for."""
    used: dict[Share, float] = field(default_factory=dict)
    """Requests by class, fading; what decides whose turn it is."""
    articles_share: float = 0.1
    """Share of the budget that monitored articles deserve."""
    articles_gained_at: float = -math.inf
    """When a monitored article last led to a new page; minus infinity = the store was not asked yet."""
    articles_at: float = 0.0
    """When the monitored articles were last chosen."""
    next_due_at: float = 0.0
    """The earliest due time of its hubs and looks."""
    busy: bool = False
    """A visit is under way."""
    cover: Cover = field(default_factory=Cover)
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
    cover_at: float = 0.0
    """When the cover was last worked out."""
    context: SiteContext | None = None
    """What the site's known URLs say of a new one."""
    depths: dict[int, int | None] = field(default_factory=dict)
    """Steps from the seed of the hubs whose links were scored, by page id; they never change."""
    look_allowance: float = 1.0
    """Looks at new pages that may be made now."""
    look_allowance_at: float = 0.0
    baselines: int = 0
    """Hubs read for the first time since."""
    urgent: UrgentQueue = field(default_factory=UrgentQueue)
    """What to fetch next, before all else and even if the budget is spent: what is worth something only
    at once (what scrolled by, two addresses that may be one page)."""

    def take_over(self, before: WatchedSite) -> None:
        """Go on from the same site as it was in memory before its row was read again.

        Left out is what the row says, what is read from the store when it is asked for, and the next
        due times. Other terms are planned anew, for all hubs.
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
        """Return when the policy wants the hub; later while it rests behind hubs that show more.

        Later pages of a list are read once, and again only after a gap on the first.
        """
        if state.owed_at and not state.failures:
            return in_window(max(now, state.wait_until), self.terms)
        if role == "page" and state.visits:
            return NEVER
        if role == ARTICLE:
            return article_due_at(state, self.articles_gained_at, now)
        due_at = self.policy.due_at(state, self.state, self.budget, now)
        told = state.pinged_at > state.visited_at
        if not self.rests(page_id, role) or not state.visits or state.failures or told:
            return due_at
        share = REST_SHARE * max(self.terms.requests_per_day, 1.0)
        interval = max(REST_SECONDS, len(self.cover.resting) / share * DAY)
        if state.kind in (HubKind.SITEMAP, HubKind.HOME):
            # Few and cheap, and now and then the only place where a page is shown.
            interval = min(interval, DAILY_REST_SECONDS)
        elif state.kind == HubKind.FEED:
            # A home page may link to a page wrongly, or leave it out; tags may have hundreds of feeds.
            interval = max(DAILY_REST_SECONDS, len(self.cover.resting) / share * DAY)
        return max(due_at, state.visited_at + interval)

    def move(self, home: str) -> None:
        """Let the scope lie around *home*, because the seed led there; its row says so from now on."""
        self.set_scope(home=home)

    def set_scope(self, **rules: object) -> None:
        """Change rules of the scope; the row says so from now on."""
        scope = json.dumps({**json.loads(self.row.scope), **rules}, ensure_ascii=False)
        self.row = replace(self.row, scope=scope)
        self.scope = read_scope(self.row)

    def index(self, hub: HubRow, now: float) -> float:
        """Return how urgent a visit of the hub is, in the policy's own measure."""
        return self.policy.index(self.hub_state(hub), self.state, self.budget, now)

    def rests(self, page_id: int, role: str) -> bool:
        """Tell whether a hub rests behind others. What a user called a hub never does."""
        return page_id in self.cover.resting and role != "user"

    def look_open_at(self, share: float, now: float) -> float:
        """Return from when on a look at a new page is within *share* of the budget."""
        per_day = share * self.terms.requests_per_day
        if per_day <= 0:
            return NEVER
        earned = max(now - self.look_allowance_at, 0.0) / DAY * per_day
        self.look_allowance = min(self.look_allowance + earned, max(per_day / 4, 1.0))
        self.look_allowance_at = now
        return now + max(1.0 - self.look_allowance, 0.0) / per_day * DAY

    def looks_now(self, share: float, now: float) -> int:
        """Return how many looks may be made at once; they are taken from the allowance."""
        self.look_open_at(share, now)
        return max(min(int(self.look_allowance), self.urgent.room), 0)

    def take_urgent(self, task: VisitTask, *, put_off: bool) -> None:
        """Take what is fetched now, or put off, out of the urgent queue, and count it."""
        self.urgent.take(task.page_id)
        if task.purpose is Purpose.LOOK:
            # Looks that go first are looks all the same: fewer of the others are left.
            self.look_allowance -= 1
        elif not put_off:
            self.urgent.spend()

    def turn(self, waiting: Collection[Share], now: float) -> Share:
        """Return which of the classes in *waiting* is served next."""
        young = now - self.row.added_at < YOUNG_SECONDS
        gained = 0 <= now - self.articles_gained_at < AFTER_GAIN_SECONDS
        articles = AFTER_GAIN if gained else self.articles_share
        return next_share(self.used, waiting, young=young, articles=articles)

    def count(self, share: Share, *, looked: bool) -> None:
        """Count a request of that class.

        *looked*: it takes a look from what new pages may have. One for a page that was missing does
        not: on a recorded site whose sitemap names pages twice, wrongly, new pages went without.
        """
        self.used = counted(self.used, share)
        if looked:
            self.look_allowance -= 1


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


def read_scope(row: SiteRow) -> Scope:
    """Return the scope of a site from its JSON column."""
    rules = json.loads(row.scope)
    return Scope(
        seed_url=rules.get("home") or row.seed_url,
        reach=Reach(rules.get("reach", Reach.HOST)),
        include=tuple(rules.get("include", ())),
        exclude=tuple(rules.get("exclude", ())),
        open_feeds=tuple(rules.get("open_feeds", ())),
    )


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
    if not defaults.whole_requests_per_day:
        return {}
    wants = {}
    for row in rows:
        if row.state == "active":
            need = (needs or {}).get(row.id)
            if need is None:
                need = SiteState.from_text(row.revisit).weight_total
            wants[row.id] = Want(_asked(row, defaults), need)
    return shares(defaults.whole_requests_per_day, wants, defaults.floor_share)


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
    if per_day is None and defaults.whole_requests_per_day and budget.updated_at:
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
        mirrors=rules(json.loads(row.mirrors)),
        state=SiteState.from_json(json.loads(row.revisit)),
        budget=budget,
    )
