"""``hubwatch status``: what the daemon does, what is wrong, and what met a bug."""

from pathlib import Path

import pytest
from cli_runner import Run

from incremental.base.clock import SystemClock
from incremental.daemon.health import DaemonState, Health
from incremental.daemon.pulse import REPORT, write_report
from incremental.settings import Settings
from incremental.settings.storage import only_writer, open_configured_store
from store.crawl.quarantine import QuarantineKind


@pytest.fixture
def health(tmp_path: Path) -> Health:
    """The health of a daemon that runs in this folder."""
    with open_configured_store(Settings(), tmp_path) as store:
        store.write.add_site("https://news.example/", "news", now=0.0)
    (tmp_path / "hubwatch-data" / REPORT).touch()
    found = Health(SystemClock())
    found.enter(DaemonState.RUNNING)
    return found


def report(health: Health, folder: Path) -> None:
    write_report(folder / "hubwatch-data" / REPORT, health.report())


@pytest.mark.usefixtures("health")
def test_without_a_daemon_it_says_so(tmp_path: Path, hubwatch: Run) -> None:
    (tmp_path / "hubwatch-data" / REPORT).unlink()
    assert "no daemon is running: hubwatch run" in hubwatch("status").err


def test_a_killed_daemon_is_no_running_one(health: Health, tmp_path: Path, hubwatch: Run) -> None:
    report(health, tmp_path)
    assert "it was killed after" in hubwatch("status").err


def test_all_is_well(health: Health, tmp_path: Path, hubwatch: Run) -> None:
    report(health, tmp_path)
    with only_writer(Settings(), tmp_path):
        assert "all is well" in hubwatch("status").err


def test_what_is_wrong_is_said_with_since_when(
    health: Health, tmp_path: Path, hubwatch: Run
) -> None:
    health.store_lost("no space left")
    health.failed("messages", "KeyError: 'a'", 0.0)
    report(health, tmp_path)
    with only_writer(Settings(), tmp_path):
        said = hubwatch("status").err
        assert "no space left" in said
        assert "job messages failed, 1 in a row: KeyError: 'a'" in said
        daemon = hubwatch("status", "--json").json["daemon"]
    assert (daemon["running"], daemon["well"], daemon["state"]) == (True, False, "waiting")
    assert {one["kind"] for one in daemon["problems"]} == {"store", "job"}
    assert daemon["problems"][0]["since"].startswith("20")


def test_a_store_that_cannot_be_opened_hides_no_health(
    health: Health, tmp_path: Path, hubwatch: Run
) -> None:
    health.store_lost("the file is gone")
    report(health, tmp_path)
    database = tmp_path / "hubwatch-data" / "hubwatch.sqlite"
    for path in tmp_path.glob("hubwatch-data/hubwatch.sqlite*"):
        path.unlink()
    database.write_bytes(b"noise" * 100)
    with only_writer(Settings(), tmp_path):
        done = hubwatch("status")
        assert done.code == 3
        assert "the file is gone" in done.err
        answer = hubwatch("status", "--json").json
    assert answer["daemon"]["problems"][0]["detail"] == "the file is gone"
    assert "not a database" in answer["error"]


def test_what_met_a_bug_is_listed_and_its_trace_is_in_the_json(
    health: Health, tmp_path: Path, hubwatch: Run
) -> None:
    with open_configured_store(Settings(), tmp_path) as store:
        (site,) = store.read.sites()
        store.quarantine.put(
            *(QuarantineKind.SITE, site.id),
            error="ValueError: \x1b[31mred",
            trace="Traceback ...",
            now=1e9,
        )
    report(health, tmp_path)
    with only_writer(Settings(), tmp_path):
        shown = hubwatch("status")
    assert "ValueError: " in shown.out
    assert "\x1b[31m" not in shown.out
    assert "all is well" not in shown.err
    assert "all is well" not in shown.err
    (entry,) = hubwatch("status", "--json").json["quarantine"]
    assert (entry["kind"], entry["url"], entry["times"]) == ("site", "https://news.example/", 1)
    assert entry["trace"] == "Traceback ..."
