"""Pages get their vectors off the caller's thread, in batches; trouble leaves them without."""

import threading
from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.embedding.packing import unpacked
from classifier.words.values import PageText
from incremental.topics.embedding import page_embedder
from incremental.topics.embedding.page_embedder import (
    FIRST_PAUSE_SECONDS,
    PageEmbedder,
    meanings_of,
    space_of,
)
from incremental.topics.embedding.passages import (
    HEADLINE_WEIGHT,
    SLOW_DENSE_LEAD,
    SLOW_LEAD,
    headline_weight,
    passages_of,
)


class Lengths(Embedder):
    """Places a text by its length: enough to see who embeds what, and when."""

    name = "lengths 1"
    quick = True

    def __init__(self) -> None:
        self.batches: list[int] = []
        self.threads: set[str] = set()
        self.fails = False
        self.goes_on = threading.Event()
        self.goes_on.set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.goes_on.wait(10)
        self.batches.append(len(texts))
        self.threads.add(threading.current_thread().name)
        if self.fails:
            raise EmbeddingError("embeddings", self.name, "is away")
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def page(text: str) -> PageText:
    return PageText("https://a.example/", title=text)


def test_pages_that_wait_are_embedded_in_a_thread_of_their_own_in_one_batch() -> None:
    embedder = Lengths()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        embedder.goes_on.clear()
        answers = [pages.start(page(f"title {number:03}")) for number in range(50)]
        embedder.goes_on.set()
        found = [answer.result(timeout=30) for answer in answers]
    assert all(one is not None and one.space == "lengths 1" for one in found)
    assert embedder.threads == {"embedding"}
    assert len(embedder.batches) <= 2


def test_a_page_that_was_embedded_is_not_embedded_again() -> None:
    embedder = Lengths()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        pages.with_meaning(page("one"))
        pages.with_meaning(page("one"))
    assert embedder.batches == [1]


def test_after_a_failure_pages_come_without_vectors_until_the_pause_is_over() -> None:
    embedder, now = Lengths(), [0.0]
    embedder.fails = True
    with closing(PageEmbedder(embedder, lambda: now[0])) as pages:
        assert pages.with_meaning(page("one")).meaning is None
        assert "is away" in str(pages.trouble())
        embedder.fails = False
        assert pages.with_meaning(page("one")).meaning is None
        # The page, and a harmless text.
        assert len(embedder.batches) == 2
        now[0] = FIRST_PAUSE_SECONDS
        assert pages.with_meaning(page("one")).meaning is not None
        assert pages.trouble() is None


def test_a_slow_model_does_not_hold_up_a_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Lengths()
    monkeypatch.setattr(page_embedder, "PATIENCE_SECONDS", 0.01)
    embedder.goes_on.clear()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        assert pages.with_meaning(page("one")).meaning is None
        embedder.goes_on.set()
        assert pages.start(page("one")).result(timeout=30) is not None


def test_a_page_without_words_has_no_vector_and_is_no_failure() -> None:
    with closing(PageEmbedder(Lengths(), lambda: 0.0)) as pages:
        assert pages.with_meaning(page(" - ")).meaning is None
        assert pages.trouble() is None


def test_a_bug_in_a_model_is_a_failure_like_any_other() -> None:
    """The thread goes on: a page that made an engine raise something unforeseen must not end it."""
    embedder, now = Lengths(), [0.0]
    with closing(PageEmbedder(embedder, lambda: now[0])) as pages:
        embedder.batches = None  # type: ignore[assignment]  # appending to it raises
        assert pages.with_meaning(page("one")).meaning is None
        assert "AttributeError" in str(pages.trouble())
        embedder.batches, now[0] = [], FIRST_PAUSE_SECONDS
        assert pages.with_meaning(page("one")).meaning is not None


def test_what_a_slow_model_reads_of_a_page_is_a_part_of_its_space() -> None:
    class Slow(Lengths):
        quick = False

    long = PageText("https://a.example/", title="title", body="word " * 1_000)
    (quick,), (slow,) = meanings_of([long], Lengths()), meanings_of([long], Slow())
    assert quick is not None
    assert slow is not None
    assert (quick.space, space_of(Lengths())) == ("lengths 1", "lengths 1")
    said = f"lead {SLOW_LEAD}/{SLOW_DENSE_LEAD}, headline {HEADLINE_WEIGHT}"
    assert slow.space == space_of(Slow()) == f"lengths 1, {said}"
    with closing(PageEmbedder(Slow(), lambda: 0.0)) as pages:
        assert pages.space == slow.space


def test_a_slow_model_reads_a_short_headline_once_more_alone() -> None:
    """Among three hundred characters the two words that name the subject are lost."""
    short = PageText("https://a.example/", title="Otters // Some Site", body="water " * 100)
    whole, headline = passages_of(short, slow=True)
    assert whole.startswith("Otters\nwater")
    assert headline == "Otters"
    assert 0 < headline_weight(whole, headline) < HEADLINE_WEIGHT


def test_a_headline_that_its_passage_knows_is_not_read_again() -> None:
    long = PageText(
        "https://a.example/", title="Otters return to the old river", body="water " * 100
    )
    alone = PageText("https://a.example/", title="Otters return to the old river | Some Site")
    assert len(passages_of(long, slow=True)) == 1
    assert passages_of(alone, slow=True) == ("Otters return to the old river",)


def test_a_headline_of_its_own_moves_a_page_s_vector_by_its_weight() -> None:
    class Apart(Lengths):
        quick = False

        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.array([(0, 1) if text == "Otters" else (1, 0) for text in texts], np.float32)

    page = PageText("https://a.example/", title="Otters", body="water " * 100)
    (meaning,) = meanings_of([page], Apart())
    assert meaning is not None
    ((along, across),) = unpacked([meaning.packed])
    assert across / along == pytest.approx(headline_weight(*passages_of(page, slow=True)), abs=0.01)


def test_what_waits_when_it_is_closed_is_not_embedded_first() -> None:
    """Ctrl-C must not take as long as a model needs for a thousand pages."""
    embedder = Lengths()
    embedder.goes_on.clear()
    pages = PageEmbedder(embedder, lambda: 0.0)
    waiting = [pages.start(page(f"title {number:04}")) for number in range(400)]
    link = pages.start_later(page("a link"))
    closer = threading.Thread(target=pages.close)
    closer.start()
    while not pages.start(page("one more")).done():
        """The closing has not begun."""
    embedder.goes_on.set()
    closer.join(10)
    assert not closer.is_alive()
    assert sum(embedder.batches) <= 2 * 64
    assert all(one.done() for one in waiting)
    assert link.result(timeout=0) is None
    assert waiting[-1].result(timeout=0) is None


def test_links_and_pages_that_fill_the_queue_do_not_stop_it() -> None:
    embedder = Lengths()
    embedder.goes_on.clear()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        links = [pages.start_later(page(f"link {number:04}")) for number in range(1_500)]
        found = pages.start(page("a page"))
        assert sum(one.done() for one in links) >= 492  # of the others eight may be under way
        embedder.goes_on.set()
        links[0].result(timeout=10)
        found.result(timeout=10)
        assert pages.with_meaning(page("another page")).meaning is not None
