"""A recorded site is crawled on each engine, and in each store, with the same requests and the same news."""

import io
from pathlib import Path

import pytest
import replay
from lab.daemon_process import free_port
from lab.postgres_server import missing_for_postgres
from replay_place import Setup
from replay_site import ReplaySite

from incremental.settings import Settings
from incremental.settings.sections import EngineKind

RECORDING = Path(__file__).resolve().parents[2] / "benchmarks" / "harbour-times.sqlite"
DAY = 86_400.0


@pytest.fixture(scope="module")
def port() -> int:
    """Port of the recording's server: an address is part of what a site's visits depend on."""
    return free_port()


def replayed(setup: Setup) -> list[str]:
    """Crawl two days of the recording; return each request and each new page with its time."""
    site, log = ReplaySite(RECORDING), io.StringIO()
    until = site.first_ts + 2 * DAY
    replay.simulate(site, Settings(), log, quiet=True, until=until, setup=setup)
    # What happens at one moment has no order.
    return sorted(log.getvalue().splitlines())


@pytest.fixture(scope="module")
def in_threads(port: int) -> list[str]:
    """What happens with threads and SQLite."""
    return replayed(Setup("threads", port=port))


def test_a_replay_finds_something(in_threads: list[str]) -> None:
    assert sum("\tfetch\t" in line for line in in_threads) > 90
    assert sum("\tannounce\t" in line for line in in_threads) > 1


@pytest.mark.parametrize("engine", ["processes", "dask"])
def test_a_replay_is_the_same_on_each_engine(
    engine: EngineKind, port: int, in_threads: list[str]
) -> None:
    assert replayed(Setup(engine, port=port)) == in_threads


@pytest.mark.skipif(missing_for_postgres() is not None, reason=str(missing_for_postgres()))
def test_a_replay_is_the_same_on_postgresql(port: int, in_threads: list[str]) -> None:
    assert replayed(Setup("threads", "postgres", port)) == in_threads
