"""Tags, and words that pages must or must not have, on SQLite and PostgreSQL alike."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from stories import START, announced_pages, news_site, target, visit_of

from store import Store
from store.answers import NewQuery, news
from store.editing import Tag
from store.values import TopicScore

OTHER = "https://other.example/"


@pytest.fixture
def filled(store: Store) -> Store:
    """Two sites with announced pages; a topic holds one of each for relevant, one for irrelevant."""
    for home, titles in (
        ("https://news.example/", ("Bridge tender opens", "Bridge closed", "Football cup")),
        (OTHER, ("桥梁招标公告", "足球比赛")),
    ):
        site = store.write.add_site(home, home.split("/")[2], now=START)
        hub = store.write.add_pages(site, [target(home)], now=START)
        links = [
            target(f"{home}{n}.html", anchor=title, fate="announce")
            for n, title in enumerate(titles)
        ]
        store.write.visit(visit_of(site, next(iter(hub.values())), START, *links))
    topic = store.topics.add("Bridges", ["bridge"], "fused", now=START)
    for site, number, verdict in ((1, 0, "relevant"), (1, 2, "irrelevant"), (2, 0, "relevant")):
        home = "https://news.example/" if site == 1 else OTHER
        key = target(f"{home}{number}.html").canonical_key
        score = TopicScore(key, topic, 0.9, verdict, fetched=True, method="vsm", version="1")
        store.topics.put_scores(site, [score], now=START)
    return store


def titles(store: Store, **query: Any) -> set[str]:
    return {row.name for row in announced_pages(store, **query)}


def test_a_tag_lists_the_pages_of_its_sites_and_what_its_topics_want(filled: Store) -> None:
    filled.tags.set_site_tags(2, ["water", "北京"])
    assert titles(filled, tag="water") == {"桥梁招标公告", "足球比赛"}
    filled.tags.set_topic_tags(1, ["water"])
    assert titles(filled, tag="water") == {"桥梁招标公告", "足球比赛", "Bridge tender opens"}
    assert titles(filled, tag="water", sites=(1,)) == {"Bridge tender opens"}
    assert titles(filled, tag="unknown") == set()
    assert filled.tags.tags() == [Tag("water", 1, 1), Tag("北京", 1, 0)]


def test_many_sites_of_a_tag_are_found_without_a_walk_each(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.tags.set_site_tags(1, ["a"])
    filled.tags.set_site_tags(2, ["a"])
    few = announced_pages(filled, tag="a")
    monkeypatch.setattr(news, "FEW_SITES", 1)
    assert announced_pages(filled, tag="a") == few
    assert len(few) == 5


def test_tags_go_with_their_site_and_are_replaced_as_a_whole(filled: Store) -> None:
    filled.tags.set_site_tags(1, ["a", "b", "a"])
    filled.tags.set_site_tags(1, ["c"])
    assert filled.tags.of_sites() == {1: ["c"]}
    filled.write.remove_site(1)
    assert filled.tags.tags() == []


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ({"include": ("tender", "招标")}, {"Bridge tender opens", "桥梁招标公告"}),
        ({"include": ("bridge closed",)}, {"Bridge closed"}),
        ({"include": ("foot*",)}, {"Football cup"}),
        ({"exclude": ("bridge", "桥梁")}, {"Football cup", "足球比赛"}),
        ({"include": ("bridge",), "exclude": ("closed",)}, {"Bridge tender opens"}),
        (
            {"include": ("-bridge",), "exclude": ('clo"sed',)},
            {"Bridge tender opens", "Bridge closed"},
        ),
        ({"include": ("!!",)}, set()),
        ({"include": ("bridge",), "text": "opens"}, {"Bridge tender opens"}),
    ],
)
def test_words_include_and_exclude(filled: Store, words: Any, found: set[str]) -> None:
    assert titles(filled, **words) == found


def test_words_of_a_topic_narrow_it_wherever_it_is_asked_for(filled: Store) -> None:
    filled.editing.edit_topic(1, now=START, exclude='["tender"]')
    assert titles(filled, topic=1, hidden_verdict="irrelevant") == {"桥梁招标公告"}
    assert titles(filled, topic=1, verdict="relevant") == {"桥梁招标公告"}
    filled.tags.set_topic_tags(1, ["t"])
    assert titles(filled, tag="t") == {"桥梁招标公告"}
    filled.editing.edit_topic(1, now=START, exclude="[]", include='["tender"]')
    assert titles(filled, tag="t") == {"Bridge tender opens"}


def test_paging_through_a_tag_skips_and_repeats_nothing(filled: Store) -> None:
    filled.tags.set_site_tags(1, ["a"])
    filled.tags.set_topic_tags(1, ["a"])
    whole = [row.page_id for row in announced_pages(filled, tag="a")]
    found: list[int] = []
    query = NewQuery(tag="a", limit=1)
    while True:
        answer = filled.answers.new(query)
        found += [row.page_id for row in answer.rows]
        if not answer.more:
            break
        query = NewQuery(tag="a", limit=1, after=answer.cursor)
    assert found == whole
    assert len(found) == 4


@pytest.mark.parametrize(
    "edit",
    [
        lambda other: other.editing.edit_site(1, now=START + 1, requests_per_day=3.0),
        lambda other: other.editing.request_visits([1], now=START + 2),
    ],
    ids=["terms", "visit"],
)
def test_an_edit_is_noticed_by_a_process_that_watches(
    store: Store, edit: Callable[[Store], object]
) -> None:
    news_site(store)

    def elsewhere() -> None:
        with store.in_this_thread() as other:
            edit(other)

    before = store.read.generation()
    with ThreadPoolExecutor(1) as threads:
        threads.submit(elsewhere).result()
    assert store.read.generation() != before
