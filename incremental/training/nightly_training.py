"""Training on labels: once a night, beside the crawler.

::

    step(now) ── observe ── enough new labels? ── a thread of its own: update, register
        └ later, when that thread is through: log the outcome

The support vectors of the model that was trained in full stand for its training set; all labels are
added to it again (:mod:`classifier.hub.updating`), which takes a minute or two of one core.
"""

from __future__ import annotations

import logging
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from classifier.hub import ModelError, TrainingError
from classifier.hub.labels import labels_hash
from classifier.hub.registry import ModelRegistry, next_version
from classifier.hub.updating import update_model
from incremental.threads import InlineExecutor, Start, start_thread
from incremental.times import DAY
from incremental.training.behaviour import observe
from incremental.training.label_files import label_rows, merged
from incremental.training.model_versions import adopt_shipped, base_model
from incremental.urls import host_of, registered_domain
from store import Store
from store.enums import LabelOrigin
from store.values import LabelEntry

logger = logging.getLogger("hubwatch.learning")

POLL_SECONDS = 30.0
# Labels that are learned at most, those of users and then the latest first: time grows with their
# square.
MAX_LABELS = 4_000
# Labels of one domain and kind, those of users apart: a site with two hundred tags is one opinion.
MAX_LABELS_PER_SITE = 10
# In a manifest's ``training``: when the last of the labels that the version learned was said.
UNTIL = "labels_until"


@dataclass(frozen=True, slots=True)
class Learned:
    """What came of teaching labels to a model."""

    version: str
    base: str
    labels: int
    right: float
    """Share of the labels that the new version judges rightly, each without those of its own domain."""
    base_right: float
    active: bool
    """Whether it is used from now on; a worse one is kept aside (:meth:`ModelRegistry.add`)."""


def train(root: Path, entries: list[LabelEntry]) -> Learned:
    """Train the base model below *root* on labels; register the new version.

    Raises:
        TrainingError: libsvm refused.
        ModelError: the registry cannot be used.
    """
    registry = ModelRegistry(root)
    base = base_model(root)
    if registry.active() is None:
        registry.use(adopt_shipped(root).version)
    rows = label_rows(entries)
    model = update_model(base, rows, next_version(root, labels_hash(rows)))
    until = max(entry.at for entry in entries)
    model = replace(model, training={**model.training, UNTIL: until})
    active = registry.add(model)
    note = model.metrics["update"]
    return Learned(
        model.version, base.version, len(rows), note["right"], note["base_right"], active
    )


def learn_now(store: Store, root: Path, now: float) -> Learned | None:
    """Do at once what the nightly step does, however few labels are new; None = none are."""
    observe(store, now)
    entries = training_labels(store.read.labels())
    until = trained_until(root)
    return train(root, entries) if any(entry.at > until for entry in entries) else None


def training_labels(entries: list[LabelEntry]) -> list[LabelEntry]:
    """Return the labels to learn: one a page, few of a site, not more than a run can take."""
    chosen, counts = [], Counter[tuple[str, str]]()
    for entry in merged(entries):
        place = registered_domain(host_of(entry.url)), entry.label
        counts[place] += entry.origin != LabelOrigin.USER
        if entry.origin == LabelOrigin.USER or counts[place] <= MAX_LABELS_PER_SITE:
            chosen.append(entry)
    chosen.sort(key=lambda entry: (entry.origin == LabelOrigin.USER, entry.at))
    return chosen[-MAX_LABELS:]


def trained_until(root: Path) -> float:
    """Return when the last label was said that any version learned, used or not; 0 = none yet."""
    return max((float(m.training.get(UNTIL, 0.0)) for m in ModelRegistry(root).models()), default=0)


class Learner:
    """The nightly step. One thread calls it, the store's writer."""

    def __init__(
        self, store: Store, root: Path, retrain_labels: int, *, start: Start = start_thread
    ) -> None:
        self._store = store
        self._root = root
        self._enough = retrain_labels
        self._start = start
        self._done: Future[Learned] | None = None
        self._running = False
        self._next_at = 0.0

    def step(self, now: float) -> float:
        """Write what behaviour says and learn if enough is new; return when to call again."""
        if now >= self._next_at and not self._running:
            self._next_at = now + DAY
            self._begin(now)
        self._finish()
        return now + POLL_SECONDS if self._running else self._next_at

    def _begin(self, now: float) -> None:
        changed = observe(self._store, now)
        if changed:
            logger.info("behaviour labelled %d pages", changed)
        entries = training_labels(self._store.read.labels())
        try:
            until = trained_until(self._root)
        except ModelError as error:
            logger.warning("nothing can be learned: %s", error)
            return
        if not self._enough or sum(entry.at > until for entry in entries) < self._enough:
            return
        self._running = True
        self._start(lambda: self._train(entries))

    def _train(self, entries: list[LabelEntry]) -> None:
        self._done = InlineExecutor().submit(train, self._root, entries)

    def _finish(self) -> None:
        """Log the outcome; what is neither a bad model nor bad labels is a bug, and raised."""
        if self._done is None:
            return
        done, self._done, self._running = self._done, None, False
        try:
            learned = done.result()
        except (ModelError, TrainingError) as error:
            logger.warning("nothing was learned: %s", error)
            return
        logger.info(
            "%s learned %d labels: %.1f %% of them right, %s had %.1f %%; %s",
            learned.version,
            learned.labels,
            100 * learned.right,
            learned.base,
            100 * learned.base_right,
            "in use" if learned.active else "kept aside",
        )
