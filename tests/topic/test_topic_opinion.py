"""What the examples alone say of a page does not follow what a crawl has fetched."""

import pytest
from topic_pages import FIELDS, pages_of, text_page

from classifier.links.learned_order import MIN_NEGATIVES, Opinion
from classifier.topic.methods import Setting
from classifier.words.background import Background
from classifier.words.batch import PageBatch, sample_of
from classifier.words.evidence import Evidence
from classifier.words.text import weighted_terms
from classifier.words.values import PageText


def _crawled(football: int, others: int) -> Background:
    """A crawl that fetched so many pages of each field."""
    background = Background()
    for field in FIELDS:
        for page in pages_of(field, football if field == "football" else others):
            background.observe(weighted_terms(page))
    background.learn_concepts()
    return background


def _opinions(background: Background, pages: list[PageText], keywords: list[str]) -> list[float]:
    examples = [] if keywords else pages_of("football", 3)
    evidence = Evidence.gather(examples, keywords)
    sample = sample_of(background)
    opinion = Opinion.fit(evidence, Setting(background, sample, None))
    return opinion.scores(PageBatch([weighted_terms(page) for page in pages], background, sample))


@pytest.mark.parametrize(("football", "others"), [(0, 0), (3, 0), (4, 4), (40, 10), (10, 40)])
@pytest.mark.parametrize("keywords", [[], ["striker", "goal", "referee"]])
def test_pages_like_the_examples_come_first_whatever_was_fetched(
    football: int, others: int, keywords: list[str]
) -> None:
    pages = [*pages_of("football", 5, start=100), *pages_of("cooking", 5, start=100)]
    scores = _opinions(_crawled(football, others), pages, keywords)
    assert min(scores[:5]) > max(scores[5:])
    assert all(0 <= score <= 1 for score in scores)


def test_a_crawl_full_of_the_topic_does_not_make_its_pages_negatives() -> None:
    """Most of what was fetched is on topic; only the far half of it stands for the rest."""
    background = _crawled(football=60, others=10)
    assert len(background.sample) > 2 * MIN_NEGATIVES
    own, other = _opinions(background, [text_page("football", 200), text_page("music", 200)], [])
    assert own > other + 0.3


def test_pages_without_words_are_no_error() -> None:
    empty, other = _opinions(_crawled(10, 10), [PageText("http://a.example/"), PageText("x")], [])
    assert empty == other < 0.5
