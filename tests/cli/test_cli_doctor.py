"""``hubwatch doctor`` finds what is wrong, says the way out, and changes nothing."""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Result, Run
from lab.postgres_server import PostgresServer

import store.database
from incremental.base.findings import Verdict
from store.database.upgrades import known_migrations
from store.files.page_cache import PageCache

ROOT = Path(__file__).parents[2]
CONFIG = '[fetch]\ncontact = "me@example.org"\n[web]\nenabled = false\n'
SITE = "https://news.example/"


@pytest.fixture
def home(hubwatch: Run, tmp_path: Path) -> Path:
    """The folder of a store with one site, and settings that nothing is wrong with."""
    configure(tmp_path, CONFIG)
    hubwatch("add", SITE)
    return tmp_path / "hubwatch-data"


def configure(folder: Path, toml: str) -> None:
    (folder / "hubwatch.toml").write_text(toml)
    (folder / "hubwatch.toml").chmod(0o600)


def change(home: Path, *statements: str) -> None:
    """Change the database behind the back of Hubwatch."""
    with closing(sqlite3.connect(home / "hubwatch.sqlite", isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


def verdicts(done: Result) -> dict[str, str]:
    """Return the worst verdict of each check."""
    worst: dict[str, str] = {}
    order = [one.value for one in Verdict]
    for one in done.json["checks"]:
        so_far = worst.get(one["check"], "ok")
        worst[one["check"]] = max(so_far, one["verdict"], key=order.index)
    return worst


def only(done: Result, verdict: str) -> dict[str, Any]:
    """Return the one finding of this verdict."""
    (found,) = [one for one in done.json["checks"] if one["verdict"] == verdict]
    return dict(found)


def snapshot(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return what lies in a folder; SQLite's index of its log is rebuilt by whoever reads."""
    return {
        str(path): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
        if not path.name.endswith(("-shm", "-wal"))
    }


def test_a_sound_installation_is_found_sound_and_left_as_it_is(
    hubwatch: Run, home: Path, tmp_path: Path
) -> None:
    before = snapshot(tmp_path)
    done = hubwatch("doctor", "--store", "--json")
    assert (done.code, done.json["healthy"]) == (0, True)
    assert set(verdicts(done).values()) == {"ok"}, done.out
    assert snapshot(tmp_path) == before
    assert home.is_dir()


def test_people_read_a_line_for_each_check_and_what_to_do(hubwatch: Run, home: Path) -> None:
    (home.parent / "hubwatch.toml").chmod(0o644)
    done = hubwatch("doctor")
    assert done.code == 0
    assert "ok       settings   hubwatch.toml\n" in done.out
    assert "warning  files " in done.out
    assert "chmod 600 hubwatch.toml" in done.out


def test_where_nothing_is_nothing_is_made(hubwatch: Run, tmp_path: Path) -> None:
    done = hubwatch("doctor", "--json")
    assert (done.code, list(tmp_path.iterdir())) == (0, [])
    assert "contact" in only(done, "warning")["way_out"]


# --- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("toml", "says"),
    [
        ("[revisit]\nrequests_per_day = -1", "revisit.requests_per_day = -1"),
        ("this is no toml", "hubwatch.toml"),
        ("[daemon]\nlog_level = 'loud'", "daemon.log_level = 'loud'"),
        (
            "[[messages.channel]]\nname = 'x'\nurl = 'nosuch://example.org'",
            "messages.channel[0].url",
        ),
    ],
)
def test_a_setting_that_would_fail_later_is_a_problem_now(
    hubwatch: Run, home: Path, toml: str, says: str
) -> None:
    configure(home.parent, toml + "\n")
    done = hubwatch("doctor", "--json")
    found = only(done, "problem")
    assert (done.code, found["check"]) == (1, "settings")
    assert says in found["says"]
    assert found["way_out"]


def test_settings_that_were_there_before_are_missed(hubwatch: Run, home: Path) -> None:
    (home / "settings.name").write_text("/srv/hubwatch.toml\n")
    (home.parent / "hubwatch.toml").unlink()
    found = only(hubwatch("doctor", "--json"), "problem")
    assert (found["check"], "/srv/hubwatch.toml" in found["says"]) == ("settings", True)


# --- files ------------------------------------------------------------------------------------


def without_privileges(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the doctor as somebody whom modes of files bind, as they do not bind root."""
    before: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root cannot give up its privileges without setpriv (util-linux)")
        before = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    code = "from incremental.interfaces.cli import main; main()"
    command = [*before, sys.executable, "-c", code, "doctor"]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_folder_that_cannot_be_made_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    configure(tmp_path, CONFIG + "[store]\nfolder = 'closed/data'\n")
    done = without_privileges(tmp_path)
    assert (done.returncode, "cannot write to the folder" in done.stdout) == (1, True), done.stderr


def test_a_file_in_place_of_the_folder(hubwatch: Run, tmp_path: Path) -> None:
    configure(tmp_path, CONFIG)
    (tmp_path / "hubwatch-data").write_text("")
    done = hubwatch("doctor", "--json")
    assert (done.code, verdicts(done)["files"]) == (1, "problem")


def test_settings_that_others_can_read(hubwatch: Run, home: Path) -> None:
    (home.parent / "hubwatch.toml").chmod(0o644)
    found = only(hubwatch("doctor", "--json"), "warning")
    assert (found["check"], found["way_out"]) == ("files", "chmod 600 hubwatch.toml")


# --- store ------------------------------------------------------------------------------------


def test_a_damaged_store_is_a_problem_and_left_as_it_is(hubwatch: Run, home: Path) -> None:
    path = home / "hubwatch.sqlite"
    whole = path.read_bytes()
    path.write_bytes(damaged := whole[:4096] + b"\xff" * (len(whole) - 4096))
    done = hubwatch("doctor", "--json")
    found = only(done, "problem")
    assert (done.code, found["check"], "backup" in found["way_out"]) == (1, "store", True)
    assert path.read_bytes() == damaged


INDEX = "type = 'index' AND sql LIKE '%\"added_at\"%'"


def test_an_index_that_lies_is_found_when_the_whole_store_is_read(
    hubwatch: Run, home: Path
) -> None:
    """The quick check at each start does not compare indexes with their tables."""
    change(
        home,
        'CREATE INDEX extra ON site ("added_at")',
        "PRAGMA writable_schema = 1",
        "UPDATE sqlite_master SET sql = replace(sql, 'added_at', 'requests_per_day') "
        f"WHERE {INDEX}",
    )
    assert hubwatch("doctor").code == 0
    done = hubwatch("doctor", "--store", "--json")
    found = only(done, "problem")
    assert (done.code, "extra" in found["says"]) == (1, True)


def test_a_row_that_names_another_that_is_gone(hubwatch: Run, home: Path) -> None:
    change(home, "PRAGMA foreign_keys = 0", "DELETE FROM site")
    assert hubwatch("doctor").code == 0
    found = only(hubwatch("doctor", "--store", "--json"), "problem")
    assert (found["check"], "page" in found["says"]) == ("store", True)


def test_migrations_that_are_to_come_are_named_and_not_applied(hubwatch: Run, home: Path) -> None:
    last = known_migrations()[-1]
    change(home, f"DELETE FROM schema_migration WHERE name = '{last}'")
    for _ in range(2):
        done = hubwatch("doctor", "--json")
        assert (done.code, last in only(done, "warning")["says"]) == (0, True)


def test_a_store_of_a_later_version(hubwatch: Run, home: Path) -> None:
    change(
        home,
        f"UPDATE schema_migration SET name = '9999_later' WHERE name = '{known_migrations()[0]}'",
    )
    done = hubwatch("doctor", "--json")
    assert (done.code, "9999_later" in only(done, "problem")["says"]) == (1, True)


def test_a_database_of_another_program(hubwatch: Run, tmp_path: Path) -> None:
    configure(tmp_path, CONFIG)
    (tmp_path / "hubwatch-data").mkdir(mode=0o700)
    change(tmp_path / "hubwatch-data", "CREATE TABLE mine (x)")
    done = hubwatch("doctor", "--json")
    assert (done.code, "another program" in only(done, "problem")["says"]) == (1, True)


def test_pages_without_their_database(hubwatch: Run, home: Path) -> None:
    PageCache(home / "pages", quota_bytes=99).put("https://news.example/", b"body")
    (home / "hubwatch.sqlite").unlink()
    done = hubwatch("doctor", "--json")
    assert (done.code, "no database" in only(done, "problem")["says"]) == (1, True)
    assert not (home / "hubwatch.sqlite").exists()


def test_a_store_that_another_process_holds(
    hubwatch: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.database, "BUSY_TIMEOUT_SECONDS", 0.1)
    change(home, "PRAGMA journal_mode = delete")
    with closing(sqlite3.connect(home / "hubwatch.sqlite", isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        done = hubwatch("doctor", "--json")
    found = only(done, "problem")
    assert (done.code, "process" in found["way_out"]) == (1, True)


def test_a_store_on_postgresql_is_read_and_not_changed(
    hubwatch: Run, postgres: PostgresServer, tmp_path: Path
) -> None:
    configure(tmp_path, CONFIG + f'[store]\ndatabase = "{postgres.empty_database()}"\n')
    done = hubwatch("doctor", "--json")
    assert (done.code, "none yet" in done.out) == (0, True)
    hubwatch("add", SITE)
    done = hubwatch("doctor", "--store", "--json")
    assert (done.code, set(verdicts(done).values())) == (0, {"ok"}), done.out
    assert "tables can be read" in done.out


def test_a_server_that_does_not_answer_is_named_without_its_password(
    hubwatch: Run, tmp_path: Path
) -> None:
    configure(tmp_path, CONFIG + '[store]\ndatabase = "postgresql://me:SECRET@127.0.0.1:1/x"\n')
    done = hubwatch("doctor", "--json")
    assert (done.code, only(done, "problem")["check"]) == (1, "store")
    assert "SECRET" not in done.out
