"""libsvm behind types: numpy gives libsvm's decision values, and failures are exceptions."""

from pathlib import Path

import numpy as np
import pytest
from lab.hub.fits import fit_sigmoid, standard_scale
from lab.hub.folded import balanced_sample
from libsvm import svmutil
from numpy.typing import NDArray

from classifier.hub.errors import TrainingError
from classifier.hub.scaling import LinearScale, to_log_odds, to_probability
from classifier.hub.svm import RbfMachine, train


def _rings(count: int = 120) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(count, 3))
    return np.round(rows, 3), np.square(rows).sum(axis=1) < 2


def test_numpy_and_libsvm_agree_on_decision_values(tmp_path: Path) -> None:
    rows, hubs = _rings()
    machine = train(rows, hubs, cost=4.0, gamma=0.5)
    (tmp_path / "machine.svm").write_text(machine.text)
    model = svmutil.svm_load_model(str(tmp_path / "machine.svm"))
    _, _, values = svmutil.svm_predict([], rows, model, "-q")
    sign = 1 if model.get_labels()[0] == 1 else -1
    assert machine.decide(rows) == pytest.approx(sign * np.array(values)[:, 0], abs=1e-4)
    assert np.mean((machine.decide(rows) > 0) == hubs) > 0.9


def test_the_sign_does_not_depend_on_which_class_comes_first() -> None:
    rows, hubs = _rings()
    order = np.argsort(hubs)
    for places in (order, order[::-1]):
        machine = train(rows[places], hubs[places], cost=4.0, gamma=0.5)
        assert machine.decide(np.zeros((1, 3)))[0] > 0 > machine.decide(np.full((1, 3), 2.0))[0]


def test_one_class_cannot_be_trained() -> None:
    with pytest.raises(TrainingError, match="one class"):
        train(np.zeros((3, 2)), np.ones(3, dtype=bool), cost=1.0, gamma=1.0)


def test_what_libsvm_refuses_is_an_exception_not_none() -> None:
    rows, hubs = _rings(20)
    with pytest.raises(TrainingError, match="refused"):
        train(rows, hubs, cost=-1.0, gamma=1.0)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("c_svc", "nu_svc", "not an RBF"),
        ("-1", "0", "labels"),
        ("total_sv ", "total_sv 9", "missing"),
        ("3:", "7:", "feature 7"),
    ],
)
def test_a_foreign_machine_is_refused(old: str, new: str, problem: str) -> None:
    text = train(*_rings(40), cost=1.0, gamma=1.0).text
    with pytest.raises(ValueError, match=problem):
        RbfMachine.from_text(text.replace(old, new, 1), 3)


def test_a_balanced_sample_takes_each_domain_in_turn() -> None:
    hubs = np.array([True] * 10 + [False] * 10)
    domains = ["big"] * 8 + ["a", "b"] + ["big"] * 8 + ["a", "b"]
    chosen = balanced_sample(hubs, domains, 6)
    assert sum(hubs[chosen]) == 3
    assert {domains[place] for place in chosen} == {"big", "a", "b"}


def test_scales_survive_json_and_cut_off_extremes() -> None:
    rows = np.array([[0.0, 1.0], [10.0, 1.0]])
    scale = LinearScale.from_json(standard_scale(rows).to_json())
    assert scale.apply(rows).tolist() == [[-1, 0], [1, 0]]
    assert scale.apply(np.array([[99.0, 1.0]])).tolist() == [[3, 0]]


def test_calibration_turns_margins_into_frequencies() -> None:
    rng = np.random.default_rng(2)
    margins = rng.normal(size=4000)
    hubs = rng.random(4000) < 1 / (1 + np.exp(-2 * margins))
    sigmoid = fit_sigmoid(margins, hubs)
    assert sigmoid.slope == pytest.approx(2, abs=0.25)
    calibrated = to_probability(sigmoid.log_odds(np.array([0.7])))
    assert to_log_odds(float(calibrated[0])) == pytest.approx(1.4, abs=0.3)
    assert np.isfinite(to_log_odds(0.0))
