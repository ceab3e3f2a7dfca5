"""The daemon's health: when it is well, what it says when not, and who is told."""

import os
import socket
from pathlib import Path

import pytest
from lab.clocks import SimulatedClock

from incremental.daemon.health import DaemonState, Health, HealthReport, ProblemKind
from incremental.daemon.pulse import REPORT, Pulse, ServiceManager, read_report, write_report

START = 1_700_000_000.0


@pytest.fixture
def clock() -> SimulatedClock:
    return SimulatedClock(START)


def kinds(report: HealthReport) -> list[ProblemKind]:
    return [problem.kind for problem in report.problems]


def test_a_daemon_whose_jobs_end_is_well(clock: SimulatedClock) -> None:
    health = Health(clock)
    for step in range(100):
        clock.advance_to(START + 10 * step)
        health.began("round")
        health.ended("round", clock.now() + 10)
    assert health.report().well
    assert health.lives()


@pytest.mark.parametrize("running", [True, False])
def test_rounds_that_stand_still_are_noticed_and_named(
    clock: SimulatedClock, *, running: bool
) -> None:
    """Blocked in a job, or because the scheduler died."""
    health = Health(clock)
    health.enter(DaemonState.RUNNING)
    health.began("round")
    if not running:
        health.ended("round", START + 1)
    clock.advance_to(START + 119)
    assert health.report().well
    clock.advance_to(START + 121)
    (problem,) = health.report().problems
    assert (problem.kind, problem.since) == (ProblemKind.ROUNDS, START)
    assert ("in the job round" in problem.detail) is running
    assert not health.lives()


def test_a_start_that_waits_for_its_store_is_no_standstill(clock: SimulatedClock) -> None:
    """Nor is one that upgrades a large store: the watchdog must not kill either."""
    health = Health(clock)
    clock.advance_to(START + 900)
    assert health.lives()
    assert health.report().well
    health.store_lost("the server is not there")
    clock.advance_to(START + 1_800)
    assert health.lives()
    assert kinds(health.report()) == [ProblemKind.STORE]
    health.store_back()
    health.enter(DaemonState.RUNNING)
    assert health.report().well
    clock.advance_to(START + 2_000)
    assert not health.lives()


def test_bugs_in_a_loop_that_moves_are_no_standstill(clock: SimulatedClock) -> None:
    health = Health(clock)
    health.enter(DaemonState.RUNNING)
    for _ in range(3):
        health.failed("round", "KeyError: \ud800", START + 60)
    assert not health.report().well
    assert health.lives()


def test_visits_of_which_none_ends_are_noticed(clock: SimulatedClock) -> None:
    health = Health(clock)
    for step in range(70):
        clock.advance_to(START + 10 * step)
        health.began("round")
        health.visits(8, 5)
        health.ended("round", clock.now() + 10)
    assert kinds(health.report()) == [ProblemKind.VISITS]
    health.visits(8, 6)
    assert health.report().well


def test_no_visit_for_days_is_no_problem_when_none_is_due(clock: SimulatedClock) -> None:
    health = Health(clock)
    health.visits(0, 5)
    clock.advance_to(START + 200_000)
    health.began("round")
    health.visits(1, 5)
    health.ended("round", clock.now() + 1)
    assert health.report().well


def test_a_lost_store_is_said_at_once_with_its_reason_and_since(clock: SimulatedClock) -> None:
    health = Health(clock)
    health.store_lost("no space left")
    clock.advance_to(START + 50)
    health.store_lost("no space left, still")
    report = health.report()
    assert (report.state, report.well) == (DaemonState.WAITING, False)
    assert report.problems[0].detail == "no space left, still"
    assert report.problems[0].since == START
    assert health.lives(), "it waits, and must not be killed for it"
    health.store_back()
    assert health.report().well


def test_what_keeps_a_feature_from_its_work_is_named(clock: SimulatedClock) -> None:
    health = Health(clock)
    health.trouble("messages", {"team": "team: 503"})
    clock.advance_to(START + 30)
    health.trouble("messages", {"team": "team: 503", "mail": "mail: refused"})
    health.trouble("discovery", {})
    found = {one.detail: one.since for one in health.report().problems}
    assert found == {
        "team: 503": START,
        "mail: refused": START + 30,
    }
    assert not health.report().well
    health.trouble("messages", {})
    assert health.report().well


@pytest.mark.parametrize(
    ("job", "kind"),
    [
        ("round", ProblemKind.ROUNDS),
        ("messages", ProblemKind.FEATURE),
        ("learning", ProblemKind.JOB),
    ],
)
def test_a_job_that_fails_twice_is_a_problem_of_its_kind(
    clock: SimulatedClock, job: str, kind: ProblemKind
) -> None:
    health = Health(clock)
    health.vital = frozenset({"messages"})
    health.failed(job, "KeyError: 'a'", START + 60)
    assert kinds(health.report()) == [ProblemKind.JOB]
    health.failed(job, "KeyError: 'a'", START + 120)
    assert kinds(health.report()) == [kind]
    health.ended(job, START + 180)
    assert health.report().well


def test_the_report_is_read_by_another_process(clock: SimulatedClock, tmp_path: Path) -> None:
    health = Health(clock)
    health.began("round")
    health.store_lost("x" * 100_000)
    write_report(tmp_path / REPORT, health.report())
    assert read_report(tmp_path) is None, "without the daemon's file nothing is made"
    (tmp_path / REPORT).touch()
    write_report(tmp_path / REPORT, health.report())
    report = read_report(tmp_path)
    assert report is not None
    assert (report.state, report.problems[0].kind) == (DaemonState.WAITING, ProblemKind.STORE)


@pytest.mark.parametrize("body", ["", "{", "[]", '{"at": "x"}', "\0" * 50])
def test_a_report_that_is_half_written_counts_as_none(tmp_path: Path, body: str) -> None:
    (tmp_path / REPORT).write_text(body)
    assert read_report(tmp_path) is None


def test_systemd_hears_ready_alive_and_stopping(
    clock: SimulatedClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address)
        manager.settimeout(20)
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        monkeypatch.setenv("WATCHDOG_USEC", "300000")
        monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))
        health = Health(clock)
        health.enter(DaemonState.RUNNING)
        manager_of_us = ServiceManager()
        assert "NOTIFY_SOCKET" not in os.environ
        manager_of_us.tell(ready=1)
        with Pulse(health, manager_of_us) as pulse:
            pulse.show_in(tmp_path)
            heard = {manager.recv(1_000).decode() for _ in range(3)}
            assert heard == {"READY=1", "STATUS=running: all well\nWATCHDOG=1"}
            manager.recv(1_000)
            assert read_report(tmp_path) is not None
            clock.advance_to(START + 500)
            while "WATCHDOG=1" in (said := manager.recv(1_000).decode()):
                pass
            assert said.startswith("STATUS=running: no progress for 500 seconds")
        while (said := manager.recv(1_000).decode()).startswith("STATUS"):
            pass
        assert said == "STOPPING=1"
        assert not (tmp_path / REPORT).exists()


def test_of_two_daemons_in_a_folder_the_first_one_reports(
    clock: SimulatedClock, tmp_path: Path
) -> None:
    with Pulse(Health(clock), ServiceManager()) as first:
        first.show_in(tmp_path)
        with Pulse(Health(clock), ServiceManager()) as second:
            second.show_in(tmp_path)
        assert (tmp_path / REPORT).exists()
    assert not (tmp_path / REPORT).exists()


def test_without_systemd_nothing_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    monkeypatch.setenv("WATCHDOG_USEC", "300000")
    monkeypatch.setenv("WATCHDOG_PID", "1")
    manager = ServiceManager()
    manager.tell(ready=1)
    assert manager.watchdog_seconds is None, "it is meant for another process"
