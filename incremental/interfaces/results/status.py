"""The daemon's health, and how each site fares, as ``status``, the web page and the API give them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from incremental.base.texts import read_text
from incremental.daemon.health import HealthReport
from incremental.daemon.housekeeping import last_done
from incremental.daemon.pulse import STALE_SECONDS
from incremental.interfaces.explain.page import budget_and_visit
from incremental.interfaces.results.schema import result_of
from incremental.interfaces.results.sites import NO_PAGES
from incremental.settings import Settings
from incremental.settings.sections import EmbeddingSettings
from incremental.topics.embedding.choice import standing
from store import Store
from store.daemons import DaemonRow
from store.enums import SiteStatus as StoredState
from store.maintenance.monitoring import SiteEvent as EventRow

MOST_QUARANTINED = 50
# Of the sites due first: a spent budget may delay some of them.
_MOST_COMPARED = 50
DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class JobHealth:
    """The last runs of a job."""

    name: str
    began_at: datetime | None
    ended_at: datetime | None
    """Of the last run that succeeded."""
    next_at: datetime | None
    failures: int
    """In a row."""
    error: str


@dataclass(frozen=True, slots=True)
class HealthProblem:
    """Something wrong with the daemon."""

    kind: str
    feature: str
    """Which feature cannot do its work, such as messages; empty = none."""
    detail: str
    since: datetime


@dataclass(frozen=True, slots=True)
class EngineState:
    """The engine."""

    kind: str
    """threads, processes or dask."""
    workers: int
    """Visits that it can run at a time."""
    processes: int
    """That they run in: of this machine, or workers of the cluster."""
    address: str
    """Of the cluster."""
    waits: str
    """Why nothing can be fetched; empty = something can."""
    refused: list[str]
    """Workers that get no visits, with the reason."""
    in_words: str


@dataclass(frozen=True, slots=True)
class DaemonHealth:
    """The daemon's last report."""

    at: datetime
    running: bool
    state: str
    """``killed``: it left its last report behind."""
    well: bool
    """Nothing serious is wrong."""
    silent: bool
    """The report is old: the daemon was killed, or stands still."""
    started_at: datetime
    visits_under_way: int
    engine: EngineState | None
    """null = not known yet."""
    problems: list[HealthProblem]
    jobs: list[JobHealth]


@dataclass(frozen=True, slots=True)
class DaemonPlace:
    """A daemon among those that share a PostgreSQL store."""

    name: str
    sites: int
    heartbeat_seconds: float
    """Since its last heartbeat, by the server's clock."""
    lives: bool
    """False = its sites are about to be taken over."""
    is_leader: bool
    """Whether it does what is done once for all: messages, housekeeping, training."""
    version: str


@dataclass(frozen=True, slots=True)
class QuarantineEntry:
    """A page, site, topic or job that met a bug and is tried again later."""

    kind: str
    key: str
    url: str | None
    purpose: str
    at: datetime
    again_at: datetime
    times: int
    version: str
    error: str
    trace: str


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The state of the vectors of announced pages, for search by meaning."""

    provider: str
    """In use by the settings; empty = none."""
    space: str | None
    """The model, with its version, that the vectors are of; null = nothing was embedded yet."""
    model: str
    """The same for display: without how its vectors are made and kept."""
    announced: int
    embedded: int
    waiting: int
    missing: str
    """What to do to have a model; empty = there is one, or none is wanted."""

    def in_words(self) -> str:
        """Return it in one line."""
        parts = [self.missing or self.provider or 'none wanted ([embeddings] provider = "none")']
        if self.space is not None:
            made = f"{self.embedded:,} of {self.announced:,} announced pages have a vector"
            parts.append(f"{made} by {self.model}")
        if self.waiting:
            goes_on = "hubwatch run embeds them" if self.provider else "no model embeds them"
            parts.append(f"{self.waiting:,} wait, {goes_on}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Housekept:
    """What housekeeping last came to."""

    at: datetime
    forgotten: dict[str, int]
    """Number by kind."""
    database_bytes: int
    free_bytes: int
    """In the database file, for what is written next."""


@dataclass(frozen=True, slots=True)
class SiteEvent:
    """A change of a whole site."""

    kind: str
    at: datetime
    detail: str


@dataclass(frozen=True, slots=True)
class SiteStatus:
    """How a site fares."""

    id: int
    name: str
    state: str
    pages: int
    hubs: int
    """Those that were read and will be again."""
    candidates: int
    """Addresses that look like hubs and were not read yet."""
    new_pages: int
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
    events: list[SiteEvent]


@dataclass(frozen=True, slots=True)
class SiteWords:
    """What a feature says of a site: how many of its new pages were found, for instance."""

    site: str
    says: str


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the daemon and its sites."""

    now: datetime
    crawling: bool
    """Whether a daemon is at work: here, or another one that shares the store."""
    daemon: DaemonHealth | None
    """null = no daemon has reported."""
    daemons: list[DaemonPlace]
    """Those that share a PostgreSQL store; empty for SQLite."""
    quarantine: list[QuarantineEntry]
    hubs_due: int
    verifications_due: int
    housekeeping: Housekept | None
    """null = it has not run yet."""
    embeddings: Embeddings
    total_requests_per_day: float | None
    """Of all sites together; null = no such limit."""
    sites: list[SiteStatus]
    words: list[SiteWords]
    """What features say of sites, what needs a look first."""


def status_of(
    store: Store, settings: Settings, daemon: DaemonHealth | None, *, crawling: bool, now: float
) -> Status:
    """Return the state of the daemon and of each site."""
    queue, done = store.monitor.queue(now), last_done(store)
    sites = _sites(store, settings, now)
    names = {site.id: site.name for site in sites}
    return result_of(
        Status,
        {},
        now=now,
        crawling=crawling,
        daemon=daemon,
        daemons=daemon_places(store.daemons.all()),
        quarantine=_quarantine(store),
        hubs_due=queue.hubs,
        verifications_due=queue.verifications,
        housekeeping=done and result_of(Housekept, done),
        embeddings=embeddings_of(store, settings.embeddings),
        total_requests_per_day=settings.revisit.total_requests_per_day or None,
        sites=sites,
        words=[
            SiteWords(names[site], says)
            for words in settings.enabled.asked("site_words", store)
            for site, says in words.items()
            if site in names
        ],
    )


def _sites(store: Store, settings: Settings, now: float) -> list[SiteStatus]:
    totals, counts = store.read.site_totals(), store.read.visit_counts(now - DAY)
    notes = settings.enabled.by_id("site_notes", store)
    due, unread, events = (
        store.monitor.next_due(),
        store.monitor.unread_seeds(),
        store.monitor.events(),
    )
    return [
        result_of(
            SiteStatus,
            row,
            **totals.get(row.id, NO_PAGES),
            **budget_and_visit(settings, row, due.get(row.id), now=now),
            visits_by_status=counts.get(row.id, {}),
            trouble=unread.get(row.id),
            problem=notes.get(row.id),
            events=site_events(events.get(row.id, [])),
        )
        for row in store.read.sites()
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


def site_events(rows: Sequence[EventRow]) -> list[SiteEvent]:
    """Return changes of a whole site."""
    return [replace(result_of(SiteEvent, row), detail=read_text(row.detail)) for row in rows]


def health_of(
    report: HealthReport | None, now: float, *, running: bool | None = None
) -> DaemonHealth | None:
    """Return a daemon's health; None without a report.

    *running*: whether it still is; None = unknown, but for the age of its report.
    """
    if report is None:
        return None
    silent = now - report.at > STALE_SECONDS
    running = not silent if running is None else running
    engine = report.engine
    return result_of(
        DaemonHealth,
        report,
        running=running,
        state=report.state.value if running else "killed",
        well=report.well and not silent and running,
        silent=silent,
        engine=engine
        and result_of(EngineState, engine, refused=list(engine.refused), in_words=engine.text()),
        problems=[result_of(HealthProblem, one, kind=one.kind.value) for one in report.problems],
        jobs=[result_of(JobHealth, job, ended_at=job.ended_at or None) for job in report.jobs],
    )


def daemon_places(rows: Sequence[DaemonRow]) -> list[DaemonPlace]:
    """Return the daemons that share a PostgreSQL store, the oldest first; none in a SQLite file."""
    return [result_of(DaemonPlace, row, heartbeat_seconds=round(row.beat_age, 1)) for row in rows]


def _quarantine(store: Store) -> list[QuarantineEntry]:
    """Return what met a bug, the latest failure first, with the traces."""
    rows = store.quarantine.entries(limit=MOST_QUARANTINED)
    urls = store.quarantine.urls(rows)
    return [result_of(QuarantineEntry, row, url=urls.get(row.id)) for row in rows]


def embeddings_of(store: Store, settings: EmbeddingSettings) -> Embeddings:
    """Return the state of the vectors in *store*. Loads no model."""
    found, space = standing(settings), store.vectors.present()
    name = space.name if space is not None else None
    return result_of(
        Embeddings,
        store.vectors.counts(),
        provider=found.provider,
        space=name,
        model=(name or "").removesuffix(", 7 bits").partition(", lead ")[0],
        missing=f"{found.problem}; {found.way_out}" if found.problem else "",
    )
