"""The crawler's background: how rare each term is, and which terms go together.

::

    general shares (shipped)  --+
    pages fetched anyway      --+-> idf(term)
        observe(terms)        -----> an even sample -> learn_concepts() -> concepts

``idf(t) = ln((P + n + 1) / (P * share(t) + pages with t + 0.5))``: the general share counts as P pages,
n pages were observed. General shares are shipped counts, and jieba's table for Chinese;
``scripts/make_topic_background.py`` made the counts, and ``data/background.json`` has their SHA-256.

Pages travel through the topic models as weighted terms; a page's vector is found by a hash of its heaviest
terms, the one by which the sample knows its pages.
"""

import json
import lzma
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from classifier.embedding.embedder import Vectors
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import unpacked
from classifier.words.concepts import Concepts
from classifier.words.errors import of_format, reading
from classifier.words.sample import PageSample, page_key
from classifier.words.stored import restored, stored
from classifier.words.template import SiteTemplates
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import Vector, unit

DATA_FOLDER: Final = Path(__file__).parent / "data"
MANIFEST: Final = "background.json"
COUNTS: Final = "document_frequencies.json.xz"
_FIRST_HAN: Final = "㐀"


def share_of(term: str) -> float:
    """Return the share of pages in its language that hold *term*; 0.0 if no table has it."""
    if term[:1] >= _FIRST_HAN:
        return chinese_shares().get(term, 0.0)
    return counted_shares().get(term, 0.0)


@lru_cache(maxsize=1)
def counted_shares() -> dict[str, float]:
    """Return the shipped shares, each over the pages of all languages that have the term."""
    return read_shares(DATA_FOLDER)


def read_shares(folder: Path) -> dict[str, float]:
    """Read the files of ``scripts/make_topic_background.py``."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    tables = json.loads(lzma.decompress((folder / COUNTS).read_bytes()))
    counts: dict[str, list[int]] = {}
    for language, table in tables.items():
        pages = manifest["pages"][language]
        for term, count in table.items():
            total = counts.setdefault(term, [0, 0])
            total[0] += count
            total[1] += pages
    return {term: count / pages for term, (count, pages) in counts.items()}


@lru_cache(maxsize=1)
def chinese_shares() -> dict[str, float]:
    """Return the shares behind jieba's inverse document frequencies."""
    path = resources.files("jieba") / "analyse" / "idf.txt"
    shares: dict[str, float] = {}
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            term, _, idf = line.partition(" ")
            shares[term.lower()] = math.exp(-float(idf))
    return shares


# Beyond this, vectors of pages outside the sample are dropped.
MAX_VECTORS: Final = 70_000
# The latest of those are kept.
_LATEST: Final = 2_000
_STALE: Final = 1.1
_FEW: Final = 10


class Meanings:
    """Vectors by page, all of one space and dimension. Not thread-safe, as its background."""

    def __init__(self, space: str = "") -> None:
        self.space = space
        """The embedder's name; empty until the first vector comes."""
        self._packed: dict[int, bytes] = {}
        self.dimension = 0
        """Of the vectors; 0 = there was none yet."""

    def __len__(self) -> int:
        return len(self._packed)

    def use(self, space: str) -> None:
        """Keep only vectors of *space* from now on; drop all others."""
        if space != self.space:
            self.space, self._packed, self.dimension = space, {}, 0

    def put(self, terms: Mapping[str, float], meaning: Meaning | None) -> None:
        """Remember a page's vector; one of another space or dimension is left out."""
        if meaning is not None and terms:
            self.put_all([(page_key(terms), meaning)])

    def put_all(self, found: Iterable[tuple[int, Meaning]]) -> None:
        """Remember vectors by :func:`page_key`, as :meth:`put` does."""
        for key, meaning in found:
            self.space = self.space or meaning.space
            self.dimension = self.dimension or len(meaning.packed)
            if self._fits(meaning):
                self._packed[key] = meaning.packed

    def _fits(self, meaning: Meaning) -> bool:
        return meaning.space == self.space and len(meaning.packed) == self.dimension

    def _vector(self, terms: Mapping[str, float], own: Meaning | None) -> bytes | None:
        if own is not None and self._fits(own):
            return own.packed
        return self._packed.get(page_key(terms)) if self._packed else None

    @property
    def mark(self) -> tuple[str, int]:
        """The space and the number of vectors; see :meth:`outgrew`."""
        return self.space, len(self._packed)

    def outgrew(self, mark: tuple[str, int]) -> bool:
        """Whether the space changed, or vectors grew by a tenth, since *mark* was taken."""
        space, count = mark
        return space != self.space or len(self._packed) > _STALE * count + _FEW

    def of(self, terms: Mapping[str, float]) -> Meaning | None:
        """Return a page's vector; None = it has none."""
        packed = self._vector(terms, None) if terms else None
        return None if packed is None else Meaning(self.space, packed)

    def count(self, keys: Iterable[int]) -> int:
        """Count the pages that have a vector, by :func:`page_key`."""
        return sum(key in self._packed for key in keys)

    def rows(
        self, pages: Sequence[Mapping[str, float]], own: Sequence[Meaning | None] = ()
    ) -> Vectors:
        """Return unit vectors, shape (pages, dimension); 0 for pages without one.

        *own* are vectors that some of the pages bring, in the same order; they are not remembered.
        """
        vectors = np.zeros((len(pages), self.dimension or 1), dtype=np.float32)
        brought = own or [None] * len(pages)
        found = [
            (row, packed)
            for row, (terms, one) in enumerate(zip(pages, brought, strict=True))
            if terms and (packed := self._vector(terms, one)) is not None
        ]
        if found:
            vectors[[row for row, _ in found]] = unpacked([packed for _, packed in found])
        return vectors

    def forget(self, kept: Iterable[int]) -> None:
        """Drop all but the vectors of these pages and the latest others, if there are too many."""
        if len(self._packed) <= MAX_VECTORS:
            return
        wanted = set(kept) | set(list(self._packed)[-_LATEST:])
        self._packed = {key: packed for key, packed in self._packed.items() if key in wanted}

    def to_json(self, keys: Sequence[int]) -> dict[str, Any]:
        """Return the vectors of some pages as plain data."""
        found = [(key, self._packed[key]) for key in keys if key in self._packed]
        return {"space": self.space, "vectors": stored(found)}

    def read(self, data: Mapping[str, Any]) -> None:
        """Restore the result of :meth:`to_json`; raises TopicModelError."""
        with reading("meanings"):
            space = str(data["space"])
            found = restored(data["vectors"], list[tuple[int, bytes]], "meanings")
        self.put_all((key, Meaning(space, packed)) for key, packed in found)


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
        with reading("background"):
            counts = restored(kept["counts"], dict[str, int], "background")
            read = cls(int(kept["pages"]), counts)
            read.sample = PageSample.from_json(kept["sample"])
            if kept["concepts"] is not None:
                read.concepts = Concepts.from_json(kept["concepts"])
            read.templates.read(kept["templates"])
            read.meanings.read(kept["meanings"])
        return read


def tf_idf(terms: Mapping[str, float], background: Background) -> Vector:
    """Return tf-idf weights, not normalised; a tf above 1 counts ``1 + ln tf``."""
    return {
        term: (1 + math.log(count) if count > 1 else count) * background.idf(term)
        for term, count in terms.items()
    }
