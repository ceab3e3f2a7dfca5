"""The fused method of one topic: its centre, and the other views that its evidence allows.

Key words add a view of how many of them a page holds, a semantic tree one of paper 002's similarity.
Each view is standardised on the sample before it is added.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.papers.rankers import Fitted, LinearRanker
from classifier.topic.decision import Usual
from classifier.topic.fusion import FEEDBACK_PAGES, FusedCentre, Scales
from classifier.topic.meaning_space import neighbours, space_of
from classifier.topic.meaning_view import MeaningView, Presence
from classifier.topic.methods import Setting, fit_method, views_of
from classifier.words.batch import PageBatch, Terms
from classifier.words.concepts import Concepts
from classifier.words.errors import reading
from classifier.words.evidence import Evidence
from classifier.words.keywords import Keywords
from classifier.words.stored import restored, stored
from classifier.words.values import Note
from classifier.words.vectors import Vector, top, unit

Scores = NDArray[np.float64]

NEIGHBOURS: Final = 15
# In a smaller sample the nearest page is not near.
MIN_SAMPLE: Final = 200
# Pages compared at once, to bound memory.
_ROWS: Final = 500
# A neighbour with at least this sum of two cosines is the page itself, and does not count.
_SAME: Final = 1.98


# Similar pages are mostly of one topic (the cluster hypothesis), so this helps even where the page itself
# shares no word with the examples.
@dataclass(frozen=True, slots=True)
class ByNeighbours(Fitted):
    """The mean score of a page's neighbours in the sample, weighted by similarity."""

    sample: PageBatch
    sample_scores: NDArray[np.float64]

    def scores(self, batch: PageBatch) -> NDArray[np.float64]:
        """Return the mean for each page; 0 for a page without neighbours."""
        # Neighbours do not depend on the topic, so a batch finds them once.
        if batch.near is None or batch.near[0] is not self.sample:
            batch.near = (self.sample, nearest(batch, self.sample))
        return np.asarray(batch.near[1] @ self.sample_scores, dtype=np.float64)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:  # noqa: ARG002 - see scores
        """Return nothing: the score comes from other pages."""
        return []


def nearest(batch: PageBatch, sample: PageBatch) -> Any:  # noqa: ANN401 - scipy has no types
    """Return the weights of each page's neighbours, CSR of shape (pages, sample), rows of sum 1 or 0.

    Both need concepts. Nearness is the sum of the cosines over terms and among the concepts.
    """
    from scipy.sparse import csr_matrix, vstack  # noqa: PLC0415 - heavy

    count = min(NEIGHBOURS, len(sample))
    others = sample.rows.T.tocsr()
    parts = [csr_matrix((0, len(sample)))]
    for start in range(0, len(batch), _ROWS):
        end = min(start + _ROWS, len(batch))
        rows = sample.vocabulary.rows(batch.vectors[start:end])
        alike = (rows @ others).toarray() + batch.places[-1][start:end] @ sample.places[-1].T
        alike[alike > _SAME] = 0.0
        best, weights = neighbours(alike, count, 2)
        places = np.repeat(np.arange(end - start), count)
        shape = (end - start, len(sample))
        parts.append(csr_matrix((weights.ravel(), (places, best.ravel())), shape=shape))
    return vstack(parts, format="csr")


# The centre weighs 1. Chosen on two thirds of the fields of labelled abstracts and half of the topics of
# labelled headlines. On ten held-out fields, which are close to each other, the gain over the best
# plain method at five examples was 6.7 %, and 5.0 % before the neighbours were added and the sample doubled.
VIEW_WEIGHTS: Final = {
    "keyword": 0.3,
    "semantic": 0.2,
    "logistic": 0.6,
    "nearest": 0.6,
    "neighbours": 0.6,
}
# With at least this many examples, a view that needs many gets half of its weight or more: with three
# it would fit accidents.
MANY_EXAMPLES: Final = 15
_FITTED_APART: Final = ("keyword", "semantic", "logistic", "nearest")
_NEEDS_MANY: Final = frozenset({"logistic", "nearest"})
# With fewer, a trained classifier learns the negatives instead of the topic.
MIN_NEGATIVES: Final = 50
NO_CONCEPTS: Final = Note("exact_terms")


@dataclass(frozen=True, slots=True)
class FusedTopic(Fitted):
    """A fitted fusion; immutable."""

    centre: FusedCentre
    others: tuple[tuple[str, Fitted], ...]
    other_scale: Scales
    setting: Setting
    examples: int
    meaning: MeaningView | None = None
    """None = the examples have no vectors, so words alone judge."""
    notes: tuple[Note, ...] = ()

    @classmethod
    def fit(cls, evidence: Evidence, setting: Setting, scale: Scales | None = None) -> Self:
        """Learn from the evidence; *scale* of the other views, None = measure it."""
        pages: list[Terms] = list(evidence.positives)
        if said := evidence.keyword_page:
            pages.append(said)
        examples = PageBatch(pages, setting.background, setting.sample)
        wrong = PageBatch(evidence.irrelevant, setting.background, setting.sample)
        sample = setting.sample
        name = sample.background.meanings.space
        presence = Presence.of(examples.meanings, sample.meanings, name)
        most = min(FEEDBACK_PAGES, presence.moving) if presence else FEEDBACK_PAGES
        centre = FusedCentre.fit(examples, sample, wrong, most)
        by_words = cls.with_centre(centre, evidence, setting, scale)
        space = space_of(sample)
        if space is None:
            return by_words
        placed, rejected = space.placed(examples), space.placed(wrong)
        given = examples.meanings[placed.any(axis=1)]
        trust = space.languages.native(given) if len(given) else 1.0
        words = by_words.by_words(sample)
        view = MeaningView.fit(placed, rejected, space, words, trust=trust, presence=presence)
        # By vector, pages without a common word can be similar.
        notes = by_words.notes if view is None else ()
        return replace(by_words, meaning=view, notes=notes)

    @classmethod
    def with_centre(
        cls,
        centre: FusedCentre,
        evidence: Evidence,
        setting: Setting,
        scale: Scales | None = None,
        logistic: Vector | None = None,
    ) -> Self:
        """Combine a centre with the other views, which are quick to fit; *scale* as in :meth:`fit`.

        *logistic* are the weights of that view; None = it is trained, for which a library is loaded.
        """
        names = [name for name in _FITTED_APART if _is_possible(name, evidence, setting)]
        others = tuple(
            (name, LinearRanker(setting.background, logistic))
            if name == "logistic" and logistic is not None
            else (name, fit_method(name, evidence, setting))
            for name in names
        )
        if setting.sample.concepts is not None and len(setting.sample) >= MIN_SAMPLE:
            near = ByNeighbours(setting.sample, centre.scores(setting.sample))
            others = (*others, ("neighbours", near))
        if scale is None or len(scale.fresh.means) != len(others):
            views = views_of([view for _, view in others], setting.sample)
            scale = Scales.measured(views, setting.sample.fresh)
        notes = () if setting.sample.concepts else (NO_CONCEPTS,)
        return cls(centre, others, scale, setting, len(evidence.positives), notes=notes)

    def to_json(self) -> dict[str, Any]:
        """Return the state that the evidence alone does not determine."""
        logistic = dict(self.others).get("logistic")
        weights = logistic.weights if isinstance(logistic, LinearRanker) else None
        return {
            "centre": stored(self.centre),
            "scale": stored(self.other_scale),
            "logistic": weights and {term: round(weight, 5) for term, weight in weights.items()},
            "meaning": self.meaning.to_json() if self.meaning else None,
        }

    @classmethod
    def from_json(
        cls, data: Mapping[str, Any], evidence: Evidence, setting: Setting
    ) -> Self | None:
        """Read the form of :meth:`to_json`; None if vectors came, went or changed since.

        Raises TopicModelError.
        """
        centre = restored(data.get("centre"), FusedCentre, "fused topic")
        scale = restored(data.get("scale"), Scales, "fused topic")
        with reading("fused topic"):
            logistic = data["logistic"] and {str(t): float(w) for t, w in data["logistic"].items()}
        read = cls.with_centre(centre, evidence, setting, scale, logistic)
        kept, space = data.get("meaning"), space_of(setting.sample)
        if kept is None:
            return read if space is None or not evidence.meanings else None
        if space is None:
            return None
        view = MeaningView.from_json(kept, space, read.by_words(setting.sample))
        return None if view is None else replace(read, meaning=view, notes=())

    def scores(self, batch: PageBatch) -> Scores:
        """Return the scores by words, or by words and meaning."""
        words = self.by_words(batch)
        return words if self.meaning is None else self.meaning.scores(batch, words)

    def usual(self) -> Usual:
        """Return the scores of the sample's pages, and of everyday ones by meaning."""
        if self.meaning is None:
            return Usual(self.by_words(self.setting.sample))
        presence = self.meaning.presence
        return Usual(*self.meaning.usual_scores(), presence.at_most if presence else 1.0)

    def by_words(self, batch: PageBatch) -> Scores:
        """Return weighted sums of standardised views; 0 is the sample's mean."""
        total = self.centre.scores(batch)
        raw = views_of([view for _, view in self.others], batch)
        views = self.other_scale.standardised(raw, batch.fresh)
        for (name, _), view in zip(self.others, views, strict=True):
            # An outlier in one view is not ten times as relevant.
            total = total + self._weight(name) * view.clip(-_REACH, _REACH)
        return total

    def _weight(self, name: str) -> float:
        if name not in _NEEDS_MANY:
            return VIEW_WEIGHTS[name]
        return VIEW_WEIGHTS[name] * self.examples / (self.examples + MANY_EXAMPLES)

    def terms(self, page: Terms, count: int) -> list[tuple[str, float]]:
        """Return the terms that add most to a page's score by the centre; exact, as every view is a sum."""
        batch = PageBatch([page], self.setting.background, self.setting.sample)
        vector = batch.vectors[0]
        centre, scales = self.centre.centre, self.centre.scale
        scale = scales.fresh if batch.fresh[0] else scales.learned
        weights = 1.0 / (scale.deviations * len(scale.deviations))
        own = unit(centre.terms)
        parts = {term: weight * own.get(term, 0.0) * weights[0] for term, weight in vector.items()}
        if batch.concepts is not None:
            for term, part in self._concept_parts(batch.concepts, vector, weights[1:]).items():
                parts[term] += part
        return [(term, float(part)) for term, part in top(parts, count) if part > 0]

    def _concept_parts(self, concepts: Concepts, vector: Vector, weights: Scores) -> Vector:
        known = [term for term in vector if term in concepts.vocabulary.columns]
        rows = concepts.vectors[[concepts.vocabulary.columns[term] for term in known]]
        placed = rows * np.array([vector[term] for term in known])[:, None]
        total = np.zeros(len(known))
        for place, weight in zip(self.centre.centre.places, weights, strict=True):
            part = placed[:, : len(place)]
            length = np.linalg.norm(part.sum(axis=0)) * np.linalg.norm(place)
            total += weight * (part @ place) / (length or 1.0)
        return dict(zip(known, total.tolist(), strict=True))


_REACH: Final = 6.0


def _is_possible(name: str, evidence: Evidence, setting: Setting) -> bool:
    if name == "keyword":
        return bool(Keywords(evidence.keywords))
    if name == "semantic":
        return setting.tree is not None
    if name == "nearest":
        return len(evidence.positives) > 1 and setting.sample.concepts is not None
    return bool(evidence.positives) and len(evidence.negatives) >= MIN_NEGATIVES
