"""Questions in words as pages write them: terms are stems ("religi"), which search engines do not know.

::

    texts read -> their words by stem, counted -> question(stems) = the commonest form of each
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from classifier.topic.language import language_of
from classifier.topic.segmentation import written_words


def written_forms(text: str) -> dict[str, Counter[str]]:
    """Return how often each word of *text* occurs, in lower case, by its stem; no stop words."""
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for stem, word in written_words(text, language_of(text)):
        forms[stem][word] += 1
    return dict(forms)


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
