"""The search of C and gamma: by folds of whole domains, coarse then fine, kept whole, and obeyed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hub_samples import PAIRS, sample_captures, sample_rows, train_small_model
from lab.hub import grid
from lab.hub.folded import FoldedRows
from lab.hub.grid import PLAN, GridPlan, Search, search
from lab.hub.training import TrainingOptions, train_model
from numpy.typing import NDArray

from classifier.hub import svm, updating
from classifier.hub.classifier import SHIPPED_MODELS, load_default
from classifier.hub.errors import ModelError, TrainingError
from classifier.hub.labels import LabelRow
from classifier.hub.model import load_model, read_manifest, save_model
from classifier.hub.svm import Pair, RbfMachine
from classifier.hub.updating import folds_of

SMALL = GridPlan(costs=(-2, 4), gammas=(-9, 0), fine=1)
MACHINES = ("content", "joint", "url")


def _rings(count: int = 160) -> tuple[FoldedRows, list[str]]:
    """Rows of 40 sites; hubs lie within a sphere, so neither the smallest C nor gamma will do."""
    rng = np.random.default_rng(5)
    rows = np.round(rng.normal(size=(count, 3)), 3)
    hubs = np.square(rows).sum(axis=1) < 2
    domains = [f"site{place % 40}" for place in range(count)]
    return FoldedRows.build(rows, hubs, folds_of(domains, 4), lambda _: lambda same: same), domains


def test_every_fold_judges_domains_that_it_did_not_learn() -> None:
    rows, domains = _rings()
    for number, fold in enumerate(rows.folds):
        held = {domains[place] for place in np.flatnonzero(rows.numbers == number)}
        learned = {domains[place] for place in np.flatnonzero(rows.numbers != number)}
        assert not held & learned
        assert len(fold.held_rows) == np.sum(rows.numbers == number)


def _neighbours(pair: Pair) -> set[tuple[float, float]]:
    return {(pair.cost * c, pair.gamma * g) for c in (0.5, 1, 2) for g in (0.5, 1, 2)}


def test_the_fine_grid_goes_on_until_its_best_has_no_untried_neighbour() -> None:
    """It begins at the best of the coarse grid; a best at the edge would be none."""
    rows, domains = _rings()
    found = search("rings", rows, domains, SMALL, Search())
    tried = {tuple(point[:2]) for point in found["fine"]["points"]}
    assert tried >= _neighbours(_best(found, "coarse")) | _neighbours(_best(found))
    assert len(tried) > 9, "the first nine had their best at the edge"
    assert max(point[2] for point in found["fine"]["points"]) > 0.8
    assert Pair(found["cost"], found["gamma"]) == _best(found)


def test_a_score_is_the_mean_of_the_folds_and_carries_their_deviation() -> None:
    rows, domains = _rings()
    found = search("rings", rows, domains, SMALL, Search())
    cost, gamma, mean, deviation = found["fine"]["points"][0]
    scores = [fold.score(Pair(cost, gamma)) for fold in rows.folds]
    assert mean == pytest.approx(np.mean(scores), abs=1e-5)
    assert deviation == pytest.approx(np.std(scores, ddof=1), abs=1e-5)


def test_more_processes_change_nothing_but_the_time() -> None:
    rows, domains = _rings(80)
    plan = GridPlan(costs=(0,), gammas=(-3, 0), fine=0)
    assert search("rings", rows, domains, plan, Search(processes=2)) == search(
        "rings", rows, domains, plan, Search()
    )


def test_the_coarse_grid_looks_at_a_part_of_the_domains_the_fine_one_at_all() -> None:
    rows, domains = _rings()
    found = search("rings", rows, domains, SMALL, Search(coarse_rows=50))
    assert 20 < found["coarse"]["rows"] < 100
    assert found["fine"]["rows"] == 160
    sample = Search(coarse_rows=50).sample(rows, domains)
    assert sample.size == found["coarse"]["rows"]
    assert Search(coarse_rows=0).sample(rows, domains) is rows


def test_a_sample_too_small_to_judge_by_is_not_taken() -> None:
    rows, domains = _rings(80)
    assert Search(coarse_rows=2).sample(rows, domains) is rows


def test_folds_that_leave_one_class_are_refused() -> None:
    with pytest.raises(TrainingError, match="too few domains"):
        FoldedRows.build(np.zeros((4, 1)), np.ones(4, bool), np.arange(4), lambda _: lambda x: x)


def _best(kept: dict[str, Any], grid: str = "fine") -> Pair:
    """Return the pair that won, as a manifest's points have it."""
    rows = kept[grid]["points"]
    cost, gamma, *_ = max(rows, key=lambda row: (row[2], -row[0], -row[1]))
    return Pair(cost, gamma)


def test_a_search_covers_every_machine_and_the_manifest_keeps_every_grid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid, "PLAN", GridPlan(costs=(0,), gammas=(-9, -6), fine=0))
    options = TrainingOptions(search=Search())
    model = train_model(sample_rows(), sample_captures(), "0001-5a5a5a5a", options)
    save_model(model, tmp_path / model.version)
    kept = read_manifest(tmp_path / model.version)["search"]
    assert sorted(kept) == list(MACHINES)
    for name in MACHINES:
        assert len(kept[name]["coarse"]["points"]) == 2
        assert load_model(tmp_path / model.version).pair(name) == _best(kept[name])
    assert model.url.machine.gamma == model.pair("url").gamma
    assert model.cascade.joint.machine.gamma == model.pair("joint").gamma


def test_without_a_search_what_another_found_is_used_and_kept_with_its_grids() -> None:
    model = train_small_model()
    assert {name: model.pair(name) for name in MACHINES} == PAIRS
    assert model.content.machine.gamma == PAIRS["content"].gamma
    shipped = load_default().model
    again = train_model(
        sample_rows(), sample_captures(), "0001-5a5a5a5a", TrainingOptions(found=shipped.search)
    )
    assert again.search == shipped.search
    assert again.url.machine.gamma == shipped.url.machine.gamma


def test_the_shipped_machines_are_the_winners_of_the_grids_in_their_manifest() -> None:
    model = load_default().model
    machines = {
        "url": model.url.machine,
        "content": model.content.machine,
        "joint": model.cascade.joint.machine,
    }
    kept = read_manifest(SHIPPED_MODELS / model.version)["search"]
    for name, machine in machines.items():
        assert len(kept[name]["coarse"]["points"]) == len(PLAN.coarse())
        assert machine.gamma == _best(kept[name]).gamma == model.pair(name).gamma
        assert np.abs(machine.coefficients).max() == pytest.approx(model.pair(name).cost, rel=1e-5)


def test_an_update_learns_with_the_pair_of_its_base(monkeypatch: pytest.MonkeyPatch) -> None:
    base = train_small_model()
    used: list[Pair] = []
    learn = svm.train

    def spy(
        rows: NDArray[np.float64], hubs: NDArray[np.bool_], *, cost: float, gamma: float
    ) -> RbfMachine:
        used.append(Pair(cost, gamma))
        return learn(rows, hubs, cost=cost, gamma=gamma)

    monkeypatch.setattr(svm, "train", spy)
    base.search["url"] = {"cost": 7.0, "gamma": 0.011}
    try:
        row = LabelRow("hub", "https://odd.example/a/1.html", "", "odd.example")
        updating.update_model(base, [row], "0002-update00")
    finally:
        base.search["url"] = {"cost": PAIRS["url"].cost, "gamma": PAIRS["url"].gamma}
    assert set(used) == {Pair(7.0, 0.011)}


def test_a_missing_pair_makes_a_model_unreadable(tmp_path: Path) -> None:
    save_model(train_small_model(), tmp_path / "0001-5a5a5a5a")
    path = tmp_path / "0001-5a5a5a5a" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["search"]["url"]
    path.write_text(json.dumps(manifest))
    with pytest.raises(ModelError, match="KeyError"):
        load_model(path.parent)
