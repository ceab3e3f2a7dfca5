"""Opening a database: sound ones are brought up to date, others are refused and left as they are."""

import contextlib
import re
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import START, write_store

from store import Store, open_store
from store.database import APPLICATION_ID, open_database
from store.database.addresses import without_password, without_secrets
from store.errors import StoreDamagedError, StoreError, StoreTooNewError
from store.maintenance.backup import back_up
from store.maintenance.inspection import inspected


def refusal(path: Path) -> StoreError:
    """The error that opening *path* ends with; the file is the same before and after."""
    before = path.read_bytes()
    with pytest.raises(StoreError, match=path.name) as caught:
        open_store(str(path), cache_folder=path.parent)
    assert path.read_bytes() == before
    return caught.value


def test_what_was_written_is_there_after_opening_again(where: str, tmp_path: Path) -> None:
    for number in range(3):
        with open_store(where, cache_folder=tmp_path) as store:
            assert len(store.read.sites()) == number
            store.write.add_site(f"https://{number}.example/", "x", now=START)


def test_names_of_sites_that_are_given_again_get_a_number(store: Store) -> None:
    for number in range(4):
        store.write.add_site(f"https://d.example/{number}/", f"d{number}", now=START)
    for number in (1, 2, 3):
        store.write.rename_site(number, "d.example", "https://d.example/zh")
    store.write.rename_site(4, "d.example", "https://d.example/zh")
    names = [site.name for site in store.read.sites()]
    assert names[0] == "d.example"
    assert len(set(names)) == 4
    assert names[3] == "https://d.example/zh#2"


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "hubwatch.sqlite"
    open_database(str(path)).close()
    assert path.exists()


def test_an_empty_file_becomes_a_database(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.sqlite"
    path.touch()
    open_database(str(path)).close()
    write_store(path)


@pytest.mark.parametrize("text", [b"a,b\n1,2\n", b"# notes\n" * 5_000, b"\0" * 8_192, b"x"])
def test_a_file_that_is_no_database_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(text)
    assert isinstance(refusal(path), StoreDamagedError)


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_the_database_of_another_program_is_refused(tmp_path: Path, journal: str) -> None:
    path = tmp_path / "bookmarks.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute("CREATE TABLE bookmark (url TEXT)")
    connection.close()
    error = refusal(path)
    assert isinstance(error, StoreDamagedError)
    assert "another program" in str(error)


def damaged(path: Path) -> Path:
    """Return the path of a store whose last page but one is noise."""
    write_store(path)
    content = bytearray(path.read_bytes())
    content[-8_192:-4_096] = b"\xff" * 4_096
    path.write_bytes(content)
    return path


def test_a_damaged_database_is_noticed_by_who_reads_it_all(tmp_path: Path) -> None:
    """Opening it costs the same for any size, so it does not."""
    path = damaged(tmp_path / "hubwatch.sqlite")
    open_database(str(path)).close()
    with inspected(str(path)) as found:
        assert found is not None
        with pytest.raises(StoreDamagedError, match="damaged"):
            found.check()


def test_a_damaged_database_is_not_upgraded(tmp_path: Path) -> None:
    path = damaged(tmp_path / "hubwatch.sqlite")
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        last = connection.execute("SELECT MAX(name) FROM schema_migration").fetchone()
        connection.execute("DELETE FROM schema_migration WHERE name = ?", last)
    error = refusal(path)
    assert isinstance(error, StoreDamagedError)
    assert "backup" in str(error)


def test_a_truncated_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.sqlite"
    write_store(path)
    path.write_bytes(path.read_bytes()[:20_000])
    assert isinstance(refusal(path), StoreDamagedError)


def test_a_database_of_a_later_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.sqlite"
    write_store(path)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE schema_migration SET name = '9999_later' WHERE name LIKE '0001%'")
    connection.commit()
    connection.close()
    error = refusal(path)
    assert isinstance(error, StoreTooNewError)
    assert "9999_later" in str(error)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound database."""
    path = tmp_path_factory.mktemp("sound") / "hubwatch.sqlite"
    write_store(path)
    return path


@settings(max_examples=40)
@given(at=st.floats(0, 0.999), junk=st.binary(min_size=1, max_size=600))
def test_damage_anywhere_is_a_store_error_or_no_matter(
    sound: Path, tmp_path_factory: pytest.TempPathFactory, at: float, junk: bytes
) -> None:
    """Whatever bytes a disk gave back: opening never ends in anything but a clear error."""
    path = tmp_path_factory.mktemp("damaged") / "hubwatch.sqlite"
    content = sound.read_bytes()
    start = int(at * len(content))
    path.write_bytes(content[:start] + junk + content[start + len(junk) :])
    with contextlib.suppress(StoreError):
        open_store(str(path), cache_folder=path.parent).close()


CUT_OFF = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = delete")
connection.execute("PRAGMA cache_size = 1")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE page SET anchor = 'half done'")
os._exit(9)
"""


def test_a_transaction_that_was_cut_off_is_rolled_back_at_the_next_start(tmp_path: Path) -> None:
    """A hot journal: whoever opens the file first must play it back, and so may not only read."""
    path = tmp_path / "hubwatch.sqlite"
    write_store(path)
    subprocess.run([sys.executable, "-c", CUT_OFF, str(path)], check=False)
    assert path.with_name("hubwatch.sqlite-journal").stat().st_size > 0
    open_store(str(path), cache_folder=tmp_path).close()
    with contextlib.closing(sqlite3.connect(path)) as reader:
        half_done = reader.execute("SELECT COUNT(*) FROM page WHERE anchor = 'half done'")
        assert half_done.fetchone() == (0,)
        assert reader.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    back_up(tmp_path, tmp_path / "b.tar.gz")


def journal_of_the_first_write() -> bytes:
    """As https://www.sqlite.org/fileformat2.html#the_rollback_journal has it: before, there were no pages."""
    header = struct.pack(">8sIIIII", bytes.fromhex("d9d505f920a163d7"), 0, 0xA7FC4E23, 0, 512, 4096)
    return header.ljust(512, b"\0")


def test_a_first_start_that_was_cut_off_is_begun_again(tmp_path: Path) -> None:
    """Killed after the first write to the file, before its journal was gone: nothing was there before."""
    path = tmp_path / "hubwatch.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    path.with_name("hubwatch.sqlite-journal").write_bytes(journal_of_the_first_write())
    for number in range(2):
        with open_store(str(path), cache_folder=tmp_path) as store:
            assert len(store.read.sites()) == number
            store.write.add_site(f"https://{number}.example/", "x", now=START)
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA auto_vacuum").fetchone() == (2,)


def test_the_journal_of_another_program_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "hubwatch.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE page (anchor TEXT)")
    connection.executemany("INSERT INTO page VALUES (?)", [("x" * 900,)] * 300)
    connection.commit()
    connection.close()
    subprocess.run([sys.executable, "-c", CUT_OFF, str(path)], check=False)
    journal = path.with_name("hubwatch.sqlite-journal")
    before = journal.read_bytes()
    assert before
    refusal(path)
    assert journal.read_bytes() == before


@pytest.mark.parametrize("path", ["/proc/hubwatch/x.sqlite", "/dev/null/x.sqlite", "/tmp"])
def test_a_place_that_cannot_be_written_is_named(path: str) -> None:
    with pytest.raises(StoreError, match=path):
        open_database(path)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://reader:hush@127.0.0.1:1/news",
        "postgres://reader:hush@127.0.0.1:port/news",
        "postgresql://127.0.0.1:1/news?password=hush",
        "postgresql://127.0.0.1:1/news?sslpassword=hush",
        "postgresql://127.0.0.1:1/news?application_name=x&SSLPass%77ord=hush",
        "postgresql://127.0.0.1:1/news?no_such_option=1&password=hush",
        "postgresql://reader:hush/x@127.0.0.1:1/news",
        "postgresql://reader:hush#x@127.0.0.1:1/news",
        "postgresql://reader:hush?x@127.0.0.1:1/news",
        "postgresql://reader:x@hush:y@127.0.0.1:1/news",
        "postgresql://reader:x:hush@127.0.0.1:1/news",
        "postgresql://[reader:hush@127.0.0.1:1/news",
    ],
)
def test_a_server_that_is_not_there_is_named_without_its_password(address: str) -> None:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    with pytest.raises(StoreError, match=r"127\.0\.0\.1") as caught:
        open_database(address)
    assert "hush" not in str(caught.value)


def test_a_server_is_reached_although_its_driver_was_put_off() -> None:
    pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    program = """
import sys
from store.driver import put_off_driver
put_off_driver()
import peewee
assert "psycopg" not in sys.modules and peewee.psycopg is None
from store.database import APPLICATION_ID, open_database
open_database("postgresql://127.0.0.1:1/news")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "connection to server at" in done.stderr, done.stderr


@given(st.text("abcXYZ0123456789!$%&'()*+,-./:;<=>?@[]^_{|}~# ", min_size=4, max_size=12))
def test_no_password_is_in_what_a_driver_says(password: str) -> None:
    """However it was escaped, and however it was cut to pieces by what misread it."""
    for where in (
        f"postgresql://reader:{password}@127.0.0.1/news",
        f"postgresql://reader:{quote(password, safe='')}@127.0.0.1/news",
        f"postgresql://127.0.0.1/news?sslpassword={quote(password, safe='')}",
    ):
        with contextlib.suppress(ValueError):
            pieces = [password, quote(password, safe=""), *re.split(r"[/?#@:]", password)]
            for piece in (one for one in pieces if len(one) > 3):
                assert piece not in without_secrets(f"cannot read '{piece}'", where).replace(
                    "...", ""
                )


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("postgresql://a:b:c@h/d") == "postgresql://a:...@h/d"
    assert without_password("postgresql://a:p/w@h/d") == "postgresql://a:...@h/d"
    assert (
        without_password("postgresql://h/d?password=x&b=1") == "postgresql://h/d?password=...&b=1"
    )
    assert without_password("postgresql://h/d?sslpassword=x") == "postgresql://h/d?sslpassword=..."
    assert without_password("/var/lib/x:y@z.sqlite") == "/var/lib/x:y@z.sqlite"
