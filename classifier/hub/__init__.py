"""The hub classifier, an improved form of paper 003 (``scripts/lab/hub`` reproduces and trains it).

::

    LinkEvidence ── url_features ─┐
                 └─ tables ───────┴─ svm ── calibrated probability ── context ── score
    page ── content_features ── svm ── cascade (only if the URL is inconclusive) ── score_page

:func:`classifier.hub.classifier.load_default` gives the shipped model, which works without training.
"""

from classifier.hub.evidence import LinkEvidence

__all__ = ["LinkEvidence"]
