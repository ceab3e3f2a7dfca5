"""``/metrics`` for Prometheus.

Counters start at zero with the server and add what is new since the last scrape; gauges are read from
the store at each scrape.
"""

import threading
from collections import Counter as Count
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from prometheus_client import Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from incremental.daemon.health import ProblemKind
from incremental.interfaces.explain.page import budget_and_visit
from incremental.interfaces.web.context import Web
from incremental.settings import Settings
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
        make = partial(Counter, registry=None)
        self._visits = make("hubwatch_visits", "Fetches recorded, by status.", ["status"])
        self._news = make("hubwatch_new_pages", "Pages announced as new.")
        self._delay = Histogram(
            "hubwatch_discovery_delay_seconds",
            "Time from publication to finding, of pages that say when they were published.",
            buckets=_DELAY_BUCKETS,
            registry=None,
        )
        with web.store() as store:
            self._visit, self._change = store.monitor.cursors()

    def render(self) -> bytes:
        """Return the metrics in the Prometheus text format."""
        # While the store cannot be used the health is all that there is to say.
        with self._lock:
            try:
                known = generate_latest(_Families(self._of_store))
            except StoreError:
                known = b""
            return known + generate_latest(_Families(partial(_of_health, self._web)))

    def _of_store(self) -> Iterator[Metric]:
        with self._web.store() as store:
            self._count(store)
            yield from _gauges(self._web, store)
        for counted in (self._visits, self._news, self._delay):
            yield from counted.collect()

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


def _gauge(
    name: str, about: str, labels: Sequence[str], values: Iterable[tuple[Sequence[str], float]]
) -> Metric:
    """Return a gauge with its series: the values of its labels, and its own."""
    gauge = GaugeMetricFamily(f"hubwatch_{name}", about, labels=labels)
    for series, value in values:
        gauge.add_metric(series, value)
    return gauge


class _Families(Collector):
    """What *read* yields at each scrape."""

    def __init__(self, read: Callable[[], Iterator[Metric]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        return self._read()


def _gauges(web: Web, store: Store) -> Iterator[Metric]:
    now = web.now()
    yield from _sites(web.settings, store, now)
    due, held = store.monitor.queue(now), store.quarantine.counts()
    queue = [(["hub"], due.hubs), (["verify"], due.verifications)]
    yield _gauge("queue", "What is due and not fetched yet.", ["kind"], queue)
    quarantined = [([kind], held.get(kind, 0)) for kind in QuarantineKind]
    yield _gauge("quarantined", "What met a bug and is tried again later.", ["kind"], quarantined)


def _sites(settings: Settings, store: Store, now: float) -> Iterator[Metric]:
    sites = store.read.sites()
    states = sorted(Count(site.state for site in sites).items())
    by_state = [([state], count) for state, count in states]
    yield _gauge("sites", "Watched sites.", ["state"], by_state)
    facts = {
        site.name: budget_and_visit(settings, site, None, now=now) for site in sites[:_MOST_SITES]
    }
    for key, name, about in (
        ("budget_per_day", "budget_requests", "Requests allowed in a day."),
        ("requests_last_day", "requests_last_day", "Requests of the last 24 hours."),
        ("price_minutes", "price_minutes", "What a visit must be worth, in delay."),
    ):
        known = [([site], one[key]) for site, one in facts.items() if one[key] is not None]
        yield _gauge(name, about, ["site"], known)
    yield from _completeness(store, {site.id: site.name for site in sites[:_MOST_SITES]})


def _completeness(store: Store, names: Mapping[int, str]) -> Iterator[Metric]:
    kept = [one for one in store.completeness.kept() if one.site in names]
    shares = [
        ([names[one.site], of], getattr(one, of)) for one in kept for of in ("share", "low", "high")
    ]
    about = "Share of the new pages of 30 days that was found, as last estimated, and its 90 % interval."
    yield _gauge("completeness", about, ["site", "of"], shares)
    causes = [(site, of) for site, of in store.completeness.causes().items() if site in names]
    late = [([names[site], cause], n) for site, of in causes for cause, n in of.items()]
    about = "New pages of 30 days that were missed, or found more than a day after their date."
    yield _gauge("late_pages", about, ["site", "cause"], late)


def _of_health(web: Web) -> Iterator[Metric]:
    """Yield the health of the daemon in this process."""
    if web.health is None:
        return
    report = web.health.report()
    yield _gauge(
        "healthy", "1 = nothing serious is wrong, as /healthz says.", [], [([], report.well)]
    )
    kinds = Count(problem.kind for problem in report.problems)
    problems = [([kind], kinds[kind]) for kind in ProblemKind]
    yield _gauge("problems", "What is wrong at the moment.", ["kind"], problems)
    ended = [([job.name], job.ended_at) for job in report.jobs]
    about = "When a job last ended well; 0 = never."
    yield _gauge("job_last_success_timestamp_seconds", about, ["job"], ended)
    failures = [([job.name], job.failures) for job in report.jobs]
    yield _gauge("job_failures", "Failures of a job in a row.", ["job"], failures)
