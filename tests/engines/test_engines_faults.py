"""Workers and schedulers that die, workers of another version, pages that kill: nothing is lost."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import psutil  # type: ignore[import-untyped] # ships no types
import pytest
from engine_site import EngineSite, news_site
from engine_story import EngineStory, elsewhere_of, engine_settings, wait_until
from killing import Killer, Stopper
from lab.daemon_process import ROOT, free_port
from lab.dask_cluster import WAIT_SECONDS, DaskCluster

from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.fetch.options import FetchSettings
from incremental.fetch.status import FetchStatus
from incremental.settings import build_settings
from incremental.settings.sections import EngineKind
from incremental.visit.engines.elsewhere import Elsewhere, make_elsewhere, terms_of
from incremental.visit.engines.visits import LostVisitError
from incremental.visit.engines.worker import visit_on_worker
from incremental.visit.visit import Purpose, VisitTask

HOUR, DAY = 3_600.0, 86_400.0
LATE = ["/news/2026/story-number-4-of-the-day", "/news/2026/story-number-5-of-the-day"]


@dataclass
class Stage:
    """A story that has read its site once, and whose site then has two more pages."""

    site: EngineSite
    story: EngineStory
    elsewhere: Elsewhere
    replace_worker: Callable[[], object]
    deaths: int
    """Workers that a visit may end until it is lost."""

    def statuses(self) -> set[str]:
        """Return how the visits of the site ended so far."""
        counts = self.story.store.read.visit_counts(0.0)
        return {status for by_status in counts.values() for status in by_status}

    def news(self) -> list[str]:
        """Return the paths of what was announced."""
        return sorted(path for _, path in self.story.new())


# As written in incremental/visit/engines/cluster.py.
DASK_WAITS_SECONDS = 5.0


@contextmanager
def stage(kind: EngineKind, folder: Path, cluster: DaskCluster | None = None) -> Iterator[Stage]:
    """Set up a story on an engine."""
    settings = engine_settings(kind, cluster.address if cluster else "")
    with ExitStack() as stack:
        site = stack.enter_context(EngineSite(news_site(4)))
        elsewhere = stack.enter_context(elsewhere_of(settings))
        assert elsewhere is not None
        story = stack.enter_context(EngineStory(folder, settings, elsewhere, site))
        story.run(6 * HOUR)
        assert story.new() == []
        site.pages |= news_site(6)
        yield Stage(
            site, story, elsewhere, cluster.start_worker if cluster else bool, 2 if cluster else 1
        )


@pytest.fixture(params=["processes", "dask"])
def staged(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stage]:
    """A story on each engine that has workers to lose."""
    if request.param == "processes":
        with stage("processes", tmp_path) as ready:
            yield ready
        return
    # As shipped, Dask gives a visit that ended three workers to a fourth one.
    once_more = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}
    with DaskCluster(tmp_path, variables=once_more) as cluster:
        for _ in range(2):
            cluster.start_worker()
        cluster.wait_for(2)
        with stage("dask", tmp_path, cluster) as ready:
            yield ready


def test_a_visit_whose_worker_is_killed_is_made_again_elsewhere(staged: Stage) -> None:
    """Not at once: the host has just been asked."""
    killer = staged.site.before["/"] = Killer(1)
    staged.story.run(DAY)
    assert killer.kills == 1
    if staged.deaths > 1:  # on Dask; processes are asked again by the simulated clock
        first, second, *_ = killer.asked_at
        assert second - first >= DASK_WAITS_SECONDS
    assert staged.news() == LATE
    assert "internal_error" not in staged.statuses()
    assert staged.story.store.quarantine.entries(limit=10) == []


def test_a_page_that_kills_workers_is_quarantined_and_the_rest_goes_on(staged: Stage) -> None:
    killer = staged.site.before[LATE[0]] = Killer(99, staged.replace_worker)
    held = staged.story.store.quarantine
    staged.story.run(2 * DAY, until=lambda: bool(held.entries(limit=10)))
    (row,) = held.entries(limit=10)
    assert (killer.kills, row.purpose) == (2 * staged.deaths, "verify")
    assert "2 visits of this page were lost with their workers" in row.error
    del staged.site.before[LATE[0]]
    staged.story.run(2 * DAY)
    assert LATE[1] in staged.news()
    assert len(staged.news()) == len(set(staged.news()))


def test_workers_that_are_stopped_one_after_the_other_cost_no_page_its_visits(
    tmp_path: Path,
) -> None:
    """A rolling restart: Dask makes the visits of each worker again on another one."""
    with ExitStack() as stack:
        cluster = stack.enter_context(DaskCluster(tmp_path))
        for _ in range(3):
            cluster.start_worker(nanny=True)
        cluster.wait_for(3)
        settings = engine_settings("dask", cluster.address)
        hosts = ("127.0.0.1", "127.0.0.2")
        sites = [stack.enter_context(EngineSite(news_site(4), host)) for host in hosts]
        elsewhere = stack.enter_context(elsewhere_of(settings))
        assert elsewhere is not None
        story = stack.enter_context(EngineStory(tmp_path, settings, elsewhere, *sites))
        story.run(6 * HOUR)
        stopper = Stopper(cluster, 4)
        for site in sites:
            site.pages |= news_site(6)
            site.before |= dict.fromkeys(["/", *LATE], stopper)
        story.run(2 * DAY)
        assert stopper.stops == 4
        assert sorted(story.new()) == sorted((host, path) for host in hosts for path in LATE)
        assert story.store.quarantine.entries(limit=10) == []
        counts = story.store.read.visit_counts(0.0)
        assert "internal_error" not in {status for found in counts.values() for status in found}


def test_a_worker_of_another_version_gets_no_visits_while_others_do(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "hubwatch.engine")
    with DaskCluster(tmp_path) as cluster:
        cluster.start_worker(other_version=True)
        cluster.start_worker()
        cluster.wait_for(2)
        with stage("dask", tmp_path, cluster) as ready:
            wait_until(lambda: ready.elsewhere.report().refused)
            ready.story.run(DAY)
            report = ready.elsewhere.report()
            assert (report.workers, report.processes, report.waits) == (1, 1, "")
            (refused,) = report.refused
            assert "Hubwatch 0.0.1, the daemon " in refused
            assert ready.news() == LATE
    assert "refused: worker tcp://127.0.0.1:" in caplog.text


def test_a_worker_that_stood_still_begins_no_visit_that_was_given_up(tmp_path: Path) -> None:
    patience = FetchSettings(allowed_networks=("127.0.0.0/8",), total_timeout_seconds=2)
    with DaskCluster(tmp_path) as cluster, EngineSite(news_site(3)) as site:
        cluster.start_worker()
        cluster.wait_for(1)
        settings = msgspec.structs.replace(engine_settings("dask", cluster.address), fetch=patience)
        with elsewhere_of(settings) as elsewhere, ThreadPoolExecutor() as threads:
            assert elsewhere is not None
            task = VisitTask(Purpose.HUB, f"{site.url}/", 1, 1)
            elsewhere.visit(task)
            asked = len(site.asked)
            cluster.send_worker(0, signal.SIGSTOP)
            late, since = threads.submit(elsewhere.visit, task), SystemClock().monotonic()
            wait_until(lambda: SystemClock().monotonic() > since + 3)
            cluster.send_worker(0, signal.SIGCONT)
            with pytest.raises(LostVisitError, match="seconds late by its worker's clock"):
                late.result(WAIT_SECONDS)
            assert len(site.asked) == asked
            elsewhere.visit(task)
            assert len(site.asked) > asked


def test_a_visit_that_is_never_answered_is_given_up(tmp_path: Path) -> None:
    """Otherwise its site is never visited again, and its daemon cannot reconnect to its store."""
    short = FetchSettings(allowed_networks=("127.0.0.0/8",), total_timeout_seconds=1)
    with DaskCluster(tmp_path) as cluster, EngineSite(news_site(3)) as site:
        cluster.start_worker()
        cluster.wait_for(1)
        base = engine_settings("dask", cluster.address)
        daemon = msgspec.structs.replace(base.daemon, parse_seconds=1.0)
        settings = msgspec.structs.replace(base, fetch=short, daemon=daemon)
        with elsewhere_of(settings) as elsewhere:
            assert elsewhere is not None
            # The scheduler believes for minutes that a worker that stands still is there.
            cluster.send_worker(0, signal.SIGSTOP)
            with pytest.raises(LostVisitError, match="does not answer") as raised:
                elsewhere.visit(VisitTask(Purpose.HUB, f"{site.url}/", 1, 1))
            # Its host is left alone for as long as it may go on.
            assert (raised.value.blamed, raised.value.rest_seconds) == (False, 2)
            cluster.send_worker(0, signal.SIGCONT)


def test_a_visit_sends_nothing_after_its_end() -> None:
    """By then its host may be asked again, because the daemon took the worker for dead."""
    settings = engine_settings("processes")
    with EngineSite(news_site(3)) as site:
        task = VisitTask(Purpose.HUB, f"{site.url}/", 1, 1)
        terms, now = terms_of(settings, readers=0), SystemClock().monotonic()
        late = visit_on_worker(task, terms, None, now)
        assert (late.response.status, site.asked) == (FetchStatus.TIMED_OUT, [])
        assert visit_on_worker(task, terms, None, now + 20).page is not None


def test_a_scheduler_that_is_killed_and_started_again_costs_no_site_a_failure(
    tmp_path: Path,
) -> None:
    with DaskCluster(tmp_path) as cluster:
        cluster.start_worker()
        cluster.wait_for(1)
        with stage("dask", tmp_path, cluster) as ready:
            asked: list[int] = []

            def kill_scheduler(_port: int) -> None:
                if not asked:
                    cluster.kill_scheduler()
                asked.append(1)

            ready.site.before["/"] = kill_scheduler
            ready.story.run(DAY, until=lambda: not ready.elsewhere.report().workers)
            assert "no Dask scheduler answers" in ready.elsewhere.report().waits
            assert ready.news() == []
            cluster.start_scheduler()
            cluster.start_worker()
            ready.story.run(DAY)
            assert ready.elsewhere.report().waits == ""
            assert ready.news() == LATE
            assert "internal_error" not in ready.statuses()
            seeds = [hub for hub in ready.story.store.read.hubs() if hub.role == "seed"]
            assert [hub.failures for hub in seeds] == [0]
            assert len(asked) > 1


def test_an_address_where_no_scheduler_answers_is_named_at_the_start() -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    settings = engine_settings("dask", address)
    with (
        pytest.raises(SettingsError, match="start it") as raised,
        make_elsewhere(settings, SystemClock()),
    ):
        pass
    assert (raised.value.field, raised.value.value) == ("engine.address", address)


@pytest.mark.parametrize(
    "address", ["", "127.0.0.1:8786", "http://127.0.0.1:8786", "tcp://user:word@host:1", "tcp://h"]
)
def test_an_address_of_another_form_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match=r"engine\.address = .*tcp://127\.0\.0\.1:8786"):
        build_settings({"engine": {"kind": "dask", "address": address}})


_DAEMON = """
import sys
from incremental.base.clock import SystemClock
from incremental.visit.engines.elsewhere import make_elsewhere
from incremental.settings import build_settings
from incremental.visit.visit import Purpose, VisitTask

if __name__ == "__main__":
    settings = build_settings({"engine": {"kind": "processes", "processes": 1}})
    with make_elsewhere(settings, SystemClock()) as elsewhere:
        elsewhere.visit(VisitTask(Purpose.HUB, "http://127.0.0.1:9/", 1, 1))
        print("ready", flush=True)
        sys.stdin.read()
"""


def test_processes_end_with_a_daemon_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "daemon.py"
    program.write_text(_DAEMON)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == b"ready\n"
        children = psutil.Process(daemon.pid).children(recursive=True)
        assert len(children) >= 2
        daemon.kill()
    _, alive = psutil.wait_procs(children, timeout=WAIT_SECONDS)
    assert alive == []
