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
from lab.scale import KINDS, STAGES, Cost, Demand, Machine, Model, Storage, stage_of

SCRIPT = Path(__file__).parents[2] / "scripts" / "simulate_scale.py"
COST = Cost(10.0, 5.0, 3.0, statements=20.0, received_bytes=10_000.0)
MODEL = Model(
    dict.fromkeys(KINDS, COST),
    Demand({"first": 0.0, "unchanged": 2.0, "changed": 1.0}, 0.5, 20.0),
    Storage(hub_bytes=50_000.0, page_bytes=4_000.0, cached_bytes=5_000.0, kept_days=365.0),
)


def test_needs_are_rates_times_costs() -> None:
    need = MODEL.need(86_400.0)  # three visits of each a day: three a second
    assert need.visits_per_second == pytest.approx(3.0)
    assert need.statements_per_second == pytest.approx(60.0)
    assert need.crawler_cores == pytest.approx(0.03 / 0.6)
    assert need.worker_cores == pytest.approx(0.015 / 0.6)
    assert need.database_tb == pytest.approx(86_400 * (50_000 + 0.5 * 365 * 4_000) / 1e12)
    assert (need.daemons, need.machines, need.stage) == (1, 1, STAGES[0])


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
