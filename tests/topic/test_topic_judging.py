"""Decisions on topics: what they wait for, which links are worth following, what is kept of a text."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import (
    DAY,
    HOME,
    HOUR,
    START,
    brought,
    by_canonical_key,
    hub,
    known_page,
    outcome,
    read_hub,
    target,
    view,
)

from classifier.words.values import LinkContext, PageText
from incremental.decide.hub_facts import Guesses
from incremental.topics.judging import (
    from_context,
    from_text,
    is_empty,
    readiness,
    retry_at,
    to_context,
    to_text,
)
from store.topics.values import ExampleRow
from store.values import TopicScore

BRIDGE = to_text(PageText(HOME + "bridge", title="A bridge"))
EMPTY = to_text(PageText(HOME + "empty", body=" \n.,—"))


def example(number: int = 1, **fields: Any) -> ExampleRow:
    base: dict[str, Any] = {
        "id": number,
        "topic_id": 1,
        "url": f"{HOME}{number}",
        "canonical_key": f"//news.example/{number}",
        "origin": "example",
        "title": "",
        "text": None,
        "status": None,
        "failures": 0,
        "added_at": START,
        "tried_at": None,
        "due_at": START,
    }
    return ExampleRow(**base | fields)


# --- what a topic waits for -------------------------------------------------------------------


def test_key_words_alone_are_enough() -> None:
    assert readiness([], ["bridge"]) == readiness([example(text=BRIDGE)], [])


def test_a_topic_waits_until_an_example_is_there() -> None:
    waiting = readiness([example(), example(2, status="gone", failures=1)], [])
    assert not waiting.ready
    assert "examples missing: 2 of 2" in waiting.why
    assert f"{HOME}1: waiting to be fetched" in waiting.why
    assert f"{HOME}2: gone, tried again later" in waiting.why


def test_one_usable_example_is_enough_and_the_missing_ones_are_named() -> None:
    ready = readiness([example(text=BRIDGE), example(2, status="timed_out", failures=1)], [])
    assert ready.ready
    assert ready.why == f"examples missing: 1 of 2 ({HOME}2: timed out, tried again later)"


def test_an_empty_page_teaches_nothing_and_that_is_said() -> None:
    waiting = readiness([example(text=EMPTY, status="fetched")], [])
    assert (waiting.ready, "has no text" in waiting.why) == (False, True)


def test_a_page_that_was_called_relevant_is_enough_one_called_irrelevant_is_not() -> None:
    assert readiness([example(origin="relevant", text=BRIDGE)], []).ready
    assert not readiness([example(origin="irrelevant", text=BRIDGE)], []).ready


def test_failing_examples_are_tried_ever_later() -> None:
    waits = [retry_at(failures, START) - START for failures in range(1, 30)]
    assert waits[:3] == [HOUR, 2 * HOUR, 4 * HOUR]
    assert max(waits) == waits[-1] == 7 * DAY


# --- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "empty"), [("", True), ("\n —", True), ("桥", False), ("1", False)]
)
def test_a_page_is_empty_without_a_letter_or_digit(body: str, empty: bool) -> None:
    assert is_empty(PageText("", body=body)) is empty


@given(st.text(), st.lists(st.text(), max_size=5), st.text(), st.one_of(st.none(), st.just("zh")))
def test_a_text_comes_back_as_it_was_kept(
    title: str, headings: list[str], body: str, language: str | None
) -> None:
    page = PageText("u", title[:500], tuple(headings), "m", body, tuple(headings), language)
    assert from_text(to_text(page)) == page


def test_five_megabytes_are_kept_within_bounds() -> None:
    huge = PageText(
        "u", *("x" * 5_000_000,) * 1, body="桥" * 5_000_000, anchors=("a" * 999,) * 9_999
    )
    assert len(to_text(huge)) < 300_000


@given(st.text(), st.text(), st.one_of(st.none(), st.floats(0, 1)))
def test_a_link_comes_back_as_it_was_kept(anchor: str, around: str, score: float | None) -> None:
    link = LinkContext("u", anchor, around, parent_score=score)
    assert from_context(to_context(link)) == link
    assert from_context(None) is from_context("") is None


# --- guesses order looks ----------------------------------------------------------------------


def guesses(**expected: float) -> Guesses:
    """By path, what topic 1 expects."""
    scores = {
        target(path).canonical_key: (
            TopicScore(target(path).canonical_key, 1, value, "doubtful", False, "links", "v"),
        )
        for path, value in expected.items()
    }
    return Guesses(scores, dict.fromkeys(scores, '{"url": "u"}'))


def test_what_topics_expect_most_of_is_verified_before_it_is_announced() -> None:
    found = [target(path) for path in ("a", "b", "c")]
    seen = view(hub(), *found, verifications=1, guesses=guesses(a=0.1, b=0.8, c=0.3))
    record = read_hub(outcome(), seen).record
    assert [link.fate for link in record.links or ()] == ["announce", "verify", "announce"]
    assert [link.verify_score for link in record.links or ()] == [0.1, 0.8, 0.3]
    assert all(link.link_context for link in record.links or ())
    assert {score.score for score in record.topic_scores} == {0.1, 0.8, 0.3}


def test_a_hub_is_weighed_by_what_topics_expect_of_its_new_links() -> None:
    found = [target(path) for path in ("a", "b", "c")]
    decision = read_hub(outcome(), view(hub(), *found, guesses=guesses(a=0.5, b=0.9, c=0.2)))
    assert brought(decision).novel == 3
    assert brought(decision).relevant == pytest.approx(1.6)
    assert brought(read_hub(outcome(), view(hub(), *found))).relevant is None


def test_a_hub_of_usual_links_weighs_what_an_unjudged_one_does() -> None:
    """The worth of a hub is (relevant + 1) / (judged + 1): here, and without any judgement, 1."""
    found = [target(path) for path in ("a", "b")]
    usual = replace(guesses(a=0.2, b=0.2), usual=0.2)
    decision = read_hub(outcome(), view(hub(), *found, guesses=usual))
    assert brought(decision).relevant == pytest.approx(brought(decision).novel)
    eager = replace(guesses(a=1.0, b=1.0), usual=0.05)
    assert brought(
        read_hub(outcome(), view(hub(), *found, guesses=eager))
    ).relevant == pytest.approx(6.0)


def test_known_links_are_neither_guessed_nor_weighed() -> None:
    old = known_page(9, "a")
    seen = view(hub(), target("a"), known=by_canonical_key(old), guesses=guesses(a=0.9))
    decision = read_hub(outcome(), seen)
    assert (brought(decision).relevant, decision.record.topic_scores) == (0, ())
