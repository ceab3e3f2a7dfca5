"""``/metrics`` for Prometheus.

Counters start at zero with the server and add what is new since the last scrape; gauges are read from
the store at each scrape.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter as Count
from collections.abc import Iterator
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from classifier.hub.errors import HubClassifierError
from incremental.daemon.health import ProblemKind
from incremental.interfaces.explain.health import daemons_facts
from incremental.interfaces.explain.page import budget_of
from incremental.interfaces.web.context import Web
from incremental.visit.engines.visits import EngineReport
from store import Store
from store.crawl.quarantine import QuarantineKind
from store.errors import StoreError

_MINUTE, _HOUR, _DAY = 60.0, 3_600.0, 86_400.0
_DELAY_BUCKETS = (
    *(_MINUTE * n for n in (1, 2, 5, 10, 20, 30)),
    *(_HOUR * n for n in (1, 2, 4, 8, 16)),
    *(_DAY * n for n in (1, 2, 7)),
)
# Sites with their own series: bounds the cost of a scrape.
_MOST_SITES = 2_000


class MetricsPage:
    """The metrics of one served store."""

    content_type = CONTENT_TYPE_PLAIN_0_0_4

    def __init__(self, web: Web) -> None:
        self._web = web
        # Two scrapes at once would count the same rows twice.
        self._lock = threading.Lock()
        self._registry = CollectorRegistry()
        make = partial(Counter, registry=self._registry)
        self._visits = make("hubwatch_visits", "Fetches recorded, by status.", ["status"])
        self._news = make("hubwatch_new_pages", "Pages announced as new.")
        self._delay = Histogram(
            "hubwatch_discovery_delay_seconds",
            "Time from publication to finding, of pages that say when they were published.",
            buckets=_DELAY_BUCKETS,
            registry=self._registry,
        )
        self._registry.register(_Gauges(web))
        self._of_health = CollectorRegistry()
        self._of_health.register(_HealthGauges(web))
        with web.store() as store:
            self._visit, self._change = store.monitor.cursors()

    def render(self) -> bytes:
        """Return the metrics in the Prometheus text format."""
        # While the store cannot be used the health is all that there is to say.
        with self._lock:
            try:
                with self._web.store() as store:
                    self._count(store)
                known = generate_latest(self._registry)
            except StoreError:
                known = b""
            return known + generate_latest(self._of_health)

    def _count(self, store: Store) -> None:
        visits = store.monitor.visits_after(self._visit)
        self._visit = visits.cursor
        for status, count in visits.counts.items():
            self._visits.labels(status).inc(count)
        delays = store.monitor.delays_after(self._change)
        self._change = delays.cursor
        self._news.inc(delays.announced)
        for seconds in delays.seconds:
            self._delay.observe(seconds)


class _Gauges(Collector):
    """Gauges, read at each scrape."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def collect(self) -> Iterator[Metric]:
        now = self._web.now()
        with self._web.store() as store:
            yield from self._sites(store, now)
            yield from _queue(store, now)
            yield from _hosts(store, now)
            yield _quarantined(store)
            yield from _daemons(store)
            yield from self._models(store)

    def _models(self, store: Store) -> Iterator[Metric]:
        models = GaugeMetricFamily(
            "hubwatch_model", "A model in use: always 1.", labels=["model", "version"]
        )
        # A damaged model shows on the models page; the other metrics must still work.
        with contextlib.suppress(HubClassifierError):
            models.add_metric(["hub", self._web.hub_models.current().version], 1)
        for topic in store.topics.topics():
            if topic.version:
                models.add_metric([f"topic:{topic.name}", topic.version], 1)
        yield models

    def describe(self) -> list[Metric]:
        """Return nothing, so that registering does not read the store."""
        return []

    def _sites(self, store: Store, now: float) -> Iterator[Metric]:
        sites = store.read.sites()
        states = GaugeMetricFamily("hubwatch_sites", "Watched sites.", labels=["state"])
        for state, count in sorted(Count(site.state for site in sites).items()):
            states.add_metric([state], count)
        yield states
        texts = {
            "budget_per_day": ("hubwatch_budget_requests", "Requests allowed in a day."),
            "requests_last_day": ("hubwatch_requests_last_day", "Requests of the last 24 hours."),
            "price_minutes": ("hubwatch_price_minutes", "What a visit must be worth, in delay."),
        }
        gauges = {key: GaugeMetricFamily(*names, labels=["site"]) for key, names in texts.items()}
        for site in sites[:_MOST_SITES]:
            for key, value in budget_of(self._web.settings, site, now=now).items():
                if value is not None and key in gauges:
                    gauges[key].add_metric([site.name], value)
        yield from gauges.values()


class _HealthGauges(Collector):
    """The health of the daemon in this process."""

    def __init__(self, web: Web) -> None:
        self._web = web

    def describe(self) -> list[Metric]:
        """Return nothing, as for the other gauges."""
        return []

    def collect(self) -> Iterator[Metric]:
        if self._web.health is None:
            return
        report = self._web.health.report()
        yield GaugeMetricFamily(
            "hubwatch_healthy", "1 = nothing serious is wrong, as /healthz says.", report.well
        )
        kinds = Count(problem.kind for problem in report.problems)
        problems = GaugeMetricFamily(
            "hubwatch_problems", "What is wrong at the moment.", labels=["kind"]
        )
        for kind in ProblemKind:
            problems.add_metric([kind], kinds[kind])
        yield problems
        ended = GaugeMetricFamily(
            "hubwatch_job_last_success_timestamp_seconds",
            "When a job last ended well; 0 = never.",
            labels=["job"],
        )
        failures = GaugeMetricFamily(
            "hubwatch_job_failures", "Failures of a job in a row.", labels=["job"]
        )
        for job in report.jobs:
            ended.add_metric([job.name], job.ended_at)
            failures.add_metric([job.name], job.failures)
        yield ended
        yield failures
        yield GaugeMetricFamily(
            "hubwatch_visits_under_way", "Fetches under way.", report.visits_under_way
        )
        if report.engine is not None:
            yield from _engine(report.engine)


def _engine(engine: EngineReport) -> Iterator[Metric]:
    workers = GaugeMetricFamily(
        "hubwatch_engine_workers", "Visits that the engine can run at a time.", labels=["engine"]
    )
    workers.add_metric([engine.kind], engine.workers)
    yield workers
    yield GaugeMetricFamily(
        "hubwatch_engine_refused_workers",
        "Workers of a cluster that get no visits, because of their version.",
        len(engine.refused),
    )


def _queue(store: Store, now: float) -> Iterator[Metric]:
    due = store.monitor.queue(now)
    queue = GaugeMetricFamily("hubwatch_queue", "What is due and not fetched yet.", labels=["kind"])
    queue.add_metric(["hub"], due.hubs)
    queue.add_metric(["verify"], due.verifications)
    yield queue


def _quarantined(store: Store) -> Metric:
    counts = store.quarantine.counts()
    found = GaugeMetricFamily(
        "hubwatch_quarantined", "What met a bug and is tried again later.", labels=["kind"]
    )
    for kind in QuarantineKind:
        found.add_metric([kind], counts.get(kind, 0))
    return found


def _daemons(store: Store) -> Iterator[Metric]:
    """Yield those that share a PostgreSQL store."""
    texts = {
        "sites": ("hubwatch_daemon_sites", "Sites that a daemon visits."),
        "heartbeat_seconds": (
            "hubwatch_daemon_heartbeat_age_seconds",
            "Since a daemon's last heartbeat, by the server's clock.",
        ),
        "is_leader": ("hubwatch_daemon_leader", "1 = it does what is done once for all."),
    }
    labels = ["daemon", "shard"]
    gauges = {key: GaugeMetricFamily(*names, labels=labels) for key, names in texts.items()}
    for one in daemons_facts(store.daemons.all()):
        for key, gauge in gauges.items():
            gauge.add_metric([one["name"], one["shard"] or ""], float(one[key]))
    yield from gauges.values()


def _hosts(store: Store, now: float) -> Iterator[Metric]:
    waits = GaugeMetricFamily(
        "hubwatch_host_wait_seconds", "Until a host may be asked again.", labels=["host"]
    )
    failures = GaugeMetricFamily(
        "hubwatch_host_failures", "Failures of a host in a row.", labels=["host"]
    )
    for host in store.monitor.host_waits(now):
        waits.add_metric([host.name], host.seconds)
        failures.add_metric([host.name], host.failures)
    yield waits
    yield failures
