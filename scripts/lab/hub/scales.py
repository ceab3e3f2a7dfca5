"""Scaling and calibration as they are fitted to training rows."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.hub.scaling import LinearScale, Sigmoid

_REACH: Final = 3.0
"""Standard deviations after which a feature counts as extreme and no further."""
_CONSTANT: Final = 1e-6
"""A feature that varies less is constant: rounding alone makes a deviation of about 1e-17."""


def standard_scale(rows: NDArray[np.float64]) -> LinearScale:
    """Mean 0 and deviation 1 on the training rows; constant features become 0."""
    width = rows.std(axis=0)
    width[width < _CONSTANT] = 1.0
    return LinearScale(rows.mean(axis=0), width, _REACH)


def unit_range_scale(rows: NDArray[np.float64]) -> LinearScale:
    """[-1, 1] on the training rows, as svm-scale does (paper 003, section 2.3)."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    width = (high - low) / 2
    width[width < _CONSTANT] = 1.0
    return LinearScale((high + low) / 2, width, 1.0)


def fit_sigmoid(values: NDArray[np.float64], hubs: NDArray[np.bool_]) -> Sigmoid:
    """Fit on decision values of rows that the machine was not trained on."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - heavy

    fitted = LogisticRegression(C=1e3).fit(values[:, None], hubs)
    return Sigmoid(float(fitted.coef_[0][0]), float(fitted.intercept_[0]))
