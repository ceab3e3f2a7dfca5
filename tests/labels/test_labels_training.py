"""``scripts/train_hub_classifier.py --store``: what was said in an installation trains by hand as well."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import train_hub_classifier

sys.path.append(str(Path(__file__).parents[1] / "classifier"))  # for its samples

from hub_samples import train_small_model

from classifier.hub.classifier import load_default
from classifier.hub.labels import read_labels
from classifier.hub.model import read_manifest
from classifier.hub.registry import ModelRegistry
from incremental.base.urls import canonical_key
from incremental.settings import Settings
from incremental.settings.storage import open_configured_store
from incremental.topics.training.nightly_training import Learner, trained_until
from store import Store
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry

START = 1_717_400_000.0


def open_store(folder: Path) -> Store:
    return open_configured_store(Settings(), folder)


@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """A store with some labels, and a registry with a model that was trained in full."""
    urls = [f"https://odd{n}.example/digest/2024/05/1{n}/digest-{n}.html" for n in range(9)]
    entries = [
        LabelEntry(url, canonical_key(url), PageLabel.HUB, LabelOrigin.USER, START + n)
        for n, url in enumerate(urls)
    ]
    entries.append(
        LabelEntry(urls[0], canonical_key(urls[0]), PageLabel.ARTICLE, LabelOrigin.BEHAVIOUR, START)
    )
    with open_store(tmp_path) as store:
        store.write.put_labels(entries)
    folder = tmp_path / "hubwatch-data"
    ModelRegistry(folder / "models").add(train_small_model())
    return folder


def train(*arguments: str | Path) -> int:
    return train_hub_classifier.main([str(one) for one in arguments])


def test_the_labels_of_a_store_train_alone(installation: Path, tmp_path: Path) -> None:
    assert train("--store", installation, "--update") == 0
    root = installation / "models"
    training = read_manifest(root / str(ModelRegistry(root).active()))["training"]
    assert (training["update_rows"], trained_until(root)) == (9, START + 8)
    with open_store(tmp_path) as store:
        Learner(store, root, 1, start=lambda work: work()).step(START + 99)
    assert len(ModelRegistry(root).models()) == 2
    # Models say what pages behind a login are about.
    assert not [path for path in (root, *root.rglob("*")) if path.stat().st_mode & 0o077]


def test_they_are_added_to_files_and_outrank_them(
    installation: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs = "https://odd0.example/digest/2024/05/10/digest-0.html", "https://new.example/x/"
    file = tmp_path / "more.tsv"
    file.write_text("label\turl\n" + "".join(f"topic\t{url}\n" for url in theirs))
    arguments = (
        "--store",
        installation,
        "--labels",
        file,
        "--update",
        "--hold-out",
        tmp_path / "held",
    )
    train(*arguments, "--force")
    held = [row for name in ("store", "more") for row in _held(tmp_path / "held" / f"{name}.tsv")]
    learned = int(capsys.readouterr().out.split("update rows ")[1].split()[0])
    assert learned + len({url for url, _ in held}) == 10
    assert (theirs[0], "article") not in held or (theirs[0], "hub") in held


def _held(path: Path) -> list[tuple[str, str]]:
    if len(path.read_text().splitlines()) < 2:
        return []
    return [(row.url, row.label) for row in read_labels(path)]


def test_a_folder_without_store_or_labels_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("--store", tmp_path / "nowhere", "--update") == 2
    open_store(tmp_path).close()
    assert train("--store", tmp_path / "hubwatch-data", "--update") == 2
    (tmp_path / "hubwatch-data" / "hubwatch.sqlite").write_text("no database")
    assert train("--store", tmp_path / "hubwatch-data", "--update") == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("is not there", "has no labels yet", "not a database"))


def _contrary(folder: Path) -> list[Path]:
    files = []
    for number, label in enumerate(("hub", "article")):
        files.append(folder / f"{label}.tsv")
        files[-1].write_text(f"label\turl\n{label}\thttps://odd{number}.example/x/\n")
    files[1].write_text(files[1].read_text() + "topic\thttps://odd0.example/x/\n")
    return files


def test_an_update_refuses_a_url_labelled_both_ways(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = tmp_path / "models"
    ModelRegistry(models).add(train_small_model())
    one, other = _contrary(tmp_path)
    assert train("--labels", one, "--labels", other, "--models", models, "--update") == 2
    said = capsys.readouterr().err
    assert f"{other}, line 3" in said
    assert "https://odd0.example/x/" in said
    assert f"{one}, line 2" in said
    assert len(ModelRegistry(models).models()) == 1


def test_an_update_that_judges_nothing_rightly_is_kept_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One page of one site: nobody can tell whether the training run holds elsewhere."""
    models, file = tmp_path / "models", tmp_path / "odd.tsv"
    ModelRegistry(models).add(train_small_model())
    file.write_text("label\turl\nhub\thttps://odd.example/news/2024/05/11/new-digest-7.html\n")
    assert train("--labels", file, "--models", models, "--update") == 3
    assert "judges none of the labels rightly" in capsys.readouterr().out
    assert ModelRegistry(models).active() == train_small_model().version


def test_an_update_kept_aside_in_an_empty_folder_leaves_the_shipped_model(tmp_path: Path) -> None:
    models, file = tmp_path / "models", tmp_path / "odd.tsv"
    file.write_text("label\turl\nhub\thttps://odd.example/2024/05/11/t20240511_7.html\n")
    assert train("--labels", file, "--models", models, "--update") == 3
    assert ModelRegistry(models).active() == load_default().version
