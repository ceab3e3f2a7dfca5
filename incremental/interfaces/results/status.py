"""The daemon's health, and how each site and hub fares, as commands, the web page and the API give them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from incremental.base.texts import read_text
from incremental.base.times import DAY
from incremental.crawl.sites import watch
from incremental.daemon.health import HealthReport
from incremental.daemon.housekeeping import last_done
from incremental.daemon.pulse import STALE_SECONDS
from incremental.interfaces.explain.page import budget_and_visit, explain_way, next_visit, rounded
from incremental.interfaces.results.schema import Row, dated, result_of
from incremental.interfaces.results.sites import Site, site_results
from incremental.parse.hub_way import WayKind
from incremental.settings import Settings
from incremental.settings.sections import EmbeddingSettings
from incremental.topics.embedding.choice import standing
from store import Store
from store.enums import HubRole, HubStatus
from store.enums import SiteStatus as StoredState
from store.values import HubRow, SiteRow

MOST_QUARANTINED = 50
# Of the sites due first: a spent budget may delay some of them.
_MOST_COMPARED = 50


@dataclass(frozen=True, slots=True)
class SiteStatus(Site):
    """A site, and how it fares."""

    budget_per_day: float
    requests_last_day: float
    requests_today: float
    """Since midnight, UTC."""
    price_minutes: float | None
    visits_by_status: dict[str, int]
    """Of the last day."""
    next_due: datetime | None
    trouble: str | None
    """Fetch status of a seed that could not be read yet."""
    problem: str | None
    """A sentence about a site that answers but has a problem."""
    events: list[Row]
    """Changes of the whole site."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the daemon and its sites."""

    now: datetime
    crawling: bool
    """Whether a daemon is at work: here, or another one that shares the store."""
    daemon: Row | None
    """Its last report, with its jobs and problems; null = no daemon has reported."""
    daemons: list[Row]
    """Those that share a PostgreSQL store; empty for SQLite."""
    quarantine: list[Row]
    """Pages, sites, topics and jobs that met a bug, the latest failure first, each with the trace."""
    hubs_due: int
    verifications_due: int
    housekeeping: Row | None
    """What it forgot, by kind, and the size of the database; null = it has not run yet."""
    embeddings: Row
    """The vectors of announced pages, for search by meaning: their model, and how many there are."""
    sites: list[SiteStatus]
    words: list[Row]
    """What features report about each ``site``, the most urgent first."""


def status_of(
    store: Store, settings: Settings, daemon: Row | None, *, crawling: bool, now: float
) -> Status:
    """Return the state of the daemon and of each site."""
    queue, done = store.monitor.queue(now), last_done(store)
    held = store.quarantine.entries(limit=MOST_QUARANTINED)
    urls = store.quarantine.urls(held)
    sites = site_statuses(store, settings, store.read.sites(), now)
    names = {site.id: site.name for site in sites}
    return result_of(
        Status,
        {},
        now=now,
        crawling=crawling,
        daemon=daemon,
        daemons=[
            dated(one, heartbeat_seconds=round(one.beat_age, 1)) for one in store.daemons.all()
        ],
        quarantine=[dated(row, url=urls.get(row.id)) for row in held],
        hubs_due=queue.hubs,
        verifications_due=queue.verifications,
        housekeeping=done and dated(done),
        embeddings=embeddings_of(store, settings.embeddings),
        sites=sites,
        words=[
            {"site": names[site], "says": says}
            for words in settings.enabled.asked("site_words", store)
            for site, says in words.items()
            if site in names
        ],
    )


def site_statuses(
    store: Store, settings: Settings, rows: Sequence[SiteRow], now: float
) -> list[SiteStatus]:
    """Return how each of these sites fares."""
    counts = store.read.visit_counts(now - DAY)
    notes = settings.enabled.by_id("site_notes", store)
    due, unread = store.monitor.next_due(), store.monitor.unread_seeds()
    events = store.monitor.events()
    return [
        result_of(
            SiteStatus,
            site,
            **budget_and_visit(settings, row, due.get(row.id), now=now),
            visits_by_status=counts.get(row.id, {}),
            trouble=unread.get(row.id),
            problem=notes.get(row.id),
            events=[dated(one, detail=read_text(one.detail)) for one in events.get(row.id, [])],
        )
        for row, site in zip(rows, site_results(store, rows), strict=True)
    ]


@dataclass(frozen=True, slots=True)
class NextLook:
    """The next visit of any site."""

    site: str
    at: float
    """Unix seconds; in the past = it is due."""


def next_look(store: Store, settings: Settings, now: float) -> NextLook | None:
    """Return the next visit of a watched site; None = none is planned."""
    due = store.monitor.next_due()
    first = sorted(due, key=lambda site: due[site])[:_MOST_COMPARED]
    looks = [
        NextLook(row.name, at)
        for row in store.read.sites_by_id(first)
        if row.state == StoredState.ACTIVE
        and (at := budget_and_visit(settings, row, due[row.id], now=now)["next_due"]) is not None
    ]
    return min(looks, key=lambda look: look.at, default=None)


def health_of(
    report: HealthReport | None, now: float, *, running: bool | None = None
) -> Row | None:
    """Return a daemon's last report, and what it means; None without a report.

    It is ``silent`` if its report is old: it was killed, or stands still. A ``killed`` one left its report
    behind. *running*: whether it still is; None = unknown, but for the age of its report.
    """
    if report is None:
        return None
    silent = now - report.at > STALE_SECONDS
    running = not silent if running is None else running
    engine = report.engine
    return dated(
        report,
        running=running,
        state=report.state.value if running else "killed",
        well=report.well and not silent and running,
        silent=silent,
        engine=engine and dated(engine, in_words=engine.text()),
        problems=list(map(dated, report.problems)),
        jobs=list(map(dated, report.jobs)),
    )


def embeddings_of(store: Store, settings: EmbeddingSettings) -> Row:
    """Return the state of the vectors in *store*, also in words. Loads no model."""
    found, space, counts = standing(settings), store.vectors.present(), store.vectors.counts()
    name = space.name if space is not None else None
    model = (name or "").removesuffix(", 7 bits").partition(", lead ")[0]
    missing = f"{found.problem}; {found.way_out}" if found.problem else ""
    parts = [missing or found.provider or 'none wanted ([embeddings] provider = "none")']
    if name is not None:
        made = f"{counts.embedded:,} of {counts.announced:,} announced pages have a vector"
        parts.append(f"{made} by {model}")
    if counts.waiting:
        goes_on = "hubwatch run embeds them" if found.provider else "no model embeds them"
        parts.append(f"{counts.waiting:,} wait, {goes_on}")
    more = {"provider": found.provider, "space": name, "model": model, "missing": missing}
    return dated(counts, **more, in_words="; ".join(parts))


@dataclass(frozen=True, slots=True)
class Hub:
    """A hub, or an address that looks like one."""

    id: int
    url: str
    site_id: int
    site: str
    kind: str
    role: str
    state: str
    score: float
    candidate: bool
    """Only looks like a hub: never read."""
    way: str
    """From where its links come: plain, embedded, json, rendered, browser_missing."""
    cost_requests: float
    """Requests of a visit, and a browser's time counted as requests."""
    visits: int
    new_pages: int
    """Links new to the site that it was the first to show, of older or missing pages as well."""
    failures: int
    last_status: str | None
    visited_at: datetime | None
    due_at: datetime | None
    rate_per_day: float | None
    """Expected new links; null = not visited yet, or no longer visited."""
    rate_is_guess: bool
    """The hub has shown no new page yet: the rate is what similar hubs show."""
    why: str


def is_candidate(hub: HubRow) -> bool:
    """Whether an address only looks like a hub: nobody gave it, and it was never read."""
    given = hub.role in (HubRole.SEED, HubRole.USER)
    return hub.state == HubStatus.CANDIDATE and not given


def hub_results(
    store: Store, settings: Settings, rows: Sequence[SiteRow], *, now: float
) -> list[Hub]:
    """Return the hubs of *rows*.

    Those that were read or given come first, then the addresses that look like hubs, the likeliest first.
    """
    answer = []
    for row in rows:
        site = watch(row, settings)
        hubs = store.read.hubs(row.id)
        hubs.sort(key=lambda hub: (-1.0, 0.0) if not is_candidate(hub) else (0.0, -hub.score))
        for hub in hubs:
            state = site.hub_state(hub)
            why = site.policy.why(state, site.state, site.budget, now)
            at, reason = next_visit(site, hub, why, now=now)
            answer.append(
                result_of(
                    Hub,
                    hub,
                    id=hub.page_id,
                    site=row.name,
                    score=round(hub.score, 3),
                    candidate=is_candidate(hub),
                    way=explain_way(hub, settings)["kind"] or WayKind.PLAIN.value,
                    cost_requests=round(state.cost, 1),
                    due_at=at,
                    rate_per_day=rounded(why.rate_per_day, 4) if _has_rate(hub) else None,
                    rate_is_guess=_has_rate(hub) and not hub.new_pages,
                    why=reason,
                )
            )
    return answer


def _has_rate(hub: HubRow) -> bool:
    """Whether a rate says anything of a hub: it was visited, and will be again."""
    return hub.visited_at is not None and hub.state != HubStatus.DROPPED
