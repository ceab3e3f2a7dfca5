"""The link order: odd input, restarts, and states that are none."""

import json
from functools import cache

import pytest
from topic_pages import crawled_background, pages_of, text_page

from classifier.links.learned_order import LearnedOrder
from classifier.topic.model import TopicModel
from classifier.words.errors import TopicModelError
from classifier.words.values import LinkContext, PageText

ODD = [PageText(""), PageText("x", "\ufffd\x00"), PageText("y", body="goal " * 30_000)]


@cache
def football() -> TopicModel:
    return TopicModel.learn(
        pages_of("football", 3), ["goal"], background=crawled_background(per_field=5)
    )


def shown_by(page: PageText, *targets: PageText) -> list[LinkContext]:
    return [LinkContext(one.url, one.title, parent_url=page.url) for one in targets]


def crawled() -> LearnedOrder:
    """An order after a crawl of two fields: each page leads to the next two of its field."""
    order = LearnedOrder()
    for number in range(20):
        for field in ("football", "cooking"):
            page, *further = (text_page(field, number + step) for step in range(3))
            led_here = shown_by(text_page(field, number - 1), page) if number else []
            links = shown_by(page, *further)
            order.observe(page, led_here, links, football().judge(page).score, football())
    return order


def questions() -> list[LinkContext]:
    """Unknown links of two hubs that were read, one on each field."""
    return [
        *shown_by(text_page("football", 19), text_page("football", 99)),
        *shown_by(text_page("cooking", 19), text_page("cooking", 99)),
    ]


def test_links_of_the_topic_come_first() -> None:
    on_topic, off_topic = crawled().expect(questions(), football())
    assert on_topic > off_topic


def test_odd_pages_and_links_are_borne() -> None:
    order = LearnedOrder()
    links = [LinkContext("https://s.example/a", "goal"), LinkContext("")]
    assert all(0.0 <= one <= 1.0 for one in order.expect(links, football()))
    for page in ODD:
        order.observe(page, [], links, 0.5, football())
        order.renew(page, 0.5, football())
    assert all(0.0 <= one <= 1.0 for one in order.expect(links, football()))
    assert order.expect([], football()) == []
    assert order.usual(football()) > 0.0


def test_it_goes_on_after_a_restart() -> None:
    order = crawled()
    read = LearnedOrder.from_json(json.loads(json.dumps(order.to_json())))
    for one in (order, read):
        for hub in (text_page("football", 19), text_page("cooking", 19)):
            one.renew(hub, 0.5, football())
    assert read.expect(questions(), football()) == pytest.approx(
        order.expect(questions(), football()), abs=0.02
    )


@pytest.mark.parametrize(
    "data", [None, [], {"format": 99}, {"format": 1}, {"format": 1, "memory": {"pages": 5}}]
)
def test_what_is_no_order_is_refused(data: object) -> None:
    with pytest.raises(TopicModelError, match="links"):
        LearnedOrder.from_json(data)
