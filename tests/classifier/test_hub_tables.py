"""Value tables: hashing in numpy equals hashing one by one, and sums survive their file."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lab.hub.fits import count_matrix, hash_views, sum_by_table, tables_of
from numpy.typing import NDArray

from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.tables import (
    TABLE_SIZES,
    VIEWS,
    ValueTables,
    tokens_of,
)

_URLS = st.lists(st.text(max_size=60).map(lambda tail: f"https://example.org/{tail}"), max_size=5)


def _tables(seed: int = 1) -> tuple[ValueTables, NDArray[np.float64]]:
    weights = np.random.default_rng(seed).normal(size=sum(TABLE_SIZES))
    return tables_of(weights), weights


@settings(deadline=None)
@given(_URLS)
def test_a_link_hashes_alike_alone_and_in_a_batch(urls: list[str]) -> None:
    links = [LinkEvidence(url, url[-3:]) for url in urls]
    parts = [split_url(url) for url in urls]
    together = hash_views(links, parts)
    for place, (link, part) in enumerate(zip(links, parts, strict=True)):
        for batch, alone in zip(together, hash_views([link], [part]), strict=True):
            assert sorted(batch.buckets[batch.rows == place]) == sorted(alone.buckets)
            assert batch.counts[place] == len(alone.buckets) == alone.counts[0]


def test_sums_equal_the_matrix_that_the_tables_were_fitted_on() -> None:
    """But for rounding: half a step for each n-gram, over the root of their number."""
    tables, weights = _tables()
    links = [
        LinkEvidence("https://example.org/news/list_2.html", "新闻"),
        LinkEvidence("http://x.org"),
    ]
    parts = [split_url(link.url) for link in links]
    exact = sum_by_table(count_matrix(links, parts), weights)
    roots = np.stack([hashed.roots for hashed in hash_views(links, parts)], axis=1)
    off = np.abs(tables.sums(links, parts) - exact)[:, :-1]
    assert (off <= roots * tables.step / 2 + 1e-9).all()
    assert exact[:, -1] == pytest.approx(exact[:, :-1].sum(axis=1))


@settings(deadline=None)
@given(_URLS)
def test_the_sums_of_a_batch_are_those_of_its_n_grams(urls: list[str]) -> None:
    tables, _ = _tables()
    links = [LinkEvidence(url, url[-9:-2]) for url in urls]
    parts = [split_url(url) for url in urls]
    sums = tables.sums(links, parts)
    for column, hashed in enumerate(hash_views(links, parts)):
        for place, root in enumerate(hashed.roots):
            weights = tables.weights[column][hashed.buckets[hashed.rows == place]]
            assert sums[place, column] == pytest.approx(weights.sum(dtype=int) / root * tables.step)


def test_tables_survive_json() -> None:
    tables, _ = _tables()
    again = ValueTables.from_json(json.loads(json.dumps(tables.to_json())))
    link = LinkEvidence("https://example.org/a/b?c=1")
    parts = [split_url(link.url)]
    assert again.sums([link], parts) == pytest.approx(tables.sums([link], parts))


def test_tables_of_another_size_are_refused() -> None:
    data: dict[str, Any] = _tables()[0].to_json()
    data["tables"]["host"].pop()
    with pytest.raises(ValueError, match="other sizes"):
        ValueTables.from_json(data)


def test_tokens_name_segments_by_place_and_numbers_are_alike() -> None:
    tokens = tokens_of(split_url("https://example.org/news/2024/my-story?ID=55"))
    assert {(b"s", b"news"), (b"e3", b"news"), (b"e1", b"my-story")} <= set(tokens)
    assert {(b"s", b"0"), (b"w", b"story"), (b"k", b"id"), (b"v", b"id=0")} <= set(tokens)


@pytest.mark.parametrize(
    ("url", "anchor", "form", "place", "anchor_form"),
    [
        ("https://news.scu.edu.cn/t20240512_1.htm", "", "^/a0#_0.a+$", "^news.*.edu.cn$", ""),
        ("http://example.org", "第 96 期", "^/$", "^*.org$", "^c 0+ c$"),
        ("http://a.b.co.uk/", "News", "^/$", "^a.*.co.uk$", "^Aa+$"),
        ("http://gov.cn/s/aB3xAbcdefghijkl", "x", "^/a/aA0aAa@$", "^*.cn$", "^a$"),
        ("http://localhost/x", "x", "^/a$", "^localhost$", "^a$"),
    ],
)
def test_forms_cut_runs_and_places_leave_out_the_name(
    url: str, anchor: str, form: str, place: str, anchor_form: str
) -> None:
    link, parts = LinkEvidence(url, anchor), split_url(url)
    texts = {view.name: view.text(link, parts) for view in VIEWS}
    assert (texts["form"], texts["place"], texts["anchor_form"]) == (form, place, anchor_form)
