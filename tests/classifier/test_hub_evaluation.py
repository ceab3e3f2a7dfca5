"""The evaluation contract: cap, sections, JSON keys, prediction file; and the figures behind it."""

import importlib.util
import io
import json
import tarfile
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hub_samples import sample_captures, sample_rows, train_small_model
from hypothesis import given
from hypothesis import strategies as st
from lab.hub.assessment import (
    courlan_test,
    f1_interval,
    judge_urls,
    rule_says_hub,
    score_sections,
    scored_rows,
)
from lab.hub.files import PAGE_COLUMNS, read_labels
from lab.hub.folded import compared, first_rows

from classifier.hub.classifier import HubClassifier, load_default
from classifier.hub.labels import LabelRow, write_labels
from classifier.hub.model import HubModel, save_model
from classifier.hub.registry import ModelRegistry
from classifier.hub.updating import fold_of

ROOT = Path(__file__).parents[2]
SHARED = ROOT / ".." / "shared" / "hub"
Evaluate = Callable[..., tuple[int, str]]
FIGURES = {"precision", "recall", "f1", "n", "hubs", "f1_low", "f1_high"}


@pytest.fixture(scope="module")
def small_model() -> HubModel:
    return train_small_model()


@pytest.fixture(scope="module")
def small_classifier() -> HubClassifier:
    return HubClassifier(train_small_model())


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def files(tmp_path: Path, small_model: HubModel) -> Path:
    """Make a folder with urls.tsv, pages.tsv, pages.tar and a model."""
    (tmp_path / "urls.tsv").write_text(write_labels(sample_rows(12)))
    captures = sample_captures(12)
    (tmp_path / "pages.tsv").write_text(write_labels([c.row for c in captures], PAGE_COLUMNS))
    with tarfile.open(tmp_path / "pages.tar", "w:xz") as tar:
        for capture in captures:
            name = md5(capture.row.url.encode()).hexdigest()
            info = tarfile.TarInfo(f"pages/{name}.html")
            info.size = len(capture.body)
            tar.addfile(info, io.BytesIO(capture.body))
    save_model(small_model, tmp_path / "model")
    return tmp_path


@pytest.fixture
def evaluate(files: Path, capsys: pytest.CaptureFixture[str]) -> Evaluate:
    script = _script("evaluate_hub_classifier")
    # Speed is measured on a short batch: the figure is not the point here.
    script.BATCH = 200  # type: ignore[attr-defined]  # loaded by path

    def run(*arguments: str) -> tuple[int, str]:
        code = script.main([*arguments, "--model", str(files / "model")])
        shown = capsys.readouterr()
        return code, shown.out + shown.err

    return run


def test_the_json_has_the_contracts_keys(files: Path, evaluate: Evaluate) -> None:
    arguments = [
        "--urls",
        files / "urls.tsv",
        "--pages",
        files / "pages.tsv",
        "--archive",
        files / "pages.tar",
        "--json",
    ]
    code, shown = evaluate(*map(str, arguments))
    report = json.loads(shown.splitlines()[-1])
    assert code == 0
    assert {"url", "rule"} <= set(report["urls"])
    assert set(report["urls"]["url"]) == {"all", "no_root", "zh"}
    assert set(report["urls"]["url"]["all"]) == FIGURES
    assert set(report["pages"]) == {"content", "cascade", "url"}
    assert set(report["pages"]["cascade"]) == FIGURES
    assert report["urls_per_second"] > 0
    assert set(report["pages_per_second"]) == {"url", "content"}


def test_predictions_have_a_line_for_each_row_and_method_and_give_the_f1(
    files: Path, evaluate: Evaluate
) -> None:
    out = files / "out.tsv"
    _, shown = evaluate("--urls", str(files / "urls.tsv"), "--predictions", str(out), "--json")
    head, *lines = out.read_text().splitlines()
    assert head == "url\tmethod\tlabel\tscore"
    found = {
        url: label
        for url, method, label, _ in (line.split("\t") for line in lines)
        if method == "url"
    }
    rows = read_labels(files / "urls.tsv")
    hits = sum(row.is_hub and found[row.url] == "hub" for row in rows)
    said = sum(label == "hub" for label in found.values())
    hubs = sum(row.is_hub for row in rows)
    assert 2 * hits / (said + hubs) == pytest.approx(
        json.loads(shown.splitlines()[-1])["urls"]["url"]["all"]["f1"]
    )


def test_without_json_people_get_a_table(files: Path, evaluate: Evaluate) -> None:
    _, shown = evaluate("--pages", str(files / "pages.tsv"), "--archive", str(files / "pages.tar"))
    assert "cascade" in shown
    assert "pages_per_second" in shown


def test_bad_input_is_an_error_message_and_exit_code_2(files: Path, evaluate: Evaluate) -> None:
    (files / "bad.tsv").write_text("label\turl\nhup\thttp://a.example/\n")
    assert evaluate("--urls", str(files / "bad.tsv")) == (
        2,
        f"error: {files / 'bad.tsv'}, line 2: label is 'hup', not hub or article\n",
    )
    (files / "pages.tar").write_bytes(b"no tar")
    code, shown = evaluate(
        "--pages", str(files / "pages.tsv"), "--archive", str(files / "pages.tar")
    )
    assert (code, "no readable tar" in shown) == (2, True)


def test_a_page_that_the_archive_lacks_counts_as_empty(files: Path, evaluate: Evaluate) -> None:
    row = LabelRow("hub", "http://lost.example/", "", "lost.example")
    (files / "pages.tsv").write_text(
        write_labels([row, LabelRow("article", "http://b.example/1")], PAGE_COLUMNS)
    )
    code, shown = evaluate(
        "--pages", str(files / "pages.tsv"), "--archive", str(files / "pages.tar")
    )
    assert code == 0
    assert "2 pages are not in the archive" in shown


def test_the_first_ten_rows_of_a_domain_and_label_are_scored() -> None:
    rows = [LabelRow("hub", f"http://a.example/{i}", "", "a.example") for i in range(12)]
    rows.insert(3, LabelRow("article", "http://a.example/t", "", "a.example"))
    assert scored_rows(rows) == list(range(11))
    assert scored_rows(rows, 0) == list(range(13))
    assert first_rows(["a", "b", "a", "a"], 2) == [0, 1, 2]


def test_sections_leave_out_roots_and_other_languages(small_classifier: HubClassifier) -> None:
    rows = [
        LabelRow("hub", "http://a.example/", "", "a", "en"),
        LabelRow("hub", "http://a.example/?p=2", "", "a", "zh"),
    ]
    sections = score_sections(rows, judge_urls(small_classifier, rows)["url"])
    assert [sections[name]["n"] for name in ("all", "no_root", "zh")] == [2, 1, 1]


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


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_precision_recall_and_f1_agree(pairs: list[tuple[bool, bool]]) -> None:
    predicted, hubs = (np.array([p[i] for p in pairs], dtype=bool) for i in (0, 1))
    figures = compared(predicted, hubs)
    p, r = figures["precision"], figures["recall"]
    assert figures["f1"] == pytest.approx(2 * p * r / (p + r) if p + r else 0)


def test_the_interval_is_wider_when_one_domain_holds_the_errors() -> None:
    hubs = np.ones(200, dtype=bool)
    predicted = np.arange(200) >= 40
    spread = f1_interval(predicted, hubs, [f"d{i}" for i in range(200)])
    clumped = f1_interval(predicted, hubs, ["bad"] * 40 + [f"d{i // 40}" for i in range(160)])
    assert clumped[1] - clumped[0] > 2 * (spread[1] - spread[0])
    assert f1_interval(hubs[:0], hubs[:0], []) == (0.0, 0.0)


def test_training_writes_a_version_and_holds_domains_out(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train = _script("train_hub_classifier")
    (files / "many.tsv").write_text(write_labels(sample_rows(30)))
    (files / "urls2.tsv").write_text("label\turl\nhub\thttp://a.example/\n")
    base = [
        "--pages",
        str(files / "pages.tsv"),
        "--archive",
        str(files / "pages.tar"),
        "--models",
        str(files / "models"),
    ]
    code = train.main(
        ["--labels", str(files / "many.tsv"), *base, "--hold-out", str(files / "held")]
    )
    assert code == 0
    held = {row.domain for row in read_labels(files / "held" / "many.tsv")}
    assert held == {row.domain for row in sample_rows(30) if fold_of(row.domain, 6) == 5}
    [info] = ModelRegistry(files / "models").models()
    assert info.active
    assert info.training["domains"] == 30 - len(held)
    assert train.main(["--labels", str(files / "urls2.tsv"), *base]) == 2
    assert "class hub only" in capsys.readouterr().err


def test_a_users_labels_update_the_active_model(files: Path, small_model: HubModel) -> None:
    registry = ModelRegistry(files / "mine")
    registry.add(small_model, use=True)
    train = _script("train_hub_classifier")
    arguments = ["--labels", str(files / "urls.tsv"), "--models", str(files / "mine"), "--update"]
    assert train.main(arguments) == 0
    old, new = registry.models()
    assert (old.active, new.active) == (False, True)
    assert new.training["update_rows"] == len(sample_rows(12))


@pytest.mark.skipif(not SHARED.is_dir(), reason="needs ../shared/hub (labelled URLs)")
def test_the_shipped_model_fits_a_sample_of_the_labelled_urls(
    evaluate_shipped: HubClassifier,
) -> None:
    rows = read_labels(SHARED / "urls.tsv")[::20]
    f1 = score_sections(rows, judge_urls(evaluate_shipped, rows)["url"])["all"]["f1"]
    assert f1 > 0.95


@pytest.fixture
def evaluate_shipped() -> HubClassifier:
    return load_default()
