"""Learning from a user's labels without the original training set.

Tables, scaling, calibration, C and gamma stay. Takes seconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import md5

import numpy as np
from numpy.typing import NDArray

from classifier.hub import svm
from classifier.hub.errors import TrainingError
from classifier.hub.labels import LabelRow, labels_hash
from classifier.hub.model import HubModel
from classifier.hub.svm import Pair
from classifier.hub.url_machine import UrlMachine, scale_features

_FOLDS = 5


def update_model(base: HubModel, rows: Sequence[LabelRow], version: str) -> HubModel:
    """Return the model trained with new labels; raises TrainingError without any.

    ``metrics["update"]`` has the shares that base and update get right: of the new rows, each judged
    without the labels of its own domain (``right``), and of the check rows (``kept``). Labels of one class
    are enough.
    """
    if not rows:
        raise TrainingError("there are no new labels to learn from")
    hubs = np.array([row.is_hub for row in rows], dtype=np.bool_)
    features = scale_features(base.url.scale, base.url.features([row.evidence for row in rows]))
    before = base.url.machine.decide(features) > 0
    # C and gamma were searched on all the base's rows; a few labels of one user do not justify others.
    pair = base.pair("url")
    after = _held_out(base.url, features, hubs, [row.domain for row in rows], pair) > 0
    updated = _learn(base.url, features, hubs, pair)
    note = {
        "rows": len(rows),
        "base": base.version,
        "base_right": float(np.mean(before == hubs)),
        "right": float(np.mean(after == hubs)),
        "base_kept": base.checks.right(base.url.machine),
        "kept": base.checks.right(updated),
    }
    return replace(
        base,
        version=version,
        url=replace(base.url, machine=updated),
        training={**base.training, "update_rows": len(rows), "update_sha256": labels_hash(rows)},
        metrics={**base.metrics, "update": note},
    )


def fold_of(domain: str, folds: int, salt: str = "") -> int:
    """Return a domain's fold, the same on every computer; a domain is never split."""
    return int(md5(f"{salt}{domain}".encode(), usedforsecurity=False).hexdigest()[:8], 16) % folds


def folds_of(domains: Iterable[str], folds: int, salt: str = "") -> NDArray[np.int64]:
    """Return the fold of each domain."""
    return np.array([fold_of(domain, folds, salt) for domain in domains], dtype=np.int64)


def _held_out(
    machine: UrlMachine,
    features: NDArray[np.float64],
    hubs: NDArray[np.bool_],
    domains: Sequence[str],
    pair: Pair,
) -> NDArray[np.float64]:
    folds = folds_of(domains, _FOLDS)
    values = np.zeros(len(hubs))
    for fold in sorted(set(folds.tolist())):
        inside = folds != fold
        learned = _learn(machine, features[inside], hubs[inside], pair)
        values[~inside] = learned.decide(features[~inside])
    return values


def _learn(
    machine: UrlMachine, features: NDArray[np.float64], hubs: NDArray[np.bool_], pair: Pair
) -> svm.RbfMachine:
    # A user has the shipped model but not its training rows. An SVM trained on its own support vectors
    # alone is the same SVM, so they stand in for the old rows (Syed, Liu and Sung 1999).
    old = machine.machine
    rows = np.vstack([old.vectors.astype(np.float64), features])
    labels = np.concatenate([old.coefficients > 0, hubs])
    return svm.train(rows, labels, cost=pair.cost, gamma=pair.gamma)
