"""Discovery reads first what means the same as the topic, whatever its words are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import installed
from classifier.papers.page_ranking import PageRanking
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.text import weighted_terms
from classifier.words.values import PageText
from incremental.features.discovery.by_meaning import RANKED, ByMeaning, in_the_middle
from incremental.features.discovery.operators import Candidate
from incremental.topics.embedding.page_embedder import PageEmbedder

FOOTBALL = ("football", "goalkeeper", "striker", "penalty")
COOKING = ("soup", "onion", "broth", "noodle")


class Subjects(Embedder):
    """Places a text by its subject; a text of no subject lies apart from both."""

    name = "subjects 1"
    quick = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fails:
            raise EmbeddingError("embeddings", self.name, "is away")
        self.asked += texts
        return np.stack([self._vector(text.lower()) for text in texts])

    def _vector(self, text: str) -> Vectors:
        vector = np.full(10, 0.1, dtype=np.float32)
        for place, words in enumerate((FOOTBALL, COOKING)):
            vector[place] += 2.0 * sum(word in text for word in words)
        vector[2 + len(text) % 8] += 0.4
        return vector


@pytest.fixture
def subjects() -> Iterator[tuple[Subjects, PageEmbedder]]:
    model = Subjects()
    with closing(PageEmbedder(model, lambda: 0.0)) as pages:
        yield model, pages


def learned(pages: PageEmbedder) -> TopicModel:
    """A topic of football, among pages of all kinds."""
    background = Background()
    words = ("clock", "garden", "onion", "train", "broth", "river", "paper", "window")
    others = [
        PageText(f"https://x.example/{n}", title=f"A {words[n % 8]} in {words[n // 8]} number{n}")
        for n in range(64)
    ]
    for one in pages.with_meanings(others):
        background.observe_page(one)
    examples = [PageText("https://a.example/", title="The striker missed a penalty")]
    return TopicModel.learn(pages.with_meanings(examples), background=background)


def candidate(number: int, text: str, evidence: float) -> Candidate:
    return Candidate(f"https://c.example/{number}", "keyword", "q", evidence, text)


def test_of_equal_evidence_what_means_the_same_is_read_first(
    subjects: tuple[Subjects, PageEmbedder],
) -> None:
    _, pages = subjects
    found = [
        candidate(1, "How to cook onion soup well", 1.0),
        candidate(2, "Nothing of either kind here", 1.0),
        candidate(3, "A goalkeeper tells of football", 1.0),
    ]
    ordered = ByMeaning(learned(pages), pages).order(found)
    assert ordered[0].url == found[2].url
    assert {one.url for one in ordered} == {one.url for one in found}


def test_evidence_still_counts(subjects: tuple[Subjects, PageEmbedder]) -> None:
    _, pages = subjects
    same = "A goalkeeper tells of football"
    found = [candidate(1, same, 3.0), candidate(2, same, 1.0)]
    assert ByMeaning(learned(pages), pages).order(found) == found


def test_a_text_is_embedded_once(subjects: tuple[Subjects, PageEmbedder]) -> None:
    model, pages = subjects
    by_meaning = ByMeaning(learned(pages), pages)
    found = [candidate(1, "A goalkeeper tells of football", 1.0), candidate(2, "more", 1.0)]
    by_meaning.order(found)
    by_meaning.order(found)
    assert model.asked.count("A goalkeeper tells of football") == 1
    assert "more" not in model.asked


def test_without_vectors_the_order_by_evidence_stays(
    subjects: tuple[Subjects, PageEmbedder],
) -> None:
    model, pages = subjects
    by_meaning = ByMeaning(learned(pages), pages)
    model.fails = True
    found = [candidate(n, f"A football headline, number {n}", 3.0 - n) for n in range(3)]
    assert by_meaning.order(found) == found


def test_only_the_first_are_embedded_and_none_is_lost(
    subjects: tuple[Subjects, PageEmbedder],
) -> None:
    model, pages = subjects
    by_meaning = ByMeaning(learned(pages), pages)
    model.asked.clear()
    found = [candidate(n, f"Some headline, number {n}", -float(n)) for n in range(RANKED + 5)]
    ordered = by_meaning.order(found)
    assert len(model.asked) == RANKED
    assert ordered[RANKED:] == found[RANKED:]
    assert sorted(one.url for one in ordered) == sorted(one.url for one in found)


def test_what_is_unknown_stands_in_the_middle() -> None:
    assert in_the_middle(np.array([1.0, np.nan, 3.0])).tolist() == [1.0, 2.0, 3.0]
    assert in_the_middle(np.array([np.nan])).tolist() == [0.0]


def test_read_pages_that_mean_the_same_rise_in_the_fusion() -> None:
    background = Background()
    seed, like, other = (
        weighted_terms(PageText("", title=text))
        for text in ("a striker and a penalty", "the goalkeeper speaks", "a kitchen table")
    )
    meant: list[float] = []

    def scores() -> np.ndarray[tuple[int], np.dtype[np.float64]] | None:
        return np.array(meant) if meant else None

    ranking = PageRanking(background, {"seed": seed}, by_meaning=scores)
    ranking.add("other", other)
    ranking.add("like", like)
    assert ranking.ranked() == ["seed", "other", "like"]
    meant += [2.0, -1.0, 1.0]
    assert ranking.ranked() == ["seed", "like", "other"]


@pytest.mark.skipif(installed("auto") is None, reason="the extra embeddings is missing")
def test_the_installed_model_puts_another_language_first() -> None:
    with closing(PageEmbedder(LocalEmbedder("auto"), lambda: 0.0)) as pages:
        text = "The striker scored twice as the home team won the derby"
        example = replace(PageText("https://a.example/"), title=text)
        model = TopicModel.learn(pages.with_meanings([example]), background=Background())
        found = [
            candidate(1, "央行宣布下调存款准备金率", 1.0),
            candidate(2, "球队在加时赛中逆转夺冠", 1.0),
        ]
        assert ByMeaning(model, pages).order(found)[0] == found[1]
