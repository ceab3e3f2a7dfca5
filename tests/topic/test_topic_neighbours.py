"""A page among its like in the sample."""

import numpy as np
import pytest
from topic_pages import FIELDS, crawled_background, pages_of

from classifier.topic.fused import NEIGHBOURS, ByNeighbours, nearest
from classifier.words.batch import PageBatch, sample_of
from classifier.words.text import weighted_terms


def test_a_page_s_neighbours_are_pages_of_its_field() -> None:
    """The sample's pages of a field score 1: so does the mean of a page's neighbours, nearly."""
    background = crawled_background()
    sample = sample_of(background)
    own = {term for page in pages_of("music", 40, start=1_000) for term in weighted_terms(page)}
    own -= {
        term
        for field in FIELDS
        if field != "music"
        for page in pages_of(field, 9)
        for term in weighted_terms(page)
    }
    marked = np.array([float(bool(own & set(page))) for page in sample.pages])
    batch = PageBatch(
        [weighted_terms(page) for page in (*pages_of("music", 3), *pages_of("banking", 3))],
        background,
    )
    scores = ByNeighbours(sample, marked).scores(batch)
    assert scores[:3].min() > 0.9
    assert scores[3:].max() < 0.1


def test_weights_sum_to_one_and_a_page_is_no_neighbour_of_its_own() -> None:
    sample = sample_of(crawled_background())
    near = nearest(sample, sample)
    assert near.shape == (len(sample), len(sample))
    assert near.sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert not near.diagonal().any()
    assert near.getnnz(axis=1).max() <= NEIGHBOURS


def test_a_page_without_words_has_no_neighbours() -> None:
    background = crawled_background()
    sample = sample_of(background)
    scores = ByNeighbours(sample, np.ones(len(sample))).scores(
        PageBatch([{}, {"qqq": 1.0}], background)
    )
    assert scores.tolist() == [0.0, 0.0]
