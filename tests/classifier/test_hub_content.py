"""Content features and the cascade: any page can be read, and content counts only in doubt."""

from dataclasses import replace

import numpy as np
import pytest
from hub_samples import article_page, list_page, train_small_model
from hypothesis import given, settings
from hypothesis import strategies as st
from lab.hub.content_training import narrowest_zone
from lxml import html

from classifier.hub.classifier import HubClassifier
from classifier.hub.content_features import CONTENT_FEATURE_NAMES, describe_page
from classifier.hub.evidence import LinkEvidence
from classifier.hub.model import Cascade
from classifier.hub.page_text import parse_page, read_text


@pytest.fixture(scope="module")
def small_classifier() -> HubClassifier:
    return HubClassifier(train_small_model())


def _features(page: str | bytes) -> dict[str, float]:
    return dict(zip(CONTENT_FEATURE_NAMES, describe_page(page), strict=True))


def test_a_list_has_headline_links_and_an_article_has_paragraphs() -> None:
    listing, article = _features(list_page(20)), _features(article_page(8))
    assert listing["link_share"] > 0.9
    assert article["link_share"] < 0.1
    assert listing["group_largest"] == pytest.approx(np.log1p(20))
    assert listing["heading_link_share"] > 0.9
    assert article["paragraphs_long"] == pytest.approx(np.log1p(8))
    assert (article["og_article"], listing["og_article"]) == (1, 0)


@pytest.mark.parametrize(
    "page", ["", "   ", "\x00", "<!-- -->", b"", b"\xff\xfe", "<?xml version='1.0'?>", "<p>"]
)
def test_a_page_that_is_none_has_features_all_the_same(page: str | bytes) -> None:
    assert np.isfinite(describe_page(page)).all()


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="<>/ap hrefdivulli=\"'!-&;新。", max_size=300))
def test_broken_markup_gets_finite_features(page: str) -> None:
    assert np.isfinite(describe_page(page)).all()


def test_text_in_scripts_and_comments_does_not_count() -> None:
    page = "<body><script>var a = 'text';</script>one<!-- two -->three<style>p{}</style></body>"
    assert read_text(parse_page(page)).characters == len("onethree")


def test_a_tree_is_taken_as_well_as_text_and_bytes() -> None:
    page = list_page(9)
    expected = describe_page(page)
    assert describe_page(html.document_fromstring(page)) == pytest.approx(expected)
    assert describe_page(page.encode("gbk"), "gbk") == pytest.approx(expected)
    assert describe_page(page.encode(), "no-such-charset") == pytest.approx(expected)


def test_ten_thousand_nested_tags_are_read() -> None:
    assert np.isfinite(describe_page("<div>" * 10_000 + "deep" + "</div>" * 10_000)).all()


def test_a_sure_url_is_not_overruled_by_content(small_classifier: HubClassifier) -> None:
    model = small_classifier.model
    sure = HubClassifier(replace(model, cascade=Cascade(0.0, model.cascade.joint)))
    link = LinkEvidence("https://x.example/news/")
    score = sure.score_page(link, describe_page(article_page(8)).tolist(), 4_000)
    assert (score.decided_by, score.content_probability) == ("url", None)
    assert score.probability == pytest.approx(small_classifier.score([link])[0])


def test_content_counts_only_where_the_url_leaves_doubt(small_classifier: HubClassifier) -> None:
    cascade = Cascade(2.0, small_classifier.model.cascade.joint)
    assert cascade.needs_content(1.0)
    assert not cascade.needs_content(-2.5)
    rows = np.array([describe_page(list_page(20))] * 2)
    doubtful, sure = cascade.join(np.array([-0.5, -2.5]), rows, np.array([4e3, 4e3]))
    assert doubtful > 0
    assert sure == -2.5


def test_the_zone_of_doubt_is_no_wider_than_it_pays() -> None:
    rng = np.random.default_rng(4)
    hubs = rng.random(2000) < 0.5
    sign = np.where(hubs, 1.0, -1.0)
    sharp, blunt = sign * 6 + rng.normal(size=2000), sign + rng.normal(size=2000)
    assert narrowest_zone(sharp, blunt, hubs) == 0
    assert narrowest_zone(blunt, sharp, hubs) > 1


def test_an_unsure_pages_score_shows_both_opinions(small_classifier: HubClassifier) -> None:
    model = small_classifier.model
    doubting = HubClassifier(replace(model, cascade=Cascade(13.0, model.cascade.joint)))
    link = LinkEvidence("https://x.example/q")
    pages = (list_page(30), article_page(8))
    listing, article = (
        doubting.score_page(link, describe_page(page).tolist(), len(page)) for page in pages
    )
    assert listing.decided_by == article.decided_by == "content"
    assert listing.probability > article.probability
    assert (listing.content_probability or 0) > (article.content_probability or 1)


def test_the_size_of_a_page_counts_in_the_cascade_and_may_be_unknown(
    small_classifier: HubClassifier,
) -> None:
    joint = small_classifier.model.cascade.joint
    assert len(joint.scale.centre) == len(CONTENT_FEATURE_NAMES) + 2
    cascade, url = Cascade(13.0, joint), np.zeros(3)
    rows = np.array([describe_page(list_page(20))] * 3)
    usual = float(np.expm1(joint.scale.centre[-2]))
    sizes = np.array([usual, np.nan, 9e6])
    known, unknown, large = cascade.join(url, rows, sizes)
    assert known == pytest.approx(unknown, abs=0.01)
    assert large != pytest.approx(known, abs=0.01)
