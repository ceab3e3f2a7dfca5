"""A bounded, uniform sample of the fetched pages, as term vectors.

It represents *everything else* when a topic is trained: it gives the concepts, and the scores of ordinary
pages.
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final, Self

from classifier.words.errors import TopicModelError, of_format, reading
from classifier.words.vectors import Vector, truncated

# Terms of all pages together: five thousand articles, or sixty thousand titles.
MAX_ENTRIES: Final = 600_000
# The heaviest of a page.
MAX_TERMS_PER_PAGE: Final = 120
# One page in this many, up to HELD_OUT of them, is held out of training on the sample.
_HELD_OUT_OF: Final = 3
HELD_OUT: Final = 100
_FORMAT: Final = 1


class PageSample:
    """Pages ordered by a hash of their terms; when full, the upper half is dropped."""

    def __init__(self, max_entries: int = MAX_ENTRIES) -> None:
        self._max_entries = max_entries
        self._pages: dict[int, Vector] = {}
        self._entries = 0
        self._ceiling = 1 << 64

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def pages(self) -> list[Vector]:
        """The pages' term counts, ordered by hash."""
        return [self._pages[key] for key in sorted(self._pages)]

    @property
    def keys(self) -> list[int]:
        """The hashes of :attr:`pages`, in their order."""
        return sorted(self._pages)

    @property
    def learnable(self) -> dict[int, Vector]:
        """The pages to train on, by hash; the others score like future pages."""
        held = set([key for key in self.keys if key % _HELD_OUT_OF == 0][:HELD_OUT])
        return {key: self._pages[key] for key in self.keys if key not in held}

    def add(self, terms: Mapping[str, float]) -> None:
        """Add a page if its hash is low enough; empty ones are left out."""
        kept = truncated(terms, MAX_TERMS_PER_PAGE)
        # By hash, so that the order of the crawl does not matter and a page seen twice is in it once.
        key = page_key(kept)
        if not kept or key >= self._ceiling or key in self._pages:
            return
        self._pages[key] = kept
        self._entries += len(kept)
        if self._entries > self._max_entries:
            self._halve()

    def _halve(self) -> None:
        keys = sorted(self._pages)
        self._ceiling = keys[len(keys) // 2]
        self._pages = {key: self._pages[key] for key in keys if key < self._ceiling}
        self._entries = sum(map(len, self._pages.values()))

    def to_json(self) -> dict[str, Any]:
        """Return the terms once, and each page as its terms' numbers and weights."""
        numbers: dict[str, int] = {}
        rows = [
            [
                [numbers.setdefault(term, len(numbers)) for term in page],
                [round(weight, 3) for weight in page.values()],
            ]
            for page in self.pages
        ]
        return {
            "format": _FORMAT,
            "terms": list(numbers),
            "pages": rows,
            "keys": sorted(self._pages),
            "ceiling": self._ceiling,
        }

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        kept, sample = of_format(data, "sample", _FORMAT), cls()
        with reading("sample"):
            terms = [str(term) for term in kept["terms"]]
            for key, (columns, weights) in zip(kept["keys"], kept["pages"], strict=True):
                pairs = zip(columns, weights, strict=True)
                page = {terms[column]: float(weight) for column, weight in pairs}
                sample._pages[int(key)] = page
            sample._ceiling = int(kept["ceiling"])
        sample._entries = sum(map(len, sample._pages.values()))
        if sample._entries > MAX_ENTRIES:
            raise TopicModelError("sample", str(len(sample)), "holds too many terms")
        return sample


def page_key(terms: Mapping[str, float]) -> int:
    """Return a hash of a page's heaviest terms, by which it is known."""
    terms = truncated(terms, MAX_TERMS_PER_PAGE)
    text = "\x1f".join(f"{term}\x1e{weight:.3f}" for term, weight in sorted(terms.items()))
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")
