"""The daemon: a real process against a local site, and its loop with a crawler of straw."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fake_web import page
from lab.clocks import FastClock
from local_site import LocalSite
from stories import announced_pages

from incremental.daemon.daemon import Daemon
from incremental.daemon.health import Health
from incremental.settings import Settings
from incremental.settings.storage import open_configured_store
from store import Store
from store.crawl.quarantine import QuarantineRow
from store.errors import StoreDamagedError, StoreFullError, StoreLockedError

ROOT = Path(__file__).parents[2]
CONFIG = """
[fetch]
allowed_networks = ["127.0.0.0/8"]
[revisit]
requests_per_day = 5000
[web]
enabled = false
"""
COMMAND = [sys.executable, "-c", "from incremental.interfaces.cli import main; main()", "run"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
ENDED_BY_SECOND_SIGNAL = 130


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LocalSite]:
    (tmp_path / "hubwatch.toml").write_text(CONFIG)
    links = [f"/stories/a-story-with-a-long-name-{n}.html" for n in range(5)]
    with LocalSite(
        {"/": page(*links), **dict.fromkeys(links, page(text="Long ago. " * 90))}
    ) as local:
        yield local


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start ``hubwatch run`` in the test's folder; whatever still runs at the end is killed."""
    processes: list[subprocess.Popen[str]] = []

    def begin(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield begin
    for process in processes:
        with suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def stored(folder: Path) -> Store:
    return open_configured_store(Settings(), folder)


def make_due(folder: Path) -> None:
    """Let every hub be due now, as after a long pause."""
    with stored(folder) as store:
        for hub in store.read.hubs():
            if hub.state != "dropped":
                store.write.update_hub(hub.page_id, due_at=0, revisit="{}")


def test_once_does_what_is_due_and_ends_by_itself(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    first = start("--once", "--json", site.url)
    report = json.loads(first.communicate()[0])
    assert (first.returncode, report["new"], report["failed"]) == (0, 0, 0)
    story = "/stories/another-story-with-a-long-name.html"
    site.pages |= {"/": page(story, *site.pages), story: page(title="Another", text="New. " * 99)}
    make_due(tmp_path)
    second = start("--once", "--json")
    report = json.loads(second.communicate()[0])
    assert second.returncode == 0
    assert report["new"] == 1


def test_once_that_fails_in_part_is_no_success(site: LocalSite, start: Start) -> None:
    """One site is there, one refuses connections."""
    with LocalSite({}) as closed:
        gone = closed.url
    process = start("--once", site.url, gone)
    _, err = process.communicate()
    assert process.returncode == 1
    assert gone in err


def test_a_seed_that_robots_txt_denies_is_no_success(site: LocalSite, start: Start) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /\n"
    process = start("--once", site.url)
    _, err = process.communicate()
    assert (process.returncode, "denied by robots.txt" in err) == (1, True)


def test_the_sites_of_the_settings_are_watched_on_their_terms(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    (tmp_path / "hubwatch.toml").write_text(
        f'{CONFIG}[[site]]\nurl = "{site.url}/"\nrequests_per_day = 77\n'
    )
    assert start("--once").communicate()[0].startswith("hub ")
    with stored(tmp_path) as store:
        assert [row.requests_per_day for row in store.read.sites()] == [77]


def test_the_first_signal_ends_it_when_the_visit_under_way_is_recorded(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    site.held.add("/")
    process = start(site.url)
    assert site.asked.wait(60)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    assert any("finishing" in line for line in process.stderr)
    site.release.set()
    out, _ = process.communicate()
    assert process.returncode == 0
    assert "hub " in out
    with stored(tmp_path) as store:
        assert [hub.visits for hub in store.read.hubs() if hub.role == "seed"] == [1]


def test_the_second_signal_ends_it_at_once_and_loses_nothing(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    site.held.add("/")
    process = start(site.url)
    assert site.asked.wait(60)
    process.send_signal(signal.SIGTERM)
    assert process.stderr is not None
    assert any("finishing" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    assert process.wait() == ENDED_BY_SECOND_SIGNAL
    site.release.set()
    with stored(tmp_path) as store:
        (hub,) = store.read.hubs()
        assert (hub.visits, hub.state) == (0, "candidate")


def test_a_server_that_never_answers_does_not_hold_up_the_end(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    config = tmp_path / "hubwatch.toml"
    config.write_text(f"{CONFIG}[daemon]\nstop_seconds = 2\n")
    site.held.add("/")
    process = start(site.url)
    assert site.asked.wait(60)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate()
    assert process.returncode == 0
    assert "visits not finished, and due again: 1" in err
    site.release.set()
    with stored(tmp_path) as store:
        (hub,) = store.read.hubs()
        assert (hub.visits, hub.state) == (0, "candidate")
        assert hub.due_at < 2e9, "it is due at the next start"
    assert not (tmp_path / "hubwatch-data" / "daemon.json").exists()


def test_killed_and_started_again_it_announces_nothing_twice(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    start("--once", site.url).communicate()
    stories = [f"/stories/a-new-story-with-a-long-name-{n}.html" for n in range(6)]
    site.pages |= {"/": page(*stories, *site.pages)} | {s: page(text="New. " * 99) for s in stories}
    make_due(tmp_path)
    process = start()
    assert process.stdout is not None
    assert next(line for line in process.stdout if line.startswith("new "))
    process.kill()
    process.wait()
    make_due(tmp_path)
    start("--once").communicate()
    with stored(tmp_path) as store:
        announced = [news.url for news in announced_pages(store)]
    assert sorted(announced) == [site.url + story for story in stories]


def test_a_site_added_by_another_command_is_taken_up(
    tmp_path: Path, site: LocalSite, start: Start
) -> None:
    with LocalSite({"/": page("/stories/a-story-elsewhere-of-no-note.html")}) as other:
        process = start(site.url)
        assert process.stdout is not None
        assert "hub" in process.stdout.readline()
        add = [*COMMAND[:-1], "add", other.url]
        subprocess.run(add, cwd=tmp_path, env=ENVIRONMENT, check=True, capture_output=True)
        assert any(other.url in line for line in process.stdout if line.startswith("hub "))


# --- the loop ---------------------------------------------------------------------------------


class Straw:
    """A crawler that only does what a test says, in each of its steps."""

    def __init__(self, step: Callable[[int, float], float]) -> None:
        self._step = step
        self.steps = 0
        self.due = 0
        self.idle = True
        self.under_way = self.ended = 0
        self.gate = self
        self.engine = self
        self.frontier = self
        self.topics = self
        self.busy: dict[str, float] = {}
        self.loads = 0

    def load(self, _now: float) -> None:
        self.loads += 1

    def abandon(self, _now: float) -> bool:
        return True

    def is_due(self, _now: float, _patience_seconds: float) -> bool:
        return self.steps < self.due

    def catch_up(self, _now: float) -> bool:
        return False

    def drain(self, _now: float) -> None:
        """Drain nothing."""

    def step(self, now: float, _when_done: object) -> float:
        self.steps += 1
        return self._step(self.steps, now)


@pytest.fixture
def handlers() -> Iterator[None]:
    """Put the signal handlers back that the daemon replaces."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run_straw(step: Callable[[int, float], float], folder: Path, *, once: bool = False) -> Straw:
    straw = Straw(step)
    with stored(folder) as store:
        make: Any = lambda _gate: straw  # noqa: E731 - as wide as the daemon needs
        Daemon(make, store, Settings(), FastClock(1000.0), once=once).run()
    return straw


@pytest.mark.usefixtures("handlers")
def test_a_signal_that_comes_in_the_middle_of_a_step_is_not_lost(tmp_path: Path) -> None:
    def step(count: int, now: float) -> float:
        if count == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return now + (1.0 if count < 3 else 1e9)

    assert run_straw(step, tmp_path).steps == 3


@pytest.mark.usefixtures("handlers")
def test_a_damaged_store_ends_the_daemon(tmp_path: Path) -> None:
    def step(count: int, now: float) -> float:
        if count == 2:
            raise StoreDamagedError("page 7")
        return now

    with pytest.raises(StoreDamagedError):
        run_straw(step, tmp_path)


@pytest.mark.usefixtures("handlers")
def test_a_locked_store_is_waited_for_and_read_again(tmp_path: Path) -> None:
    def step(count: int, now: float) -> float:
        if count == 2:
            raise StoreLockedError("held by another process")
        if count == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return now

    straw = run_straw(step, tmp_path)
    assert (straw.steps, straw.loads) == (4, 2)


@pytest.mark.usefixtures("handlers")
def test_the_outage_lasts_as_long_as_there_is_too_little_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not until the next write succeeds: below the bound nothing is fetched at all."""
    rooms = iter([0.0, 0.0, 0.0, 1e12])
    steps_at_room: list[int] = []

    def check_room(_store: Store, least_bytes: float) -> None:
        steps_at_room.append(straw.steps)
        if next(rooms, 1e12) < least_bytes:
            raise StoreFullError("5 MB left")

    def step(_count: int, now: float) -> float:
        if len(steps_at_room) > 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return now + 1

    monkeypatch.setattr(Store, "check_room", check_room)
    straw = Straw(step)
    make: Any = lambda _gate: straw  # noqa: E731 - as wide as the daemon needs
    with stored(tmp_path) as store:
        Daemon(make, store, Settings(), FastClock(100.0), once=False).run()
    assert len(set(steps_at_room[:4])) == 1, "no round in between"


@pytest.mark.usefixtures("handlers")
def test_a_bug_while_sites_are_read_again_lets_a_new_crawler_read_them(tmp_path: Path) -> None:
    class Tripping(Straw):
        def load(self, now: float) -> None:
            super().load(now)
            if self.loads == 2:
                raise KeyError("a bug")

    def step(_count: int, now: float) -> float:
        if straw.steps == 2:
            other.write.add_site("https://later.example/", "later", now=now)
        if straw.loads > 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return now + 1

    straw = Tripping(step)
    make: Any = lambda _gate: straw  # noqa: E731 - as wide as the daemon needs
    with stored(tmp_path) as store, stored(tmp_path) as other:
        Daemon(make, store, Settings(), FastClock(1000.0), once=False).run()
    assert straw.loads == 3


@pytest.mark.usefixtures("handlers")
def test_a_single_run_does_not_wait_for_a_locked_store(tmp_path: Path) -> None:
    def step(_count: int, _now: float) -> float:
        raise StoreLockedError("held by another process")

    with pytest.raises(StoreLockedError):
        run_straw(step, tmp_path, once=True)


@pytest.mark.usefixtures("handlers")
def test_a_bug_in_a_round_is_noted_and_the_next_one_begins_afresh(tmp_path: Path) -> None:
    held: list[QuarantineRow] = []

    def step(count: int, now: float) -> float:
        if count == 2:
            raise KeyError("a bug")
        if count == 3:
            with stored(tmp_path) as store:
                held.extend(store.quarantine.entries())
        if count == 4:
            os.kill(os.getpid(), signal.SIGTERM)
        return now

    straw = run_straw(step, tmp_path)
    assert (straw.steps, straw.loads) == (4, 2)
    assert [(row.kind, row.key, row.error) for row in held] == [
        ("job", "round", "KeyError: 'a bug'")
    ]
    assert "test_crawl_daemon.py" in held[0].trace
    with stored(tmp_path) as store:
        assert store.quarantine.entries() == []


@pytest.mark.usefixtures("handlers")
def test_a_job_with_a_bug_leaves_the_others_alone(tmp_path: Path) -> None:
    tried: list[float] = []

    def broken(now: float) -> float:
        tried.append(now)
        raise ZeroDivisionError

    def step(_count: int, now: float) -> float:
        if len(tried) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return now + 5

    straw = Straw(step)
    make: Any = lambda _gate: straw  # noqa: E731 - as wide as the daemon needs
    clock = FastClock(1000.0)
    health = Health(clock)
    with stored(tmp_path) as store:
        jobs = {"learning": broken}
        Daemon(make, store, Settings(), clock, once=False, jobs=jobs, health=health).run()
        (row,) = store.quarantine.entries()
    assert (row.key, row.times) == ("learning", 3)
    assert straw.steps > 5
    gaps = [later - before for before, later in pairwise(tried)]
    # At a thousand times the speed, a busy machine is late by minutes; early it must never be.
    assert gaps[0] >= 60
    assert gaps[1] >= 120
    (problem,) = health.report().problems
    assert (problem.kind, health.report().well) == ("job", True)


@pytest.mark.usefixtures("handlers")
def test_nothing_planned_for_ever_is_no_busy_loop(tmp_path: Path) -> None:
    assert run_straw(lambda _count, _now: float("inf"), tmp_path, once=True).steps == 1
