"""Metrics: counters follow on from the last scrape, gauges say what is true now."""

from prometheus_client.parser import text_string_to_metric_families
from stories import seen
from web_served import HOME, Served

from incremental.interfaces.web.metrics import MetricsPage
from store.values import VisitRecord


def scraped(page: MetricsPage) -> dict[tuple[str, tuple[str, ...]], float]:
    text = page.render().decode()
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_begin_at_zero_and_count_each_visit_once(served: Served) -> None:
    page = MetricsPage(served.web)
    assert ("hubwatch_visits_total", ("fetched",)) not in scraped(page)
    now = served.clock.now()
    hub = next(hub for hub in served.store.read.hubs(1) if hub.url == HOME)
    link = seen(HOME + "late.html", fate="announce", published_at=now - 1_000)
    served.store.write.visit(VisitRecord(1, hub.page_id, now, "fetched", links=(link,)))
    for _ in range(2):
        found = scraped(page)
        assert found["hubwatch_visits_total", ("fetched",)] == 1
        assert found["hubwatch_new_pages_total", ()] == 1
        assert found["hubwatch_discovery_delay_seconds_bucket", ("600.0",)] == 0
        assert found["hubwatch_discovery_delay_seconds_bucket", ("1200.0",)] == 1


def test_gauges_tell_of_sites_queue_and_budget(served: Served) -> None:
    found = scraped(MetricsPage(served.web))
    assert found["hubwatch_sites", ("active",)] == 2
    assert found["hubwatch_budget_requests", ("news.example",)] > 0
    assert found["hubwatch_queue", ("hub",)] >= 0


def test_completeness_is_told_by_site_and_misses_by_cause(served: Served) -> None:
    """A site that cannot be judged has its misses told all the same. Labels are sorted by name."""
    kept, now = served.store.completeness, served.clock.now()
    kept.keep(1, now, 40, (0.9, 0.8, 0.95), {"unwatched": 3, "blocked": 1})
    kept.keep(2, now, 4, (None, None, None), {"not_visited": 2})
    found = scraped(MetricsPage(served.web))
    site, other = (row.name for row in served.store.read.sites())
    assert found["hubwatch_completeness", ("share", site)] == 0.9
    assert found["hubwatch_completeness", ("low", site)] == 0.8
    assert ("hubwatch_completeness", ("share", other)) not in found
    assert found["hubwatch_late_pages", ("unwatched", site)] == 3
    assert found["hubwatch_late_pages", ("not_visited", other)] == 2


def test_the_page_is_served_to_who_may_read(served: Served) -> None:
    answer = served.client().get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "hubwatch_sites" in answer.text
