"""The page cache keeps its promises in a folder and on an S3-compatible server alike."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from cli_runner import Run
from fake_web import DAY, SPARING, FakeWeb, Watch, page
from fake_web import START as FAKE_START
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lab.clocks import SimulatedClock
from msgspec import structs
from stories import HOME, START

from incremental.settings import Settings
from store import open_store
from store.errors import StoreError, StoreUnavailableError
from store.files.object_cache import ObjectCache
from store.files.page_cache import FolderCache, PageCache, body_md5, file_name, path_of

moto_server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed (extra: s3)")

import boto3  # noqa: E402 - comes with moto
from moto.core.models import DEFAULT_ACCOUNT_ID  # noqa: E402 - likewise
from moto.s3.models import s3_backends  # noqa: E402 - likewise

URL = "https://news.example/bridge"
QUOTA = 1_000_000


@contextmanager
def s3_server(port: int = 0) -> Iterator[str]:
    """Run an S3-compatible server; yield its address."""
    running = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        running.stop()


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server of this test process's own."""
    with s3_server() as address:
        yield address


def make_bucket(address: str, monkeypatch: pytest.MonkeyPatch, name: str = "") -> str:
    """Make an empty bucket; the environment says how to reach it, as a user's would."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", address)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    name = name or f"pages-{uuid4().hex[:12]}"
    boto3.client("s3").create_bucket(Bucket=name)
    return name


@pytest.fixture
def bucket(s3: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket."""
    return make_bucket(s3, monkeypatch)


Age = Callable[[str, float], None]
"""Make a file of the cache as old as this moment, unix seconds, given its path in the cache."""


@pytest.fixture(params=["folder", "s3"])
def cache(request: pytest.FixtureRequest, tmp_path: Path) -> PageCache:
    if request.param == "folder":
        return FolderCache(tmp_path / "pages", quota_bytes=QUOTA)
    bucket: str = request.getfixturevalue("bucket")
    return ObjectCache(f"s3://{bucket}/pages", quota_bytes=QUOTA)


@pytest.fixture
def age(cache: PageCache) -> Age:
    def set_age(path: str, at: float) -> None:
        if isinstance(cache, FolderCache):
            os.utime(cache.folder / path, (at, at))
        else:
            # No call of S3 sets it.
            stored(cache)[f"pages/{path}"].last_modified = datetime.fromtimestamp(at, UTC)

    return set_age


def stored(cache: PageCache) -> Any:
    """What the server keeps in a cache's bucket, by key."""
    assert isinstance(cache, ObjectCache)
    bucket = cache.url.removeprefix("s3://").partition("/")[0]
    return s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[bucket].keys


def spoil(cache: PageCache, path: str, content: bytes) -> None:
    """Replace a file behind the cache's back."""
    if isinstance(cache, FolderCache):
        (cache.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (cache.folder / path).write_bytes(content)
    else:
        stored(cache)[f"pages/{path}"].value = content


def test_what_was_put_is_what_comes_back(cache: PageCache) -> None:
    for body in (b"", b"<html>", "\u6865".encode(), bytes(range(256)) * 300):
        digest = cache.put(URL, body)
        assert digest == body_md5(body)
        assert cache.get(URL, digest) == body
        assert cache.get(URL + "?", digest) is None


def test_a_damaged_body_reads_as_absent_and_is_written_again(cache: PageCache) -> None:
    digest = cache.put(URL, b"body")
    for damage in (b"", b"junk", gzip.compress(b"https://other.example/\nbody")):
        spoil(cache, path_of(URL, digest), damage)
        assert cache.get(URL, digest) is None
    cache.put(URL, b"body")
    assert cache.get(URL, digest) == b"body"


def test_a_page_is_forgotten_but_for_what_is_kept(cache: PageCache) -> None:
    old, new = cache.put(URL, b"old"), cache.put(URL, b"new")
    other = cache.put(HOME, b"old")
    assert cache.forget(URL, keep=frozenset([new])) == 1
    assert cache.get(URL, old) is None
    assert cache.get(URL, new) == b"new"
    assert cache.get(HOME, other) == b"old"
    assert cache.forget("https://never.example/") == 0


def test_bodies_go_after_their_days_unless_they_are_named(cache: PageCache, age: Age) -> None:
    kept, named, old = (cache.put(f"{URL}/{n}", b"body") for n in range(3))
    assert kept == named == old
    for number, at in enumerate((START, START - 9, START - 9)):
        age(path_of(f"{URL}/{number}", kept), at)
    assert cache.prune(older_than=START - 1, named=frozenset([file_name(f"{URL}/1", kept)])) == 1
    assert [cache.get(f"{URL}/{n}", kept) for n in range(3)] == [b"body", b"body", None]


def test_above_the_quota_the_oldest_goes_first(cache: PageCache, age: Age) -> None:
    digests = [cache.put(f"{URL}/{n}", bytes([n]) * 100) for n in range(4)]
    for number, digest in enumerate(digests):
        age(path_of(f"{URL}/{number}", digest), START + number)
    cache.quota_bytes = cache.size_bytes() - 1
    assert cache.prune(older_than=0.0) == 1
    assert cache.get(f"{URL}/0", digests[0]) is None


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(url=st.text(max_size=60), body=st.binary(max_size=500))
def test_any_address_and_any_body(cache: PageCache, url: str, body: bytes) -> None:
    url = f"https://a.example/{url}".replace("\n", "")
    assert cache.get(url, cache.put(url, body)) == body


def test_without_a_quota_nothing_is_kept(bucket: str) -> None:
    cache = ObjectCache(f"s3://{bucket}/pages", quota_bytes=0)
    assert cache.get(URL, cache.put(URL, b"body")) is None
    assert cache.size_bytes() == 0


def test_a_bucket_that_is_not_there_is_waited_for(bucket: str) -> None:
    cache = ObjectCache(f"s3://not-{bucket}/pages", quota_bytes=QUOTA)
    for use in (cache.check, lambda: cache.put(URL, b"body")):
        with pytest.raises(StoreUnavailableError, match="bucket does not exist"):
            use()


def test_a_server_that_is_away_is_waited_for_and_taken_up_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Refused connections are an error that passes, for reading too: absent would mean pruned."""
    with s3_server() as address:
        name = make_bucket(address, monkeypatch)
        cache = ObjectCache(f"s3://{name}/pages", quota_bytes=QUOTA)
        digest = cache.put(URL, b"body")
    for use in (cache.check, lambda: cache.get(URL, digest), lambda: cache.forget(URL)):
        with pytest.raises(StoreUnavailableError, match="connect"):
            use()
    port = int(address.rpartition(":")[2])
    with s3_server(port):
        make_bucket(address, monkeypatch, name)
        cache.check()
        assert cache.get(URL, cache.put(URL, b"body")) == b"body"


def test_an_address_that_nothing_knows_is_refused_without_its_password() -> None:
    with pytest.raises(StoreError, match="fsspec knows") as refused:
        ObjectCache("nowhere://me:hush@host/pages", quota_bytes=QUOTA)
    assert "hush" not in str(refused.value)


def test_a_crawl_keeps_its_pages_there_and_none_in_its_folder(bucket: str, tmp_path: Path) -> None:
    web = FakeWeb(
        SimulatedClock(FAKE_START),
        {
            HOME: [(0.0, page(f"{HOME}a/1.html")), (FAKE_START + DAY, page(f"{HOME}a/2.html"))],
            f"{HOME}a/1.html": page(title="One"),
            f"{HOME}a/2.html": page(title="Two"),
        },
    )
    store = structs.replace(Settings().store, cache=f"s3://{bucket}/pages")
    with Watch(tmp_path, web, HOME, settings=structs.replace(SPARING, store=store)) as watch:
        watch.run(2 * DAY)
        assert watch.new() == ["/a/2.html"]
        assert isinstance(watch.store.cache, ObjectCache)
        assert watch.store.cache.size_bytes() > 0
    assert not list((tmp_path / "hubwatch-data" / "pages").rglob("*.*"))


def test_a_file_address_is_a_folder(tmp_path: Path) -> None:
    path = str(tmp_path / "hubwatch.sqlite")
    url = f"file://{tmp_path}/elsewhere"
    with open_store(path, cache_folder=tmp_path / "pages", cache_url=url) as store:
        store.cache.put(URL, b"body")
    assert list((tmp_path / "elsewhere").glob("*/*/*"))


def test_doctor_asks_whether_the_bucket_is_there(
    bucket: str, hubwatch: Run, tmp_path: Path
) -> None:
    settings_file = tmp_path / "hubwatch.toml"
    for name, verdict in ((bucket, "ok"), (f"not-{bucket}", "problem")):
        settings_file.write_text(f'[store]\ncache = "s3://{name}/pages"\n')
        settings_file.chmod(0o600)
        found = {one["check"]: one for one in hubwatch("doctor", "--json").json["checks"]}
        assert found["page cache"]["verdict"] == verdict


def test_an_address_without_a_scheme_is_refused(hubwatch: Run, tmp_path: Path) -> None:
    (tmp_path / "hubwatch.toml").write_text('[store]\ncache = "bucket/pages"\n')
    result = hubwatch("status")
    assert result.code == 2
    assert "store.cache" in result.err
    assert "s3://bucket/prefix" in result.err
