"""The crawler's background: how rare each term is, and which terms go together.

::

    general shares (shipped)  --+
    pages fetched anyway      --+-> idf(term)
        observe(terms)        -----> an even sample -> learn_concepts() -> concepts

``idf(t) = ln((P + n + 1) / (P * share(t) + pages with t + 0.5))``: the general share counts as P pages,
n pages were observed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from classifier.words.concepts import Concepts
from classifier.words.document_frequencies import share_of
from classifier.words.errors import TopicModelError, of_format
from classifier.words.meanings import Meanings
from classifier.words.sample import PageSample
from classifier.words.template import SiteTemplates
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import Vector, unit

# P: the weight of the general table, in pages. A topic works before the first fetch, and after a
# thousand pages of one field that field's everyday words weigh little.
# Six times as much was tried for link orders: 3 % better on the encyclopedia, 12 points below best first on
# the topic "database" (docs/relevance-figures.md, "Choices in the learned order").
PRIOR_PAGES: Final = 500
# Beyond this the rarest terms are dropped.
MAX_TERMS: Final = 200_000
MAX_TERMS_PER_PAGE: Final = 5_000
_LAG: Final = 1.01
_FORMAT: Final = 1


class Background:
    """Document frequencies, sample and concepts, shared by all topics and languages of a crawler.

    Not thread-safe: only the thread that records pages calls :meth:`observe`.
    """

    def __init__(self, pages: int = 0, counts: Mapping[str, int] | None = None) -> None:
        self.pages = pages
        """Pages observed."""
        self.sample = PageSample()
        self.concepts: Concepts | None = None
        """None until :meth:`learn_concepts` found enough pages."""
        self.meanings = Meanings()
        """Vectors of the sample's pages, and of others that topics know."""
        self.templates = SiteTemplates()
        """Text that sites repeat on their pages."""
        self._counts = dict(counts or {})
        # Cache of :func:`classifier.words.batch.sample_of`, which lives as long as this.
        self.ready: tuple[int, object] = (0, None)
        self._idf: dict[str, float] = {}
        self._idf_pages = pages

    def idf(self, term: str) -> float:
        """Return the inverse document frequency, above 0, at most 1 % of the pages out of date."""
        known = self._idf.get(term)
        if known is None:
            expected = PRIOR_PAGES * share_of(term) + self._counts.get(term, 0)
            known = math.log((self._total + 1) / (min(expected, self._total) + 0.5))
            if len(self._idf) < MAX_TERMS:
                self._idf[term] = known
        return known

    def seen(self, term: str) -> bool:
        """Whether an observed page contained the term; rare terms may have been dropped."""
        return term in self._counts

    @property
    def _total(self) -> int:
        return PRIOR_PAGES + self.pages

    def vector(self, terms: Mapping[str, float]) -> Vector:
        """Return the tf-idf vector of length 1."""
        return unit(tf_idf(terms, self))

    def observe(self, terms: Mapping[str, float] | Iterable[str]) -> None:
        """Count one fetched page by its weighted terms, or only their names.

        Weighted terms may enter the sample. Observe each page once, not at every fetch.
        """
        # Every page, relevant ones included: without those the harvest on the encyclopedia was 5 % better and
        # on the topic "security" a fifth worse, because text repeated on every page of a site then passed for
        # its topic.
        self.pages += 1
        if self._total > _LAG * (PRIOR_PAGES + self._idf_pages):
            self._idf, self._idf_pages = {}, self.pages
        for term in list(dict.fromkeys(terms))[:MAX_TERMS_PER_PAGE]:
            self._counts[term] = self._counts.get(term, 0) + 1
        if len(self._counts) > MAX_TERMS:
            self._forget()
        if isinstance(terms, Mapping):
            self.sample.add(terms)

    def observe_page(self, page: PageText) -> None:
        """Count one fetched page with its template and its vector."""
        self.templates.observe(page)
        terms = weighted_terms(self.templates.without(page))
        self.observe(terms)
        self.meanings.put(terms, page.meaning)

    def _forget(self) -> None:
        """Drop the rarest half."""
        # A term seen once carries hardly any information.
        ranked = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        self._counts = dict(ranked[: MAX_TERMS // 2])

    def learn_concepts(self) -> bool:
        """Learn concepts from the sample (takes seconds); False = too few pages yet."""
        pages = self.sample.learnable
        learned = Concepts.learn({key: self.vector(page) for key, page in pages.items()})
        self.concepts = learned or self.concepts
        return learned is not None

    def to_json(self) -> dict[str, Any]:
        """Return plain data, at most about 20 MB, without the shipped tables."""
        return {
            "format": _FORMAT,
            "pages": self.pages,
            "counts": dict(self._counts),
            "sample": self.sample.to_json(),
            "concepts": self.concepts.to_json() if self.concepts else None,
            "templates": self.templates.to_json(),
            "meanings": self.meanings.to_json(self.sample.keys),
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        kept = of_format(data, "background", _FORMAT)
        pages, counts = kept.get("pages"), kept.get("counts")
        if not isinstance(pages, int) or pages < 0 or not isinstance(counts, dict):
            raise TopicModelError("background", str(pages)[:80], "is damaged: no number of pages")
        if len(counts) > MAX_TERMS:
            raise TopicModelError(
                "background", str(len(counts)), f"has more than {MAX_TERMS} terms"
            )
        if not all(isinstance(count, int) and 0 < count <= pages for count in counts.values()):
            raise TopicModelError("background", "counts", "is damaged: a count out of range")
        read = cls(pages, counts)
        read.sample = PageSample.from_json(kept.get("sample"))
        if kept.get("concepts") is not None:
            read.concepts = Concepts.from_json(kept["concepts"])
        if kept.get("templates") is not None:
            read.templates.read(kept["templates"])
        if kept.get("meanings") is not None:
            read.meanings.read(kept["meanings"])
        return read


def tf_idf(terms: Mapping[str, float], background: Background) -> Vector:
    """Return tf-idf weights, not normalised; a tf above 1 counts ``1 + ln tf``."""
    return {
        term: (1 + math.log(count) if count > 1 else count) * background.idf(term)
        for term, count in terms.items()
    }
