"""Which unknown links become hubs. Pure: the classifier is passed in."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from classifier.hub import LinkEvidence
from incremental.base.scope import page_number, template
from incremental.decide.site_context import SiteContext
from store.values import SeenLink


class PageScored(Protocol):
    """The cascade's score of a page."""

    @property
    def probability(self) -> float:
        """Probability that the page is a hub."""


class HubScorer(Protocol):
    """The link classifier."""

    def score(self, links: Sequence[LinkEvidence]) -> Iterable[float]:
        """Return one probability for each link, in order."""

    def score_page(
        self, link: LinkEvidence, features: Sequence[float], page_bytes: int
    ) -> PageScored:
        """Return the score of a fetched page, by its URL and its content features together."""


@dataclass(frozen=True, slots=True)
class HubLimits:
    """How many hubs a site may have."""

    threshold: float
    max_per_site: int
    max_per_template: int
    max_next_pages: int


@dataclass(frozen=True, slots=True)
class HubCounts:
    """How many hubs the site has, in total and by URL template."""

    total: int
    by_template: Mapping[str, int]


def score_targets(
    found: Sequence[SeenLink], scorer: HubScorer, context: SiteContext | None = None
) -> dict[str, float]:
    """Return hub probabilities by canonical key."""
    evidence = [LinkEvidence(t.url, t.anchor or None) for t in found]
    if context is not None:
        evidence = [context.add_to(link) for link in evidence]
    scores: Iterable[float] = scorer.score(evidence) if evidence else []
    if context is not None:
        pairs = zip(found, scores, strict=True)
        scores = [context.corrected(target.url, float(p)) for target, p in pairs]
    return {target.canonical_key: float(p) for target, p in zip(found, scores, strict=True)}


def choose_hubs(
    found: Sequence[SeenLink], scores: Mapping[str, float], counts: HubCounts, limits: HubLimits
) -> set[str]:
    """Return which of *found*, all hub-like, become hubs: the likeliest within the limits.

    A link over a limit is no hub, and no new page either.
    """
    chosen: set[str] = set()
    by_template = dict(counts.by_template)
    likely = [t for t in found if (page_number(t.url) or 0) <= limits.max_next_pages]
    for target in sorted(likely, key=lambda t: -scores[t.canonical_key]):
        form = template(target.url)
        if counts.total + len(chosen) >= limits.max_per_site:
            break
        if by_template.get(form, 0) < limits.max_per_template:
            by_template[form] = by_template.get(form, 0) + 1
            chosen.add(target.canonical_key)
    return chosen
