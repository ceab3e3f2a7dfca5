"""``/healthz``, the metrics and the status page of a daemon that is not well."""

from dataclasses import replace
from pathlib import Path

import pytest
from test_web_metrics import scraped
from web_served import Served

from incremental.base.features import found
from incremental.base.texts import Text, Words
from incremental.daemon.health import DaemonState, Health
from incremental.interfaces.web.metrics import MetricsPage
from incremental.visit.engines.visits import EngineReport
from incremental.visit.engines.worker import refusal
from store.crawl.quarantine import QuarantineKind


@pytest.fixture
def beating(served: Served) -> tuple[Served, Health]:
    """A served store beside a daemon, whose health a test decides."""
    health = Health(served.clock)
    return Served(replace(served.web, health=health), served.store, served.clock), health


def test_well_is_ok(beating: tuple[Served, Health]) -> None:
    served, health = beating
    health.began("round")
    health.failed("learning", "KeyError", 0.0)
    answer = served.client().get("/healthz")
    assert (answer.status_code, answer.text) == (200, "ok\n"), "nobody waits for a training"


def test_what_is_wrong_is_a_503_that_names_no_secret(beating: tuple[Served, Health]) -> None:
    served, health = beating
    health.enter(DaemonState.RUNNING)
    health.store_lost("/home/me/secret.sqlite cannot be written")
    health.trouble("messages", {"boss": "401 from mail.example"})
    served.clock.advance_to(served.clock.now() + 500)
    answer = served.client().get("/healthz")
    assert answer.status_code == 503
    assert answer.text.splitlines() == [
        "Messages are stuck",
        "rounds stand still",
        "the store cannot be used",
    ]


def test_a_store_that_cannot_be_read_is_a_503_at_once(
    beating: tuple[Served, Health], tmp_path: Path
) -> None:
    served, _ = beating
    client = served.client()
    served.store.close()
    for path in served.web.folder.rglob("hubwatch.sqlite*"):
        path.rename(tmp_path / f"moved-{path.name}")
    answer = client.get("/healthz")
    assert (answer.status_code, answer.text) == (503, "the store cannot be used\n")
    assert not list(served.web.folder.rglob("hubwatch.sqlite")), "it is not made again"


def test_metrics_of_health_are_there_while_the_store_is_not(
    beating: tuple[Served, Health], tmp_path: Path
) -> None:
    served, health = beating
    page = MetricsPage(served.web)
    health.began("round")
    health.ended("round", served.clock.now() + 10)
    found = scraped(page)
    assert found["hubwatch_healthy", ()] == 1
    assert found["hubwatch_job_last_success_timestamp_seconds", ("round",)] == served.clock.now()
    assert found["hubwatch_quarantined", ("page",)] == 0
    served.store.close()
    for path in served.web.folder.rglob("hubwatch.sqlite*"):
        path.rename(tmp_path / f"moved-{path.name}")
    health.store_lost("gone")
    found = scraped(page)
    assert found["hubwatch_healthy", ()] == 0
    assert found["hubwatch_problems", ("store",)] == 1
    assert ("hubwatch_sites", ("active",)) not in found


def test_what_an_engine_waits_for_is_said_in_the_page_s_language(
    beating: tuple[Served, Health],
) -> None:
    served, health = beating
    health.enter(DaemonState.RUNNING)
    waits = Text("health.no_worker")
    why = refusal("0.9", "1.0")
    refused = Text("health.worker_refused", address="tcp://w.example:1", reason=why)
    health.engine = lambda: EngineReport("dask", 0, waits=waits, since=1.0, refused=(refused,))
    chinese = served.client(Accept_Language="zh").get("/status").text
    assert "已停止抓取：集群中没有可用的工作节点" in chinese
    assert "工作节点 tcp://w.example:1：它运行 Hubwatch 0.9，守护进程运行 1.0" in chinese
    assert f"nothing is fetched: {waits}" in served.client().get("/status").text


def test_status_shows_problems_jobs_and_what_met_a_bug(beating: tuple[Served, Health]) -> None:
    served, health = beating
    health.failed("messages", "<script>alert(1)</script>", 0.0)
    site = served.store.read.sites()[0]
    served.store.quarantine.put(
        *(QuarantineKind.SITE, site.id),
        error="KeyError: <b>",
        trace="Traceback <i>",
        now=served.clock.now(),
    )
    client = served.client()
    shown = client.get("/status").text
    assert "job messages failed, 1 in a row" in shown
    assert "&lt;script&gt;" in shown
    assert "Traceback &lt;i&gt;" in shown
    chinese = client.get("/status", headers={"Accept-Language": "zh"}).text
    assert "因程序错误暂缓处理" in chinese
    answer = client.get("/api/v1/status").json()
    assert answer["daemon"]["problems"][0]["kind"] == "job"
    assert answer["quarantine"][0]["url"] == site.seed_url


def test_every_job_of_a_feature_has_a_name_in_chinese() -> None:
    jobs = [one.name for one in found().on if one.job]
    assert jobs
    assert [one for one in jobs if Words("zh").maybe("job", one).isascii()] == []
