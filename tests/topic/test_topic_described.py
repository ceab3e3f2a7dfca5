"""A topic in one sentence: it is stored, trained without any example, and kept when the topic is changed."""

from __future__ import annotations

import pytest

from incremental.decide.topics import readiness
from incremental.errors import InputError
from incremental.topics.editing import MAX_DESCRIPTION, begin
from incremental.topics.model_store import TopicModelStore
from store import Store
from store.enums import TopicState

SENTENCE = "Tenders for bridge maintenance"


def test_a_sentence_is_enough_to_judge(sqlite_store: Store) -> None:
    row, _ = begin(sqlite_store, "t", examples=(), keywords=(), description=SENTENCE, now=1.0)
    learned = TopicModelStore(sqlite_store, ()).learn(row)
    assert (learned.state, learned.description) == (TopicState.READY, SENTENCE)
    assert learned.version


def test_a_change_of_key_words_keeps_the_sentence(sqlite_store: Store) -> None:
    begin(sqlite_store, "t", examples=(), keywords=(), description=SENTENCE, now=1.0)
    row, _ = begin(sqlite_store, "t", examples=(), keywords=("viaduct",), now=2.0)
    assert row.description == SENTENCE


@pytest.mark.parametrize("sentence", ["?!", "a" * (MAX_DESCRIPTION + 1)])
def test_a_sentence_that_says_nothing_or_too_much_is_refused(
    sqlite_store: Store, sentence: str
) -> None:
    with pytest.raises(InputError, match="describe"):
        begin(sqlite_store, "t", examples=(), keywords=(), description=sentence, now=1.0)
    assert not sqlite_store.topics.topics()


def test_without_sentence_example_and_key_word_a_topic_waits() -> None:
    assert readiness((), (), SENTENCE).ready
    assert not readiness((), ()).ready
