"""The model of scale: needs grow with the hubs, and stages are left in their order."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.fleet import Used
from lab.scale import (
    KINDS,
    STAGES,
    Cost,
    Demand,
    Machine,
    Model,
    Shared,
    Spent,
    Storage,
    predicted,
    stage_of,
)
from lab.scale_check import DAEMONS, WORKERS, Ran, compare

SCRIPT = Path(__file__).parents[2] / "scripts" / "simulate_scale.py"
COST = Cost(10.0, 5.0, 3.0, statements=20.0, received_bytes=10_000.0)
SHARED = Shared(
    daemon_ms=2.0,
    worker_ms=3.0,
    database_ms=0.5,
    statements=1.0,
    idle_daemon=0.01,
    idle_workers=0.02,
    idle_database=0.005,
    idle_statements=4.0,
)
MODEL = Model(
    dict.fromkeys(KINDS, COST),
    Demand({"first": 0.0, "unchanged": 2.0, "changed": 1.0}, 0.5, 20.0),
    Storage(hub_bytes=50_000.0, page_bytes=4_000.0, cached_bytes=5_000.0, kept_days=365.0),
    SHARED,
)


def test_needs_are_rates_times_costs() -> None:
    need = MODEL.need(86_400.0)  # three visits of each a day: three a second
    assert need.visits_per_second == pytest.approx(3.0)
    assert need.statements_per_second == pytest.approx(60.0)
    assert need.crawler_cores == pytest.approx(0.03 / 0.6)
    assert need.worker_cores == pytest.approx(0.015 / 0.6)
    assert need.database_tb == pytest.approx(86_400 * (50_000 + 0.5 * 365 * 4_000) / 1e12)
    assert (need.daemons, need.machines, need.stage) == (1, 1, STAGES[0])


def test_several_daemons_pay_for_sharing() -> None:
    many = MODEL.need(5e6)
    visits = many.visits_per_second
    assert many.stage == STAGES[1]
    assert many.crawler_cores == pytest.approx(visits * 0.012 / 0.6)
    assert many.worker_cores == pytest.approx(visits * 0.008 / 0.6)
    assert many.statements_per_second == pytest.approx(visits * 21.0)


def test_a_run_is_predicted_from_its_visits_and_its_length() -> None:
    spent = Spent({"first": 100.0, "unchanged": 300.0}, seconds=10.0, daemons=2, workers=4)
    assert predicted(MODEL.costs, SHARED, spent) == pytest.approx(
        {
            "crawler_ms": 400 * 12.0 + 10_000 * 2 * 0.01,
            "worker_ms": 400 * 8.0 + 10_000 * 4 * 0.02,
            "database_ms": 400 * 3.5 + 10_000 * 2 * 0.005,
            "statements": 400 * 21.0 + 10 * 2 * 4.0,
        }
    )


def test_the_comparison_is_measured_over_predicted() -> None:
    used = Used(
        daemons=4.8 + 0.4, workers=3.0, scheduler=0.6, database=1.4, statements=8_480, seconds=10.0
    )
    kinds = {"first": 400, "unchanged": 0, "changed": 0, "reading": 0}
    found = compare({"first": Ran(used, kinds, [100.0])}, MODEL.costs, SHARED)
    assert found["first"]["ratio"] == pytest.approx(
        {
            "crawler_ms": 5.2 / (400 * 0.012 + 10 * DAEMONS * 0.01),
            "worker_ms": 3.6 / (400 * 0.008 + 10 * WORKERS * 0.02),
            "database_ms": 1.4 / (400 * 0.0035 + 10 * DAEMONS * 0.005),
            "statements": 8_480 / (400 * 21 + 10 * DAEMONS * 4),
        }
    )
    assert found["all"]["ratio"] == found["first"]["ratio"]


@given(st.floats(1.0, 1e9), st.floats(1.0, 100.0))
def test_more_hubs_never_need_less(hubs: float, times: float) -> None:
    few, many = MODEL.need(hubs), MODEL.need(hubs * times)
    assert few.worker_cores <= many.worker_cores * 1.000001
    assert few.daemons <= many.daemons
    assert STAGES.index(few.stage) <= STAGES.index(many.stage)


@pytest.mark.parametrize(
    ("fuller", "stage", "saturated"),
    [
        ({}, STAGES[0], ""),
        ({"crawler_cores": 1.5}, STAGES[1], "crawler_cores"),
        ({"crawler_cores": 50.0, "database_cores": 40.0}, STAGES[2], "database_cores"),
        ({"crawler_cores": 50.0, "database_tb": 40.0}, STAGES[2], "database_tb"),
        ({"crawler_cores": 9e4, "database_tb": 9e4}, STAGES[3], "database_tb"),
    ],
)
def test_the_first_part_to_give_way_decides(
    fuller: dict[str, float], stage: str, saturated: str
) -> None:
    parts = dict.fromkeys(
        ("crawler_cores", "worker_cores", "database_cores", "database_tb", "received_gbit"), 0.1
    )
    assert stage_of(parts | fuller, Machine()) == (stage, saturated)


def test_half_as_many_cores_a_machine_are_more_machines() -> None:
    large = MODEL.need(1e8).machines
    small = replace(MODEL, machine=Machine(cores=16)).need(1e8).machines
    assert small == pytest.approx(2 * large, abs=2)


def test_the_script_prints_what_was_measured() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--json"], check=True, capture_output=True, text=True
    )
    answer = json.loads(done.stdout.splitlines()[-1])
    assert [need["hubs"] for need in answer["needs"]] == [1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
    assert set(answer["measured"]["costs"]) == set(KINDS)
    assert all(cost["database_ms"] > 0 for cost in answer["measured"]["costs"].values())
