"""Model folders: whole or not at all, checked before they are read, and switched atomically."""

import json
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hub_samples import train_small_model

from classifier.hub import LinkEvidence
from classifier.hub.classifier import SHIPPED_MODELS, HubClassifier, load_default
from classifier.hub.errors import ModelError
from classifier.hub.model import HubModel, load_model, save_model
from classifier.hub.registry import ActiveClassifier, ModelRegistry, next_version

LINKS = [
    LinkEvidence("https://x.example/news/", "News"),
    LinkEvidence("https://x.example/news/2024/03/12/new-river-opens-3.html"),
]


@pytest.fixture(scope="module")
def small_model() -> HubModel:
    return train_small_model()


@pytest.fixture(scope="module")
def small_classifier() -> HubClassifier:
    return HubClassifier(train_small_model())


def _edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.fixture
def folder(small_model: HubModel, tmp_path: Path) -> Path:
    save_model(small_model, tmp_path / "m")
    return tmp_path / "m"


def test_a_saved_model_scores_the_same(small_classifier: HubClassifier, folder: Path) -> None:
    assert HubClassifier.load(folder).score(LINKS) == pytest.approx(
        small_classifier.score(LINKS), abs=1e-4
    )


def test_a_folder_holds_only_json_and_libsvm_text(folder: Path) -> None:
    assert {path.suffix for path in folder.iterdir()} == {".json", ".svm"}
    assert (folder / "url.svm").read_text().startswith("svm_type c_svc")


def test_a_version_is_never_overwritten(small_model: HubModel, folder: Path) -> None:
    with pytest.raises(ModelError, match="exists"):
        save_model(small_model, folder)
    with pytest.raises(ModelError, match="not a version"):
        save_model(replace(small_model, version="../up"), folder.parent / "n")


@pytest.mark.parametrize(
    "name", ["manifest.json", "url.json", "url.svm", "content.svm", "check.json"]
)
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        load_model(folder)


def test_a_changed_file_is_damaged(folder: Path) -> None:
    with (folder / "url.svm").open("a") as file:
        file.write("1 1:1\n")
    with pytest.raises(ModelError, match=r"url\.svm is damaged"):
        load_model(folder)


def test_a_newer_format_asks_for_an_update(folder: Path) -> None:
    _edit_manifest(folder, format=99)
    with pytest.raises(ModelError, match="update hubwatch"):
        load_model(folder)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kind": "something else"}, "not a hub classifier"),
        ({"format": "1"}, "has format"),
        ({"files": {"../../etc/passwd": "0"}}, "outside itself"),
        ({"files": {}}, "cannot be read"),
        ({"files": []}, "cannot be read"),
        ({"cascade": [1]}, "cannot be read"),
    ],
)
def test_a_foreign_manifest_is_refused(
    folder: Path, changes: dict[str, object], problem: str
) -> None:
    _edit_manifest(folder, **changes)
    with pytest.raises(ModelError, match=problem):
        load_model(folder)


@pytest.mark.parametrize("content", ["", "[]", "{", "\udcff"])
def test_a_manifest_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelError, match=r"damaged|not a hub classifier"):
        load_model(folder)


def test_features_of_another_version_are_refused_even_with_a_right_checksum(folder: Path) -> None:
    text = (folder / "url.json").read_text().replace("url_length", "url_size")
    (folder / "url.json").write_text(text)
    files = json.loads((folder / "manifest.json").read_text())["files"]
    _edit_manifest(folder, files={**files, "url.json": sha256(text.encode()).hexdigest()})
    with pytest.raises(ModelError, match="features are not those"):
        load_model(folder)


def test_no_folder_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is not there"):
        load_model(tmp_path / "absent")


def test_the_shipped_model_loads_and_is_small() -> None:
    classifier = load_default()
    section, story = classifier.score(LINKS)
    assert section > 0.9
    assert story < 0.1
    folder = SHIPPED_MODELS / classifier.version
    assert sum(path.stat().st_size for path in folder.iterdir()) < 5_000_000


def test_a_model_is_kept_whether_it_is_used_or_not(small_model: HubModel, tmp_path: Path) -> None:
    registry = ModelRegistry(tmp_path)
    registry.add(replace(small_model, version="0001-aaaaaaaa"), use=True)
    registry.add(replace(small_model, version="0002-bbbbbbbb"), use=False)
    assert registry.active() == "0001-aaaaaaaa"
    registry.add(replace(small_model, version="0003-cccccccc"), use=True)
    assert [(m.version[:4], m.active) for m in registry.models()] == [
        ("0001", False),
        ("0002", False),
        ("0003", True),
    ]


def test_rollback_returns_to_what_was_active_before(small_model: HubModel, tmp_path: Path) -> None:
    registry = ModelRegistry(tmp_path)
    for number in (1, 2, 3):
        registry.add(replace(small_model, version=f"000{number}-aaaaaaaa"), use=True)
    assert registry.rollback() == "0002-aaaaaaaa"
    assert registry.rollback() == "0001-aaaaaaaa"
    with pytest.raises(ModelError, match="no earlier"):
        registry.rollback()


def test_versions_are_numbered_on(small_model: HubModel, tmp_path: Path) -> None:
    assert next_version(tmp_path, "f" * 64) == "0001-ffffffff"
    ModelRegistry(tmp_path).add(replace(small_model, version="0009-aaaaaaaa"), use=True)
    assert next_version(tmp_path, "e" * 64) == "0010-eeeeeeee"


def test_a_damaged_version_is_listed_with_its_problem(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    [info] = ModelRegistry(folder.parent).models()
    assert "missing" in info.problem
    with pytest.raises(ModelError):
        ModelRegistry(folder.parent).use("m")


@pytest.mark.parametrize(
    "pointer", ["{", '{"active": "", "previous": []}', '{"active": null, "previous": [""]}']
)
def test_a_damaged_pointer_says_what_to_do(folder: Path, pointer: str) -> None:
    (folder.parent / "active.json").write_text(pointer)
    with pytest.raises(ModelError, match="remove it"):
        ModelRegistry(folder.parent).active()


def test_a_newer_active_model_is_picked_up_without_a_restart(
    small_model: HubModel, tmp_path: Path
) -> None:
    registry, active = ModelRegistry(tmp_path), ActiveClassifier(tmp_path)
    assert active.current().version == load_default().version
    registry.add(replace(small_model, version="0001-aaaaaaaa"), use=True)
    first = active.current()
    assert first.version == "0001-aaaaaaaa"
    assert active.current() is first
    registry.add(replace(small_model, version="0002-aaaaaaaa"), use=True)
    assert active.current().version == "0002-aaaaaaaa"


def test_a_new_version_that_cannot_be_loaded_leaves_the_old_in_use(
    small_model: HubModel, tmp_path: Path
) -> None:
    registry, active = ModelRegistry(tmp_path), ActiveClassifier(tmp_path)
    registry.add(replace(small_model, version="0001-aaaaaaaa"), use=True)
    active.current()
    registry.add(replace(small_model, version="0002-aaaaaaaa"), use=True)
    (tmp_path / "0002-aaaaaaaa" / "url.svm").write_text("junk")
    assert active.current().version == "0001-aaaaaaaa"
    assert "damaged" in active.problem
