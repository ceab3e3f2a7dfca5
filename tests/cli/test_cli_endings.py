"""How commands end: settings that are wrong, stores that cannot be used, readers that go away."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import FakeWeb

import store.database
from incremental.settings import load_settings

ROOT = Path(__file__).parents[2]
SITE = "https://news.example/"
COMMANDS = ["list", "new", "hubs", "status", "check", "add", "run"]


def arguments(command: str) -> list[str]:
    return [command, SITE] if command in ("check", "add") else [command]


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--limit", "0", "0 is not in the range x>=1"),
        ("--limit", "many", "'many' is not a valid int"),
        ("--min-score", "1.5", "1.5 is not in the range 0<=x<=1"),
    ],
)
def test_a_wrong_number_is_told_what_the_option_takes(
    hubwatch: Run, option: str, value: str, says: str
) -> None:
    done = hubwatch("new", option, value)
    assert done.code == 2
    assert f"'{option}': {says}" in done.err


# --- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[revisit]\nrequests_per_day = -1", ["revisit.requests_per_day", "-1"]),
        ("[revisit]\nrequests_per_day = 'many'", ["revisit.requests_per_day", "many"]),
        ("[revisit]\nrequests_per_day = nan", ["requests_per_day"]),
        ("[revisit]\nmin_interval_minutes = 0", ["revisit.min_interval_minutes", "0"]),
        ("[hubs]\nthreshold = 7", ["hubs.threshold", "7"]),
        ("[hubs]\ntreshold = 0.7", ["treshold"]),
        ("[fetch]\ncontcat = 'me@example.org'", ["fetch.contcat", "contact"]),
        ("[politeness]\nmin_delay = 1", ["politeness.min_delay", "min_delay_seconds"]),
        ("[politeness]\nmin_delay_seconds = 0", ["min_delay_seconds", "0.5"]),
        ("[fetch]\nmax_redirects = -1", ["max_redirects", "-1"]),
        ('[fetch]\ncontact = "a\\nb"', ["contact"]),
        ("[daemon]\nworkers = 0", ["daemon.workers", "0"]),
        ("[stor]\nfolder = 'x'", ["stor"]),
        ("fetch = 3", ["fetch", "3"]),
        ("[[site]]\nurl = 5", ["site", "url", "5"]),
        ("[[site]]\nreach = 'host'", ["url"]),
        ("[[site]]\nurl = 'https://a.example'\nreach = 'far'", ["reach", "far"]),
        ("this is no toml", ["hubwatch.toml"]),
    ],
)
def test_a_wrong_setting_is_named_with_its_value(
    hubwatch: Run, tmp_path: Path, toml: str, says: list[str]
) -> None:
    (tmp_path / "hubwatch.toml").write_text(toml)
    done = hubwatch("list")
    assert done.code == 2
    assert all(word in done.err for word in says), done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "hubwatch-data").exists()


@pytest.mark.parametrize(
    ("toml", "command", "says"),
    [
        (
            "[engine]\nkind = 'magic'",
            "run",
            'engine.kind = \'magic\': must be one of: "dask", "processes", "threads"',
        ),
        (
            "[engine]\nkind = 'magic'",
            "hubs",
            'engine.kind = \'magic\': must be one of: "dask", "processes", "threads"',
        ),
        (
            "[engine]\nkind = 'magic'",
            "status",
            'engine.kind = \'magic\': must be one of: "dask", "processes", "threads"',
        ),
        (
            "[engine]\nkind = 'magic'",
            "check",
            'engine.kind = \'magic\': must be one of: "dask", "processes", "threads"',
        ),
        ("[daemon]\nlog_level = 'loud'", "run", "daemon.log_level"),
        ("[fetch]\nallowed_networks = ['here']", "run", "127.0.0.0/8"),
        ("[[site]]\nurl = 'example'", "run", "example"),
    ],
)
def test_a_setting_that_only_some_commands_read(
    hubwatch: Run, tmp_path: Path, toml: str, command: str, says: str
) -> None:
    hubwatch("add", SITE)
    (tmp_path / "hubwatch.toml").write_text(toml)
    done = hubwatch(*arguments(command), *(["--once"] if command == "run" else []))
    assert (done.code, says in done.err) == (2, True), done.err


def test_a_settings_file_that_is_not_there(hubwatch: Run) -> None:
    done = hubwatch("--config", "nowhere.toml", "list")
    assert (done.code, "hubwatch init" in done.err) == (2, True)


def test_the_environment_outranks_the_file(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.toml"
    path.write_text("[revisit]\nrequests_per_day = 5\n[fetch]\ncontact = 'a@example.org'\n")
    environment = {"HUBWATCH_REVISIT_REQUESTS_PER_DAY": "7", "HUBWATCH_DAEMON_WORKERS": "3"}
    settings, folder = load_settings(path, environment)
    assert (settings.revisit.requests_per_day, settings.daemon.workers) == (7, 3)
    assert (settings.fetch.contact, folder) == ("a@example.org", tmp_path)


def test_a_wrong_value_in_the_environment_is_named(
    hubwatch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUBWATCH_HUBS_THRESHOLD", "high")
    done = hubwatch("list")
    assert (done.code, "hubs.threshold" in done.err, "high" in done.err) == (2, True, True)


def test_passwords_are_not_shown_in_errors(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text(
        "[[site]]\nurl = 'https://a.example'\npassword = ['hunter2']\n"
    )
    done = hubwatch("list")
    assert done.code == 2
    assert "hunter2" not in done.err


def test_settings_that_were_there_before_are_missed(hubwatch: Run, tmp_path: Path) -> None:
    """Watching on with the defaults would forget budgets, scopes and channels without a word."""
    (tmp_path / "hubwatch.toml").write_text("[daemon]\nworkers = 1\n[web]\nenabled = false\n")
    begun = hubwatch("run", "--once", "http://nowhere.invalid/")
    assert begun.code != 2
    assert "http://nowhere.invalid/: robots.txt unreachable (unknown host)" in begun.err
    (tmp_path / "hubwatch.toml").rename(tmp_path / "moved.toml")
    gone = hubwatch("run", "--once")
    assert (gone.code, "hubwatch.toml" in gone.err, "--config" in gone.err) == (2, True, True)
    assert hubwatch("--config", "moved.toml", "run", "--once").code != 2
    (tmp_path / "hubwatch-data" / "settings.name").unlink()
    assert hubwatch("run", "--once").code != 2


@pytest.mark.parametrize(
    "toml",
    [
        "[web]\npassword = ['SECRET']",
        "web = 'SECRET'",
        "messages = 'mailto://me:SECRET@example.org'",
        "messages.channel = ['json://hooks.example/SECRET']",
        "[[messages.channel]]\nname = 'x'\nurl = ['json://hooks.example/SECRET']",
        "[[messages.channel]]\nname = 'x'\nurl = 'SECRET'",
        "[[messages.channel]]\nname = 'x'\nurl = 'nosuch://me:SECRET@example.org/SECRET'\n",
        "site = 'https://me:SECRET@a.example/'",
        "site = ['https://me:SECRET@a.example/']",
        "[[site]]\nurl = 'https://me:SECRET@a b/'",
        "[[site]]\nurl = 'ftp://me:SEC/RET@a.example/'",
        "[[site]]\nurl = 'https://a.example/'\nproxy = 'nonsense://me:SECRET@proxy.example'",
        "[[site]]\nurl = 'https://a.example/'\nheaders = { Cookie = ['SECRET'] }",
        "[[site]]\nurl = 'https://a.example/'\ncookies = 'SECRET'",
        "store = 'postgresql://me:SECRET@127.0.0.1/news'",
        "[store]\ndatabase = 'mysql://me:SECRET@127.0.0.1/news'",
        "[store]\ndatabase = 'postgresql://me:SECRET/x@127.0.0.1/news'",
        "[store]\ndatabase = 'postgresql://127.0.0.1:1/news?sslpassword=SECRET'",
        "[store]\ndatabase = ['postgresql://me:SECRET@127.0.0.1/news']",
    ],
)
def test_no_secret_of_the_settings_is_in_any_error(
    hubwatch: Run, tmp_path: Path, toml: str
) -> None:
    """Wherever it stands, and whatever is wrong about it or around it."""
    (tmp_path / "hubwatch.toml").write_text(toml + "\n")
    for command in (
        ["list"],
        ["notify", "list"],
        ["notify", "test", "x"],
        ["add", "https://b.example"],
    ):
        done = hubwatch(*command)
        answer = done.out + done.err
        assert not any(part in answer for part in ("SECRET", "SEC/RET")), answer
        assert "Traceback" not in answer


@pytest.mark.parametrize(
    "wrong", [["nonsense"], ["new", "--limit", "0"], ["new", "--format", "xml"], ["add"]]
)
def test_wrong_usage(hubwatch: Run, wrong: list[str]) -> None:
    assert hubwatch(*wrong).code == 2


def test_nothing_to_watch_is_said(hubwatch: Run) -> None:
    done = hubwatch("run", "--once")
    assert (done.code, "hubwatch add" in done.err) == (2, True)


# --- the store --------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_a_damaged_store_is_reported_and_left_as_it_is(
    hubwatch: Run, tmp_path: Path, command: str
) -> None:
    hubwatch("add", SITE)
    path = tmp_path / "hubwatch-data" / "hubwatch.sqlite"
    whole = path.read_bytes()
    damaged = whole[:4096] + b"\xff" * (len(whole) - 4096)
    path.write_bytes(damaged)
    done = hubwatch(*arguments(command))
    assert done.code == 3
    assert "damaged" in done.err
    assert path.read_bytes() == damaged


def test_a_file_of_another_program_is_left_as_it_is(hubwatch: Run, tmp_path: Path) -> None:
    path = tmp_path / "hubwatch-data" / "hubwatch.sqlite"
    path.parent.mkdir()
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE mine (x)")
    foreign.close()
    before = path.read_bytes()
    assert hubwatch("list").code == 3
    assert path.read_bytes() == before


def test_a_locked_store_is_reported(
    hubwatch: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hubwatch("add", SITE)
    monkeypatch.setattr(store.database, "BUSY_TIMEOUT_SECONDS", 0.1)
    holder = sqlite3.connect(tmp_path / "hubwatch-data" / "hubwatch.sqlite", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    done = hubwatch("add", "https://other.example/")
    holder.close()
    assert (done.code, "another process" in done.err) == (3, True)


def test_a_store_from_a_later_version_is_refused(hubwatch: Run, tmp_path: Path) -> None:
    hubwatch("add", SITE)
    path = tmp_path / "hubwatch-data" / "hubwatch.sqlite"
    with sqlite3.connect(path) as later:
        columns = [row[1] for row in later.execute("PRAGMA table_info(schema_migration)")]
        assert "name" in columns
        names = ", ".join(columns)
        kept = ", ".join(
            "'9999_later'" if name == "name" else name for name in columns if name != "id"
        )
        names = ", ".join(name for name in columns if name != "id")
        later.execute(
            f"INSERT INTO schema_migration ({names}) SELECT {kept} FROM schema_migration LIMIT 1"
        )
    later.close()
    done = hubwatch("list")
    assert (done.code, "later version" in done.err) == (3, True)


def test_a_folder_that_cannot_be_made(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch-data").write_text("a file where a folder is wanted")
    done = hubwatch("list")
    assert done.code == 3
    assert "Traceback" not in done.err


# --- readers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_had_enough_is_no_failure(
    tmp_path: Path, found: list[str], unbuffered: str
) -> None:
    command = [
        sys.executable,
        "-c",
        "from incremental.interfaces.cli import main; main()",
        "new",
        "--format",
        "urls",
    ]
    pipe_out, pipe_in = os.pipe()
    os.close(pipe_out)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        command, cwd=tmp_path, stdout=pipe_in, stderr=subprocess.PIPE, check=False, env=environment
    )
    os.close(pipe_in)
    assert (done.returncode, done.stderr) == (0, b"")
    assert found


def test_the_table_fits_a_narrow_terminal(
    hubwatch: Run, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("FORCE_COLOR", "1")
    table = hubwatch("new").out
    assert table
    assert found


def test_the_fake_web_is_never_asked_by_commands_that_read(
    hubwatch: Run, found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(*_: object, **__: object) -> None:
        raise AssertionError("a command that reads went to the network")

    monkeypatch.setattr(FakeWeb, "send", asked)
    monkeypatch.setattr("socket.create_connection", asked)
    for command in ("new", "hubs", "status", "list"):
        assert hubwatch(command).code == 0
    assert hubwatch("check", found[0]).code == 0
