"""A topic as key words: how many of them a page holds, and how often."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from classifier.words.background import Background
from classifier.words.language import language_of
from classifier.words.segmentation import add_words, tokens
from classifier.words.vectors import Vector, unit

# A longer list is better given as an example.
MAX_KEYWORDS: Final = 100


class Keywords:
    """Key words or short phrases, split into terms like pages.

    A page holds a phrase if it holds all of its terms, in any place.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
        add_words(word for word in self.words if len(word) <= _WORD_CHARS)
        self.phrases = {
            word: terms
            for word in self.words[:MAX_KEYWORDS]
            if (terms := tuple(dict.fromkeys(tokens(word, language_of(word)))))
        }
        """Word -> its terms; without words that consist of stop words."""

    def __bool__(self) -> bool:
        return bool(self.phrases)

    def vector(self, background: Background) -> Vector:
        """Return the key words as a unit vector, weighted by rarity."""
        return unit(
            {term: background.idf(term) for terms in self.phrases.values() for term in terms}
        )

    def shares(self, page: Mapping[str, float], background: Background) -> Vector:
        """Return each key word's contribution to :meth:`score`."""
        total = sum(self._rarity(terms, background) for terms in self.phrases.values())
        found: Vector = {}
        for word, terms in self.phrases.items():
            count = min(page.get(term, 0.0) for term in terms)
            if count > 0:
                # With diminishing returns (BM25's k1 = 1.2).
                saturated = count / (count + 1.2)
                found[word] = self._rarity(terms, background) * saturated / total
        return found

    def score(self, page: Mapping[str, float], background: Background) -> float:
        """Return 0 to 1: the share of key words on the page, by rarity and frequency."""
        return min(math.fsum(self.shares(page, background).values()), 1.0)

    def _rarity(self, terms: Sequence[str], background: Background) -> float:
        return math.fsum(background.idf(term) for term in terms)


# Longer Chinese key words are phrases and are split.
_WORD_CHARS: Final = 8
