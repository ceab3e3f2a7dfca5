"""The cosine of a link's anchor, or its URL's words, to a topic's growing centre.

::

    the model's examples and key words ─┐
    pages judged, by their relevance ───┴─> centre ── cosine ── anchor's terms

Rejected pages move the centre away from their words.
"""

from collections.abc import Mapping
from typing import Any, Final, Self

from classifier.topic.model import TopicModel
from classifier.words.background import tf_idf
from classifier.words.errors import reading
from classifier.words.keywords import Keywords
from classifier.words.language import language_of
from classifier.words.latest import Latest
from classifier.words.segmentation import tokens
from classifier.words.vectors import Vector, dot, mean, norm, truncated, unit

# Of the learned vector; the heaviest stay.
MAX_TERMS: Final = 2_000
CENTRE_TERMS: Final = 400
PAGE_TERMS: Final = 150
# The user's evidence keeps the rest, so that a run of wrong pages cannot make the topic drift.
MAX_LEARNED_SHARE: Final = 0.75
# Weight of the rejected pages' mean against the centre (Rocchio).
REJECTED_SHARE: Final = 0.5
_MAX_ANCHORS: Final = 20_000


class LinkWords:
    """For one topic; not thread-safe."""

    def __init__(self) -> None:
        self.pages = 0.0
        """Sum of the relevance of the training pages."""
        self._learned: Vector = {}
        self._centre: Vector = {}
        self._own: Vector = {}
        self._own_of = ""
        self._centre_of: tuple[str, int] = ("", -1)
        self._cosines: Latest[tuple[str, str], float] = Latest(_MAX_ANCHORS)

    def learn(self, terms: Mapping[str, float], relevance: float) -> None:
        """Move the centre towards a judged page by its *relevance*, 0 to 1."""
        if relevance <= 0:
            return
        for term, weight in unit(truncated(terms, PAGE_TERMS)).items():
            self._learned[term] = self._learned.get(term, 0.0) + relevance * weight
        self.pages += relevance
        if len(self._learned) > 2 * MAX_TERMS:
            self._learned = truncated(self._learned, MAX_TERMS)

    def cosine(self, anchor: str, language: str | None, model: TopicModel) -> float:
        """Return the cosine of an anchor, or a URL's words, to the topic, 0 to 1."""
        centre = self._centre_for(model)
        key = anchor, language or language_of(anchor)
        found = self._cosines.get(key)
        if found is None:
            terms = dict.fromkeys(tokens(*key), 1.0)
            vector = tf_idf(terms, model.background)
            length = norm(vector)
            found = min(dot(vector, centre) / length, 1.0) if length else 0.0
            self._cosines[key] = found
        return found

    def nearness(self, terms: Mapping[str, float], model: TopicModel) -> float:
        """Return a page's cosine to the user's evidence alone, 0 to 1."""
        if model.version != self._own_of:
            self._own, self._own_of = _own_centre(model), model.version
        return min(dot(unit(model.background.vector(terms)), self._own), 1.0)

    def _centre_for(self, model: TopicModel) -> Vector:
        """Return the unit centre; rebuilt if the model changed or the pages doubled."""
        state = model.version, int(self.pages).bit_length()
        if state != self._centre_of:
            own = _own_centre(model)
            learned = unit(truncated(tf_idf(self._learned, model.background), CENTRE_TERMS))
            examples = max(len(model.evidence.positives), 1)
            share = min(self.pages / (self.pages + examples), MAX_LEARNED_SHARE)
            mixed = {term: (1 - share) * weight for term, weight in own.items()}
            for term, weight in learned.items():
                mixed[term] = mixed.get(term, 0.0) + share * weight
            self._centre, self._centre_of = unit(_away_from_rejected(mixed, model)), state
            self._cosines.clear()
        return self._centre

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        kept = truncated(self._learned, MAX_TERMS)
        terms = {term: round(weight, 5) for term, weight in kept.items()}
        return {"pages": self.pages, "terms": terms}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read the form of :meth:`to_json`; raises TopicModelError."""
        read = cls()
        with reading("link words"):
            read.pages = float(data["pages"])
            terms = {str(term): float(weight) for term, weight in data["terms"].items()}
        read._learned = truncated(terms, MAX_TERMS)
        return read


def _away_from_rejected(centre: Vector, model: TopicModel) -> Vector:
    rejected = mean([model.background.vector(page) for page in model.evidence.irrelevant])
    if not rejected:
        return centre
    moved = {
        term: weight - REJECTED_SHARE * rejected.get(term, 0.0)
        for term, weight in unit(centre).items()
    }
    return {term: weight for term, weight in moved.items() if weight > 0}


def _own_centre(model: TopicModel) -> Vector:
    """Return the mean of the examples' unit vectors and the key words'."""
    background = model.background
    pages = [unit(background.vector(terms)) for terms in model.evidence.positives]
    words = [
        term for phrase in Keywords(model.evidence.keywords).phrases.values() for term in phrase
    ]
    if words:
        pages.append(unit(tf_idf(dict.fromkeys(words, 1.0), background)))
    return unit(truncated(mean(pages), CENTRE_TERMS))
