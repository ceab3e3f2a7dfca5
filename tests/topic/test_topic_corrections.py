"""What a user's word does: to the page itself and to pages like it, whatever method judges."""

import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_pages import crawled_background, give_feedback, pages_of, text_page

from classifier.topic.fitting import STRENGTH, Corrections, fit_topic
from classifier.topic.methods import METHODS, Setting
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.batch import PageBatch
from classifier.words.evidence import Evidence
from classifier.words.text import weighted_terms
from classifier.words.values import PageText, Relevance, Verdict
from classifier.words.vectors import cosine, unit

FEW_WORDS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 5).map(float), min_size=1)


@cache
def background() -> Background:
    return crawled_background()


@cache
def learned(method: str) -> TopicModel:
    """Football from five pages; a model never changes."""
    return TopicModel.learn(pages_of("football", 5), background=background(), method=method)


def scores(model: TopicModel, *pages: PageText) -> list[float]:
    return [one.score for one in model.judge_many(pages)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("field", ["football", "gardening", "music"])
def test_relevant_raises_a_page_and_its_like(method: str, field: str) -> None:
    """Of the topic and of others; pages like it by the mean of five."""
    model = learned(method)
    page, like = text_page(field, 60), pages_of(field, 5, start=70)
    trained = give_feedback(model, page, relevant=True)
    assert scores(trained, page) > scores(model, page)
    assert sum(scores(trained, *like)) > sum(scores(model, *like))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("field", ["football", "gardening", "music"])
def test_irrelevant_lowers_a_page_and_its_like(method: str, field: str) -> None:
    model = learned(method)
    page, like = text_page(field, 60), pages_of(field, 5, start=70)
    trained = give_feedback(model, page, relevant=False)
    assert scores(trained, page) < scores(model, page)
    assert sum(scores(trained, *like)) < sum(scores(model, *like))


@pytest.mark.parametrize("method", METHODS)
def test_six_rejected_pages_lower_an_unseen_one_like_them(method: str) -> None:
    model = trained = learned(method)
    unseen = text_page("football", 90)
    for page in pages_of("football", 6, start=80):
        trained = give_feedback(trained, page, relevant=False)
    assert scores(trained, unseen)[0] < scores(model, unseen)[0]


@pytest.mark.parametrize("method", METHODS)
def test_a_rejected_page_among_those_fetched_lowers_itself_and_its_like(method: str) -> None:
    """It is part of what the topic is measured against, as every fetched page is."""
    grown = crawled_background(per_field=10)
    odd = [text_page("football", number, words=40) for number in range(60, 66)]
    for page in odd:
        grown.observe(weighted_terms(page))
    model = TopicModel.learn(pages_of("football", 3), background=grown, method=method)
    trained = TopicModel.learn(
        pages_of("football", 3), background=grown, method=method, irrelevant=odd[:5]
    )
    assert max(np.subtract(scores(trained, *odd), scores(model, *odd))) < 0


def test_a_correction_reaches_as_far_as_pages_are_alike() -> None:
    """All of it on the page itself, none of it where no word is shared."""
    evidence = Evidence(irrelevant=({"a": 1.0, "b": 1.0},))
    pages = PageBatch([{"a": 1.0, "b": 1.0}, {"a": 1.0, "c": 1.0}, {"c": 1.0}], Background())
    same, near, other = Corrections(evidence, Background()).shifts(pages)
    assert same == pytest.approx(-STRENGTH)
    assert -STRENGTH < near < 0
    assert other == 0


@given(st.lists(FEW_WORDS, min_size=1, max_size=5), FEW_WORDS, FEW_WORDS)
@settings(max_examples=50)
def test_each_further_correction_moves_pages_its_way_only(
    known: list[dict[str, float]], more: dict[str, float], page: dict[str, float]
) -> None:
    batch = PageBatch([page], Background())
    few = Corrections(Evidence(relevant=tuple(known)), Background()).shifts(batch)[0]
    many = Corrections(Evidence(relevant=(*known, more)), Background()).shifts(batch)[0]
    against = Corrections(Evidence(relevant=tuple(known), irrelevant=(more,)), Background()).shifts(
        batch
    )[0]
    assert against <= few + 1e-9
    assert few <= many + 1e-9
    assert many <= STRENGTH + 1e-9


# --- Paper 000 at work ------------------------------------------------------------------------


FOUND = Relevance(0.9, Verdict.RELEVANT, "adaptive", "1")
"""What a topic says of a page that it found relevant."""


def centre(model: TopicModel) -> dict[str, float]:
    found: dict[str, float] = model.to_json()["fit"]["adaptive"]["centre"]
    return found


@pytest.mark.parametrize(("method", "weight"), [("adaptive", 1.0), ("adaptive_guarded", 0.5)])
def test_a_page_judged_relevant_moves_the_centre_by_equation_8(method: str, weight: float) -> None:
    """M' = (M (n + k) + v) / (n + k + 1): five seeds, none moved it before."""
    model = learned(method)
    pages = pages_of("football", 20, start=50)
    page = next(page for page in pages if model.judge(page).verdict is Verdict.RELEVANT)
    moved = model.adapted(page, model.judge(page))
    before, own = centre(model), unit(weighted_terms(page))
    expected = {
        term: (5 * before.get(term, 0.0) + weight * own.get(term, 0.0)) / (5 + weight)
        for term in before.keys() | own.keys()
    }
    assert centre(moved) == pytest.approx(expected)
    assert moved.version != model.version
    assert moved.judge(page).score > model.judge(page).score


@pytest.mark.parametrize("method", ["adaptive", "adaptive_guarded"])
def test_a_page_that_is_not_relevant_moves_nothing(method: str) -> None:
    model, page = learned(method), text_page("football", 50)
    for verdict in (Verdict.DOUBTFUL, Verdict.IRRELEVANT):
        judged = Relevance(0.4, verdict, method, model.version)
        assert model.adapted(page, judged) is model


@pytest.mark.parametrize("method", sorted(set(METHODS) - {"adaptive", "adaptive_guarded"}))
def test_methods_that_do_not_adapt_stay_as_they_are(method: str) -> None:
    model, page = learned(method), text_page("football", 50)
    assert model.adapted(page, FOUND) is model


@pytest.mark.parametrize("method", ["adaptive", "adaptive_guarded"])
def test_a_page_counts_once(method: str) -> None:
    model, page = learned(method), text_page("football", 50)
    moved = model.adapted(page, FOUND)
    assert moved.adapted(page, FOUND) is moved


@pytest.mark.parametrize("method", ["adaptive", "adaptive_guarded"])
def test_a_rejected_page_takes_back_what_it_moved_and_what_is_like_it_moves_nothing(
    method: str,
) -> None:
    model, page = learned(method), text_page("football", 50)
    own = unit(weighted_terms(page))
    moved = model.adapted(page, FOUND)
    taken_back = give_feedback(moved, page, relevant=False)
    assert cosine(centre(taken_back), own) <= cosine(centre(model), own) + 1e-9
    copied = PageText("https://site.example/copy", title=page.title, body=page.body + " copy")
    assert taken_back.adapted(copied, FOUND) is taken_back


@pytest.mark.parametrize("method", ["adaptive", "adaptive_guarded"])
def test_a_stored_centre_goes_on_where_it_was(method: str) -> None:
    model = learned(method)
    for page in pages_of("football", 4, start=50):
        model = model.adapted(page, model.judge(page))
    read = TopicModel.from_json(json.loads(json.dumps(model.to_json())), background=background())
    assert read.version == model.version
    one, other = text_page("football", 60), text_page("football", 61)
    assert read.adapted(one, FOUND).judge(other).score == pytest.approx(
        model.adapted(one, FOUND).judge(other).score
    )


def test_a_training_lets_pages_judged_relevant_pass_in_their_order() -> None:
    pages = pages_of("football", 3, start=50)
    online = learned("adaptive")
    for page in pages:
        online = online.adapted(page, FOUND)
    again = TopicModel.learn(
        pages_of("football", 5), background=background(), method="adaptive", judged=pages
    )
    assert centre(again) == pytest.approx(centre(online))


@pytest.mark.parametrize("method", ["adaptive", "adaptive_guarded"])
def test_ordinary_pages_move_no_centre(method: str) -> None:
    """The pages that stand for what is off topic; among them some that are near."""
    negatives = tuple(weighted_terms(page) for page in pages_of("football", 5, start=50))
    setting = Setting(background(), PageBatch([], background()))
    examples = tuple(weighted_terms(page) for page in pages_of("football", 5))
    plain, beside = (
        fit_topic(method, Evidence(examples=examples, negatives=others), setting).to_json()
        for others in ((), negatives)
    )
    assert plain["adaptive"] == beside["adaptive"]


def test_a_rejected_page_does_not_pull_the_fused_centre() -> None:
    """The nearest fetched pages move it; those that are like a rejected one are none of them."""
    grown = crawled_background(per_field=10)
    odd = [text_page("football", number, words=40) for number in range(60, 66)]
    for page in odd:
        grown.observe(weighted_terms(page))
    examples = pages_of("football", 3)
    free = TopicModel.learn(examples, background=grown)
    trained = TopicModel.learn(examples, background=grown, irrelevant=odd)
    for page in odd:
        own = background().vector(weighted_terms(page))
        pulls = [
            cosine(model.to_json()["fit"]["fused"]["centre"]["centre"]["terms"], own)
            for model in (trained, free)
        ]
        assert pulls[0] < pulls[1]
