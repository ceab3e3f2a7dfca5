"""Teaching it from the command line: ``label``, ``models list use``."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "classifier"))  # for its samples

from cli_runner import Run
from hub_samples import train_small_model
from lab.hub.files import read_labels

from classifier.hub.classifier import load_default
from classifier.hub.model import save_model
from classifier.hub.registry import ModelRegistry

HOME = "https://news.example/"
SHIPPED = load_default().version


@pytest.fixture
def watched(hubwatch: Run) -> Run:
    """The command line, in a folder in which a site is watched."""
    hubwatch("add", HOME)
    return hubwatch


def test_a_label_acts_at_once(watched: Run) -> None:
    done = watched("label", HOME + "list.html", HOME + "other.html", "hub", "--json")
    assert done.code == 0
    assert [row["sites"] for row in done.json] == [["news.example"]] * 2
    roles = {hub["url"]: hub["role"] for hub in watched("hubs", "--json").json}
    assert roles == {HOME: "seed", HOME + "list.html": "user", HOME + "other.html": "user"}
    assert "as article: news.example" in watched("label", HOME + "list.html", "article").err
    assert HOME + "list.html" not in [hub["url"] for hub in watched("hubs", "--json").json]


def test_a_label_outside_every_site_only_trains(watched: Run) -> None:
    done = watched("label", "https://elsewhere.example/x", "hub")
    assert (done.code, "used for training only" in done.err) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["https://news.example/a", "nonsense", "hub"], 1),
        (["nonsense", "hub"], 2),
        ([HOME, "article"], 2),
        (["https://news.example/a", "list"], 2),
        (["hub"], 2),
    ],
)
def test_what_cannot_be_labelled_is_reported(watched: Run, arguments: list[str], code: int) -> None:
    done = watched("label", *arguments)
    assert done.code == code
    assert done.err


def test_labels_are_written_to_a_file(watched: Run, tmp_path: Path) -> None:
    watched("label", HOME + "list.html", "hub")
    watched("label", HOME + "story/", "article")
    assert watched("models", "labels", "mine.tsv", "--json").json["labels"] == 2
    exported = read_labels(tmp_path / "mine.tsv")
    rows = {row.url: row.label for row in exported}
    assert rows == {HOME + "list.html": "hub", HOME + "story/": "article"}


def test_a_file_that_cannot_be_written(watched: Run) -> None:
    assert watched("models", "labels", "no/such/folder/x.tsv").code == 2


def test_the_shipped_model_is_active_until_another_is(hubwatch: Run) -> None:
    (row,) = hubwatch("models", "list", "--json").json
    assert (row["version"], row["active"], row["origin"]) == (SHIPPED, True, "shipped")
    assert "in use" in hubwatch("models", "list").out


def test_a_version_is_used_and_taken_back(hubwatch: Run, tmp_path: Path) -> None:
    root = tmp_path / "hubwatch-data" / "models"
    assert hubwatch("models", "use", SHIPPED).code == 0
    save_model(replace(load_default().model, version="0009-99999999"), root / "0009-99999999")
    assert active(hubwatch) == [SHIPPED]
    assert hubwatch("models", "use", "0009-99999999", "--json").json == {"active": "0009-99999999"}
    assert active(hubwatch) == ["0009-99999999"]
    assert hubwatch("models", "use", "--json").json == {"active": SHIPPED}
    assert active(hubwatch) == [SHIPPED]


def active(hubwatch: Run) -> list[str]:
    return [row["version"] for row in hubwatch("models", "list", "--json").json if row["active"]]


def test_a_damaged_version_is_shown_and_refused(hubwatch: Run, tmp_path: Path) -> None:
    root = tmp_path / "hubwatch-data" / "models"
    hubwatch("models", "use", SHIPPED)
    save_model(replace(load_default().model, version="0009-99999999"), root / "0009-99999999")
    (root / "0009-99999999" / "url.svm").write_text("x")
    done = hubwatch("models", "use", "0009-99999999")
    assert (done.code, "checksum" in done.err) == (2, True)
    (root / "0009-99999999" / "manifest.json").write_text("{")
    rows = {row["version"]: row for row in hubwatch("models", "list", "--json").json}
    assert "damaged" in rows["0009-99999999"]["problem"]
    assert active(hubwatch) == [SHIPPED]


def test_labels_are_learned_on_request(watched: Run, tmp_path: Path) -> None:
    small = train_small_model()
    ModelRegistry(tmp_path / "hubwatch-data" / "models").add(small, use=True)
    assert "no new labels" in watched("models", "learn").err
    urls = [f"https://odd{n}.example/digest/2024/05/1{n}/digest-{n}.html" for n in range(9)]
    watched("label", *urls, "hub")
    learned = watched("models", "learn", "--json").json
    assert (learned["labels"], learned["base"]) == (9, small.version)
    assert learned["right"] > learned["base_right"]
    assert (learned["active"], active(watched)) == (True, [learned["version"]])
    assert watched("models", "learn", "--json").json is None


def test_versions_that_are_not_there(hubwatch: Run) -> None:
    for name in ("0042-00000000", "../models", ""):
        done = hubwatch("models", "use", name)
        assert (done.code, SHIPPED in done.err) == (4, True)
    done = hubwatch("models", "use")
    assert (done.code, "no earlier version" in done.err) == (2, True)


def test_check_shows_what_spoke_for_and_against(watched: Run) -> None:
    url = HOME + "2024/05/17/a-story-with-a-long-name.html"
    answer = watched("check", url, "--json").json
    classifier = answer["classifier"]
    assert classifier["version"] == SHIPPED
    assert answer["hub_score"] < 0.5
    assert {"feature", "value", "log_odds"} == set(classifier["contributions"][0])
    assert classifier["cascade"]["decided_by"] == "url"
    table = watched("check", url).out
    said = ("Is it a hub?", "a hub needs 50%", "Speaks against", SHIPPED)
    assert all(word in " ".join(table.split()) for word in said)


@pytest.mark.parametrize(
    "pointer",
    [
        "{",
        "[]",
        '{"active": 5, "previous": []}',
        '{"active": "../..", "previous": []}',
        '{"active": null, "previous": [3]}',
        '{"active": "0042-00000000", "previous": []}',
    ],
)
def test_a_damaged_registry_stops_neither_check_nor_list(
    watched: Run, tmp_path: Path, pointer: str
) -> None:
    root = tmp_path / "hubwatch-data" / "models"
    root.mkdir(parents=True)
    (root / "active.json").write_text(pointer)
    answer = watched("check", HOME + "a.html", "--json").json["classifier"]
    assert (answer["version"], bool(answer["problem"])) == (SHIPPED, True)
    done = watched("models", "use")
    assert (done.code, done.err.startswith("hubwatch: model ")) == (2, True)
    listed = watched("models", "list", "--json")
    assert listed.code == 2 or active(watched) == [SHIPPED]


def test_a_version_with_a_foreign_note_is_listed(hubwatch: Run, tmp_path: Path) -> None:
    folder = tmp_path / "hubwatch-data" / "models" / "0009-99999999"
    save_model(replace(load_default().model, version=folder.name), folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    notes: list[object] = [[], {"urls": 1}, {"urls": {"all": {"f1": "x"}}, "update": 3}]
    for note in notes:
        manifest |= {"metrics": note, "training": note}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        (_, row) = hubwatch("models", "list", "--json").json
        assert "foreign" in row["problem"]
        assert hubwatch("models", "use", folder.name).code == 2


def test_check_says_that_your_word_decides(watched: Run) -> None:
    watched("label", HOME + "a-story-with-a-long-name.html", "hub")
    answer = watched("check", HOME + "a-story-with-a-long-name.html", "--json").json
    assert (answer["hub_score"], answer["classifier"]["cascade"]["decided_by"]) == (1.0, "you")
    assert [(one["label"], one["origin"]) for one in answer["labels"]] == [("hub", "user")]


def test_check_lets_content_decide_when_it_is_at_hand(hubwatch: Run, found: list[str]) -> None:
    """The story was looked at, so its text is kept; the other page was never fetched."""
    read, unread = (
        hubwatch("check", url, "--json").json["classifier"]["cascade"]
        for url in (found[0], HOME + "old-0.html")
    )
    assert (read["decided_by"], read["probability"] < 0.5) == ("content", True)
    assert (unread["decided_by"], unread["probability"]) == ("content", None)
