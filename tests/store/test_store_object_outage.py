"""An object store that refuses, or is stale: the daemon waits or goes on, and says so; nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

import pytest
from cli_runner import Run
from fake_web import DAY, SPARING, FakeWeb, Watch, page
from fake_web import START as FAKE_START
from lab.clocks import SimulatedClock
from local_site import LocalSite
from msgspec import structs
from object_gate import ObjectGate
from stories import HOME, announced_pages

from incremental.settings import Settings, load_settings
from incremental.settings.storage import open_configured_store
from store.errors import StoreUnavailableError
from store.files.object_cache import ObjectCache
from store.files.page_cache import path_of

moto_server = pytest.importorskip("moto.server", reason="moto[server] is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed (extra: s3)")

import boto3  # noqa: E402 - comes with moto

ROOT = Path(__file__).parents[2]
URL = "https://news.example/bridge"
QUOTA = 1_000_000
COMMAND = [sys.executable, "-c", "from incremental.interfaces.cli import main; main()"]


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    running = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


@pytest.fixture
def gate(s3: str) -> Iterator[ObjectGate]:
    with ObjectGate(s3) as found:
        yield found


@pytest.fixture
def bucket(gate: ObjectGate, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty bucket behind the gate; the environment says how to reach it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", gate.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    name = f"pages-{uuid4().hex[:12]}"
    boto3.client("s3").create_bucket(Bucket=name)
    return name


@pytest.fixture
def cache(bucket: str) -> ObjectCache:
    return ObjectCache(f"s3://{bucket}/pages", quota_bytes=QUOTA)


@pytest.mark.parametrize("status", [403, 503])
def test_a_store_of_objects_that_refuses_cannot_be_used(
    cache: ObjectCache, gate: ObjectGate, status: int
) -> None:
    """Refused is not absent: a page that could not be read now is still there later."""
    digest = cache.put(URL, b"body")
    gate.refuses = status
    uses: tuple[Callable[[], object], ...] = (
        cache.check,
        cache.reach,
        cache.size_bytes,
        lambda: cache.get(URL, digest),
        lambda: cache.put(URL, b"other"),
        lambda: cache.forget(URL),
    )
    for use in uses:
        with pytest.raises(StoreUnavailableError, match="page cache s3://"):
            use()
    gate.refuses = None
    cache.check()
    assert cache.get(URL, digest) == b"body"


def test_a_list_of_yesterday_deletes_nothing_new_and_brings_nothing_back(
    cache: ObjectCache, gate: ObjectGate
) -> None:
    old, kept = cache.put(URL, b"old"), cache.put(HOME, b"kept")
    assert cache.size_bytes() > 0
    assert cache.forget(URL, keep=frozenset([old])) == 0
    other = ObjectCache(cache.url, quota_bytes=QUOTA)
    other._delete([path_of(URL, old)])
    new = other.put(URL, b"new")
    gate.is_stale = True
    assert cache.forget(URL) == 1, "the list still names what is gone"
    assert cache.prune(older_than=0.0) == 0
    cache.quota_bytes = 1
    assert cache.prune(older_than=0.0) == 2
    gate.is_stale = False
    assert cache.get(URL, old) is None
    assert cache.get(HOME, kept) is None
    assert cache.get(URL, new) == b"new"


def test_a_crawl_over_bodies_that_do_not_match_their_names_announces_each_page_once(
    bucket: str, tmp_path: Path
) -> None:
    """A store put back to an older state holds other bodies under the names, or none."""
    stories = [f"{HOME}a/{n}.html" for n in range(1, 5)]
    web = FakeWeb(
        SimulatedClock(FAKE_START),
        {
            HOME: [
                (FAKE_START + n * DAY if n > 1 else 0.0, page(*stories[:n])) for n in (1, 2, 3, 4)
            ],
            **{url: page(title=url[-6:], text=f"Story of {url}. " * 40) for url in stories},
        },
    )
    store = structs.replace(Settings().store, cache=f"s3://{bucket}/pages")
    client = boto3.client("s3")
    with Watch(tmp_path, web, HOME, settings=structs.replace(SPARING, store=store)) as watch:
        watch.run(2.5 * DAY)
        assert watch.new() == ["/a/2.html"]
        keys = sorted(one["Key"] for one in client.list_objects_v2(Bucket=bucket)["Contents"])
        bodies = [client.get_object(Bucket=bucket, Key=key)["Body"].read() for key in keys]
        for key, body in zip(keys, [*bodies[1:], b"junk"], strict=True):
            client.put_object(Bucket=bucket, Key=key, Body=body)
        watch.run(1 * DAY)
        for key in keys:
            client.delete_object(Bucket=bucket, Key=key)
        watch.run(2 * DAY)
        assert watch.new() == ["/a/2.html", "/a/3.html", "/a/4.html"]
        assert not watch.store.quarantine.entries()


# --- the daemon -------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path, bucket: str) -> Iterator[LocalSite]:
    """A site that was watched once, with its pages on the object store."""
    (tmp_path / "hubwatch.toml").write_text(
        f'[fetch]\nallowed_networks = ["127.0.0.0/8"]\n[revisit]\nrequests_per_day = 5000\n'
        f'[web]\nenabled = false\n[store]\ncache = "s3://{bucket}/pages"\n'
    )
    (tmp_path / "hubwatch.toml").chmod(0o600)
    links = [f"/stories/a-story-with-a-long-name-{n}.html" for n in range(5)]
    old = {"/": page(*links), **dict.fromkeys(links, page(text="Long ago. " * 90))}
    with LocalSite(old) as local:
        done = subprocess.run(
            [*COMMAND, "run", "--once", local.url],
            cwd=tmp_path,
            env=environment(),
            check=False,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr
        yield local


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}


@pytest.fixture
def daemon(tmp_path: Path, site: LocalSite) -> Iterator[subprocess.Popen[str]]:
    """A daemon that is asking the site for its list, in which there are two new pages."""
    stories = [f"/stories/a-new-story-with-a-long-name-{n}.html" for n in range(2)]
    site.pages |= {"/": page(*stories, *site.pages)}
    site.pages |= {story: page(title=story, text="New. " * 99) for story in stories}
    settings, _ = load_settings(tmp_path / "hubwatch.toml")
    with open_configured_store(settings, tmp_path) as store:
        for hub in store.read.hubs():
            store.write.update_hub(hub.page_id, due_at=0, revisit="{}")
    site.held.add("/")
    process = subprocess.Popen(
        [*COMMAND, "run"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert site.asked.wait(60)
    yield process
    with suppress(ProcessLookupError):
        process.kill()
    process.communicate()


def heard(stream: IO[str] | None, words: str) -> bool:
    """Wait for a line that holds *words*."""
    assert stream is not None
    return any(words in line for line in stream)


def problem_of_daemon(hubwatch: Run) -> str:
    """Ask until the daemon's next pulse has said what is wrong."""
    for _ in range(1_000):
        found = hubwatch("status", "--json").json["daemon"]
        if found is not None and found["problems"]:
            return str(found["problems"][0]["detail"])
    return ""


@pytest.mark.parametrize("status", [403, 503])
def test_a_daemon_waits_for_a_store_of_objects_that_refuses_and_loses_nothing(  # noqa: PLR0913, PLR0917 - each is a fixture
    daemon: subprocess.Popen[str],
    site: LocalSite,
    gate: ObjectGate,
    hubwatch: Run,
    tmp_path: Path,
    status: int,
) -> None:
    gate.refuses = status
    site.release.set()
    assert heard(daemon.stderr, "waiting for the store, nothing is fetched: page cache s3://")
    assert "page cache s3://" in problem_of_daemon(hubwatch)
    checks = {one["check"]: one for one in hubwatch("doctor", "--json").json["checks"]}
    assert checks["page cache"]["verdict"] == "problem"
    gate.refuses = None
    assert heard(daemon.stderr, "the store can be used again")
    assert heard(daemon.stdout, "new ")
    assert heard(daemon.stdout, "new ")
    daemon.send_signal(signal.SIGTERM)
    daemon.communicate()
    settings, _ = load_settings(tmp_path / "hubwatch.toml")
    with open_configured_store(settings, tmp_path) as store:
        announced = [news.url for news in announced_pages(store)]
        hubs = [hub for hub in store.read.hubs() if hub.role == "seed"]
        assert all(store.cache.get(hub.url, hub.body_md5 or "") for hub in hubs)
    assert sorted(announced) == [
        f"{site.url}/stories/a-new-story-with-a-long-name-{n}.html" for n in range(2)
    ]
