"""Which unknown links become hubs. Pure: scores come from a classifier that is handed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from classifier.hub import LinkEvidence
from incremental.judge.links import Target
from incremental.scope import template


class HubScorer(Protocol):
    """The link classifier: URL and anchor in, probability of a hub out."""

    version: str

    def score(self, links: Sequence[LinkEvidence]) -> Sequence[float]:
        """Return one probability for each link, in order."""


@dataclass(frozen=True, slots=True)
class HubLimits:
    """How many hubs a site may have."""

    threshold: float
    max_per_site: int
    max_per_template: int


@dataclass(frozen=True, slots=True)
class HubCounts:
    """How many hubs the site has: in all, and by URL template."""

    total: int
    by_template: Mapping[str, int]


def score_targets(found: Sequence[Target], scorer: HubScorer) -> dict[str, float]:
    """Return the probability of being a hub, by identity."""
    evidence = [LinkEvidence(url=target.url, anchor=target.anchor or None) for target in found]
    scores = scorer.score(evidence) if evidence else []
    return {target.identity: float(p) for target, p in zip(found, scores, strict=True)}


def choose_hubs(
    found: Sequence[Target], scores: Mapping[str, float], counts: HubCounts, limits: HubLimits
) -> set[str]:
    """Return the identities that become hubs: the likeliest first, within the limits.

    What is above the threshold but over a limit is no hub, and no new page either.
    """
    chosen: set[str] = set()
    by_template = dict(counts.by_template)
    likely = [t for t in found if scores[t.identity] >= limits.threshold]
    for target in sorted(likely, key=lambda t: -scores[t.identity]):
        form = template(target.url)
        if counts.total + len(chosen) >= limits.max_per_site:
            break
        if by_template.get(form, 0) < limits.max_per_template:
            by_template[form] = by_template.get(form, 0) + 1
            chosen.add(target.identity)
    return chosen
