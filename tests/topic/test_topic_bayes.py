"""Naive Bayes on weighted terms (paper 004): the densities and the scorer."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.bayes import BayesModel, Density, weights_of
from classifier.words.background import Background
from classifier.words.batch import PageBatch

TEXTS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 9), min_size=1, max_size=6)


def weight(text: Mapping[str, float], term: str, texts: Sequence[Mapping[str, float]]) -> float:
    """Paper 004's weight of a term in a text, by the book."""
    if term not in text:
        return 0.0
    holding = sum(term in one for one in texts)
    return (0.5 + 0.5 * text[term] / max(text.values())) * math.log(len(texts) / holding)


def kernel_density(at: float, values: Sequence[float]) -> float:
    """John and Langley's density, without its constant."""
    n = len(values)
    return sum(math.exp(-n * (at - value) ** 2 / 2) for value in values) / math.sqrt(n)


def log_odds(model: BayesModel, *pages: dict[str, int]) -> list[float]:
    """The scores of pages."""
    return [float(score) for score in model.scores(PageBatch(pages, Background()))]


def test_a_weight_is_half_plus_half_its_share_of_the_commonest() -> None:
    assert weights_of({"law": 4, "sea": 2, "odd": 0}) == {"law": 1.0, "sea": 0.75}


@given(st.lists(TEXTS, min_size=1, max_size=5), st.lists(TEXTS, min_size=1, max_size=5), TEXTS)
def test_kernel_evidence_is_that_of_the_formula(
    positives: list[dict[str, int]], negatives: list[dict[str, int]], text: dict[str, int]
) -> None:
    """Each held term's ratio of densities against that of its absence; bounded votes."""
    texts = [*positives, *negatives]
    model = BayesModel(positives, negatives, Density.KERNEL)
    expected = 0.0
    for term, count in text.items():
        holding = sum(term in one for one in texts)
        if holding:
            values = [[weight(one, term, texts) for one in part] for part in (positives, negatives)]
            at = (0.5 + 0.5 * count / max(text.values())) * math.log(len(texts) / holding)
            held, absent = (
                math.log(kernel_density(x, values[0]) / kernel_density(x, values[1]))
                for x in (at, 0)
            )
            expected += min(max(held - absent, -3.0), 3.0)
    assert sum(model.votes(text).values()) == pytest.approx(expected, abs=1e-6)
    alone, none = log_odds(model, text, {})
    assert alone - none == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("density", Density)
def test_terms_of_a_class_speak_for_it(density: Density) -> None:
    model = BayesModel(
        [{"law": 2, "court": 1}, {"law": 1, "judge": 1}],
        [{"goal": 2, "match": 1}, {"goal": 1, "team": 1}, {"team": 1}],
        density,
    )
    law, goal, neither, nothing = log_odds(model, {"law": 1}, {"goal": 1}, {"new": 1}, {})
    assert law > neither == nothing > goal
    votes = model.votes({"law": 1, "goal": 1, "new": 1})
    assert votes["law"] > 0 > votes["goal"]
    assert "new" not in votes


def test_a_class_without_examples_is_refused() -> None:
    with pytest.raises(ValueError, match="each class needs an example"):
        BayesModel([{"law": 1}], [], Density.NORMAL)


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, min_size=1, max_size=4))
@pytest.mark.parametrize("density", Density)
def test_evidence_is_finite(
    density: Density, positives: list[dict[str, int]], negatives: list[dict[str, int]]
) -> None:
    model = BayesModel(positives, negatives, density)
    assert np.isfinite(log_odds(model, *positives, *negatives, {})).all()
