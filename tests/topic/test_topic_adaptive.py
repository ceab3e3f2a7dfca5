"""Paper 000's centre: its arithmetic, its drift, and the guard against it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from topic_pages import pages_of

from classifier.papers.adaptive import AdaptiveCentre
from classifier.words.errors import TopicModelError
from classifier.words.stored import restored, stored
from classifier.words.text import weighted_terms
from classifier.words.vectors import cosine, mean, unit

pages = st.lists(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9).map(float), min_size=1),
    min_size=1,
    max_size=8,
)


def test_the_first_centre_is_the_mean_of_the_seeds() -> None:
    centre = AdaptiveCentre([{"a": 2.0}, {"b": 5.0}])
    assert centre.centre == {"a": 0.5, "b": 0.5}
    assert centre.similarity({"a": 1.0}) == pytest.approx(0.5**0.5)


def test_an_update_is_the_paper_s() -> None:
    """M' = (M (n + k) + v) / (n + k + 1), with n = 2 seeds and k = 0, then 1 update."""
    centre = AdaptiveCentre([{"a": 1.0}, {"b": 1.0}], threshold=0.5)
    assert centre.observe({"a": 7.0})
    assert centre.centre == pytest.approx({"a": 2 / 3, "b": 1 / 3})
    assert centre.observe({"a": 7.0})
    assert centre.centre == pytest.approx({"a": 3 / 4, "b": 1 / 4})


def test_a_page_far_from_every_seed_moves_nothing() -> None:
    centre = AdaptiveCentre([{"a": 1.0}], threshold=0.5)
    assert not centre.observe({"b": 1.0, "a": 0.1})
    assert centre.centre == {"a": 1.0}


@given(pages, pages)
def test_after_any_updates_the_centre_is_the_mean_of_seeds_and_updates(
    seeds: list[dict[str, float]], fetched: list[dict[str, float]]
) -> None:
    centre = AdaptiveCentre(seeds)
    moved = [page for page in fetched if centre.observe(page)]
    assert centre.updates == len(moved)
    assert centre.centre == pytest.approx(mean([unit(page) for page in [*seeds, *moved]]))


@given(pages, pages)
def test_the_guarded_centre_stays_half_with_its_seeds(
    seeds: list[dict[str, float]], fetched: list[dict[str, float]]
) -> None:
    centre = AdaptiveCentre(seeds, threshold=0.0, guarded=True)
    for page in fetched * 5:
        centre.observe(page)
    assert centre.updates <= len(seeds)


def test_the_guard_holds_where_the_paper_s_centre_drifts() -> None:
    """A hundred pages that share one word with a seed pull the plain centre away."""
    seeds = [{"goal": 1.0, "match": 1.0, "cup": 1.0}]
    plain = AdaptiveCentre(seeds, threshold=0.3)
    guarded = AdaptiveCentre(seeds, threshold=0.3, guarded=True)
    for number in range(100):
        page = {"cup": 1.0, "tea": 1.0, f"leaf{number % 3}": 0.5}
        plain.observe(page)
        guarded.observe(page)
    assert cosine(plain.centre, seeds[0]) < 0.6 < cosine(guarded.centre, seeds[0])


def test_pages_of_the_topic_come_first() -> None:
    centre = AdaptiveCentre([weighted_terms(page) for page in pages_of("music", 5)])
    own = [centre.similarity(weighted_terms(page)) for page in pages_of("music", 10, start=50)]
    other = [centre.similarity(weighted_terms(page)) for page in pages_of("banking", 10)]
    assert min(own) > max(other)


def test_no_seeds_and_empty_pages_are_no_error() -> None:
    centre = AdaptiveCentre([])
    assert centre.similarity({"a": 1.0}) == 0.0
    assert not centre.observe({"a": 1.0})
    assert not AdaptiveCentre([{"a": 1.0}]).observe({})


def test_a_stored_centre_goes_on_as_before() -> None:
    centre = AdaptiveCentre([{"a": 1.0, "b": 1.0}], guarded=True)
    centre.observe({"a": 1.0})
    read = restored(json.loads(json.dumps(stored(centre))), AdaptiveCentre, "centre")
    for one in (centre, read):
        one.observe({"b": 1.0})
    assert (read.centre, read.updates) == (centre.centre, centre.updates)


@pytest.mark.parametrize("data", [None, {}, {"format": 1}, {"format": 1, "seeds": 5}])
def test_what_is_no_stored_centre_is_refused(data: object) -> None:
    with pytest.raises(TopicModelError):
        restored(data, AdaptiveCentre, "centre")
