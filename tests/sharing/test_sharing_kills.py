"""A whole cluster whose parts are killed: daemons, Dask's workers and scheduler, PostgreSQL.

``scripts/bench_cluster.py`` does the same two hundred times.
"""

import importlib.util
import random
from pathlib import Path

import pytest
from lab.cluster import DELAY_SECONDS, Asked, Cluster, overlaps
from lab.cluster_kills import Killer, Part
from lab.daemon_process import wait_until
from lab.postgres_server import missing_for_postgres


def asked(began: float, ended: float, who: str = "d0") -> Asked:
    return Asked(began, ended, who, "0")


@pytest.mark.parametrize(
    ("log", "impolite"),
    [
        ([asked(0, 1), asked(1 + DELAY_SECONDS, 2)], 0),
        ([asked(0, 1), asked(1.1, 2)], 1),
        ([asked(0, 1), asked(1.1, 2, "d1")], 1),
        # The long one is still being answered when the third comes, though the second has ended.
        ([asked(0, 9), asked(1, 2), asked(5, 6)], 2),
        ([asked(0, 9), asked(1, 2), asked(9.5, 10)], 1),
    ],
)
def test_a_host_is_asked_once_at_a_time_whoever_asks(log: list[Asked], impolite: int) -> None:
    assert len(list(overlaps({"h": log}))) == impolite
    assert not list(overlaps({"h": log[:1], "other": log[1:2]}))


@pytest.mark.skipif(bool(missing_for_postgres()), reason="needs PostgreSQL")
@pytest.mark.skipif(importlib.util.find_spec("distributed") is None, reason="needs Dask")
def test_each_part_of_a_cluster_is_killed_and_nothing_is_lost(tmp_path: Path) -> None:
    with Cluster(tmp_path, workers=2, sites=4) as cluster:
        cluster.begin()
        cluster.daemons[1].start()
        assert wait_until(lambda: cluster.are_sharing(2), 60, every=0.5), cluster.rows()
        # By these dice the daemon starts again at once: the tests beside this one wait for leases.
        killer = Killer(cluster, random.Random(2), pause_seconds=(0.5, 1.0))
        for part in Part:
            killer.kill(part)
        assert killer.counted.failed == []
        assert cluster.end_publishing() == []
        counts = cluster.announced()
        assert cluster.published() == set(counts)
        assert set(counts.values()) == {1}
        assert cluster.hook.twice() == []
        assert cluster.overlaps() == []
