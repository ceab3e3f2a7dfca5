"""The classifier as the crawler uses it: scores, site context, explanations."""

import subprocess
import sys

import numpy as np
import pytest
from hub_samples import train_small_model
from hypothesis import given, settings
from hypothesis import strategies as st

from classifier.hub import LinkEvidence
from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.context import SiteIndex, template_of
from classifier.hub.evidence import split_url
from classifier.hub.url_machine import ALL_FEATURE_NAMES

STORY = LinkEvidence(
    "https://x.example/news/2024/03/12/new-river-opens-3.html", "New river opens after 3 years"
)
SECTION = LinkEvidence("https://x.example/news/", "News")


@pytest.fixture(scope="module")
def small_classifier() -> HubClassifier:
    return HubClassifier(train_small_model())


@pytest.fixture(scope="module")
def shipped() -> HubClassifier:
    return load_default()


def test_sections_score_above_stories(small_classifier: HubClassifier) -> None:
    section, story = small_classifier.score([SECTION, STORY])
    assert 0.9 < section < 1
    assert 0 < story < 0.1


@pytest.mark.parametrize(
    ("url", "anchor", "hub"),
    [
        ("https://www.example.edu.cn/xwzx/tzgg.htm", "通知公告", True),
        (
            "https://www.example.gov.cn/zwgk/202203/t20220310_123456.html",
            "关于印发某某办法的通知",
            False,
        ),
        ("https://blog.example.org/category/travel/page/3/", "3", True),
        ("https://blog.example.org/2023/07/14/why-we-moved-to-the-coast/", None, False),
        ("https://press.example.com/releases", "Press releases", True),
        ("https://example.com", None, True),
    ],
)
def test_the_shipped_model_knows_common_forms(
    shipped: HubClassifier, url: str, anchor: str | None, hub: bool
) -> None:
    assert (shipped.score([LinkEvidence(url, anchor)])[0] > 0.5) is np.bool_(hub)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=30) | st.none()), max_size=6))
def test_any_links_get_probabilities_in_order(
    small_classifier: HubClassifier, drawn: list[tuple[str, str | None]]
) -> None:
    links = [LinkEvidence(url, anchor) for url, anchor in drawn]
    scores = small_classifier.score(links)
    assert scores.shape == (len(links),)
    assert ((scores > 0) & (scores < 1)).all()


def test_a_link_scores_alike_alone_and_among_thousands(shipped: HubClassifier) -> None:
    links = [LinkEvidence(f"https://x{i}.example/a/{i}?page={i}") for i in range(2500)] + [STORY]
    assert shipped.score(links)[-1] == pytest.approx(shipped.score([STORY])[0], rel=1e-3)


def test_a_url_of_100_kilobytes_is_scored(shipped: HubClassifier) -> None:
    assert (
        0
        < shipped.score([LinkEvidence("https://x.example/" + "a/" * 50_000, "b" * 100_000)])[0]
        < 1
    )


def test_an_explanation_names_features(shipped: HubClassifier) -> None:
    announced = shipped.explain(STORY)
    assert announced.probability == pytest.approx(shipped.score([STORY])[0], rel=1e-3)
    assert {c.feature for c in announced.contributions} <= set(ALL_FEATURE_NAMES)
    strengths = [abs(c.log_odds) for c in announced.contributions]
    assert strengths == sorted(strengths, reverse=True)
    assert sum(c.log_odds for c in announced.contributions) < 0


def test_templates_join_urls_of_one_form() -> None:
    stories = [f"https://x.example/news/2024/0{i}/a-long-story-of-{i}.html" for i in (1, 2)]
    assert len({template_of(split_url(url)) for url in stories}) == 1
    assert template_of(split_url("https://x.example/news/")) != template_of(
        split_url("https://x.example/news/7")
    )


def test_the_site_says_what_lies_below_and_beside() -> None:
    known = [
        ("https://x.example/news/", "News"),
        *((f"https://x.example/news/{i}.html", f"Story number {i}") for i in range(30)),
    ]
    index = SiteIndex.build(known)
    section = index.add_context(LinkEvidence("https://x.example/news/", "News"))
    story = index.add_context(LinkEvidence("https://x.example/news/3.html", "Story"))
    assert (section.urls_below, section.template_siblings) == (30, 0)
    assert (story.urls_below, story.template_siblings) == (0, 29)
    assert story.anchor_ratio == pytest.approx(5 / 15)


def test_context_moves_a_score_and_is_explained(shipped: HubClassifier) -> None:
    bare = LinkEvidence("https://x.example/themen")
    above = LinkEvidence(bare.url, urls_below=300, template_siblings=0)
    among = LinkEvidence(bare.url, urls_below=0, template_siblings=300)
    low, middle, high = shipped.score([among, bare, above])
    assert low < middle < high
    announced = shipped.explain(above)
    assert announced.context[0][0] == "urls_below"
    assert announced.probability == pytest.approx(high, rel=1e-3)


def test_importing_the_package_does_not_load_heavy_libraries() -> None:
    code = (
        "import sys, classifier.hub;"
        "sys.exit(bool({'numpy', 'lxml', 'sklearn', 'libsvm'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_scoring_loads_neither_training_library() -> None:
    code = (
        "import sys; from classifier.hub.classifier import LinkEvidence, load_default;"
        "load_default().score([LinkEvidence('http://a.example/')]);"
        "sys.exit(bool({'sklearn', 'libsvm', 'scipy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
