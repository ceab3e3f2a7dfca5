"""Topics judged by meaning, with the real default model: no word need be shared."""

from dataclasses import replace
from functools import cache
from itertools import permutations
from statistics import fmean

import pytest

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.meaning import Meaning
from classifier.embedding.packages import installed
from classifier.topic.model import TopicModel
from classifier.words.background import Background, Meanings
from classifier.words.errors import TopicModelError
from classifier.words.text import weighted_terms
from classifier.words.values import PageText, Verdict
from incremental.topics.embedding.page_embedder import meanings_of

pytestmark = pytest.mark.skipif(installed("auto") is None, reason="the extra embeddings is missing")

SPORT = (
    "The striker scored twice as the home team won the derby",
    "球队在加时赛中逆转夺冠",
    "The goalkeeper saved a penalty in the last minute of the cup final",
    "Tennis: the champion lost the opening set and withdrew with an injury",
)
MONEY = (
    "The central bank raised its interest rate by half a point",
    "央行宣布下调存款准备金率",
    "Shares fell after the company reported a quarterly loss",
    "Inflation slowed as energy prices dropped across the region",
)


@cache
def use() -> LocalEmbedder:
    return LocalEmbedder("auto")


def pages(texts: tuple[str, ...]) -> list[PageText]:
    plain = [PageText(f"https://site.example/{text}", title=text) for text in texts]
    found = meanings_of(plain, use())
    return [replace(page, meaning=one) for page, one in zip(plain, found, strict=True)]


def learned(background: Background | None = None) -> TopicModel:
    return TopicModel.learn(pages(SPORT[:1]), background=background or Background())


def test_from_one_example_pages_that_share_no_word_with_it_score_higher_on_the_whole() -> None:
    on_topic = [one.score for one in learned().judge_many(pages(SPORT[1:]))]
    others = [one.score for one in learned().judge_many(pages(MONEY))]
    assert fmean(on_topic) > fmean(others) + 0.1


def test_a_page_in_another_language_is_relevant_before_anything_was_fetched() -> None:
    football, money = pages((SPORT[1], MONEY[1]))
    assert learned().judge(football).verdict is Verdict.RELEVANT
    assert learned().judge(money).verdict is Verdict.IRRELEVANT


def test_a_page_without_a_vector_is_judged_by_its_words() -> None:
    model = learned()
    same = PageText("https://site.example/a", title=SPORT[0])
    other = PageText("https://site.example/b", title="Bread needs flour, water and salt")
    # The vector of the same words is known: they are one page.
    assert model.judge(same).score > model.judge(other).score


def test_a_stored_topic_judges_as_the_learned_one() -> None:
    background = Background()
    for page in pages(MONEY):
        background.observe(weighted_terms(page))
        background.meanings.put(weighted_terms(page), page.meaning)
    model = learned(background)
    again = TopicModel.from_json(
        model.to_json(), background=Background.from_json(background.to_json())
    )
    for page in pages(SPORT + MONEY):
        assert again.judge(page).score == pytest.approx(model.judge(page).score, abs=0.02)


@pytest.mark.parametrize("by_meaning", [False, True])
def test_what_is_judged_does_not_change_what_is_learned_next(*, by_meaning: bool) -> None:
    """One topic trained twice in a process is the same topic, whatever was judged in between."""
    found = pages(tuple(map(". ".join, permutations(SPORT + MONEY, 2))))
    background = Background()
    for page in found:
        background.observe(weighted_terms(page))
    if not by_meaning:
        found = [replace(page, meaning=None) for page in found]

    def trained() -> TopicModel:
        return TopicModel.learn(found[:1], background=background)

    first = trained()
    scores = [one.score for one in first.judge_many(found)]
    again = trained()
    assert again.version == first.version
    assert again.fit.decision == first.fit.decision
    assert [one.score for one in again.judge_many(found)] == scores


def test_a_rejected_page_and_those_like_it_fall() -> None:
    mixed = pages(SPORT[:1] + MONEY[:1])
    before = TopicModel.learn(mixed, background=Background())
    after = TopicModel.learn(mixed, background=Background(), irrelevant=pages(MONEY[2:3]))
    other = pages(MONEY[3:])[0]
    assert after.judge(other).score < before.judge(other).score


def test_vectors_of_two_models_are_never_compared() -> None:
    known = Meanings()
    terms = {"word": 1.0}
    known.put(terms, Meaning("first 1", b"\x7f\x01"))
    known.put({"other": 1.0}, Meaning("second 1", b"\x01\x7f"))
    assert known.of({"other": 1.0}) is None
    known.use("second 1")
    assert known.of(terms) is None
    assert not known.rows([terms]).any()


def test_a_topic_learned_with_another_model_is_learned_again_by_words() -> None:
    model = learned()
    background = Background()
    background.meanings.use("other 2")
    again = TopicModel.from_json(model.to_json(), background=background)
    assert model.fit.to_json()["fused"]["meaning"] is not None
    assert again.fit.to_json()["fused"]["meaning"] is None


def test_a_background_whose_vectors_are_damaged_is_refused() -> None:
    background = Background()
    for page in pages(MONEY):
        background.observe(weighted_terms(page))
        background.meanings.put(weighted_terms(page), page.meaning)
    data = background.to_json()
    data["meanings"]["vectors"][0] = (1, "no bytes")
    with pytest.raises(TopicModelError, match="meanings"):
        Background.from_json(data)
