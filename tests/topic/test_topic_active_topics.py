"""A topic at work: what it learns of the hubs that a round reads."""

from typing import Any

from topic_pages import pages_of

from classifier.embedding.meaning import Meaning
from classifier.links.learned_order import LearnedOrder
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.values import LinkContext, PageText
from incremental.topics.active_topic import ActiveTopic
from store.enums import TopicState
from store.topics.values import TopicRow

HUB = "https://a.example/list"


def _active_topic() -> ActiveTopic:
    row = TopicRow(1, "football", "", "", "fused", TopicState.READY, "", "1", "", 0.0, 0.0, 0.0)
    model = TopicModel.learn(pages_of("football", 3), background=Background())
    return ActiveTopic(row, model, LearnedOrder())


def _announced(active_topic: ActiveTopic) -> Any:
    """What is remembered of the one page that was read: opinion and nearness."""
    ((_, _, _, opinion, nearness, _, _),) = active_topic.links.to_json()["memory"]["pages"]
    return opinion, nearness


def test_a_hub_is_worth_what_the_examples_say_of_it() -> None:
    """Most links are shown by hubs: they count by the same measure as other pages."""
    active_topic = _active_topic()
    words = pages_of("football", 1, start=50)[0].body
    active_topic.read_hub(
        PageText(HUB, body=words), [LinkContext("https://a.example/1", parent_url=HUB)]
    )
    opinion, nearness = _announced(active_topic)
    assert 0.5 < opinion <= 1
    assert 0.1 < nearness <= 1


def test_the_link_order_hears_of_anchors() -> None:
    active_topic = _active_topic()
    active_topic.links.learn_anchors({"Cup final": Meaning("subjects 1", bytes([127, 0]))})
    assert active_topic.links.to_json()["vectors"]["space"] == "subjects 1"


def test_a_hub_that_is_read_again_is_worth_what_it_shows_now() -> None:
    active_topic = _active_topic()
    football, cooking = (pages_of(field, 1, start=50)[0].body for field in ("football", "cooking"))
    active_topic.read_hub(PageText(HUB, body=football), [])
    before = _announced(active_topic)
    active_topic.read_hub(PageText(HUB, body=cooking), [])
    opinion, nearness = _announced(active_topic)
    assert opinion < before[0]
    assert nearness < before[1]
