"""The background job gives announced pages their vectors, and search by meaning finds them."""

import time
from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from stories import HOME, START, news_site, seen, visit_of

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.embedding.packing import unpacked
from incremental.topics.embedding.keeping import (
    FAILED_SECONDS,
    IDLE_SECONDS,
    VectorKeeper,
    kept_meanings,
)
from incremental.topics.embedding.likeness import NoVectorError, nearest, pages_like, vector_of
from incremental.topics.embedding.page_embedder import PageEmbedder
from store import Store
from store.answers import NewQuery
from store.search.vectors import VectorCounts

TITLES = ("river bridge", "bridge", "river boat", "tax", "tax law", "...")
WORDS = ("river", "bridge", "boat", "tax", "law")


class Counts:
    """Places a text by the words it has: enough to know which pages are alike."""

    quick = True

    def __init__(self, name: str = "counts 1") -> None:
        self.name = name
        self.fails = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self.fails:
            raise EmbeddingError("embeddings", self.name, "is away")
        return np.array([[word in text for word in WORDS] for text in texts], dtype=np.float32)


def announce(store: Store, *titles: str, at: float = START) -> None:
    site, home = news_site(store)
    links = [seen(f"{HOME}{n}", anchor=title, fate="announce") for n, title in enumerate(titles)]
    store.write.visit(visit_of(site, home, at, *links))


def work(store: Store, embedder: Embedder, *, most: int = 200) -> float:
    """Run the job until it has nothing to do; return how long it then wants to wait."""
    with closing(PageEmbedder(embedder, lambda: START)) as pages:
        keeper = VectorKeeper(store, pages)
        for _ in range(most):
            wait = keeper.step(START) - START
            if wait in (IDLE_SECONDS, FAILED_SECONDS):
                return wait
            time.sleep(0.005)  # the embedder's thread is at work
    raise AssertionError("the job never ends")


@pytest.fixture
def library(store: Store) -> Store:
    announce(store, *TITLES)
    work(store, Counts())
    return store


def page_id(store: Store, number: int) -> int:
    return int(store.read.find_page(f"{HOME}{number}", "")[0]["id"])


def like(store: Store, number: int, **query: object) -> list[str]:
    space, vector = vector_of(store, page_id(store, number))
    asked = NewQuery(**query)  # type: ignore[arg-type]  # as given
    found = pages_like(store, space, vector, asked, but=page_id(store, number))
    assert [one.likeness for one in found] == sorted((o.likeness for o in found), reverse=True)
    return [one.page.anchor for one in found]


def test_every_announced_page_gets_its_vector(library: Store) -> None:
    assert library.vectors.counts() == VectorCounts(len(TITLES), len(TITLES), 0)
    with pytest.raises(NoVectorError, match="no vector"):
        vector_of(library, page_id(library, TITLES.index("...")))


def test_pages_are_found_the_most_alike_first_without_the_page_itself(library: Store) -> None:
    assert like(library, 0, limit=2) == ["bridge", "river boat"]
    assert like(library, 4, limit=1) == ["tax"]


def test_likeness_is_between_0_and_1(library: Store) -> None:
    space, vector = vector_of(library, page_id(library, 3))
    found = pages_like(library, space, vector, NewQuery())
    values = {one.page.anchor: one.likeness for one in found}
    assert values["tax"] == pytest.approx(1.0, abs=1e-3)
    assert values["tax law"] == pytest.approx(0.5**0.5, abs=0.01)
    assert values["bridge"] == 0.0


def test_filters_hold_although_what_is_nearest_is_left_out(library: Store) -> None:
    library.answers.mark([page_id(library, 2)], now=START, starred=True)
    assert like(library, 0, starred=True) == ["river boat"]
    assert like(library, 0, since=START + 1) == []
    assert like(library, 0, sites=()) == []


def test_blocks_of_any_size_find_the_same(library: Store) -> None:
    space, vector = vector_of(library, page_id(library, 0))
    whole, likeness = nearest(library, space, vector)
    for rows in (1, 2, 3):
        pages, found = nearest(library, space, vector, block_rows=rows)
        assert pages.tolist() == whole.tolist()
        assert np.allclose(found, likeness)


def test_another_model_embeds_again_and_the_search_knows_only_its_vectors(library: Store) -> None:
    before, _ = vector_of(library, page_id(library, 0))
    work(library, Counts("counts 2"))
    after, _ = vector_of(library, page_id(library, 0))
    assert (before.name, after.name) == ("counts 1, 7 bits", "counts 2, 7 bits")
    assert library.vectors.counts() == VectorCounts(len(TITLES), len(TITLES), 0)


def test_vectors_of_another_length_are_passed_over(library: Store) -> None:
    space, vector = vector_of(library, page_id(library, 0))
    announce(library, *TITLES, "law", at=START + 1)
    (waiting,) = library.vectors.waiting(space, limit=10)
    library.vectors.put(space, [(waiting, b"\x01\x01")])
    assert len(nearest(library, space, vector)[0]) == len(TITLES) - 1


def test_after_a_failure_the_job_waits_and_nothing_counts_as_embedded(store: Store) -> None:
    announce(store, *TITLES)
    embedder = Counts()
    embedder.fails = True
    assert work(store, embedder) == FAILED_SECONDS
    counts = store.vectors.counts()
    assert (counts.embedded, counts.waiting) == (1, len(TITLES) - 1)  # one has no words to embed
    assert work(store, Counts()) == IDLE_SECONDS
    assert store.vectors.counts().waiting == 0


def test_before_anything_was_embedded_the_search_says_what_to_do(store: Store) -> None:
    announce(store, *TITLES)
    with pytest.raises(NoVectorError, match="hubwatch doctor"):
        vector_of(store, page_id(store, 0))


class Bits(Counts):
    """The same in eight numbers, of which none is 0."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        found = super().embed(texts)
        return np.hstack([found + 1.0, np.ones((len(texts), 3), dtype=np.float32)])


def test_kept_vectors_serve_topics_that_judge_pages_again(library: Store) -> None:
    pages = [page_id(library, number) for number in (0, 5)]
    found = kept_meanings(library, "counts 1", pages, 5)
    assert list(found) == pages[:1], "the other has no word"
    cosine = unpacked([found[pages[0]].packed]) @ unpacked([bytes([127, 127, 0, 0, 0])]).T
    assert float(cosine[0, 0]) == pytest.approx(1.0, abs=0.001)
    assert kept_meanings(library, "counts 2", pages, 5) == {}
    assert kept_meanings(library, "counts 1", [], 5) == {}


def test_kept_vectors_of_unknown_length_are_used_if_they_were_not_filled_up(store: Store) -> None:
    """A filled one passes for longer than the model's, and would keep those from topics."""
    announce(store, *TITLES)
    work(store, Counts())
    pages = [page_id(store, 0), page_id(store, 1)]
    assert kept_meanings(store, "counts 1", pages) == {}
    work(store, Bits("bits 1"))
    found = kept_meanings(store, "bits 1", pages)
    assert [len(one.packed) for one in found.values()] == [8, 8]
