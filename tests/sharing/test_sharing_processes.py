"""Real daemons on one PostgreSQL store: they share the sites, and what dies or freezes is taken over.

``scripts/bench_cluster.py`` does the same many times.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from lab.cluster import Cluster
from lab.daemon_process import command, complete, wait_until
from lab.postgres_server import missing_for_postgres

pytestmark = pytest.mark.skipif(bool(missing_for_postgres()), reason="needs PostgreSQL")
TAKEN_OVER_SECONDS = 60.0


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
    tmp_path: Path,
) -> None:
    with Cluster(tmp_path) as cluster:
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


def test_a_frozen_daemon_that_goes_on_writes_nothing_and_joins_again(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
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
        assert "another daemon has taken over" in first.errors()
        ends_well(cluster)


def test_when_the_server_restarts_nothing_is_lost_and_the_daemons_go_on(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
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


def ended(process: subprocess.Popen[bytes]) -> int:
    return process.wait(60)


def test_a_shard_is_one_daemons_and_nobody_copies_the_store_meanwhile(tmp_path: Path) -> None:
    with Cluster(tmp_path, sites=2) as cluster:
        first, second = cluster.daemons
        first.start("--shard", "1/2", *(site.url for site in cluster.sites))
        assert wait_until(lambda: cluster.shares() == [2], 60, every=0.5), first.errors()
        folder = second.folder
        for shard, says in [("1/2", "as shard 1/2 already"), ("1/3", "same number of shards")]:
            assert ended(command(folder, "run", "--shard", shard)) == 3
            assert says in second.errors()
        assert ended(command(folder, "run", "--once")) == 3
        assert "daemons are at work on this store" in second.errors()
        assert complete(folder, "migrate-store", cluster.url, str(tmp_path / "copy")) == 3
        assert "daemons are at work" in (folder / "migrate-store.err").read_text()
        assert complete(folder, "status", "--json") == 0
        shown = json.loads((folder / "status.out").read_text())["daemons"]
        assert [(one["shard"], one["sites"], one["is_leader"]) for one in shown] == [
            ("1/2", 2, True)
        ]
        complete(folder, "doctor", "--offline")
        assert "shard 1/2: 2 sites, heartbeat" in (folder / "doctor.out").read_text()
        first.kill()
        first.start("--shard", "1/2")
        assert wait_until(lambda: cluster.shares() == [2], TAKEN_OVER_SECONDS, every=0.5)
        assert first.running, "a killed daemon that starts again waits for its own lease to end"
