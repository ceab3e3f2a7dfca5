"""The orders of links behind one interface: odd input, restarts, and a change of the setting."""

from __future__ import annotations

import json
from functools import cache
from typing import get_args, get_type_hints

import pytest
from topic_pages import crawled_background, pages_of, text_page

from classifier.links.orders import LINK_ORDERS, LinkOrder, from_kept, new_order, to_kept
from classifier.topic.model import TopicModel
from classifier.words.errors import TopicModelError
from classifier.words.values import LinkContext, PageText
from incremental.settings import Settings
from incremental.settings.sections import TopicSettings

ODD = [PageText(""), PageText("x", "\ufffd\x00"), PageText("y", body="goal " * 30_000)]


@cache
def football() -> TopicModel:
    return TopicModel.learn(
        pages_of("football", 3), ["goal"], background=crawled_background(per_field=5)
    )


def shown_by(page: PageText, *targets: PageText) -> list[LinkContext]:
    return [LinkContext(one.url, one.title, parent_url=page.url) for one in targets]


def crawled(name: str) -> LinkOrder:
    """An order after a crawl of two fields: each page leads to the next two of its field."""
    order = new_order(name)
    for number in range(20):
        for field in ("football", "cooking"):
            page, *further = (text_page(field, number + step) for step in range(3))
            led_here = shown_by(text_page(field, number - 1), page) if number else []
            links = shown_by(page, *further)
            order.observe(page, led_here, links, football().judge(page), football())
    return order


def questions() -> list[LinkContext]:
    """Unknown links of two hubs that were read, one on each field."""
    return [
        *shown_by(text_page("football", 19), text_page("football", 99)),
        *shown_by(text_page("cooking", 19), text_page("cooking", 99)),
    ]


def test_the_settings_offer_what_there_is() -> None:
    assert get_args(get_type_hints(TopicSettings)["link_order"]) == LINK_ORDERS
    assert Settings().topics.link_order == LINK_ORDERS[0]


@pytest.mark.parametrize("name", [name for name in LINK_ORDERS if name != "pagerank"])
def test_an_order_that_reads_prefers_the_links_of_the_topic(name: str) -> None:
    on_topic, off_topic = crawled(name).expect(questions(), football())
    assert on_topic > off_topic


@pytest.mark.parametrize("name", LINK_ORDERS)
def test_an_order_bears_odd_pages_and_links(name: str) -> None:
    order = new_order(name)
    links = [LinkContext("https://s.example/a", "goal"), LinkContext("")]
    assert all(0.0 <= one <= 1.0 for one in order.expect(links, football()))
    for page in ODD:
        order.observe(page, [], links, 0.5, football())
        order.renew(page, links, 0.5, football())
    assert all(0.0 <= one <= 1.0 for one in order.expect(links, football()))
    assert order.expect([], football()) == []
    assert order.usual(football()) > 0.0
    assert order.name == name


@pytest.mark.parametrize("name", [name for name in LINK_ORDERS if name != "pagerank"])
def test_an_order_goes_on_after_a_restart(name: str) -> None:
    """PageRank is computed again then: what it keeps is the graph (``test_topic_pagerank``)."""
    order = crawled(name)
    read = from_kept(json.loads(json.dumps(to_kept(order))), name)
    for one in (order, read):
        hubs = (text_page("football", 19), text_page("cooking", 19))
        for hub in hubs:
            one.renew(hub, shown_by(hub, text_page("music", 1)), 0.5, football())
    assert read.expect(questions(), football()) == pytest.approx(
        order.expect(questions(), football()), abs=0.02
    )


@pytest.mark.parametrize("name", LINK_ORDERS)
def test_another_order_than_the_one_that_was_kept_begins_again(name: str) -> None:
    other = next(one for one in LINK_ORDERS if one != name)
    begun = from_kept(json.loads(json.dumps(to_kept(crawled(name)))), other)
    assert begun.name == other
    assert begun.to_json() == new_order(other).to_json()


@pytest.mark.parametrize("name", LINK_ORDERS)
@pytest.mark.parametrize(
    "data", [None, [], {"format": 1, "order": "?", "learned": None}, {"format": 99}]
)
def test_what_is_no_order_is_refused_or_begun_again(name: str, data: object) -> None:
    try:
        assert from_kept(data, name).to_json() == new_order(name).to_json()
    except TopicModelError as error:
        assert "links" in str(error)  # noqa: PT017 - either is right


@pytest.mark.parametrize("name", LINK_ORDERS)
def test_damaged_learning_is_refused(name: str) -> None:
    with pytest.raises(TopicModelError):
        from_kept({"format": 1, "order": name, "learned": {"pages": 5}}, name)
