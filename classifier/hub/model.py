"""A trained model as a whole, and its folder on disk.

::

    <version>/manifest.json     format, version, training set's hash, metrics, grid search of C and
                                gamma, SHA-256 of each file
              url.json url.svm  content.* joint.* check.json
"""

import json
import os
import re
import shutil
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from classifier.hub.content_features import CONTENT_FEATURE_NAMES
from classifier.hub.errors import ModelError
from classifier.hub.scaling import LinearScale, Sigmoid
from classifier.hub.svm import Pair, RbfMachine
from classifier.hub.url_machine import CheckRows, UrlMachine, read_machine

_URL_REACH = 6.0
# Factor by which the URL's log-odds outweigh a content feature; 2 and 6 work equally well.
_URL_EMPHASIS = 4.0


@dataclass(frozen=True, slots=True)
class ContentMachine:
    """An SVM over content features, with its scaling and calibration."""

    scale: LinearScale
    machine: RbfMachine
    sigmoid: Sigmoid

    def log_odds(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return calibrated log-odds for rows of content features."""
        return self.sigmoid.log_odds(self.machine.decide(self.scale.apply(rows)))

    def to_json(self) -> dict[str, Any]:
        """All but the machine, which has its own file."""
        return {
            "features": list(CONTENT_FEATURE_NAMES),
            "scale": self.scale.to_json(),
            "sigmoid": [self.sigmoid.slope, self.sigmoid.offset],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any], machine_text: str) -> Self:
        """Read :meth:`to_json` and libsvm's text; ValueError if another version wrote them."""
        return cls(*read_machine(data, machine_text, CONTENT_FEATURE_NAMES))


def joint_rows(
    rows: NDArray[np.float64],
    url_log_odds: NDArray[np.float64],
    page_bytes: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Content features, the logarithm of the page's size (NaN = unknown), the URL's log-odds."""
    # One SVM over both: a weighted sum of two scores reached F1 0.935 on held-out domains, this
    # 0.957. The size gained 0.004 to 0.010 here, and nothing significant in the content SVM
    # (docs/how-hubs-are-found.md, "Page size and crawl depth").
    reached = np.clip(url_log_odds, -_URL_REACH, _URL_REACH)
    return np.column_stack([rows, np.log1p(page_bytes), reached])


def scale_joined(scale: LinearScale, rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of :func:`joint_rows` as the joint machine sees them."""
    # After scaling 0 is the mean, so an unknown size counts as an average one.
    scaled = np.nan_to_num(scale.apply(rows), nan=0.0)
    scaled[:, -1] *= _URL_EMPHASIS
    return scaled


@dataclass(frozen=True, slots=True)
class Cascade:
    """The URL decides alone where ``|log-odds| >= sure``, elsewhere the joint machine.

    The cascade: where the URL leaves doubt, the page's content decides.

    This answers paper 003's open question (its last paragraph): URL features are cheap and fail where
    a site's URLs say nothing, so only those pages are parsed.
    """

    sure: float
    joint: ContentMachine

    def needs_content(self, url_log_odds: float) -> bool:
        """Whether the URL alone is inconclusive."""
        return abs(url_log_odds) < self.sure

    def join(
        self,
        url: NDArray[np.float64],
        rows: NDArray[np.float64],
        page_bytes: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Log-odds of pages; content and size (NaN = unknown) count where the URL leaves doubt."""
        joint = self.joint
        scaled = scale_joined(joint.scale, joint_rows(rows, url, page_bytes))
        joined = joint.sigmoid.log_odds(joint.machine.decide(scaled))
        return np.where(np.abs(url) >= self.sure, url, joined)


# Raised when older code could misread a folder.
FORMAT: Final = 1
KIND: Final = "hubwatch hub classifier"
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_SIZE_LIMIT = 50_000_000
_JSON_FILES: Final = ("check.json", "url.json", "content.json", "joint.json")
_UPDATE_SHARES: Final = ("right", "base_right", "kept", "base_kept")


@dataclass(frozen=True, slots=True)
class HubModel:
    """The machines of one version."""

    version: str
    url: UrlMachine
    content: ContentMachine
    cascade: Cascade
    checks: CheckRows
    """Rows that an update must not forget."""
    training: dict[str, Any]
    """Rows, hubs, domains and hash of the training set."""
    metrics: dict[str, Any]
    """Scores on held-out domains."""
    search: dict[str, Any]
    """By machine: its C and gamma, and the grids they were found in."""

    def pair(self, machine: str) -> Pair:
        """Return C and gamma of ``url``, ``content`` or ``joint``."""
        found = self.search[machine]
        return Pair(float(found["cost"]), float(found["gamma"]))


def is_version(name: str) -> bool:
    """Whether a name is a valid version, and so a safe folder name."""
    return _VERSION.fullmatch(name) is not None


def save_model(model: HubModel, folder: Path) -> None:
    """Write the folder atomically; raises ModelError if it exists."""
    if not is_version(model.version):
        raise ModelError(folder, f"{model.version!r} is not a version: use letters, digits, . _ -")
    if folder.exists():
        raise ModelError(folder, "exists already; a version is never overwritten")
    files = _files_of(model)
    manifest = {
        "kind": KIND,
        "format": FORMAT,
        "version": model.version,
        "training": model.training,
        "metrics": model.metrics,
        "search": model.search,
        "cascade": {"sure": model.cascade.sure},
        "files": {name: sha256(text.encode()).hexdigest() for name, text in sorted(files.items())},
    }
    files["manifest.json"] = json.dumps(manifest, indent=1, sort_keys=True) + "\n"
    draft = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    make_private(folder.parent)
    make_private(draft)
    try:
        for name, text in files.items():
            write_private(draft / name, text)
        draft.replace(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def make_private(folder: Path) -> None:
    """Make a folder for its owner alone, unless it is there."""
    folder.mkdir(0o700, parents=True, exist_ok=True)


def write_private(file: Path, text: str) -> None:
    """Write a file that its owner alone can read."""
    made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(made, "w", encoding="utf-8") as out:
        out.write(text)


def _files_of(model: HubModel) -> dict[str, str]:
    machines: dict[str, UrlMachine | ContentMachine] = {
        "url": model.url,
        "content": model.content,
        "joint": model.cascade.joint,
    }
    files = {"check.json": compact(model.checks.to_json())}
    for name, machine in machines.items():
        files[f"{name}.json"] = compact(machine.to_json())
        files[f"{name}.svm"] = machine.machine.text
    return files


def compact(data: object) -> str:
    """Return JSON in the form of a model's files."""
    return json.dumps(data, separators=(",", ":"), sort_keys=True) + "\n"


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read a folder's manifest; raises ModelError if it is missing, foreign or too new."""
    path = folder / "manifest.json"
    if not folder.is_dir():
        raise ModelError(folder, "is not there")
    try:
        manifest = json.loads(_read(folder, path))
    except (ValueError, RecursionError) as error:
        raise ModelError(folder, f"manifest.json is damaged ({error})") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise ModelError(folder, "is not a hub classifier's model folder")
    number = manifest.get("format")
    if not isinstance(number, int) or number > FORMAT:
        raise ModelError(
            folder,
            f"has format {number}, this version reads up to {FORMAT}; update hubwatch",
        )
    if not _notes_are_readable(manifest):
        raise ModelError(folder, "manifest.json is foreign: its notes have another form")
    return manifest


def _notes_are_readable(manifest: dict[str, Any]) -> bool:
    """Whether the manifest fields used by lists and comparisons are well-formed."""
    training, metrics = manifest.get("training"), manifest.get("metrics")
    if not isinstance(training, dict) or not isinstance(metrics, dict):
        return False
    urls, update = metrics.get("urls", {}), metrics.get("update", {})
    if not isinstance(urls, dict) or not isinstance(update, dict):
        return False
    score = urls.get("all", {})
    if not isinstance(score, dict) or not isinstance(training.get("labels_until", 0), int | float):
        return False
    numbers = [score.get("f1", 0.0), *(update.get(name, 0.0) for name in _UPDATE_SHARES)]
    return all(isinstance(number, int | float) for number in numbers)


def versions_in(root: Path) -> list[str]:
    """Return the versions of a folder, oldest first."""
    if not root.is_dir():
        return []
    # A name with a dot in front is a draft, of a save that is under way or was killed.
    return sorted(p.name for p in root.iterdir() if p.is_dir() and not p.name.startswith("."))


def newest_version(root: Path) -> str | None:
    """Return the newest version in a folder, or None."""
    versions = [
        version for version in versions_in(root) if (root / version / "manifest.json").is_file()
    ]
    return versions[-1] if versions else None


def load_model(folder: Path) -> HubModel:
    """Load a folder; raises ModelError if anything is missing, damaged or too new."""
    manifest = read_manifest(folder)
    try:
        # Only JSON and libsvm text, so reading a model runs no code; and each file is checked against
        # the manifest before it is parsed.
        texts = {
            name: _read_checked(folder, name, digest) for name, digest in manifest["files"].items()
        }
        data = {name: json.loads(texts[name]) for name in _JSON_FILES}
        model = HubModel(
            version=str(manifest["version"]),
            url=UrlMachine.from_json(data["url.json"], texts["url.svm"]),
            content=ContentMachine.from_json(data["content.json"], texts["content.svm"]),
            cascade=Cascade(
                float(manifest["cascade"]["sure"]),
                ContentMachine.from_json(data["joint.json"], texts["joint.svm"]),
            ),
            checks=CheckRows.from_json(data["check.json"]),
            training=manifest["training"],
            metrics=manifest["metrics"],
            search=manifest["search"],
        )
        model.pair("url")
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        problem = f"cannot be read as format {FORMAT} ({type(error).__name__}: {error})"
        raise ModelError(folder, problem) from error
    return model


def _read_checked(folder: Path, name: str, digest: str) -> str:
    if "/" in name or os.sep in name or name.startswith("."):
        raise ModelError(folder, f"names a file outside itself: {name!r}")
    text = _read(folder, folder / name)
    if sha256(text.encode()).hexdigest() != digest:
        raise ModelError(folder, f"{name} is damaged: its checksum differs from the manifest")
    return text


def _read(folder: Path, path: Path) -> str:
    try:
        if path.stat().st_size > _SIZE_LIMIT:
            raise ModelError(folder, f"{path.name} is larger than {_SIZE_LIMIT} bytes")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ModelError(
            folder, f"{path.name} is missing or unreadable: {error.strerror}"
        ) from error
    except UnicodeDecodeError as error:
        raise ModelError(folder, f"{path.name} is damaged: not UTF-8") from error
