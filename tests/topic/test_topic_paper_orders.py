"""The papers' link orders, as the harvest benchmark runs them."""

from __future__ import annotations

import pytest
from lab.paper_orders import (
    FIRST_TRAINING,
    BayesOrder,
    PageRankOrder,
    SimilarityOrder,
    plain_vectors,
    semantic_similarity,
)

from classifier.papers.bayes import Density
from classifier.papers.semantic_tree import SemanticTree, TreeBuilder
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.values import LinkContext, PageText

HOME = "https://s.example/"
LAW = "court judge law appeal verdict statute lawyer tribunal"
SPORT = "goal match team player league referee stadium coach"


def page(name: str, words: str) -> PageText:
    return PageText(HOME + name, words, body=f"{words} page {words}", language="en")


def link(word: str, parent: str = HOME) -> LinkContext:
    return LinkContext(HOME + word, word, parent_url=parent)


def law() -> TopicModel:
    return TopicModel.learn([page("0", LAW)], background=Background())


def wolves(tree: SemanticTree | None = None) -> TopicModel:
    return TopicModel.learn([], ["wolf"], background=Background(), tree=tree)


def trained(density: Density, pages: int) -> BayesOrder:
    """An order after a crawl that met law and sport in turn."""
    order, model = BayesOrder(density), law()
    for number in range(1, pages + 1):
        words = LAW if number % 2 else SPORT
        led_here = [link(words.split()[number % 8])]
        order.observe(page(str(number), words), led_here, [], 0.5, model)
    return order


def test_before_its_first_training_naive_bayes_takes_all_links_alike() -> None:
    order = trained(Density.KERNEL, FIRST_TRAINING - 1)
    assert order.expect([link("judge"), link("goal")], law()) == [0.5, 0.5]


@pytest.mark.parametrize("density", Density)
def test_fetched_pages_teach_naive_bayes_which_links_to_follow(density: Density) -> None:
    on_topic, off_topic = trained(density, FIRST_TRAINING).expect(
        [link("judge"), link("goal")], law()
    )
    assert on_topic > 0.5 > off_topic


def test_to_naive_bayes_a_link_takes_after_the_page_that_shows_it() -> None:
    order = trained(Density.KERNEL, FIRST_TRAINING)
    by_law, by_sport = order.expect([link("x", HOME + "1"), link("x", HOME + "2")], law())
    assert by_law > by_sport


def test_by_likeness_links_of_a_page_on_topic_are_worth_more() -> None:
    order, model = SimilarityOrder(plain_vectors), wolves()
    order.observe(page("", "wolf"), [], [], 0.0, model)
    order.observe(page("other", "car"), [], [], 0.0, model)
    from_topic, from_other = order.expect([link("x"), link("x", HOME + "other")], model)
    assert from_topic > from_other


def test_a_tree_knows_words_that_are_near() -> None:
    builder = TreeBuilder("animals")
    for word, parent in (("thing", ""), ("animal", "thing"), ("car", "thing")):
        builder.word(word, sense := builder.sense(word))
        if parent:
            builder.parent(sense, parent)
    for word in ("dog", "wolf"):
        builder.word(word, sense := builder.sense(word))
        builder.parent(sense, "animal")
    order, model = SimilarityOrder(semantic_similarity), wolves(builder.build())
    near, far = order.expect([link("dog"), link("car")], model)
    assert near > far > 0


def test_a_fetched_child_counts_with_its_page() -> None:
    """Seen alone the anchor says nothing; the page behind it is all about the topic."""
    scores = []
    for child_first in (False, True):
        order, model = SimilarityOrder(plain_vectors), wolves()
        if child_first:
            order.observe(page("more", "wolf"), [], [], 0.0, model)
        order.observe(page("", "index"), [], [link("more")], 0.0, model)
        scores.append(order.expect([link("next")], model)[0])
    assert scores[1] > scores[0]


def test_pagerank_prefers_what_many_pages_name() -> None:
    order, model = PageRankOrder(), wolves()
    for number in range(4):
        shown = [link("named", HOME + str(number)), link(f"once{number}", HOME + str(number))]
        order.observe(page(str(number), "x"), [], shown, 0.0, model)
    named, once, newer, unknown = order.expect(
        [link("named"), link("once1"), link("newer", HOME + "1"), link("lone")], model
    )
    assert named > once > newer > unknown == 0.0
