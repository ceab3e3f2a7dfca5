"""The crawler's hub classifier: links in, calibrated probabilities of being a hub out."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.context import adjust_for_context, context_reasons
from classifier.hub.errors import ModelError
from classifier.hub.evidence import LinkEvidence
from classifier.hub.model import HubModel, load_model, newest_version
from classifier.hub.scaling import to_log_odds, to_probability
from classifier.hub.url_machine import ALL_FEATURE_NAMES, scale_features

# The models that come with the package; the newest is the default.
SHIPPED_MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True)
class HubScore:
    """The cascade's result for a fetched page."""

    probability: float
    """Calibrated probability that the page is a hub."""
    decided_by: str
    """``url`` when the URL was clear enough, else ``content`` (which weighs the URL as well)."""
    content_probability: float | None
    """By content alone; None when content was not used."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """A feature, with the drop in log-odds when it is set to the average link's value."""

    feature: str
    value: float
    log_odds: float
    """Positive: evidence for a hub."""


@dataclass(frozen=True, slots=True)
class LinkExplanation:
    """The components of a score."""

    probability: float
    decision: float
    """The SVM's margin; positive: hub."""
    contributions: tuple[Contribution, ...]
    """Features that matter, strongest first."""
    context: tuple[tuple[str, float, float], ...]
    """(site context field, value, log-odds it added); empty if none is known."""


class HubClassifier:
    """A loaded model. Thread-safe: the model is its only state."""

    def __init__(self, model: HubModel) -> None:
        self.model = model

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load a model folder; raises ModelError."""
        return cls(load_model(folder))

    @property
    def version(self) -> str:
        """The model's version: the name of its folder."""
        return self.model.version

    def score(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return each link's calibrated probability of being a hub."""
        return to_probability(self.log_odds(links))

    def log_odds(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return :meth:`score` as log-odds."""
        return adjust_for_context(self.model.url.log_odds(links), links)

    def score_page(
        self, link: LinkEvidence, features: Sequence[float], page_bytes: int
    ) -> HubScore:
        """Score a fetched page by the cascade: URL first, content if in doubt.

        ``features`` are those of :func:`classifier.hub.content_features.describe_page`.
        """
        url_probability = float(self.score([link])[0])
        url = to_log_odds(url_probability)
        cascade = self.model.cascade
        if not cascade.needs_content(url):
            return HubScore(url_probability, "url", None)
        row = np.array([features])
        joined = cascade.join(np.array([url]), row, np.array([page_bytes], dtype=np.float64))
        content = self.model.content.log_odds(row)
        return HubScore(
            float(to_probability(joined)[0]),
            "content",
            float(to_probability(content)[0]),
        )

    def explain(self, link: LinkEvidence) -> LinkExplanation:
        """Explain one link by occlusion: each feature in turn becomes the training rows' mean.

        Takes milliseconds.
        """
        # The effects need not add up to the score: correlated features share one.
        machine = self.model.url
        features = machine.features([link])
        scaled = scale_features(machine.scale, features)
        occluded = np.repeat(scaled, scaled.shape[1] + 1, axis=0)
        # The mean of a standardised feature is 0; row 0 stays whole.
        occluded[np.arange(1, len(occluded)), np.arange(scaled.shape[1])] = 0.0
        values = machine.machine.decide(occluded)
        effects = machine.sigmoid.slope * (values[0] - values[1:])
        contributions = tuple(
            Contribution(ALL_FEATURE_NAMES[place], float(features[0, place]), float(effects[place]))
            for place in np.argsort(-np.abs(effects))
            if abs(effects[place]) >= 0.01  # noqa: PLR2004 - less does not show in a probability
        )
        log_odds = adjust_for_context(machine.sigmoid.log_odds(values[:1]), [link])
        return LinkExplanation(
            probability=float(to_probability(log_odds)[0]),
            decision=float(values[0]),
            contributions=contributions,
            context=tuple(context_reasons(link)),
        )


def load_default() -> HubClassifier:
    """Load the newest shipped model; raises ModelError if it is missing or damaged."""
    version = newest_version(SHIPPED_MODELS)
    if version is None:
        raise ModelError(SHIPPED_MODELS, "no model was shipped; reinstall hubwatch")
    return HubClassifier.load(SHIPPED_MODELS / version)
