"""Paper 003's features and rivals, as the paper describes them."""

from __future__ import annotations

import numpy as np
import pytest
from hub_samples import sample_captures, sample_rows
from lab.hub.assessment import page_features
from lab.hub.paper import (
    PAPER_FEATURE_NAMES,
    PaperMachine,
    apply_known,
    describe_as_paper,
    file_name_kind,
    file_type_kind,
    learn_values,
    parameter_kind,
    scale_known,
    train_paper_url,
)
from lab.hub.rivals import HeuristicBayes, courlan_test, paper_content_rows, rule_says_hub
from numpy.typing import NDArray

from classifier.hub.evidence import LinkEvidence, split_url

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@pytest.fixture(scope="module")
def small_page_features() -> tuple[Floats, Bools]:
    captures = sample_captures(12)
    return page_features(captures), np.array([capture.row.is_hub for capture in captures])


@pytest.mark.parametrize(
    ("url", "kinds"),
    [
        ("http://a.cn/news/", ("empty", "empty", "empty")),
        ("http://a.cn/news/NewsClass.asp?id=3", ("list", "program", "id")),
        ("http://a.cn/index_2.html", ("list", "document", "empty")),
        ("http://a.cn/ArticleShow.aspx?ClassID=2", ("article", "program", "id")),
        ("http://a.cn/t3.pdf?x=1", ("other", "other", "other")),
    ],
)
def test_text_features_fall_into_the_papers_classes(url: str, kinds: tuple[str, str, str]) -> None:
    parts = split_url(url)
    assert (file_name_kind(parts), file_type_kind(parts), parameter_kind(parts)) == kinds


def test_values_are_a_hundred_times_the_share_among_hubs() -> None:
    hubs = [LinkEvidence("http://a.cn/x/")] * 3 + [LinkEvidence("http://a.cn/list.php?id=1")]
    values = learn_values(hubs)
    assert values["file_name"] == {"empty": 75.0, "list": 25.0}
    assert values["parameter_name"] == {"empty": 75.0, "id": 25.0}


def test_only_the_first_500_hubs_are_counted() -> None:
    hubs = [LinkEvidence("http://a.cn/x/")] * 500 + [LinkEvidence("http://a.cn/list.php")] * 500
    assert learn_values(hubs)["file_name"] == {"empty": 100.0}


def test_what_is_unknown_is_left_out_in_training_and_in_use() -> None:
    links = [
        LinkEvidence("http://a.cn/x/", "News", crawl_depth=2),
        LinkEvidence("http://a.cn/longer/"),
    ]
    rows = describe_as_paper(links, learn_values(links))
    assert np.isnan(rows[1, PAPER_FEATURE_NAMES.index("anchor_length")])
    scaled = apply_known(scale_known(rows), rows)
    assert scaled[:, PAPER_FEATURE_NAMES.index("page_size")].tolist() == [0, 0]
    assert scaled[1, PAPER_FEATURE_NAMES.index("crawl_depth")] == 0
    assert np.isfinite(scaled).all()


def test_the_papers_svm_learns_and_survives_its_file() -> None:
    rows = sample_rows(12)
    links, hubs = [row.evidence for row in rows], np.array([row.is_hub for row in rows])
    machine = train_paper_url(links, hubs, cost=32.0, gamma=0.0625)
    again = PaperMachine.from_json(machine.to_json(), machine.machine.text)
    assert ((again.decide_links(links) > 0) == hubs).mean() > 0.95


@pytest.mark.parametrize(
    ("url", "hub"),
    [
        ("http://a.cn", True),
        ("http://a.cn/x/Default.aspx", True),
        ("http://a.cn/newsclass.asp?id=2", True),
        ("http://a.cn/news/", False),
        ("http://a.cn/2024/story.html", False),
    ],
)
def test_the_old_rule_knows_home_pages_and_three_names(url: str, hub: bool) -> None:
    assert rule_says_hub(url) is hub


def test_courlan_is_asked_when_it_is_there() -> None:
    pytest.importorskip("courlan", reason="courlan is in the extra bench")
    is_hub = courlan_test()
    assert is_hub is not None
    assert is_hub("https://a.example/category/news/")
    assert not is_hub("https://a.example/2024/05/a-long-story-of-something.html")


def test_the_heuristic_searches_its_threshold_in_the_papers_range(
    small_page_features: tuple[Floats, Bools],
) -> None:
    features, hubs = small_page_features
    heuristic = HeuristicBayes.fit(features, hubs)
    assert -0.2 <= heuristic.threshold <= 0.6
    again = HeuristicBayes.from_json(heuristic.to_json())
    assert ((again.decide(features) > 0) == hubs).mean() > 0.95


def test_content_features_that_need_history_are_unknown_on_a_capture(
    small_page_features: tuple[Floats, Bools],
) -> None:
    rows = paper_content_rows(small_page_features[0])
    assert np.isnan(rows).all(axis=0).tolist() == [
        True,
        True,
        False,
        False,
        False,
        False,
        True,
        True,
    ]
