"""Which unknown links become hubs. Pure: the classifier is passed in."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from classifier.hub import LinkEvidence
from incremental.base.scope import page_number, template
from incremental.decide.site_context import SiteContext
from incremental.settings.sections import HubSettings
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


def score_targets(
    found: Sequence[SeenLink], scorer: HubScorer, context: SiteContext | None = None
) -> dict[str, float]:
    """Return hub probabilities by canonical key."""
    evidence = [LinkEvidence(t.url, t.anchor or None) for t in found]
    if context is not None:
        evidence = [context.index.add_context(link) for link in evidence]
    scores: Iterable[float] = scorer.score(evidence) if evidence else []
    if context is not None:
        pairs = zip(found, scores, strict=True)
        scores = [context.corrected(target.url, float(p)) for target, p in pairs]
    return {target.canonical_key: float(p) for target, p in zip(found, scores, strict=True)}


def choose_hubs(
    found: Sequence[SeenLink],
    scores: Mapping[str, float],
    counts: Mapping[str, int],
    limits: HubSettings,
) -> set[str]:
    """Return which of *found*, all hub-like, become hubs: the likeliest within the limits.

    *counts*: the site's hubs by URL template. A link over a limit is no hub, and no new page either.
    """
    chosen: set[str] = set()
    by_template = dict(counts)
    room = limits.max_per_site - sum(counts.values())
    likely = [t for t in found if (page_number(t.url) or 0) <= limits.max_next_pages]
    for target in sorted(likely, key=lambda t: -scores[t.canonical_key]):
        form = template(target.url)
        if len(chosen) >= room:
            break
        if by_template.get(form, 0) < limits.max_per_template:
            by_template[form] = by_template.get(form, 0) + 1
            chosen.add(target.canonical_key)
    return chosen
