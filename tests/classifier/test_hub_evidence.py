"""URLs are taken apart leniently, and described the same way whatever they hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.hub.evidence import LinkEvidence, split_url
from classifier.hub.url_features import (
    FEATURE_NAMES,
    WORD_CLASSES,
    describe,
    mask_of,
    words_of,
)


def test_a_url_falls_into_its_parts() -> None:
    parts = split_url("https://News.Example.org:8080/a/b/list_2.SHTML?id=3&x=#top")
    assert parts.host == "news.example.org:8080"
    assert parts.segments == ("a", "b", "list_2.SHTML")
    assert (parts.stem, parts.extension) == ("list_2", "shtml")
    assert (parts.query, parts.fragment) == ("id=3&x=", "top")


def test_a_route_in_the_fragment_is_path() -> None:
    assert split_url("https://m.example.org/#/channel/cydl").segments == ("channel", "cydl")


def test_only_an_empty_path_and_query_is_the_root() -> None:
    assert split_url("http://example.org").is_root
    assert split_url("http://example.org/#top").is_root
    assert not split_url("http://example.org/?p=3").is_root


@pytest.mark.parametrize(
    "url", ["", "not a url", "http://", "//", "http://[::1", "http://%zz/%zz", "\x00"]
)
def test_junk_is_taken_apart_without_an_error(url: str) -> None:
    assert describe([LinkEvidence(url)], [split_url(url)]).shape == (1, len(FEATURE_NAMES))


@given(st.text(max_size=400), st.text(max_size=80) | st.none())
def test_any_text_gets_finite_features(url: str, anchor: str | None) -> None:
    row = describe([LinkEvidence(url, anchor)], [split_url(url)])
    assert np.isfinite(row).all()


def _described(link: LinkEvidence) -> dict[str, float]:
    row = describe([link], [split_url(link.url)])[0]
    return dict(zip(FEATURE_NAMES, row.tolist(), strict=True))


def test_a_url_of_100_kilobytes_is_judged_by_its_beginning() -> None:
    url = "https://example.org/" + "a" * 100_000
    assert _described(LinkEvidence(url))["stem_length"] < np.log(2100)


@pytest.mark.parametrize(
    ("path", "precision"),
    [
        ("/2024/05/01/x", 2),
        ("/art/2014/9/17/art_1.html", 2),
        ("/t20200223_64595.html", 2),
        ("/2024-05-01-x", 2),
        ("/201611/x", 1),
        ("/news/2024", 0),
        ("/5895180", 0),
        ("/20249999/", 0),
    ],
)
def test_dates_of_all_common_forms_are_seen(path: str, precision: int) -> None:
    assert _described(LinkEvidence("https://example.org" + path))["date_precision"] == precision


def test_an_unknown_anchor_is_not_an_empty_one_but_has_its_flag() -> None:
    unknown = _described(LinkEvidence("https://example.org/a"))
    known = _described(LinkEvidence("https://example.org/a", "News"))
    assert (unknown["anchor_known"], known["anchor_known"]) == (0, 1)
    assert known["anchor_section_words"] > unknown["anchor_section_words"]


def test_words_in_camel_case_are_two() -> None:
    assert words_of("newsDetail_forward") == ["news", "detail", "forward"]
    assert mask_of("tzgg") == 1 << WORD_CLASSES.index("pinyin")
