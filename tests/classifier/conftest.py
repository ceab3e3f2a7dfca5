"""A model trained once for all tests of the classifier."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))

from hub_samples import sample_captures, sample_rows

from classifier.hub.assessment import page_features
from classifier.hub.classifier import HubClassifier
from classifier.hub.model import HubModel
from classifier.hub.training import train_model


@pytest.fixture(scope="session")
def small_model() -> HubModel:
    return train_model(sample_rows(), sample_captures(), "0001-small000")


@pytest.fixture(scope="session")
def small_classifier(small_model: HubModel) -> HubClassifier:
    return HubClassifier(small_model)


@pytest.fixture(scope="session")
def small_page_features() -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Describe the sample pages, and which of them are hubs."""
    captures = sample_captures(12)
    return page_features(captures), np.array([capture.row.is_hub for capture in captures])
