"""Nobody else on the machine reads settings, store or pages, whatever the umask says."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import Run
from stories import HOME, HOUR, START, news_site, seen, visit_of

from incremental.settings import Settings
from incremental.settings.sections import StoreSettings
from incremental.settings.storage import keep_private, only_writer, open_configured_store


@pytest.fixture(autouse=True)
def open_umask() -> Iterator[None]:
    """What most machines have; 0 would be worse, and makes no difference."""
    before = os.umask(0o022)
    yield
    os.umask(before)


def fill(folder: Path) -> None:
    """Have a store in use, with its log, a cached body and a lock."""
    with only_writer(Settings(), folder), open_configured_store(Settings(), folder) as store:
        site, hub = news_site(store)
        store.write.visit(visit_of(site, hub, START + HOUR, seen(HOME + "one", anchor="One")))
        store.cache.put(HOME + "one", b"<p>One</p>")


def readable_by_others(folder: Path) -> list[str]:
    every = [path for path in folder.rglob("*") if path.stat().st_mode & 0o077]
    return sorted(path.relative_to(folder).as_posix() for path in every)


def reachable_by_others(folder: Path) -> list[str]:
    """Leave out what lies below a folder that is closed to them."""
    found = readable_by_others(folder)
    above = ({one.as_posix() for one in Path(path).parents} - {"."} for path in found)
    return [path for path, folders in zip(found, above, strict=True) if folders <= {*found}]


def test_what_a_store_makes_is_for_its_owner_alone(tmp_path: Path) -> None:
    with only_writer(Settings(), tmp_path), open_configured_store(Settings(), tmp_path) as store:
        site, hub = news_site(store)
        store.write.visit(visit_of(site, hub, START + HOUR, seen(HOME + "one", anchor="One")))
        store.cache.put(HOME + "one", b"<p>One</p>")
        names = {path.name for path in tmp_path.rglob("*")}
        assert {"hubwatch.sqlite", "hubwatch.sqlite-wal", "hubwatch.sqlite-shm"} <= names
        assert readable_by_others(tmp_path) == []


def test_the_settings_that_init_writes_are_for_their_owner_alone(
    hubwatch: Run, tmp_path: Path
) -> None:
    assert hubwatch("init").code == 0
    assert readable_by_others(tmp_path) == []
    (tmp_path / "hubwatch.toml").chmod(0o644)
    assert hubwatch("init", "--force").code == 0
    assert readable_by_others(tmp_path) == []


def loosened(folder: Path) -> Path:
    """Leave the store and the settings as a careless copy makes them; return the settings."""
    fill(folder)
    file = folder / "hubwatch.toml"
    file.write_text("")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return file


def test_a_store_that_others_could_read_is_tightened_at_the_start_and_that_is_said(
    hubwatch: Run, tmp_path: Path
) -> None:
    loosened(tmp_path)
    hubwatch("run", "--once")
    assert reachable_by_others(tmp_path) == []


def test_what_was_tightened_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = loosened(tmp_path)
    with caplog.at_level(logging.INFO):
        keep_private(Settings(), tmp_path, file)
    assert [one.getMessage() for one in caplog.records if one.levelno == logging.INFO] == [
        f"{file} can be read by you alone now, because it may hold passwords"
    ]
    announced = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    assert any("hubwatch-data was open" in text for text in announced)
    caplog.clear()
    keep_private(Settings(), tmp_path, file)
    assert caplog.records == []


def test_a_folder_that_others_share_and_what_lies_behind_a_link_stay_as_they_are(
    tmp_path: Path,
) -> None:
    """The store may lie in the folder of the settings, and that may be anything."""
    shared = tmp_path / "shared"
    shared.mkdir(0o755)
    (shared / "others.txt").write_text("x")
    (shared / "pages").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir(0o755)
    (tmp_path / "elsewhere" / "mine.txt").write_text("x")
    keep_private(Settings(store=StoreSettings(folder=".")), shared, None)
    left = [shared, shared / "others.txt", tmp_path / "elsewhere", tmp_path / "elsewhere/mine.txt"]
    assert [path.stat().st_mode & 0o777 for path in left] == [0o755, 0o644, 0o755, 0o644]
