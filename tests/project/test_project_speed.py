"""Small versions of the benchmarks of speed: they run end to end, and count what they say they count."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lab.postgres_server import missing_for_postgres

ROOT = Path(__file__).resolve().parents[2]
LOOPBACK = sys.platform.startswith("linux")


def printed(script: str, *arguments: str) -> dict[str, Any]:
    """Run a benchmark; return its last line."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / script), *arguments, "--json"],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.skipif(not LOOPBACK, reason="only Linux answers on all of 127.0.0.0/8")
def test_every_list_is_visited_four_times_and_its_news_announced() -> None:
    answer = printed("bench_throughput.py", "--pages", "24", "--hosts", "6")
    ours = answer["ours"]
    assert ours["visits"] == {
        "first": {"fetched": 24},
        "unchanged": {"not_modified": 24},
        "same_links": {"fetched": 24},
        "changed": {"fetched": 24},
    }
    assert 24 <= ours["announced"] <= 3 * 24
    keys = {"first_visits_per_second", "unchanged_per_second", "changed_per_second", "peak_rss_mb"}
    keys |= {"cpu_ms_first", "cpu_ms_unchanged", "cpu_ms_changed", "statements_per_visit"}
    keys |= {"same_links_per_second", "cpu_ms_same_links"}
    assert all(ours[key] > 0 for key in keys)
    assert answer["rooms"].keys() == {"fetch", "parse", "judge", "record", "schedule"}
    assert ours["statements"]["unchanged"] < ours["statements"]["changed"]
    for mix in ("mix", "mix_without_validators"):
        assert ours[f"{mix}_per_second"] > 0
        shares = ours[f"{mix}_shares"]
        assert sum(shares.values()) == pytest.approx(1)
        # Nearly all that a watcher sees is what it saw before.
        assert shares["unchanged"] > 0.5 > shares["changed"] > 0


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_the_store_is_filled_and_asked(backend: str) -> None:
    if backend == "postgres" and (missing := missing_for_postgres()):
        pytest.skip(missing)
    sizes = ("--pages", "2e3", "--sightings", "2e4", "--backend", backend, "--runs", "1")
    answer = printed("bench_store.py", *sizes)
    empty, filled = answer["pages"]["0"], answer["pages"]["2000"]
    assert filled["size_mb"] > empty["size_mb"]
    assert all(filled[name] > 0 for name in ("record_ms", "due_ms", "known_ms", "new_ms"))
    assert (
        filled["commands"].keys()
        == empty["commands"].keys()
        == {"help", "new", "list", "status", "hubs", "check"}
    )
