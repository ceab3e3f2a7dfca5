"""Questions in words as pages write them: terms are stems ("religi"), which search engines do not know.

::

    texts read -> their words by stem, counted -> question(stems) = the commonest form of each
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from functools import lru_cache

from classifier.topic.text import MAX_CHARS, language_of, tokens

# Words of scripts that put spaces between words: those of others are terms as they stand.
_WORD = re.compile(r"(?:(?![ก-๿ぁ-ヿ㐀-鿿豈-﫿])[^\W_])+(?:['’][^\W\d_]+)?[+#]{0,2}")


def written_forms(text: str) -> dict[str, Counter[str]]:
    """Return how often each word of *text* occurs, in lower case, by its stem; no stop words."""
    language = language_of(text)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for word, times in Counter(_WORD.findall(text[:MAX_CHARS].lower())).items():
        for stem in _stems(word, language):
            forms[stem][word] += times
    return dict(forms)


@lru_cache(maxsize=50_000)
def _stems(word: str, language: str) -> tuple[str, ...]:
    return tuple(tokens(word, language))


class Wording:
    """The words of the texts of one run; one stem is always asked for by one word."""

    def __init__(self) -> None:
        self._forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._learned: set[str] = set()
        self._chosen: dict[str, str] = {}

    def learn(self, url: str, texts: Iterable[str]) -> None:
        """Take in what the page at *url* says; a second time changes nothing."""
        if url not in self._learned:
            self._learned.add(url)
            for stem, words in written_forms(" ".join(texts)).items():
                self._forms[stem].update(words)

    def question(self, terms: Iterable[str]) -> str:
        """Return the commonest word of each stem; a term that no text wrote stays as it is."""
        return " ".join(self._word(term) for term in terms)

    def _word(self, term: str) -> str:
        forms = self._forms.get(term)
        if term not in self._chosen and forms:
            self._chosen[term] = max(forms, key=forms.__getitem__)
        return self._chosen.get(term, term)
