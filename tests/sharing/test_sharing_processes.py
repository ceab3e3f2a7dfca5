"""Real daemons on one PostgreSQL store: they share the sites, and what dies or freezes is taken over.

``scripts/bench_cluster.py`` does the same many times.
"""

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import requests
from lab.cluster import Cluster
from lab.daemon_process import command, complete, free_port, wait_until
from lab.postgres_server import PostgresServer, missing_for_postgres

pytestmark = pytest.mark.skipif(bool(missing_for_postgres()), reason="needs PostgreSQL")
TAKEN_OVER_SECONDS = 60.0
# Shorter than the product's: what happens when it ends does not depend on how long one waits for it.
LEASE_SECONDS = 12.0


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """One server for all, of which each cluster makes an empty database."""
    with PostgresServer() as running:
        yield running


def ends_well(cluster: Cluster) -> None:
    """All is announced and sent, each page once, and no host was asked by two daemons at once."""
    assert cluster.end_publishing() == []
    counts = cluster.announced()
    assert cluster.published() == set(counts)
    assert set(counts.values()) == {1}
    assert wait_until(lambda: cluster.published() <= cluster.hook.urls(), 60, every=0.5)
    assert cluster.hook.twice() == []
    assert cluster.overlaps() == []


def some_are_announced(cluster: Cluster) -> bool:
    return bool(cluster.announced())


def test_two_daemons_share_the_sites_and_one_takes_over_when_the_leader_is_killed(
    tmp_path: Path, server: PostgresServer
) -> None:
    with Cluster(tmp_path, lease_seconds=LEASE_SECONDS, server=server) as cluster:
        cluster.begin()
        first, second = cluster.daemons
        second.start()
        assert wait_until(lambda: cluster.are_sharing(2), 60, every=0.5), cluster.rows()
        since = time.time()
        assert wait_until(lambda: len(cluster.askers(since)) == len(cluster.sites), 60, every=0.5)
        # What was under way when a site changed hands had ended before.
        assert all(len(who) == 1 for who in cluster.askers(since + 1).values())
        assert wait_until(lambda: some_are_announced(cluster), 60, every=0.5)
        first.kill()
        alone = [len(cluster.sites)]
        assert wait_until(lambda: cluster.shares() == alone, TAKEN_OVER_SECONDS, every=0.5)
        assert wait_until(lambda: cluster.rows()[0].is_leader, 15, every=0.5)
        ends_well(cluster)
        assert second.stop()[0] == 0
        assert cluster.rows() == []


def test_a_frozen_daemon_that_goes_on_writes_nothing_and_joins_again(
    tmp_path: Path, server: PostgresServer
) -> None:
    with Cluster(tmp_path, lease_seconds=LEASE_SECONDS, server=server) as cluster:
        cluster.begin()
        first, second = cluster.daemons
        second.start()
        assert wait_until(lambda: cluster.are_sharing(2), 60, every=0.5), cluster.rows()
        old = cluster.rows()[0].id
        first.send(signal.SIGSTOP)
        assert wait_until(lambda: len(cluster.rows()) == 1, TAKEN_OVER_SECONDS, every=0.5)
        assert wait_until(lambda: cluster.shares() == [len(cluster.sites)], 15, every=0.5)
        since = time.time()
        assert wait_until(lambda: len(cluster.askers(since)) == len(cluster.sites), 60, every=0.5)
        first.send(signal.SIGCONT)
        assert wait_until(lambda: cluster.are_sharing(2), 60, every=0.5), first.errors()[-2_000:]
        assert old not in {one.id for one in cluster.rows()}
        # Its connection may have been closed meanwhile: then it learns that when it connects again.
        said = first.errors()
        assert "another daemon has taken over" in said or "the connection is closed" in said
        ends_well(cluster)


def test_when_the_server_restarts_nothing_is_lost_and_the_daemons_go_on(
    tmp_path: Path, server: PostgresServer
) -> None:
    with Cluster(tmp_path, lease_seconds=LEASE_SECONDS, server=server) as cluster:
        cluster.begin()
        cluster.daemons[1].start()
        assert wait_until(lambda: cluster.are_sharing(2), 60, every=0.5), cluster.rows()
        before = {one.id for one in cluster.rows()}
        cluster.restart_server()
        assert wait_until(lambda: some_are_announced(cluster), 60, every=0.5)
        ends_well(cluster)
        assert all(one.running for one in cluster.daemons)
        assert {one.id for one in cluster.rows()} == before
        assert all("waiting for the store" in one.errors() for one in cluster.daemons)


@contextlib.contextmanager
def web(folder: Path, settings: Path) -> Iterator[str]:
    """The web page and the API in a process of their own."""
    folder.mkdir()
    shutil.copy(settings, folder)
    port = free_port()
    process = command(folder, "serve", variables={"HUBWATCH_WEB_PORT": str(port)})
    try:
        address = f"http://127.0.0.1:{port}/api/v1"
        assert wait_until(lambda: answers(port), 60, every=0.2), (folder / "serve.err").read_text()
        yield address
    finally:
        process.kill()
        process.wait()


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def test_two_web_processes_show_all_and_reach_whichever_daemon_has_the_site(
    tmp_path: Path, server: PostgresServer
) -> None:
    # Nothing is due for hours, so what is visited was asked for.
    with (
        Cluster(
            tmp_path, lease_seconds=LEASE_SECONDS, server=server, sites=4, min_interval_minutes=600
        ) as cluster,
        ExitStack() as stack,
    ):
        late = cluster.sites.pop()
        cluster.begin()
        cluster.daemons[1].start()
        assert wait_until(lambda: cluster.are_sharing(2), 60, every=0.5), cluster.rows()
        settings = cluster.daemons[0].folder / "hubwatch.toml"
        one = stack.enter_context(web(tmp_path / "w0", settings))
        other = stack.enter_context(web(tmp_path / "w1", settings))
        status = requests.get(f"{other}/status", timeout=30).json()
        assert status["crawling"]
        assert sorted(place["sites"] for place in status["daemons"]) == sorted(cluster.shares())
        sites = [{"sites": [row["id"]]} for row in requests.get(f"{one}/sites", timeout=30).json()]
        since = time.time()
        for asked, address in zip(sites, (one, other, one), strict=True):
            answer = requests.post(f"{address}/visits", json=asked, timeout=30)
            assert answer.status_code == 200, answer.text
            assert not any(visit["refused"] for visit in answer.json())
        assert wait_until(lambda: len(cluster.askers(since)) == len(cluster.sites), 60, every=0.5)
        assert wait_until(lambda: not cluster.store.editing.visit_requests(), 60, every=0.5)
        added = requests.post(f"{other}/sites", json={"urls": [late.url]}, timeout=30)
        assert added.status_code in {200, 201}, added.text
        assert wait_until(lambda: late.asked["/"] > 0, 60, every=0.5)
        assert len(cluster.askers(since)["3"]) == 1


def test_a_daemon_without_a_page_waits_for_sites_that_others_add(
    tmp_path: Path, server: PostgresServer
) -> None:
    """As those of deploy/compose.scale.yaml do on a fresh installation."""
    with Cluster(tmp_path, lease_seconds=LEASE_SECONDS, server=server, sites=1) as cluster:
        waits, elsewhere = cluster.daemons
        waits.start()
        assert wait_until(lambda: len(cluster.rows()) == 1, 60, every=0.5), waits.errors()
        (site,) = cluster.sites
        assert complete(elsewhere.folder, "add", site.url) == 0
        assert wait_until(lambda: "d0" in cluster.askers(0.0)["0"], 60, every=0.5), waits.errors()
        assert complete(elsewhere.folder, "visit", site.url) == 0
        assert "the daemon does it" in (elsewhere.folder / "visit.err").read_text()
        assert waits.running


def ended(process: subprocess.Popen[bytes]) -> int:
    return process.wait(60)


def test_nobody_runs_once_beside_a_daemon(tmp_path: Path, server: PostgresServer) -> None:
    with Cluster(tmp_path, lease_seconds=LEASE_SECONDS, server=server, sites=2) as cluster:
        first, second = cluster.daemons
        first.start(*(site.url for site in cluster.sites))
        assert wait_until(lambda: cluster.shares() == [2], 60, every=0.5), first.errors()
        folder = second.folder
        assert ended(command(folder, "run", "--once")) == 3
        assert "daemons are at work on this store" in second.errors()
        assert complete(folder, "status", "--json") == 0
        shown = json.loads((folder / "status.out").read_text())["daemons"]
        assert [(one["sites"], one["is_leader"]) for one in shown] == [(2, True)]
        first.kill()
        first.start()
        assert wait_until(lambda: cluster.shares() == [2], TAKEN_OVER_SECONDS, every=0.5)
        assert first.running
