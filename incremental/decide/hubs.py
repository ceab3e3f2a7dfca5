"""Which unknown links become hubs. Pure: the classifier is passed in.

What a site's known URLs and the verdicts on its pages say about a new URL corrects it: a site of unusual
style (articles at ``/some-name/``) would fool the classifier again and again. Once pages of one form turned
out to be articles, the next page of that form probably is one, too.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from classifier.hub import LinkEvidence
from classifier.hub.context import SiteIndex
from incremental.base.scope import page_number, template
from incremental.decide.address_forms import form_of, place_of
from incremental.decide.url_dates import UrlDates
from incremental.settings.sections import HubSettings
from store.values import SeenLink

# Pages in a row that were not there before their form of address is no longer asked for.
NEVER_THERE = 10
# Verdicts move a score by at most these log-odds.
MAX_SHIFT = 5.0
_EDGE = 1e-6


@dataclass(slots=True)
class SiteContext:
    """Built from the store every few hours; :meth:`add` keeps it up to date in between."""

    index: SiteIndex
    verdicts: dict[str, list[int]]
    """Articles and hubs read so far, by form of address."""
    made_at: float
    url_dates: UrlDates = field(default_factory=UrlDates)
    missing: dict[str, int] = field(default_factory=dict)
    """Pages in a row that never were there when they were asked for, by place (:func:`place_of`)."""

    @classmethod
    def build(
        cls,
        known: Iterable[tuple[str, str, float | None]],
        judged: Iterable[tuple[str, bool]],
        now: float,
        asked_for: Iterable[tuple[str, bool]] = (),
    ) -> Self:
        """Build from what is known of the site's pages.

        (URL, anchor, date or None) of known pages; (URL, is a hub) of pages read; (URL, was there) of pages
        that were asked for because of a link, latest first.
        """
        pages = list(known)
        context = cls(
            SiteIndex.build((url, anchor) for url, anchor, _ in pages),
            {},
            now,
            UrlDates.of_site(((url, published_at) for url, _, published_at in pages), now),
        )
        there = set[str]()
        for url, is_hub in judged:
            context.add(url, hub=is_hub)
            there |= {place_of(url)} if is_hub else set()
        for url, was_there in asked_for:
            there |= {place_of(url)} if was_there else set()
            if place_of(url) not in there:
                context.asked_for(url, there=False)
        return context

    def add(self, url: str, *, hub: bool) -> None:
        """Count a verdict."""
        self.verdicts.setdefault(form_of(url), [0, 0])[hub] += 1

    def asked_for(self, url: str, *, there: bool) -> None:
        """Count a page that was asked for because of a link to it."""
        place = place_of(url)
        self.missing[place] = 0 if there else self.missing.get(place, 0) + 1

    def missing_like(self, url: str) -> int:
        """Return how many pages of its place in a row were not there."""
        return self.missing.get(place_of(url), 0)

    def corrected(self, url: str, probability: float) -> float:
        """Return the hub probability, corrected by the verdicts on pages of this form."""
        topics, hubs = self.verdicts.get(form_of(url), (0, 0))
        # A Bayes factor by template, with add-one smoothing.
        shift = math.log((hubs + 1) / (topics + 1))
        shift = max(min(shift, MAX_SHIFT), -MAX_SHIFT)
        p = min(max(probability, _EDGE), 1 - _EDGE)
        return 1 / (1 + math.exp(-(math.log(p / (1 - p)) + shift)))


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
