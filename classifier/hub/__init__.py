"""The hub classifier, an improved form of paper 003 (``scripts/lab/hub`` reproduces and trains it).

::

    LinkEvidence ── url_features ─┐
                 └─ tables ───────┴─ svm ── calibrated probability ── context ── score
    page ── content_features ── svm ── cascade (only if the URL is inconclusive) ── score_page

:func:`load_default` gives the shipped model, which works without training.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from classifier.hub.errors import HubClassifierError, ModelError, TrainingError
from classifier.hub.evidence import LinkEvidence

if TYPE_CHECKING:
    from classifier.hub.classifier import HubClassifier, HubScore, load_default

__all__ = [
    "HubClassifier",
    "HubClassifierError",
    "HubScore",
    "LinkEvidence",
    "ModelError",
    "TrainingError",
    "load_default",
]

_HEAVY = frozenset(["HubClassifier", "HubScore", "load_default"])


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module protocol (PEP 562)
    """Load numpy, lxml and the model's code on first use."""
    if name in _HEAVY:
        from classifier.hub import classifier  # noqa: PLC0415 - see docstring

        return getattr(classifier, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
