"""The rankers, the key words and the threshold, each alone."""

from functools import partial

import numpy as np
import pytest
from lab.rival_methods import Bm25Ranker, one_class_svm
from topic_pages import crawled_background, pages_of

from classifier.papers.bayes import Density, bayes
from classifier.papers.rankers import centroid, logistic
from classifier.topic.methods import Train
from classifier.words.background import Background
from classifier.words.batch import PageBatch
from classifier.words.keywords import Keywords
from classifier.words.text import weighted_terms

RANKERS: dict[str, Train] = {
    "bm25": Bm25Ranker,
    "centroid": centroid,
    "logistic": logistic,
    "one-class": one_class_svm,
    "normal": partial(bayes, density=Density.NORMAL),
    "kernel": partial(bayes, density=Density.KERNEL),
}


def _terms(field: str, count: int, start: int = 0) -> list[dict[str, float]]:
    return [weighted_terms(page) for page in pages_of(field, count, start)]


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_puts_its_topic_first_and_names_its_terms(name: str) -> None:
    background = crawled_background(per_field=10)
    others = _terms("cooking", 10) + _terms("banking", 10)
    ranker = RANKERS[name](_terms("astronomy", 5), others, background)
    own = ranker.scores(PageBatch(_terms("astronomy", 5, start=50), background))
    other = ranker.scores(PageBatch(_terms("cooking", 5, start=50), background))
    assert own.mean() > other.max()
    named = {term for term, _ in ranker.terms(_terms("astronomy", 1, start=50)[0], 5)}
    assert named & {
        "galaxi",
        "telescop",
        "star",
        "orbit",
        "planet",
        "comet",
        "nebula",
        "eclips",
        "lunar",
        "cosmic",
        "observatori",
    }


@pytest.mark.parametrize("name", RANKERS)
def test_a_ranker_bears_empty_pages_and_no_negatives(name: str) -> None:
    background = Background()
    ranker = RANKERS[name]([{"goal": 1.0}], [], background)
    scores = ranker.scores(PageBatch([{}, {"goal": 1.0}, {"other": 2.0}], background))
    assert scores.shape == (3,)
    assert np.isfinite(scores).all()
    assert ranker.scores(PageBatch([], background)).shape == (0,)
    assert ranker.terms({}, 5) == []


def test_key_words_count_by_rarity_and_saturate() -> None:
    background = Background()
    words = Keywords(["goal", "zeppelin"])
    once, often, rare = ({"goal": 1.0}, {"goal": 9.0}, {"zeppelin": 1.0})
    assert words.score(once, background) < words.score(often, background) < 1.0
    assert words.score(rare, background) > words.score(once, background)


def test_a_phrase_is_there_when_all_its_words_are() -> None:
    words = Keywords(["penalty shootout"])
    assert words.score({"penalti": 1.0}, Background()) == 0.0
    assert words.score({"penalti": 1.0, "shootout": 1.0}, Background()) > 0.0


def test_words_that_everybody_uses_are_no_key_words() -> None:
    assert not Keywords(["the", "", "  ", "的"])
    assert Keywords(["the match"]).phrases == {"the match": ("match",)}
