"""A topic from a few pages or key words: judging, teaching, explaining, storing, and odd input."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from topic_pages import FIELDS, crawled_background, give_feedback, pages_of, text_page

from classifier.topic.methods import METHODS
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicError, TopicModelError
from classifier.words.evidence import Evidence
from classifier.words.text import weighted_terms
from classifier.words.values import PageText, Verdict


@cache
def background() -> Background:
    """One background for all tests: they only read it."""
    return crawled_background()


@cache
def learned(count: int = 5, method: str = "fused", keywords: tuple[str, ...] = ()) -> TopicModel:
    """Football from a few pages; models never change, so tests share them."""
    examples = pages_of("football", count)
    return TopicModel.learn(examples, keywords, background=background(), method=method)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_few_examples_tell_a_topic_from_all_others(count: int) -> None:
    model = learned(count)
    own = model.judge_many(pages_of("football", 20, start=100))
    others = model.judge_many(
        [page for field in FIELDS if field != "football" for page in pages_of(field, 4)]
    )
    assert min(one.score for one in own) > max(one.score for one in others)
    assert sum(one.verdict is Verdict.RELEVANT for one in own) >= 15
    assert not any(one.verdict is Verdict.RELEVANT for one in others)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_ranks_the_topic_first(method: str) -> None:
    model = learned(method=method, keywords=("striker", "goal", "referee"))
    own = model.judge_many(pages_of("football", 10, start=100))
    others = model.judge_many(pages_of("cooking", 10) + pages_of("music", 10))
    mean = sum(one.score for one in own) / len(own)
    assert mean > max(one.score for one in others)
    assert {one.method for one in own} == {method}


def test_key_words_alone_make_a_topic() -> None:
    model = TopicModel.learn([], ["striker", "goal", "referee"], background=background())
    own, other = model.judge_many([text_page("football", 7), text_page("cooking", 7)])
    assert own.verdict is Verdict.RELEVANT
    assert other.verdict is Verdict.IRRELEVANT


def test_a_page_without_a_key_word_is_found_by_the_words_that_go_with_them() -> None:
    """The crawler's pages say that stadium and coach go with striker."""
    model = TopicModel.learn([], ["striker", "goal"], background=background())
    near = PageText("u", body="stadium coach league defender penalty")
    far = PageText("v", body="orchestra melody piano chorus opera")
    assert model.judge(near).score > model.judge(far).score + 0.2


def test_a_judgement_names_its_terms_and_its_model() -> None:
    model = learned()
    verdict = model.judge(text_page("football", 50))
    assert verdict.version == model.version
    assert {term for term, _ in verdict.terms} & {"striker", "goal", "match", "refere", "leagu"}
    assert sum(share for _, share in verdict.terms) == pytest.approx(1.0)


def test_top_terms_are_not_what_all_pages_of_a_site_print() -> None:
    """Nor months: every page has one, and the examples are all of March."""
    printed = "read print article subscribe"
    months = ["january", "february", "march", "april", "may", "june"]
    seen = Background()
    for field in FIELDS:
        for number, page in enumerate(pages_of(field, 12)):
            text = f"{page.body} {months[number % 6]} {printed}"
            seen.observe(weighted_terms(replace(page, body=text)))
    seen.learn_concepts()
    examples = [
        replace(page, body=f"{page.body} march {printed}") for page in pages_of("football", 3, 60)
    ]
    shown = [term for term, _ in TopicModel.learn(examples, background=seen).to_json()["terms"][:8]]
    own = {
        term for word in FIELDS["football"].split() for term in weighted_terms(PageText("", word))
    }
    assert set(shown) <= own


def test_a_page_without_words_is_irrelevant() -> None:
    for page in (PageText("u"), PageText("u", title="2024", body="... !!")):
        verdict = learned().judge(page)
        assert (verdict.score, verdict.verdict, verdict.terms) == (0.0, Verdict.IRRELEVANT, ())


def test_a_page_of_one_word_is_judged_by_it() -> None:
    on, off = learned().judge_many(
        [PageText("u", title="Goalkeeper striker"), PageText("v", title="Pastry")]
    )
    assert on.score > off.score


def test_a_very_long_page_is_judged_by_its_beginning() -> None:
    page = PageText("u", body="goal striker match " + "oven flour " * 500_000)
    assert learned().judge(page).verdict is Verdict.IRRELEVANT


def test_judging_many_is_judging_each() -> None:
    model = learned()
    pages = pages_of("football", 5, start=60) + pages_of("music", 5)
    assert [one.score for one in model.judge_many(pages)] == pytest.approx(
        [model.judge(page).score for page in pages]
    )


def test_a_correction_moves_the_page_and_its_like() -> None:
    model = learned()
    page, like = text_page("gardening", 1), text_page("gardening", 2)
    trained = give_feedback(model, page, relevant=True)
    assert trained.judge(page).score > model.judge(page).score
    assert trained.judge(like).score > model.judge(like).score
    assert trained.version != model.version


def test_a_page_called_irrelevant_falls() -> None:
    model = learned()
    page = text_page("football", 77)
    assert give_feedback(model, page, relevant=False).judge(page).score < model.judge(page).score


def test_one_odd_correction_does_not_open_the_gate() -> None:
    """The threshold gives way by about one deviation for each misjudged page, not more."""
    model = learned()
    trained = give_feedback(model, text_page("banking", 3), relevant=True)
    others = trained.judge_many(pages_of("cooking", 10) + pages_of("music", 10))
    assert not any(one.verdict is Verdict.RELEVANT for one in others)


def test_examples_of_two_topics_raise_a_warning() -> None:
    mixed = pages_of("football", 3) + pages_of("astronomy", 2)
    warnings = TopicModel.learn(mixed, background=background()).warnings
    assert any(
        one.kind == "disagree" and "astronomy" in str(one.values["urls"]) for one in warnings
    )
    assert not learned().warnings


def test_a_key_word_that_never_occurs_raises_a_warning() -> None:
    warnings = learned(keywords=("goal", "footbaal")).warnings
    unseen = [one.values["word"] for one in warnings if one.kind == "unseen"]
    assert unseen == ["footbaal"]


def test_an_example_without_words_is_named_and_left_out() -> None:
    model = TopicModel.learn(
        [*pages_of("football", 2), PageText("https://e.example/")], background=background()
    )
    assert any(one.values.get("url") == "https://e.example/" for one in model.warnings)


def test_semantic_without_a_tree_says_so() -> None:
    assert any(one.kind == "no_tree" for one in learned(method="semantic").warnings)


def test_before_any_page_was_fetched_a_topic_works_and_says_what_is_missing() -> None:
    model = TopicModel.learn(pages_of("football", 3), background=Background())
    assert any(one.kind == "few_pages" for one in model.warnings)
    own, other = model.judge_many([text_page("football", 50), text_page("cooking", 50)])
    assert own.score > other.score


@pytest.mark.parametrize(
    ("examples", "keywords", "field"),
    [
        ([], [], "examples"),
        ([], ["the", " "], "keywords"),
        ([PageText("https://e.example/")], [], "examples"),
    ],
)
def test_nothing_to_learn_from_is_an_error_that_names_it(
    examples: list[PageText], keywords: list[str], field: str
) -> None:
    with pytest.raises(TopicError) as raised:
        TopicModel.learn(examples, keywords, background=background())
    assert str(raised.value).startswith(f"{field} ")
    assert "give" in str(raised.value)


def test_an_unknown_method_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(TopicError, match="fused"):
        learned(method="magic")


@pytest.mark.parametrize("method", ["fused", "adaptive", "bayes_kernel", "keyword"])
def test_a_stored_topic_judges_as_before(method: str) -> None:
    model = give_feedback(
        learned(method=method, keywords=("cup",)), text_page("music", 1), relevant=False
    )
    read = TopicModel.from_json(json.loads(json.dumps(model.to_json())), background=background())
    pages = pages_of("football", 5, start=30) + pages_of("music", 5)
    assert read.version == model.version
    assert [one.score for one in read.judge_many(pages)] == pytest.approx(
        [one.score for one in model.judge_many(pages)]
    )


def test_a_stored_topic_judges_without_the_library_that_trained_it(tmp_path: Path) -> None:
    """To load that takes longer than all else that a command does."""
    own = background()
    for name, value in (("model", learned()), ("background", own)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value.to_json()))
    program = """
import json, pathlib, sys
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.values import PageText
read = lambda name: json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text())
model = TopicModel.from_json(read("model"), background=Background.from_json(read("background")))
page = PageText("u", title="Goalkeeper striker")
print(model.judge(page).score, "logistic" in dict(model.fit.scorer.others), "sklearn" in sys.modules)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    score, logistic, sklearn = done.stdout.split()
    page = PageText("u", title="Goalkeeper striker")
    assert float(score) == pytest.approx(learned().judge(page).score, abs=1e-3)
    assert (logistic, sklearn) == ("True", "False")


def test_a_topic_is_learned_again_when_the_concepts_changed() -> None:
    """Places among other concepts mean nothing."""
    model = learned()
    other = crawled_background(per_field=30)
    read = TopicModel.from_json(model.to_json(), background=other)
    assert read.version != model.version
    assert read.judge(text_page("football", 50)).verdict is Verdict.RELEVANT


def test_a_topic_in_use_bears_that_the_background_learns() -> None:
    """A daemon keeps the model while the nightly training teaches the background."""
    growing = Background()
    model = TopicModel.learn(pages_of("football", 3), background=growing)
    before = model.judge(text_page("football", 50)).score
    for field in FIELDS:
        for page in pages_of(field, 20):
            growing.observe(weighted_terms(page))
    assert growing.learn_concepts()
    assert model.judge(text_page("football", 50)).score == pytest.approx(before, abs=0.2)
    assert give_feedback(model, text_page("music", 1), relevant=False).version != model.version
    again = TopicModel.learn(pages_of("football", 3), background=growing)
    assert not [one for one in again.warnings if one.kind == "few_pages"]


def test_learning_is_repeatable() -> None:
    again = TopicModel.learn(pages_of("football", 5), background=background())
    assert again.version == learned().version


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"format": "1"},
        {"method": "guessing"},
        {"pages": None},
        {"fit": {}},
        {"decision": {"value": "high"}},
        {"evidence": []},
    ],
)
def test_a_damaged_topic_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(TopicModelError):
        TopicModel.from_json({**learned().to_json(), **change}, background=background())


@pytest.mark.parametrize("data", [None, [], "topic", 5, {}, {"format": 1}])
def test_what_is_no_topic_is_refused(data: object) -> None:
    with pytest.raises(TopicModelError):
        TopicModel.from_json(data, background=background())


def test_evidence_is_bounded() -> None:
    huge = PageText("u", body=" ".join(f"word{number}" for number in range(5_000)))
    evidence = Evidence.gather(pages_of("football", 70), ["cup"] * 200)
    assert len(evidence.examples) == 50
    assert len(evidence.keywords) == 100
    assert len(Evidence.gather([], ["cup"], relevant=[huge]).relevant[0]) == 300


def test_hostile_text_does_no_harm() -> None:
    page = PageText("u\x00", title="\ud800 goal", body="\u202e" * 100 + "striker match " * 20)
    model = give_feedback(learned(), replace(page, meta="\x00"), relevant=True)
    read = TopicModel.from_json(model.to_json(), background=background())
    assert read.judge(page).score == pytest.approx(model.judge(page).score)
