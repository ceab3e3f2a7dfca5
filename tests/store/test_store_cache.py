"""The page cache: bodies on disk that prove themselves."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store.errors import StoreError
from store.files.page_cache import PageCache, body_md5, file_name, path_of

URL = "http://www.scu.edu.cn/"
urls = st.text(st.characters(exclude_characters="\n"), max_size=80).map(
    "https://a.example/".__add__
)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def cache(tmp_path: Path) -> PageCache:
    return PageCache(tmp_path / "pages", quota_bytes=1_000_000)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> PageCache:
    """One cache for all the examples of a property."""
    return PageCache(tmp_path_factory.mktemp("pages"), quota_bytes=1_000_000_000)


def files(cache: PageCache) -> list[Path]:
    return sorted(path for path in cache.folder.rglob("*") if path.is_file())


def age(path: Path, at: float) -> None:
    os.utime(path, (at, at))


def test_a_file_is_named_by_the_md5_of_its_url_as_in_the_paper(cache: PageCache) -> None:
    """Paper 004, section 1.2, names this page's file."""
    digest = cache.put(URL, b"<html>")
    (path,) = files(cache)
    assert path.name == f"355bd40a1cffbb871d1fce0048a19972.{digest}"
    assert path.parent == cache.folder / "35" / "5b"


@given(url=urls, body=st.binary(max_size=2_000))
def test_what_was_put_is_what_comes_back(shared: PageCache, url: str, body: bytes) -> None:
    digest = shared.put(url, body)
    assert digest == body_md5(body)
    assert shared.get(url, digest) == body
    assert shared.get(url + "?", digest) is None


@settings(max_examples=100)
@given(body=st.binary(max_size=300), at=st.floats(0, 1), junk=st.binary(max_size=40))
def test_a_damaged_file_reads_as_absent_and_is_written_again(
    shared: PageCache, body: bytes, at: float, junk: bytes
) -> None:
    """Any bytes at any place, and any cut: never another body, never an exception."""
    digest = shared.put(URL, body)
    path = shared.folder / path_of(URL, digest)
    sound = path.read_bytes()
    cut = int(at * len(sound))
    for damaged in (sound[:cut], sound[:cut] + junk + sound[cut + len(junk) :], junk):
        path.write_bytes(damaged)
        assert shared.get(URL, digest) in (None, body)
    path.write_bytes(b"")
    assert shared.put(URL, body) == digest
    assert shared.get(URL, digest) == body


@given(
    url=urls,
    body=st.binary(max_size=50),
    kind=st.text(max_size=30).map(lambda s: " ".join(s.split())),
)
def test_the_type_that_the_server_gave_is_kept(
    shared: PageCache, url: str, body: bytes, kind: str
) -> None:
    url += f"#{kind}"
    found = shared.find(url, shared.put(url, body, f" {kind}\n"))
    assert found == (body, kind)
    assert shared.get(url, body_md5(body)) == body


def test_the_file_of_another_page_reads_as_absent(cache: PageCache) -> None:
    digest = cache.put(URL, b"body")
    other = cache.folder / path_of("https://other.example/", digest)
    other.parent.mkdir(parents=True)
    files(cache)[0].rename(other)
    assert cache.get("https://other.example/", digest) is None


def test_the_file_of_another_body_reads_as_absent(cache: PageCache) -> None:
    digest = cache.put(URL, b"body")
    wrong = body_md5(b"other body")
    files(cache)[0].rename(cache.folder / path_of(URL, wrong))
    assert cache.get(URL, wrong) is None
    assert cache.get(URL, digest) is None


def test_the_same_body_is_written_once(cache: PageCache) -> None:
    cache.put(URL, b"body")
    age(files(cache)[0], 1.0)
    cache.put(URL, b"body")
    assert files(cache)[0].stat().st_mtime == 1.0


def test_all_bodies_of_a_page_are_forgotten_but_those_to_keep(cache: PageCache) -> None:
    first, second, third = (cache.put(URL, body) for body in (b"1", b"2", b"3"))
    kept = cache.put("https://other.example/", b"1")
    assert cache.forget(URL, keep=frozenset({second})) == 2
    assert [cache.get(URL, digest) for digest in (first, second, third)] == [None, b"2", None]
    assert cache.get("https://other.example/", kept) == b"1"


def test_pruning_takes_what_is_old_then_the_oldest_above_the_quota(cache: PageCache) -> None:
    bodies = {f"https://a.example/{number}": os.urandom(1_000) for number in range(6)}
    for number, (url, body) in enumerate(bodies.items()):
        age(cache.folder / path_of(url, cache.put(url, body)), 1_000.0 + number)
    cache.quota_bytes = 3_500
    assert cache.prune(older_than=1_001.0) == 3
    left = [url for url, body in bodies.items() if cache.get(url, body_md5(body)) is not None]
    assert left == [f"https://a.example/{number}" for number in (3, 4, 5)]
    assert cache.prune(older_than=1_001.0) == 0


def test_what_a_history_names_outlives_its_age_and_goes_last_for_the_quota(
    cache: PageCache,
) -> None:
    bodies = {f"https://a.example/{number}": os.urandom(1_000) for number in range(3)}
    for number, (url, body) in enumerate(bodies.items()):
        age(cache.folder / path_of(url, cache.put(url, body)), 1_000.0 + number)
    first, *_, last = (file_name(url, body_md5(body)) for url, body in bodies.items())
    named = frozenset({first})
    assert cache.prune(older_than=1_002.0, named=named) == 1
    assert sorted(path.name for path in files(cache)) == sorted([first, last])
    cache.quota_bytes = 1_500
    assert cache.prune(older_than=0.0, named=named) == 1
    assert [path.name for path in files(cache)] == [first]
    cache.quota_bytes = 1
    assert cache.prune(older_than=0.0, named=named) == 1


def test_no_quota_keeps_nothing(cache: PageCache) -> None:
    cache.put(URL, b"body")
    cache.quota_bytes = 0
    assert cache.put("https://a.example/", b"body") == body_md5(b"body")
    assert cache.prune(older_than=0.0) == 1
    assert files(cache) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "pages").write_text("a file")
    with pytest.raises(StoreError, match="pages"):
        PageCache(tmp_path / "pages", quota_bytes=1).put(URL, b"body")


def test_a_process_killed_while_writing_leaves_no_half_file(cache: PageCache) -> None:
    """Killed between writing and naming: the real name is absent, the rest is pruned in time."""
    program = (
        "import os, signal, store.files.page_cache, sys; from pathlib import Path\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"store.files.page_cache.PageCache(Path(sys.argv[1]), quota_bytes=9).put({URL!r}, b'body')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(cache.folder)], cwd=ROOT, check=False
    )
    assert ended.returncode == -9
    assert cache.get(URL, body_md5(b"body")) is None
    (left,) = files(cache)
    assert cache.put(URL, b"body") == body_md5(b"body")
    age(left, 1.0)
    assert cache.prune(older_than=2.0) == 1
    assert cache.get(URL, body_md5(b"body")) == b"body"
