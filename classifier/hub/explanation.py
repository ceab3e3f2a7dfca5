"""Why a link is (not) a hub: what each feature contributed, found by taking it away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from classifier.hub.context import adjust_for_context, context_reasons
from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.model import HubModel
from classifier.hub.scaling import to_probability
from classifier.hub.tables import top_grams
from classifier.hub.url_machine import ALL_FEATURE_NAMES, scale_features


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


def explain_link(model: HubModel, link: LinkEvidence) -> LinkExplanation:
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
