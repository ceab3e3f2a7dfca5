"""``scripts/train_hub_classifier.py --update``: labels of files train the active model by hand."""

import sys
from pathlib import Path

import pytest
import train_hub_classifier

sys.path.append(str(Path(__file__).parents[1] / "classifier"))  # for its samples

from hub_samples import train_small_model

from classifier.hub.classifier import load_default
from classifier.hub.registry import ModelRegistry


def train(*arguments: str | Path) -> int:
    return train_hub_classifier.main([str(one) for one in arguments])


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
    ModelRegistry(models).add(train_small_model(), use=True)
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
    ModelRegistry(models).add(train_small_model(), use=True)
    file.write_text("label\turl\nhub\thttps://odd.example/news/2024/05/11/new-digest-7.html\n")
    assert train("--labels", file, "--models", models, "--update") == 3
    assert "judges none of the labels rightly" in capsys.readouterr().out
    assert ModelRegistry(models).active() == train_small_model().version


def test_an_update_kept_aside_in_an_empty_folder_leaves_the_shipped_model(tmp_path: Path) -> None:
    models, file = tmp_path / "models", tmp_path / "odd.tsv"
    file.write_text("label\turl\nhub\thttps://odd.example/2024/05/11/t20240511_7.html\n")
    assert train("--labels", file, "--models", models, "--update") == 3
    assert ModelRegistry(models).active() == load_default().version
    # Models say what pages behind a login are about.
    assert not [path for path in (models, *models.rglob("*")) if path.stat().st_mode & 0o077]
