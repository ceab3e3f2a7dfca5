"""The classifier that the crawler asks: links in, calibrated probabilities of a hub out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.content_features import describe_page
from classifier.hub.context import adjust_for_context, context_reasons
from classifier.hub.errors import ModelError
from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.model import HubModel, load_model, newest_version
from classifier.hub.scaling import to_log_odds, to_probability
from classifier.hub.tables import top_grams
from classifier.hub.url_machine import ALL_FEATURE_NAMES, scale_features

# The models that come with the package; the newest is the default.
SHIPPED_MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, slots=True)
class HubScore:
    """What the cascade says of a fetched page."""

    probability: float
    """Calibrated probability that the page is a hub."""
    decided_by: str
    """``url`` when it was sure alone, else ``content`` (which weighs the URL as well)."""
    url_probability: float
    content_probability: float | None
    """By content alone; None when it was not looked at."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """One feature: its value, and how much the log-odds fall when it is set to the average link's."""

    feature: str
    value: float
    log_odds: float
    """Positive: it speaks for a hub."""


@dataclass(frozen=True, slots=True)
class LinkExplanation:
    """All that is behind one score."""

    url: str
    version: str
    probability: float
    decision: float
    """The SVM's margin; positive: hub."""
    contributions: tuple[Contribution, ...]
    """Features that matter, the strongest first."""
    grams: tuple[tuple[str, str, float], ...]
    """(table, character sequence or token, weight), the strongest first."""
    context: tuple[tuple[str, float, float], ...]
    """(site context field, value, log-odds it added); empty when none is known."""
    needs_content: bool
    """The cascade would look at the page's content."""


class HubClassifier:
    """One model, ready to score. Threads may share it: it holds no state but the model."""

    def __init__(self, model: HubModel) -> None:
        self.model = model

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load a model folder; raises ModelError that says what is wrong with it."""
        return cls(load_model(folder))

    @property
    def version(self) -> str:
        """The model's version, as in its folder."""
        return self.model.version

    def score(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return the calibrated probability of each link, whatever its text, being a hub; vectorised."""
        return to_probability(self.log_odds(links))

    def log_odds(self, links: Sequence[LinkEvidence]) -> NDArray[np.float64]:
        """Return the calibrated log-odds behind :meth:`score`."""
        return adjust_for_context(self.model.url.log_odds(links), links)

    def score_page(
        self,
        link: LinkEvidence,
        page: str | bytes | Any,  # noqa: ANN401 - an lxml tree has no useful type
        *,
        encoding: str | None = None,
        url_probability: float | None = None,
    ) -> HubScore:
        """Score a fetched page by the cascade: URL first, content (text, bytes or tree) if in doubt.

        ``url_probability`` spares scoring the URL again; ``encoding`` is for bytes. The link's size is that
        of the page as it came; without it text and bytes are counted.
        """
        if url_probability is None:
            url_probability = float(self.score([link])[0])
        url = to_log_odds(url_probability)
        cascade = self.model.cascade
        if not cascade.needs_content(url):
            return HubScore(url_probability, "url", url_probability, None)
        row = describe_page(page, encoding)[None, :]
        size = _size_of(page) if link.page_bytes is None else float(link.page_bytes)
        joined = cascade.join(np.array([url]), row, np.array([size]))
        content = self.model.content.log_odds(row)
        return HubScore(
            float(to_probability(joined)[0]),
            "content",
            url_probability,
            float(to_probability(content)[0]),
        )

    def explain(self, link: LinkEvidence) -> LinkExplanation:
        """Tell what spoke for and against the link; some milliseconds."""
        return _explain(self.model, link)


def _size_of(page: object) -> float:
    """Return the bytes of a page; NaN for a tree, which does not tell."""
    if isinstance(page, str):
        page = page.encode("utf-8", "surrogatepass")
    return float(len(page)) if isinstance(page, bytes) else float("nan")


def load_default() -> HubClassifier:
    """Load the newest model that came with the package; raises ModelError when it is damaged."""
    version = newest_version(SHIPPED_MODELS)
    if version is None:
        raise ModelError(SHIPPED_MODELS, "no model was shipped; reinstall hubwatch")
    return HubClassifier.load(SHIPPED_MODELS / version)


def _explain(model: HubModel, link: LinkEvidence) -> LinkExplanation:
    """Explain one link by occlusion: each feature in turn becomes the training rows' mean.

    Occluded effects need not add up to the score: features that say the same share an effect.
    """
    machine = model.url
    features = machine.features([link])
    scaled = scale_features(machine.scale, features)
    occluded = np.repeat(scaled, scaled.shape[1] + 1, axis=0)
    # The mean of a standardised feature is 0; row 0 stays whole.
    occluded[np.arange(1, len(occluded)), np.arange(scaled.shape[1])] = 0.0
    values = machine.machine.decide(occluded)
    effects = machine.sigmoid.slope * (values[0] - values[1:])
    order = np.argsort(-np.abs(effects))
    contributions = tuple(
        Contribution(ALL_FEATURE_NAMES[place], float(features[0, place]), float(effects[place]))
        for place in order
        if abs(effects[place]) >= 0.01  # noqa: PLR2004 - too little to see in a probability
    )
    log_odds = adjust_for_context(machine.sigmoid.log_odds(values[:1]), [link])
    return LinkExplanation(
        url=link.url,
        version=model.version,
        probability=float(to_probability(log_odds)[0]),
        decision=float(values[0]),
        contributions=contributions,
        grams=tuple(top_grams(machine.tables, link, split_url(link.url))),
        context=tuple(context_reasons(link)),
        needs_content=model.cascade.needs_content(float(log_odds[0])),
    )
