"""What a site's known URLs and the verdicts on its pages say about a new URL.

A site of unusual style (articles at ``/some-name/``) would fool the classifier again and again. Once
pages of one form turned out to be articles, the next page of that form probably is one, too.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Self

from classifier.hub.context import SiteIndex
from incremental.decide.address_forms import form_of, place_of
from incremental.decide.url_dates import UrlDates

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
