"""Restoring touches nothing but what a store wrote, wherever that is and wherever it is killed."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from cli_runner import Run
from stories import DAY, HOME, HOUR, START, announced_pages, news_site, seen, visit_of

from incremental.settings import Settings
from incremental.settings.storage import only_writer
from store import Store, open_store
from store.database.home import DATABASE, remove_abandoned, workplace
from store.enums import TokenKind, TokenScope
from store.errors import (
    StoreDamagedError,
    StoreError,
    StorePlaceError,
    StoreTooNewError,
)
from store.files.page_cache import body_md5
from store.maintenance.backup import back_up, restore
from store.outbox import alone

ROOT = Path(__file__).parents[3]
BODY = b"<p>One</p>"
MANIFEST = '{"kind": "hubwatch hub classifier", "format": 1}'


def opened(folder: Path) -> Store:
    return open_store(str(folder / DATABASE), cache_folder=folder / "pages")


def fill(folder: Path) -> None:
    """Make a store with a site, a cached body and a model."""
    with opened(folder) as store:
        site, hub = news_site(store)
        link = seen(HOME + "one", anchor="One", fate="announce")
        store.write.visit(visit_of(site, hub, START + HOUR, link))
        store.cache.put(HOME + "one", BODY)
    model = folder / "models" / "0002-abcdef01"
    model.mkdir(parents=True)
    (model / "manifest.json").write_text(MANIFEST)


@pytest.fixture(scope="module")
def backup(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The backup of a small store."""
    folder = tmp_path_factory.mktemp("backup")
    fill(folder / "old")
    back_up(folder / "old", folder / "b.tar.gz")
    return folder / "b.tar.gz"


def is_whole(home: Path) -> bool:
    with opened(home) as store:
        announced = [page.url for page in announced_pages(store)]
        body = store.cache.get(HOME + "one", body_md5(BODY))
    model = (home / "models" / "0002-abcdef01" / "manifest.json").read_text()
    return (announced, body, model) == ([HOME + "one"], BODY, MANIFEST)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    "name",
    [
        "pages/thesis.tex",
        "models/castle.stl",
        f"{DATABASE}-wal",
        f"pages/ab/cd/{'0' * 32}.{'0' * 32}",
    ],
)
def test_a_folder_that_holds_what_a_store_has_is_refused_and_left(
    backup: Path, tmp_path: Path, name: str
) -> None:
    """Nobody can say whose it is, and SQLite would replay another database's log into the restored one."""
    home = tmp_path / "home"
    (home / name).parent.mkdir(parents=True)
    (home / name).write_text("mine")
    with pytest.raises(StorePlaceError, match="move them away"):
        restore(backup, home)
    assert contents(home) == {name: b"mine"}


def test_what_lies_behind_a_link_is_never_touched(backup: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine" / "ab" / "cd"
    mine.mkdir(parents=True)
    (mine / f"{'0' * 32}.{'0' * 32}").write_text("mine")
    home = tmp_path / "home"
    home.mkdir()
    (home / "pages").symlink_to(tmp_path / "mine")
    with pytest.raises(StorePlaceError, match="move them away"):
        restore(backup, home)
    assert list(contents(tmp_path / "mine").values()) == [b"mine"]


@pytest.mark.parametrize("name", ["letter.txt", "~restore-abcdefgh/letter.txt", "~restore-a/half"])
def test_other_files_stay_as_they_are(backup: Path, tmp_path: Path, name: str) -> None:
    home = tmp_path / "home"
    (home / name).parent.mkdir(parents=True)
    (home / name).write_text("mine")
    restore(backup, home)
    assert is_whole(home)
    assert (home / name).read_text() == "mine"


def test_settings_and_a_volumes_own_folder_may_lie_there(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "lost+found").mkdir()
    (tmp_path / "hubwatch.toml").write_text("")
    restore(backup, tmp_path)
    assert is_whole(tmp_path)


def test_what_is_restored_is_for_its_owner_alone(backup: Path, tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        restore(backup, tmp_path / "home")
    finally:
        os.umask(before)
    home = tmp_path / "home"
    open_to_others = [path for path in [home, *home.rglob("*")] if path.stat().st_mode & 0o077]
    assert open_to_others == []


def test_a_restored_store_is_in_the_journal_mode_it_runs_in(backup: Path, tmp_path: Path) -> None:
    restore(backup, tmp_path / "home")
    reader = sqlite3.connect(f"file:{tmp_path / 'home' / DATABASE}?mode=ro", uri=True)
    assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    reader.close()


# --- kills ------------------------------------------------------------------------------------

KILLED = """
import json, os, sys, traceback
from pathlib import Path
from store.maintenance.backup import back_up, restore

def run(left, what, source, target):
    def count(event, _):
        nonlocal left
        if event in {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "open", "tempfile.mkdtemp"}:
            left -= 1
            if left < 0:
                os._exit(9)
    sys.addaudithook(count)
    {"backup": back_up, "restore": restore}[what](Path(source), Path(target))

for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            run(*json.loads(line))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

Killed = Callable[[int, str, Path, Path], bool]


@pytest.fixture(scope="module")
def killed() -> Iterator[Killed]:
    """Run it in a process that ends by itself before one of its doings on files; tell whether it did."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", KILLED],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as forking:

        def run(after: int, what: str, source: Path, target: Path) -> bool:
            assert forking.stdin is not None
            assert forking.stdout is not None
            print(
                json.dumps([after, what, str(source), str(target)]), file=forking.stdin, flush=True
            )
            code = int(forking.stdout.readline())
            assert code in {0, 9}
            return code == 9

        yield run


@pytest.mark.parametrize("start", [0, 1, 2])
def test_a_restore_that_is_killed_anywhere_can_be_repeated(
    backup: Path, tmp_path: Path, killed: Killed, start: int
) -> None:
    """At every third of its doings on files. Nothing is in the way of the next one, or left after it."""
    deaths = 0
    for after in range(start, 90, 3):
        home = tmp_path / str(after) / "home"
        home.parent.mkdir()
        if not killed(after, "restore", backup, home):
            break
        deaths += 1
        if not (home / DATABASE).exists():
            restore(backup, home)
        assert is_whole(home)
        left = [path.name for path in home.parent.rglob("~*") if any(path.iterdir())]
        # One that was killed when all was in place is swept up by whoever opens the store to write.
        assert left == [] or killed_at_the_end(home)
    assert deaths > 8


def killed_at_the_end(home: Path) -> bool:
    shutil.move(home, home.with_name("hubwatch-data"))
    with only_writer(Settings(), home.parent):
        pass
    return not list(home.parent.rglob("~*"))


def test_a_store_is_not_begun_again_where_a_restore_was_cut_off(
    backup: Path, tmp_path: Path, killed: Killed
) -> None:
    home = tmp_path / "home"
    killed_in_between(killed, backup, home, "pages")
    with pytest.raises(StoreError, match="run it again"):
        opened(home)
    assert not (home / DATABASE).exists()


def killed_in_between(killed: Killed, backup: Path, home: Path, found: str) -> None:
    """Kill a restore when *found*, a pattern in *home*, is there but the database is not."""
    for after in range(3, 90):
        shutil.rmtree(home, ignore_errors=True)
        killed(after, "restore", backup, home)
        if any(home.glob(found)) and not (home / DATABASE).exists():
            return
    pytest.fail(f"no {found}")


@pytest.mark.parametrize("name", ["pages/thesis.txt", "models/castle.stl"])
def test_what_came_after_a_restore_that_was_killed_while_it_unpacked_is_left(
    backup: Path, tmp_path: Path, killed: Killed, name: str
) -> None:
    """It had put nothing in place yet."""
    home = tmp_path / "home"
    killed_in_between(killed, backup, home, f"~restore-*/store/{DATABASE}")
    (home / name).parent.mkdir()
    (home / name).write_text("mine")
    with pytest.raises(StorePlaceError, match="move them away"):
        restore(backup, home)
    assert (home / name).read_text() == "mine"


@pytest.mark.parametrize("name", [f"{DATABASE}-wal", f"{DATABASE}-journal"])
def test_a_log_that_came_after_a_killed_restore_is_another_stores(
    backup: Path, tmp_path: Path, killed: Killed, name: str
) -> None:
    """A restore puts no log in place before the database."""
    home = tmp_path / "home"
    killed_in_between(killed, backup, home, "pages")
    (home / name).write_text("mine")
    with pytest.raises(StorePlaceError, match=f"holds {name}, "):
        restore(backup, home)
    assert (home / name).read_text() == "mine"
    (home / name).unlink()
    restore(backup, home)
    assert is_whole(home)


def test_a_store_that_was_begun_while_a_restore_unpacked_is_left(
    backup: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"

    def begin(done: int, _: int) -> None:
        if done == 1:
            fill(home)

    with pytest.raises(StoreError, match="holds a store already"):
        restore(backup, home, progress=begin)
    assert is_whole(home)
    assert not list(home.glob("~*"))


def test_a_backup_that_is_killed_leaves_nothing_for_long(
    backup: Path, tmp_path: Path, killed: Killed
) -> None:
    home = tmp_path / "home"
    restore(backup, home)
    target = tmp_path / "target"
    target.mkdir()
    for after in range(1, 14, 2):
        assert killed(after, "backup", home, target / "b.tar.gz")
    assert len(list(target.glob("~backup-*"))) >= 1
    (target / "~backup-mine1234").mkdir()
    (target / "~backup-mine1234" / "letter.txt").write_text("mine")
    for folder in target.glob("~*"):
        os.utime(folder, (1_000, 1_000))
    back_up(home, target / "b.tar.gz")
    assert [path.name for path in target.glob("~*")] == ["~backup-mine1234"]


@pytest.mark.parametrize(("minutes", "stays"), [(0, True), (2, False)])
def test_an_empty_one_may_have_been_made_a_moment_ago(
    tmp_path: Path, minutes: int, stays: bool
) -> None:
    """By one that has not locked it yet."""
    folder = tmp_path / "~restore-abcdefgh"
    folder.mkdir()
    made = folder.stat().st_mtime - 60 * minutes
    os.utime(folder, (made, made))
    remove_abandoned(tmp_path, "~restore-")
    assert folder.exists() == stays


def test_one_that_is_at_work_is_not_swept_up(tmp_path: Path) -> None:
    with workplace(tmp_path, "~backup-") as folder:
        (folder / "half").touch()
        remove_abandoned(tmp_path, "~backup-")
        assert (folder / "half").exists()
    assert not folder.exists()


# --- the command ------------------------------------------------------------------------------


def test_a_store_without_its_database_is_replaced_by_nobody(
    hubwatch: Run, backup: Path, tmp_path: Path
) -> None:
    home = tmp_path / "hubwatch-data"
    fill(home)
    (home / DATABASE).unlink()
    before = contents(home)
    done = hubwatch("restore", str(backup))
    assert (done.code, "models, pages" in done.err, "hubwatch-data" in done.err) == (2, True, True)
    assert contents(home) == before
    shutil.move(home, tmp_path / "away")
    assert hubwatch("restore", str(backup)).code == 0
    assert is_whole(home)


@pytest.mark.parametrize("place", ["/proc/nowhere/b.tar.gz", "/dev/null/b.tar.gz", "missing/b.gz"])
def test_a_place_that_a_backup_cannot_be_written_to_is_a_wrong_argument(
    hubwatch: Run, tmp_path: Path, place: str
) -> None:
    fill(tmp_path / "hubwatch-data")
    done = hubwatch("backup", place)
    assert (done.code, place in done.err) == (2, True), done.err


def test_a_backup_that_is_not_there_is_a_wrong_argument(hubwatch: Run) -> None:
    done = hubwatch("restore", "nowhere.tar.gz")
    assert (done.code, "nowhere.tar.gz" in done.err) == (2, True)


# --- what a backup may hold ----------------------------------------------------------------------


def tampered(folder: Path, *statements: str) -> Path:
    """Return a backup whose database these statements changed; its manifest is right."""
    fill(folder / "old")
    with closing(sqlite3.connect(folder / "old" / DATABASE)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    back_up(folder / "old", folder / "b.tar.gz")
    return folder / "b.tar.gz"


def hidden(name: str) -> tuple[str, ...]:
    """A trigger with a name that SQLite keeps for itself."""
    sql = f"CREATE TRIGGER {name} AFTER INSERT ON site BEGIN SELECT 1; END"
    row = f"('trigger', '{name}', 'site', 0, '{sql}')"
    return ("PRAGMA writable_schema = 1", f"INSERT INTO sqlite_schema VALUES {row}")


@pytest.mark.parametrize(
    ("statements", "what"),
    [
        (
            (
                "CREATE TRIGGER t AFTER INSERT ON access_token BEGIN DELETE FROM site; END",
                "CREATE TRIGGER u AFTER DELETE ON access_token BEGIN DELETE FROM site; END",
            ),
            "trigger t",
        ),
        (hidden("sqlite_stat1"), "trigger sqlite_stat1"),
        (("CREATE VIEW v AS SELECT * FROM site",), "view v"),
        (("CREATE INDEX i ON site (lower(name))",), "index i"),
        (("CREATE TABLE more (x)",), "table more"),
        (("ALTER TABLE site ADD COLUMN more TEXT",), "table site"),
        (("DROP TABLE saved_search",), "saved_search"),
        (("PRAGMA foreign_keys = 0", "DELETE FROM site"), "name others"),
    ],
)
def test_a_database_that_no_hubwatch_made_is_refused(
    tmp_path: Path, statements: tuple[str, ...], what: str
) -> None:
    with pytest.raises(StoreDamagedError, match=what):
        restore(tampered(tmp_path, *statements), tmp_path / "new")
    assert not (tmp_path / "new").exists()


def with_access(folder: Path) -> Path:
    """Return a backup with a token, a session begun with it, a channel, and messages in every state."""
    fill(folder / "old")
    with opened(folder / "old") as store:
        token = store.access.add("t", TokenKind.TOKEN, TokenScope.WRITE, "d" * 64, now=START)
        store.access.add(
            "s", TokenKind.SESSION, TokenScope.WRITE, "e" * 64, now=START, parent=token
        )
        (page,) = announced_pages(store)
        for name in ("waiting", "sending", "sent"):
            store.outbox.since(name, now=START)
            store.outbox.queue(name, alone([page.page_id]), now=START)
        for name in ("sending", "sent"):
            store.outbox.begin([one.id for one in store.outbox.open(name)], name)
        store.outbox.sent("sent", now=START)
    back_up(folder / "old", folder / "b.tar.gz")
    return folder / "b.tar.gz"


def in_power(home: Path) -> tuple[int, dict[str, dict[str, int]]]:
    with opened(home) as store:
        return len(store.access.tokens()), store.outbox.counts()


def test_a_copy_lets_nobody_in_and_sends_nothing_that_the_original_sends(tmp_path: Path) -> None:
    report = restore(with_access(tmp_path), tmp_path / "new")
    assert report.removed == {"token": 2, "channel": 3, "waiting message": 2}
    assert in_power(tmp_path / "new") == (0, {"sent": {"sent": 1}})
    with opened(tmp_path / "new") as store:
        (page,) = announced_pages(store)
        # A channel of the settings file begins anew, so what was waiting stays unsent.
        assert store.outbox.since("waiting", now=START + DAY) == START + DAY > page.found_at


def test_all_of_it_is_kept_if_the_user_asks_for_it(tmp_path: Path) -> None:
    assert restore(with_access(tmp_path), tmp_path / "new", keep_all=True).removed == {}
    states = {name: {name: 1} for name in ("sending", "sent", "waiting")}
    assert in_power(tmp_path / "new") == (1, states)


def test_a_backup_with_statistics_is_ours(tmp_path: Path) -> None:
    """ANALYZE makes tables of SQLite's own."""
    file = tampered(tmp_path, "ANALYZE")
    restore(file, tmp_path / "new")
    assert is_whole(tmp_path / "new")


def test_a_backup_of_a_later_version_is_refused_before_anything_is_put_in_place(
    tmp_path: Path,
) -> None:
    added = "INSERT INTO schema_migration (name, applied) VALUES ('9999_later', '2030-01-01')"
    with pytest.raises(StoreTooNewError, match="later version"):
        restore(tampered(tmp_path, added), tmp_path / "new")
    assert not (tmp_path / "new").exists()
