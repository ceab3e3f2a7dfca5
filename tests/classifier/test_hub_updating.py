"""A model learns a user's labels without its old training set, and forgets little."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hub_samples import sample_rows, train_small_model

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.errors import TrainingError
from classifier.hub.labels import LabelRow
from classifier.hub.model import HubModel
from classifier.hub.registry import FORGOTTEN, ActiveClassifier, ModelRegistry, refusal
from classifier.hub.updating import update_model


@pytest.fixture(scope="module")
def small_model() -> HubModel:
    return train_small_model()


def _odd_rows(count: int) -> list[LabelRow]:
    """Hubs of a form that the base takes for topics: dated slugs."""
    return [
        LabelRow(
            "hub",
            f"https://odd{i}.example/digest/2024/05/1{i % 10}/digest-{i}.html",
            "",
            f"odd{i}.example",
        )
        for i in range(count)
    ]


def test_new_labels_change_what_is_said_of_other_sites(small_model: HubModel) -> None:
    updated = update_model(small_model, _odd_rows(20), "0002-update00")
    unseen = [LabelRow("hub", "https://other.example/digest/2024/05/13/digest-77.html").evidence]
    before, after = (HubClassifier(model).score(unseen)[0] for model in (small_model, updated))
    assert before < 0.5 < after
    note = updated.metrics["update"]
    assert note["right"] > note["base_right"]


def test_what_was_known_stays_known(small_model: HubModel) -> None:
    updated = update_model(small_model, _odd_rows(5), "0002-update00")
    rows = sample_rows()
    scores = HubClassifier(updated).score([row.evidence for row in rows])
    assert np.mean((scores > 0.5) == [row.is_hub for row in rows]) > 0.97


def test_no_labels_are_an_error(small_model: HubModel) -> None:
    with pytest.raises(TrainingError, match="no new labels"):
        update_model(small_model, [], "0002-update00")


def test_an_update_that_judges_fewer_labels_rightly_is_not_used(small_model: HubModel) -> None:
    for right in (0.7, 0.9):
        note = {"right": right, "base_right": 0.8, "kept": 1.0, "base_kept": 1.0}
        metrics = {**small_model.metrics, "update": note}
        assert bool(refusal(replace(small_model, metrics=metrics))) == (right < 0.8)


def test_an_update_that_forgets_what_its_base_knew_is_not_used(small_model: HubModel) -> None:
    """Labels that say the contrary of the training set are learned, at its cost."""
    contrary = [replace(row, label="article" if row.is_hub else "hub") for row in sample_rows(60)]
    updated = update_model(small_model, contrary, "0002-update00")
    note = updated.metrics["update"]
    assert note["base_kept"] == 1.0
    assert note["kept"] < 1.0 - FORGOTTEN
    assert note["right"] > note["base_right"]
    assert "forgets" in refusal(updated)


def test_an_update_that_judges_nothing_rightly_is_not_used(small_model: HubModel) -> None:
    """No worse than its base is not enough where the base is wrong everywhere."""
    note = {"right": 0.0, "base_right": 0.0, "kept": 1.0, "base_kept": 1.0}
    updated = replace(
        small_model, version="0002-update00", metrics={**small_model.metrics, "update": note}
    )
    assert "none of the labels" in refusal(updated)


def test_a_refused_model_is_not_active_even_where_there_was_none(
    small_model: HubModel, tmp_path: Path
) -> None:
    registry = ModelRegistry(tmp_path)
    registry.add(small_model, use=False)
    assert registry.active() is None
    assert ActiveClassifier(tmp_path).current().version == load_default().version
    registry.add(replace(small_model, version="0002-better00"), use=True)
    assert registry.active() == "0002-better00"
