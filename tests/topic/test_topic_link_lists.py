"""Lists are known by where links to them stand and lead, before they are read."""

import json
from typing import Any

import pytest

from classifier.links.learned_order import LearnedOrder, LinkLists
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicModelError
from classifier.words.values import LinkContext, PageText

SITE = "https://a.example"
ARTICLE = PageText(f"{SITE}/notes/bridges/", body="A suspension bridge hangs on cables. " * 9)


def _list(url: str) -> PageText:
    return PageText(url, body="Tag", anchors=("Suspension bridges", "Arch bridges", "Cables"))


def _article(url: str) -> PageText:
    return PageText(url, body=ARTICLE.body)


def _link(path: str, place: str = "", parent: str = "") -> LinkContext:
    return LinkContext(f"{SITE}/{path}", tag_path=place, parent_url=f"{SITE}/{parent}")


def _learned() -> LinkLists:
    lists = LinkLists()
    for number in range(5):
        tag, note = f"tags/{number}x/", f"notes/{number}x/"
        lists.learn(_list(f"{SITE}/{tag}"), [_link(tag, "body>nav.menu")])
        lists.learn(_article(f"{SITE}/{note}"), [_link(note, "body>main>ul")])
    return lists


def test_nothing_is_a_list_before_a_list_was_seen() -> None:
    lists = LinkLists()
    assert lists.expected(_link("tags/go/")) == 0.0
    lists.learn(ARTICLE, [])
    assert lists.expected(_link("tags/go/")) == 0.0


def test_a_folder_of_lists_has_more_lists() -> None:
    lists = _learned()
    assert lists.expected(_link("tags/go/")) > 0.5 > lists.expected(_link("notes/go/"))


def test_a_place_that_led_to_lists_leads_to_more() -> None:
    lists = _learned()
    menu, main = _link("about", "body>nav.menu", "notes/1x/"), _link("about", "body>main>ul")
    assert lists.expected(menu) > 0.5 > lists.expected(main)


def test_addresses_that_differ_by_a_number_are_of_one_kind() -> None:
    lists = LinkLists()
    for number in range(5):
        lists.learn(_list(f"{SITE}/list-{number}.html"), [])
        lists.learn(_article(f"{SITE}/article-{number}-1.html"), [])
    assert lists.expected(_link("list-77.html")) > 0.5 > lists.expected(_link("article-77-1.html"))


def test_odd_links_are_no_error() -> None:
    lists = _learned()
    for url in ("", "https://[", "mailto:x"):
        lists.learn(_list(url), [LinkContext(url, tag_path="p", parent_url=url)])
        assert 0 <= lists.expected(LinkContext(url, tag_path="p", parent_url=url)) <= 1


def test_what_was_learned_survives_json() -> None:
    lists = _learned()
    again = LinkLists.from_json(json.loads(json.dumps(lists.to_json())))
    link = _link("tags/go/", "body>nav.menu")
    assert again.expected(link) == lists.expected(link)


@pytest.mark.parametrize("data", [None, {}, {"all": 3}])
def test_damaged_json_is_refused(data: Any) -> None:
    with pytest.raises(TopicModelError):
        LinkLists.from_json(data)


LINKS = [
    LinkContext(f"{SITE}/notes/x/", "Bridges", parent_url=ARTICLE.url),
    LinkContext(f"{SITE}/tags/x/", "Soup", parent_url=ARTICLE.url),
    LinkContext(f"{SITE}/soups/x/", "Soup", parent_url=ARTICLE.url),
]


def _crawled(model: TopicModel, *, with_lists: bool) -> LearnedOrder:
    """Return an order that read pages on the topic, tags without a word of it, and soups."""
    order = LearnedOrder()
    for number in range(60):
        folder, anchor, score = (
            ("notes", "Bridges", 0.9),
            ("tags", "Soup", 0.1),
            ("soups", "Soup", 0.1),
        )[number % 3]
        url = f"{SITE}/{folder}/{number}x/"
        link = LinkContext(url, anchor, parent_url=ARTICLE.url)
        order.order([link], model)
        is_list = with_lists and folder == "tags"
        order.observe(_list(url) if is_list else _article(url), [link], [], score)
    return order


@pytest.fixture(scope="module")
def model() -> TopicModel:
    return TopicModel.learn([ARTICLE], ["bridge"], background=Background())


def test_a_list_comes_between_what_promises_much_and_what_promises_little(
    model: TopicModel,
) -> None:
    good, tag, soup = _crawled(model, with_lists=True).order(LINKS, model)
    assert good > tag > soup


def test_where_no_page_is_a_list_none_is_preferred(model: TopicModel) -> None:
    _, tag, soup = _crawled(model, with_lists=False).order(LINKS, model)
    assert tag == pytest.approx(soup, abs=1e-9)
