"""A folder of model versions and the pointer to the active one.

::

    <root>/0003-1f2e3d4c/   a model folder (classifier.hub.model)
           active.json      {"active": "0003-1f2e3d4c", "previous": ["0002-9a8b7c6d"]}

Without a pointer the newest version is active; a pointer to null means the shipped model.
"""

import logging
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from classifier.hub.classifier import HubClassifier, HubScore, load_default
from classifier.hub.errors import ModelError
from classifier.hub.evidence import LinkEvidence
from classifier.hub.model import (
    HubModel,
    is_version,
    make_private,
    newest_version,
    read_manifest,
    save_model,
    versions_in,
    write_private,
)

logger = logging.getLogger("hubwatch.models")

# Share of the check rows that an update may get wrong: three of 600, for rows near the border.
FORGOTTEN: Final = 0.005
_POINTER = "active.json"
_KEPT_PREVIOUS = 20
_NUMBERED = re.compile(r"([0-9]{4,})-[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A version of the model."""

    version: str
    active: bool
    problem: str
    """Why it cannot be used; empty if it can be."""
    training: dict[str, Any]
    metrics: dict[str, Any]


def next_version(root: Path, training_hash: str) -> str:
    """Return the next version's name: running number and training set."""
    numbers = [int(m[1]) for v in versions_in(root) if (m := _NUMBERED.fullmatch(v))]
    return f"{max(numbers, default=0) + 1:04d}-{training_hash[:8]}"


def refusal(model: HubModel) -> str:
    """Return why an update should not become active; empty = it may."""
    # It must get some of the new labels right, no fewer than its base, and lose at most FORGOTTEN of the
    # check rows.
    update = model.metrics["update"]
    if update["right"] <= 0:
        return "it judges none of the labels rightly, each without those of its own domain"
    if update["right"] < update["base_right"]:
        return "its base judges more of the labels rightly"
    if update["kept"] < update["base_kept"] - FORGOTTEN:
        return "it forgets what its base knew"
    return ""


class _Pointer(msgspec.Struct, frozen=True):
    active: str | None
    previous: list[str]


class ModelRegistry:
    """The versions below one folder."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def models(self) -> list[ModelInfo]:
        """Return all versions, oldest first, damaged ones included."""
        active = self.active()
        return [self._info(version, active) for version in versions_in(self.root)]

    def _info(self, version: str, active: str | None) -> ModelInfo:
        manifest, problem = dict[str, Any](), ""
        try:
            manifest = read_manifest(self.root / version)
        except ModelError as error:
            problem = error.problem
        notes = (manifest.get(name, {}) for name in ("training", "metrics"))
        return ModelInfo(version, version == active, problem, *notes)

    def active(self) -> str | None:
        """Return the active version; None = the shipped model."""
        return self._pointer().active

    def use(self, version: str) -> None:
        """Make a version active; raises ModelError if its manifest cannot be read."""
        read_manifest(self.root / version)
        pointer = self._pointer()
        previous = [v for v in pointer.previous if v != version]
        if pointer.active and pointer.active != version:
            previous.append(pointer.active)
        self._point(version, previous)

    def rollback(self) -> str:
        """Roll back to the previously active version; raises ModelError without one."""
        previous = self._pointer().previous
        if not previous:
            raise ModelError(self.root, "there is no earlier version to roll back to")
        version = previous[-1]
        read_manifest(self.root / version)
        self._point(version, previous[:-1])
        return version

    def add(self, model: HubModel, *, use: bool) -> None:
        """Save a model, and make it active if *use*."""
        pointer = self._pointer()
        save_model(model, self.root / model.version)
        if use:
            self.use(model.version)
        else:
            # Even if none was active: without a pointer this one, the newest, would be.
            self._point(pointer.active, pointer.previous)

    def _pointer(self) -> _Pointer:
        try:
            pointer = msgspec.json.decode((self.root / _POINTER).read_bytes(), type=_Pointer)
        except FileNotFoundError:
            return _Pointer(newest_version(self.root), [])
        except (OSError, ValueError, RecursionError) as error:
            raise ModelError(self.root, f"{_POINTER} is damaged ({error}); remove it") from error
        names = [name for name in (pointer.active, *pointer.previous) if name is not None]
        if not all(map(is_version, names)):
            raise ModelError(self.root, f"{_POINTER} names an invalid version; remove it")
        return pointer

    def _point(self, version: str | None, previous: list[str]) -> None:
        make_private(self.root)
        # Written aside and renamed, so that a running daemon never reads half a pointer.
        draft = self.root / f".{_POINTER}.{os.getpid()}.tmp"
        content = msgspec.json.encode(_Pointer(version, previous[-_KEPT_PREVIOUS:]))
        write_private(draft, content.decode() + "\n")
        draft.replace(self.root / _POINTER)


class ActiveClassifier:
    """The active model of a registry, reloaded when another becomes active.

    :meth:`current` costs one ``stat`` if nothing changed. If a new version cannot be loaded, the
    current one stays in use and ``problem`` says why.
    """

    def __init__(self, root: Path) -> None:
        self.problem = ""
        self._registry = ModelRegistry(root)
        self._seen: tuple[int, int] | None = None
        self._loaded: HubClassifier | None = None

    @property
    def version(self) -> str:
        """The version in use."""
        return self.current().version

    def score(self, links: Sequence[LinkEvidence]) -> Iterable[float]:
        """Score links, in order."""
        return self.current().score(links)

    def score_page(
        self, link: LinkEvidence, features: Sequence[float], page_bytes: int
    ) -> HubScore:
        """Score a fetched page by its URL and content."""
        return self.current().score_page(link, features, page_bytes)

    def current(self) -> HubClassifier:
        """Return the active classifier, the shipped one if the registry has none."""
        seen = self._stamp()
        if self._loaded is None or seen != self._seen:
            self._seen = seen
            self._loaded = self._load()
        return self._loaded

    def _stamp(self) -> tuple[int, int] | None:
        try:
            status = (self._registry.root / _POINTER).stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino

    def _load(self) -> HubClassifier:
        try:
            version = self._registry.active()
            if version is None:
                return load_default()
            if self._loaded is not None and self._loaded.version == version:
                return self._loaded
            loaded = HubClassifier.load(self._registry.root / version)
        except ModelError as error:
            self.problem = str(error)
            kept = self._loaded or load_default()
            logger.warning("%s; %s stays in use", error, kept.version)
            return kept
        if self._loaded is not None:
            logger.info("now using hub classifier %s", version)
        self.problem = ""
        return loaded
