"""A model that breaks on single texts, or on everything, as it is asked by the daemon's job."""

import time
from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from stories import START
from test_embedding_keeping import announce

from classifier.embedding import local, packages
from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.embedding.local import LocalEmbedder
from classifier.words.values import PageText
from incremental.topics.embedding.keeping import IDLE_SECONDS, VectorKeeper
from incremental.topics.embedding.page_embedder import PageEmbedder, meanings_of
from store import Store
from store.search.vectors import VectorCounts

HOUR = 3_600.0


class Breaking(Embedder):
    """Embeds the lengths of texts; breaks if one of them has a *bad* word, which may be in all."""

    name = "breaking 1"
    quick = True

    def __init__(self, bad: str) -> None:
        self.bad = bad
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if any(self.bad in text for text in texts):
            raise EmbeddingError("embeddings", self.name, "broke")
        return np.array([[len(text), 1] for text in texts], np.float32)


def work_for(store: Store, model: Embedder, seconds: float) -> None:
    """Run the job for so long by the clock of the story."""
    now = [START]
    with closing(PageEmbedder(model, lambda: now[0])) as pages:
        keeper = VectorKeeper(store, pages)
        while now[0] < START + seconds:
            if any(not answer.done() for *_, answer in keeper._started):
                time.sleep(0.001)  # the embedder's thread is at work
                continue
            now[0] = keeper.step(now[0])


def test_one_text_that_breaks_the_model_keeps_no_other_from_its_vector(store: Store) -> None:
    """It counts as tried: it is not offered again, not even after a restart."""
    announce(store, *(f"bridge {n}" for n in range(60)), "poison", *(f"tax {n}" for n in range(5)))
    model = Breaking("poison")
    work_for(store, model, 3 * IDLE_SECONDS)
    assert store.vectors.counts() == VectorCounts(66, 66, 0)
    again = Breaking("poison")
    work_for(store, again, 3 * IDLE_SECONDS)
    assert again.calls == 0


def test_a_model_that_breaks_on_everything_is_asked_seldom(store: Store) -> None:
    announce(store, *(f"bridge {n}" for n in range(60)))
    model = Breaking("")
    work_for(store, model, 4 * HOUR)
    assert store.vectors.counts().embedded == 0
    # A minute, doubling to an hour: ten pauses, with two calls after each.
    assert model.calls <= 20


def test_a_text_that_breaks_the_model_pauses_nothing_and_is_no_problem() -> None:
    model = Breaking("poison")
    with closing(PageEmbedder(model, lambda: START)) as pages:
        poison, bridge = (PageText("", title=title) for title in ("poison", "bridge"))
        answers = [pages.start(poison), pages.start(bridge)]
        assert [one.result(timeout=30) is not None for one in answers] == [False, True]
        assert pages.with_meaning(PageText("", title="boat")).meaning is not None
        assert (pages.trouble(), pages.has_none(poison)) == (None, True)
        calls = model.calls
        pages.with_meaning(poison)
        assert model.calls == calls


def test_numbers_that_are_not_finite_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(texts: list[str]) -> list[list[float]]:
        return [[float("nan") if "poison" in text else len(text), 1] for text in texts]

    monkeypatch.setattr(local, "_loaded", lambda _: encode)
    monkeypatch.setattr(packages, "find_spec", lambda _: object())
    monkeypatch.setattr(local, "version", lambda _: "1")
    pages = [PageText("", title=title) for title in ("bridge", "poison", "boat")]
    found = meanings_of(pages, LocalEmbedder("use"))
    assert [one is not None for one in found] == [True, False, True]
