"""A database that is lost is noticed, while it is in use and at the next start."""

import math
import shutil
from pathlib import Path

import pytest
from cli_runner import Run

from store import Store, open_store
from store.errors import StoreGoneError, StorePlaceError

MODEL = '{"kind": "hubwatch hub classifier"}'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a store whose database is lost."""
    folder = tmp_path / "hubwatch-data"
    folder.mkdir()
    return folder


def opened(home: Path) -> Store:
    return open_store(str(home / "hubwatch.sqlite"), cache_folder=home / "pages")


def test_a_store_in_use_is_still_there(store: Store) -> None:
    store.still_there()


def test_a_deleted_database_is_noticed(home: Path) -> None:
    with opened(home) as store:
        (home / "hubwatch.sqlite").unlink()
        with pytest.raises(StoreGoneError, match="was deleted while it was in use"):
            store.still_there()


def test_a_deleted_folder_is_noticed(home: Path) -> None:
    with opened(home) as store:
        shutil.rmtree(home)
        with pytest.raises(StoreGoneError, match="deleted"):
            store.still_there()


def test_a_replaced_database_is_noticed(home: Path) -> None:
    with opened(home) as store:
        shutil.copy(home / "hubwatch.sqlite", home / "copy")
        (home / "copy").rename(home / "hubwatch.sqlite")
        with pytest.raises(StoreGoneError, match="was replaced"):
            store.still_there()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("settings.name", "/srv/hubwatch.toml\n"),
        ("hubwatch.sqlite-wal", "x"),
        ("hubwatch.sqlite-journal", "x"),
        ("models/0004-abcdef01/manifest.json", MODEL),
        ("models/active.json", "{}"),
        (f"pages/ab/cd/abcd{28 * '0'}.{32 * '1'}", "x"),
    ],
)
def test_a_missing_database_is_not_made_anew_without_being_asked(
    home: Path, name: str, content: str
) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(content)
    with pytest.raises(StorePlaceError, match=r"is missing, but .*move these away"):
        opened(home)
    assert not (home / "hubwatch.sqlite").exists()
    home.rename(home.with_name("away"))
    opened(home).close()


@pytest.mark.parametrize(
    "name",
    [
        "crawler.lock",
        "hubwatch.toml",
        "letter.txt",
        "pages",
        "models",
        "pages/ab/cd/thesis.txt",
        "models/castle/0001.stl",
    ],
)
def test_what_is_there_before_the_first_store_is_no_trace(home: Path, name: str) -> None:
    """A folder called like one of the store's is its user's, unless it holds the store's files."""
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch() if "." in name else path.mkdir()
    with opened(home) as store:
        assert store.cache.prune(older_than=math.inf) == 0
    assert path.exists()


def test_commands_refuse_and_the_named_way_out_works(hubwatch: Run, tmp_path: Path) -> None:
    assert hubwatch("add", "https://news.example/").code == 0
    home = tmp_path / "hubwatch-data"
    (home / "settings.name").write_text("/srv/hubwatch.toml\n")
    for path in home.glob("hubwatch.sqlite*"):
        path.unlink()
    refused = hubwatch("list")
    assert (refused.code, "move these away" in refused.err) == (2, True)
    (home / "settings.name").rename(tmp_path / "settings.name")
    assert hubwatch("list").code == 0


def test_a_backup_to_a_folder_that_cannot_be_written_is_a_wrong_place(
    hubwatch: Run, tmp_path: Path
) -> None:
    assert hubwatch("add", "https://news.example/").code == 0
    (tmp_path / "file").touch()
    done = hubwatch("backup", str(tmp_path / "file" / "hubwatch.tar.gz"))
    assert (done.code, "cannot be written" in done.err) == (2, True)


def test_the_note_of_the_settings_comes_after_the_store(hubwatch: Run, tmp_path: Path) -> None:
    """Killed in between, the next start must not miss a store that there never was."""
    (tmp_path / "hubwatch.toml").write_text("[web]\nenabled = false\n")
    (tmp_path / "hubwatch-data").mkdir()
    (tmp_path / "hubwatch-data" / "hubwatch.sqlite").write_text("no database")
    assert hubwatch("run", "--once").code == 3
    assert not (tmp_path / "hubwatch-data" / "settings.name").exists()
