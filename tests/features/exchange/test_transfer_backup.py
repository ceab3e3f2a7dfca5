"""A backup is the whole store, or an error; restoring puts nothing anywhere it does not belong."""

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from stories import HOME, HOUR, START, announced_pages, news_site, seen, visit_of

from store import Store, open_store
from store.database.home import DATABASE
from store.errors import StoreDamagedError, StoreError, StoreTooNewError
from store.files.page_cache import body_md5
from store.maintenance.backup import MANIFEST, back_up, restore


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with a store, a cached body and a model."""
    folder = tmp_path / "old"
    with opened(folder) as store:
        site, hub = news_site(store)
        link = seen(HOME + "one", anchor="One", fate="announce")
        store.write.visit(visit_of(site, hub, START + HOUR, link))
        store.cache.put(HOME + "one", b"<p>One</p>")
    (folder / "models" / "0002-abc").mkdir(parents=True)
    (folder / "models" / "0002-abc" / "model.json").write_text("{}")
    return folder


def opened(folder: Path) -> Store:
    return open_store(str(folder / DATABASE), cache_folder=folder / "pages")


def test_what_was_there_is_there_again(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar.gz"
    made = back_up(home, file)
    put = restore(file, tmp_path / "new")
    assert made == put
    with opened(tmp_path / "new") as store:
        assert [page.url for page in announced_pages(store)] == [HOME + "one"]
        assert store.cache.get(HOME + "one", body_md5(b"<p>One</p>")) == b"<p>One</p>"
    bodies = list((tmp_path / "new" / "pages").rglob("*.*"))
    assert [path.name for path in bodies] == [path.name for path in (home / "pages").rglob("*.*")]
    assert (tmp_path / "new" / "models" / "0002-abc" / "model.json").exists()


def test_nobody_else_may_read_it(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b.tar.gz")
    assert (tmp_path / "b.tar.gz").stat().st_mode & 0o077 == 0


def test_it_can_be_made_while_a_crawler_writes(home: Path, tmp_path: Path) -> None:
    with opened(home) as store:
        site = store.read.sites()[0].id
        store.write.update_site(site, origin="while open")
        back_up(home, tmp_path / "b.tar.gz")
    restore(tmp_path / "b.tar.gz", tmp_path / "new")
    with opened(tmp_path / "new") as store:
        assert store.read.sites()[0].origin == "while open"


def test_a_store_that_is_there_is_not_overwritten(home: Path, tmp_path: Path) -> None:
    back_up(home, tmp_path / "b.tar.gz")
    with pytest.raises(StoreError, match="holds a store already"):
        restore(tmp_path / "b.tar.gz", home)


def test_without_a_store_there_is_nothing_to_back_up(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        back_up(tmp_path, tmp_path / "b.tar.gz")
    assert not (tmp_path / "b.tar.gz").exists()


Change = Callable[[dict[str, bytes]], None]


def rewritten(file: Path, change: Change) -> None:
    """Write the backup again with other members."""
    with tarfile.open(file, "r:gz") as archive:
        members = {
            info.name: (archive.extractfile(info) or io.BytesIO()).read() for info in archive
        }
    change(members)
    with tarfile.open(file, "w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def _later_version(members: dict[str, bytes]) -> None:
    manifest = json.loads(members[MANIFEST])
    manifest["format"] += 1
    members[MANIFEST] = json.dumps(manifest).encode()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda m: m.update({"../evil": b"x"}), StoreDamagedError),
        (lambda m: m.update({"/etc/evil": b"x"}), StoreDamagedError),
        (lambda m: m.update({"pages/../../evil": b"x"}), StoreDamagedError),
        (lambda m: m.update({"pages/extra": b"x"}), StoreDamagedError),
        (lambda m: m.update({"pages/ab/../evil": b"x"}), StoreDamagedError),
        (lambda m: m.update({DATABASE: m[DATABASE] + b"x"}), StoreDamagedError),
        (lambda m: m.pop(DATABASE), StoreDamagedError),
        (lambda m: m.pop(MANIFEST), StoreDamagedError),
        (lambda m: m.update({MANIFEST: b"[" * 100_000}), StoreDamagedError),
        (_later_version, StoreTooNewError),
    ],
)
def test_a_backup_that_was_changed_is_refused(
    home: Path, tmp_path: Path, change: Change, error: type[Exception]
) -> None:
    file = tmp_path / "b.tar.gz"
    back_up(home, file)
    rewritten(file, change)
    with pytest.raises(error):
        restore(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()
    assert not list(tmp_path.rglob("evil"))


def test_links_are_refused(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "b.tar.gz"
    back_up(home, file)
    with tarfile.open(file, "w:gz") as archive:
        info = tarfile.TarInfo("pages/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(info)
    with pytest.raises(StoreDamagedError):
        restore(file, tmp_path / "new")


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    info = tarfile.TarInfo(DATABASE)
    info.size = 10**15
    file = tmp_path / "b.tar.gz"
    file.write_bytes(gzip.compress(info.tobuf(tarfile.PAX_FORMAT)))
    with pytest.raises(StoreDamagedError):
        restore(file, tmp_path / "new")


@pytest.mark.parametrize("content", [b"", b"no archive", gzip.compress(b"no tar" * 999, mtime=0)])
def test_what_is_no_backup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "b").write_bytes(content)
    with pytest.raises(StoreError):
        restore(tmp_path / "b", tmp_path / "new")


@pytest.mark.parametrize("cut", [100, 1000])
def test_a_truncated_backup_is_refused(home: Path, tmp_path: Path, cut: int) -> None:
    file = tmp_path / "b.tar.gz"
    back_up(home, file)
    file.write_bytes(file.read_bytes()[:-cut])
    with pytest.raises(StoreError):
        restore(file, tmp_path / "new")
    assert not (tmp_path / "new").exists()
