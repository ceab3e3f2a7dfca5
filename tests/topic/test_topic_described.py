"""A topic in one sentence: it is stored, trained without any example, and kept when the topic is changed."""

from typing import Any

import pytest

from incremental.base.errors import InputError
from incremental.topics.editing import MAX_DESCRIPTION, begin, edit_topic, forget_example
from incremental.topics.judging import readiness
from incremental.topics.model_store import TopicModelStore
from store import Store
from store.enums import TopicState

SENTENCE = "Tenders for bridge maintenance"


def test_a_sentence_is_enough_to_judge(sqlite_store: Store) -> None:
    row, _ = begin(sqlite_store, "t", examples=(), keywords=(), description=SENTENCE, now=1.0)
    learned = TopicModelStore(sqlite_store).learn(row)
    assert (learned.state, learned.description) == (TopicState.READY, SENTENCE)
    assert learned.version


def test_a_change_of_key_words_keeps_the_sentence(sqlite_store: Store) -> None:
    row, _ = begin(sqlite_store, "t", examples=(), keywords=(), description=SENTENCE, now=1.0)
    changed = edit_topic(sqlite_store, row, keywords=("viaduct",), now=2.0)
    assert (changed.description, changed.keywords) == (SENTENCE, '["viaduct"]')
    other = edit_topic(sqlite_store, changed, description="Ferries", now=3.0)
    assert (other.description, other.keywords) == ("Ferries", '["viaduct"]')


def test_adding_a_topic_again_changes_nothing_but_its_examples(sqlite_store: Store) -> None:
    begin(sqlite_store, "t", examples=(), keywords=("viaduct",), now=1.0)
    with pytest.raises(InputError, match="exists already; to change it: hubwatch topic edit t"):
        begin(sqlite_store, "t", examples=(), keywords=("ferry",), now=2.0)
    url = "https://news.example/bridge"
    row, _ = begin(sqlite_store, "t", examples=(url,), keywords=(), now=3.0)
    assert row.keywords == '["viaduct"]'
    assert [one.url for one in sqlite_store.topics.examples(row.id)] == [url]


def test_a_topic_keeps_something_to_judge_by(sqlite_store: Store) -> None:
    row, _ = begin(sqlite_store, "t", examples=(), keywords=(), description=SENTENCE, now=1.0)
    with pytest.raises(InputError, match="needs a keyword or a sentence"):
        edit_topic(sqlite_store, row, description="", now=2.0)


def test_the_last_example_can_be_forgotten_while_a_sentence_is_left(sqlite_store: Store) -> None:
    url = "https://news.example/bridge"
    row, _ = begin(sqlite_store, "t", examples=(url,), keywords=(), description=SENTENCE, now=1.0)
    (example,) = sqlite_store.topics.examples(row.id)
    forget_example(sqlite_store, row, example.id, now=2.0)
    assert not sqlite_store.topics.examples(row.id)


@pytest.mark.parametrize("sentence", ["?!", "x", "the of", "a" * (MAX_DESCRIPTION + 1)])
def test_a_sentence_that_says_nothing_or_too_much_is_refused(
    sqlite_store: Store, sentence: str
) -> None:
    with pytest.raises(InputError, match="describe"):
        begin(sqlite_store, "t", examples=(), keywords=(), description=sentence, now=1.0)
    assert not sqlite_store.topics.topics()


def test_without_sentence_example_and_key_word_a_topic_waits() -> None:
    assert readiness((), (), SENTENCE).ready
    assert not readiness((), ()).ready


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"keywords": (), "description": "x"}, "describe 'x': contains no words"),
        ({"keywords": ("the", "of")}, "keywords 'the, of': too short or too common"),
    ],
)
def test_what_no_topic_can_learn_from_is_refused_and_leaves_none(
    sqlite_store: Store, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError) as refused:
        begin(sqlite_store, "a b/c", examples=(), now=1.0, **given)
    assert says in str(refused.value)
    assert sqlite_store.topics.topics() == []
    row, _ = begin(sqlite_store, "t", examples=(), keywords=("viaduct",), now=2.0)
    with pytest.raises(InputError):
        edit_topic(sqlite_store, row, now=3.0, **given)


def test_who_forgets_the_last_example_is_told_the_ways_out(sqlite_store: Store) -> None:
    url = "https://news.example/bridge"
    row, _ = begin(sqlite_store, "t", examples=(url,), keywords=(), now=1.0)
    (example,) = sqlite_store.topics.examples(row.id)
    with pytest.raises(InputError, match="or delete the topic") as refused:
        forget_example(sqlite_store, row, example.id, now=2.0)
    assert url in str(refused.value)
