"""What all tests share: the profile of the property tests, and stores to write to."""

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_tab import browser, shown, tab  # noqa: F401 - fixtures of a real browser
from cli_runner import found, hubwatch  # noqa: F401 - fixtures of the command line
from empty_store import put_empty_store
from hypothesis import HealthCheck, settings
from lab.postgres_server import PostgresServer, missing_for_postgres
from untested import untested
from web_served import announced, empty, served, watched  # noqa: F401 - fixtures of the web page

from store import Store, open_store

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and with them what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Hundreds of processes are started; without bytecode each would compile the project and its libraries again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A shared machine is slow at times: no test fails for that.
settings.register_profile(
    "hubwatch", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=60
)
settings.register_profile("ci", settings.get_profile("hubwatch"), derandomize=True)
# A landing is judged on the same examples each time; new ones are drawn on a developer's machine.
settings.load_profile("ci" if os.environ.get("CI") else "hubwatch")


# They wait for processes and deadlines, minutes a file: begun last, they would end alone.
_BEGUN_FIRST = (
    "sharing/test_sharing_processes",
    "crawl/test_crawl_kills",
    "sharing/test_sharing_kills",
    "engines/",
    "rendering/",
    "reading/",
    "web/test_web_browser",
    "revisit/test_revisit_benchmark",
    "project/test_project_patterns",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that take longest; the order within a file stays."""

    def place(item: pytest.Item) -> int:
        file = item.nodeid.removeprefix("tests/")
        waits = (place for place, begin in enumerate(_BEGUN_FIRST) if file.startswith(begin))
        return next(waits, len(_BEGUN_FIRST))

    items.sort(key=place)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was not tested, as the last line of the summary."""
    skipped = terminalreporter.getreports("skipped")
    if line := untested(report.longreprtext for report in skipped):
        terminalreporter.write_line(line, yellow=True)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this test process's own, thrown away at the end."""
    if reason := missing_for_postgres():
        pytest.skip(f"PostgreSQL is not tested: {reason}")
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of a database."""
    return str(request.param)


@pytest.fixture
def where(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database, of either kind."""
    if kind == "sqlite":
        return str(tmp_path / "hubwatch.sqlite")
    server: PostgresServer = request.getfixturevalue("postgres")
    return server.empty_database()


@pytest.fixture(scope="session")
def postgres_store(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a store on the server, made once: not every test makes all tables."""
    url = postgres.database("store")
    open_store(url, cache_folder=tmp_path_factory.mktemp("store")).close()
    return url


@pytest.fixture
def store(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An open, empty store, of either kind."""
    where = str(tmp_path / "hubwatch.sqlite")
    if kind == "postgres":
        where = request.getfixturevalue("postgres_store")
        request.getfixturevalue("postgres").begin_again(where)
    else:
        put_empty_store(Path(where))
    with open_store(where, cache_folder=tmp_path / "cache") as opened:
        yield opened


@pytest.fixture
def sqlite_store(tmp_path: Path) -> Iterator[Store]:
    """An open, empty store in a SQLite file."""
    path = tmp_path / "hubwatch.sqlite"
    put_empty_store(path)
    with open_store(str(path), cache_folder=tmp_path / "cache") as opened:
        yield opened
