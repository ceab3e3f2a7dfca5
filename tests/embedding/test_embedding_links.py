"""Links' texts are embedded when no page waits, within bounds; nothing waits for them."""

import threading
from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.embedding.embedder import Embedder, Vectors
from classifier.links.meaning import refined
from classifier.links.text import MAX_CHARS, says_something, worded
from classifier.words.values import LinkContext, PageText
from incremental.crawl.link_guesses import MAX_WAITING, PER_MINUTE, PER_STEP, LinkGuesses
from incremental.topics.embedding.page_embedder import PageEmbedder
from incremental.topics.judging import to_context


class Counted(Embedder):
    """Remembers what it embedded, and waits until it may go on."""

    name = "counted 1"
    quick = True

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.began = threading.Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.began.set()
        self.goes_on.wait(10)
        self.texts += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def guess(number: int, score: float = 0.3, text: str = "") -> tuple[int, str, int, float, str]:
    """A guess of topic 1 on site 1."""
    anchor = text or f"The headline of story {number}"
    url = f"https://a.example/{number}"
    return 1, url, 1, score, to_context(LinkContext(url, anchor))


def finish(pages: PageEmbedder) -> None:
    """Wait until everything handed over before was embedded."""
    pages.start_later(PageText("", title="the last one")).result(timeout=10)


@pytest.mark.parametrize(
    "anchor",
    ["", "more", "Read", "下一页", "阅读全文", "12", "2024-05-01", "»", "1 2 3 4", "a b", "No. 7"],
)
def test_an_anchor_of_one_word_says_nothing(anchor: str) -> None:
    assert not says_something(anchor)


@pytest.mark.parametrize(
    "anchor", ["River crossing reopened", "大桥恢复通车", "Rust 入门", "Что нового в городе"]
)
def test_an_anchor_of_several_words_is_embedded(anchor: str) -> None:
    link = LinkContext("https://a.example/", f" {anchor}\n")
    assert says_something(anchor)
    assert worded(link) == anchor


@given(st.text(max_size=500))
def test_a_links_text_is_one_bounded_line(anchor: str) -> None:
    text = worded(LinkContext("https://a.example/", anchor))
    assert len(text) <= MAX_CHARS
    assert "\n" not in text


@given(st.floats(0, 1), st.floats(-40, 40), st.floats(-40, 40))
def test_a_refined_guess_stays_a_guess_and_follows_the_meaning(
    by_words: float, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert 0 < refined(by_words, low) <= refined(by_words, high) < 1


@given(st.floats(-10, 10), st.floats(0, 1), st.floats(0, 1))
def test_what_words_promise_still_counts(log_odds: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert refined(low, log_odds) <= refined(high, log_odds)


def test_without_weight_the_guess_by_words_stays() -> None:
    assert refined(0.3, 8.0, weight=0.0) == pytest.approx(0.3)


def test_a_vector_comes_in_a_later_step() -> None:
    with closing(PageEmbedder(Counted(), lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        links.offer([guess(1), guess(2, text="12")])
        assert links.step(0.0) == []
        finish(pages)
        ((found, meaning),) = links.step(1.0)
        assert (found.canonical_key, meaning.space) == ("https://a.example/1", "counted 1")
        assert (len(links), links.step(2.0)) == (0, [])


def test_one_word_is_embedded_but_refines_nothing() -> None:
    """The link order learns what "more" leads to."""
    with closing(PageEmbedder(Counted(), lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        links.offer([guess(1), guess(2, text="more")])
        links.step(0.0)
        finish(pages)
        found = {one.canonical_key: says_something(one.text) for one, _ in links.step(1.0)}
        assert found == {"https://a.example/1": True, "https://a.example/2": False}


def test_a_text_is_embedded_once_in_a_process() -> None:
    embedder = Counted()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        for at in (0.0, 10.0):
            links.offer([guess(1, text="One headline"), guess(2, text="One headline")])
            links.step(at)
            finish(pages)
            assert len(links.step(at + 1)) == (2 if at == 0 else 0)
            assert len(links) == 0
    assert embedder.texts.count("One headline") == 1


def test_the_newest_come_first_and_of_these_the_least_decided() -> None:
    embedder = Counted()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        links.offer(guess(number) for number in range(100))
        links.offer([guess(101, 0.05), guess(102, 0.45), guess(103, 0.9)])
        links.step(0.0)
        finish(pages)
    first = [text.rsplit(" ", 1)[-1] for text in embedder.texts[:3]]
    assert first == ["102", "103", "101"]
    assert len(embedder.texts) == PER_STEP + 1


def test_no_more_than_a_minutes_share_is_handed_over_in_a_minute() -> None:
    embedder = Counted()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        links.offer(guess(number) for number in range(PER_MINUTE + 50))
        refined_ones = 0
        for second in range(50):
            refined_ones += len(links.step(float(second)))
            finish(pages)
        assert refined_ones == PER_MINUTE
        assert links.next_at(50.0) == 60.0
        links.step(60.0)
        finish(pages)
        refined_ones += len(links.step(61.0))
        assert refined_ones == PER_MINUTE + PER_STEP


def test_what_waits_is_bounded_and_the_oldest_keep_their_guess() -> None:
    with closing(PageEmbedder(Counted(), lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        links.offer([guess(-1)])
        links.offer(guess(number) for number in range(MAX_WAITING))
        assert len(links) == MAX_WAITING


def test_a_page_does_not_wait_for_links() -> None:
    embedder = Counted()
    embedder.goes_on.clear()
    with closing(PageEmbedder(embedder, lambda: 0.0)) as pages:
        links = [
            pages.start_later(PageText("", title=f"link number {number}")) for number in range(100)
        ]
        embedder.began.wait(10)
        page = pages.start(PageText("", title="a page"))
        embedder.goes_on.set()
        page.result(timeout=10)
        # A few links were under way; the page came before all others.
        assert embedder.texts.index("a page") <= 8
        links[-1].result(timeout=10)


def test_a_failing_model_leaves_the_guesses_by_words() -> None:
    class Away(Embedder):
        """A model that is gone."""

        name = "away 1"
        quick = True

        def embed(self, texts: Sequence[str]) -> Vectors:
            raise OSError(f"no model for {len(texts)} texts")

    with closing(PageEmbedder(Away(), lambda: 0.0)) as pages:
        links = LinkGuesses(pages)
        links.offer([guess(1)])
        links.step(0.0)
        finish(pages)
        assert links.step(1.0) == []
        assert len(links) == 0
