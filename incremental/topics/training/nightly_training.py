"""Nightly training on labels, beside the crawler.

::

    step(now) ── observe, a few sites at a time ── enough new labels? ── in its own thread: update, register
        └ later, when the thread has finished: log the outcome

A training (:mod:`classifier.hub.updating`) takes a minute or two of one core.
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
from incremental.base.threads import InlineExecutor, Start, start_thread
from incremental.base.times import DAY
from incremental.base.urls import host_of, registered_domain
from incremental.topics.training.behaviour import observe, observe_site
from incremental.topics.training.label_files import label_rows, merged
from incremental.topics.training.model_versions import adopt_shipped, base_model
from store import Store
from store.enums import LabelOrigin
from store.values import LabelEntry

logger = logging.getLogger("hubwatch.learning")

POLL_SECONDS = 30.0
# Sites whose behaviour is looked at in one step: rounds wait for it, and there may be any number of sites.
SITES_AT_ONCE = 20
SLICE_PAUSE_SECONDS = 0.2
# Labels used, users' first, then the latest: training time grows with their square.
MAX_LABELS = 4_000
# Per domain and kind, except users' labels: a site with two hundred tags is one opinion.
MAX_LABELS_PER_SITE = 10
# Key in a manifest's ``training``: time of the latest label used.
UNTIL = "labels_until"


@dataclass(frozen=True, slots=True)
class Learned:
    """The outcome of training on labels."""

    version: str
    base: str
    labels: int
    right: float
    """Share of labels the new version gets right, each judged without its own domain's labels."""
    base_right: float
    active: bool
    """It is now in use; a worse version is only stored (:meth:`ModelRegistry.add`)."""


def train(root: Path, entries: list[LabelEntry]) -> Learned:
    """Train the base model in *root* on labels; register the new version.

    Raises:
        TrainingError: libsvm failed.
        ModelError: the registry cannot be used.
    """
    registry = ModelRegistry(root)
    # The fully trained model's support vectors stand for its training set; all labels are added to them.
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
    """Run the nightly training now, however few labels are new; None = none are."""
    observe(store, now)
    entries = training_labels(store.read.labels())
    until = trained_until(root)
    return train(root, entries) if any(entry.at > until for entry in entries) else None


def in_words(learned: Learned | None) -> str:
    """Return what came of a training; None = there were no new labels."""
    if learned is None:
        return "no new labels to learn"
    return (
        f"{learned.version} learned {learned.labels} labels: {learned.right:.0%} correct"
        f" ({learned.base}: {learned.base_right:.0%});"
        f" {'in use' if learned.active else 'not used'}"
    )


def training_labels(entries: list[LabelEntry]) -> list[LabelEntry]:
    """Return the labels to train on: one per page, few per site, no more than a run can take."""
    chosen, counts = [], Counter[tuple[str, str]]()
    for entry in merged(entries):
        place = registered_domain(host_of(entry.url)), entry.label
        counts[place] += entry.origin != LabelOrigin.USER
        if entry.origin == LabelOrigin.USER or counts[place] <= MAX_LABELS_PER_SITE:
            chosen.append(entry)
    chosen.sort(key=lambda entry: (entry.origin == LabelOrigin.USER, entry.at))
    return chosen[-MAX_LABELS:]


def trained_until(root: Path) -> float:
    """Return the time of the latest label any version was trained on, active or not; 0 = none."""
    return max((float(m.training.get(UNTIL, 0.0)) for m in ModelRegistry(root).models()), default=0)


class Learner:
    """The nightly step, called by the store's writer thread only."""

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
        # Sites whose behaviour is still to be looked at tonight; None = that is done.
        self._sites: list[int] | None = None
        self._changed = 0
        # Raised again until the next night, so that status shows it.
        self._bug: BaseException | None = None

    def step(self, now: float) -> float:
        """Label by behaviour and train if enough labels are new; return when to call again.

        Raises:
            Exception: the last training met a bug.
        """
        # A clock that was ahead has put it further off than a day.
        self._next_at = min(self._next_at, now + DAY)
        if now >= self._next_at and not self._running and self._sites is None:
            self._next_at = now + DAY
            self._bug = None
            self._changed = 0
            self._sites = [row.id for row in self._store.read.sites()]
        if self._sites is not None:
            some, rest = self._sites[:SITES_AT_ONCE], self._sites[SITES_AT_ONCE:]
            self._changed += sum(observe_site(self._store, one, now) for one in some)
            self._sites = rest or None
            if rest:
                return now + SLICE_PAUSE_SECONDS
            self._begin()
        self._finish()
        if self._bug is not None:
            raise self._bug
        return now + POLL_SECONDS if self._running else self._next_at

    def _begin(self) -> None:
        if self._changed:
            logger.info("behaviour labelled %d pages", self._changed)
        entries = training_labels(self._store.read.labels())
        try:
            until = trained_until(self._root)
        except ModelError as error:
            logger.warning("cannot train: %s", error)
            return
        if not self._enough or sum(entry.at > until for entry in entries) < self._enough:
            return
        self._running = True
        try:
            self._start(lambda: self._train(entries))
        except RuntimeError:
            self._running = False  # no thread could be started; the next step begins again
            self._next_at = 0.0
            raise

    def _train(self, entries: list[LabelEntry]) -> None:
        self._done = InlineExecutor().submit(train, self._root, entries)

    def _finish(self) -> None:
        """Log the outcome."""
        if self._done is None:
            return
        done, self._done, self._running = self._done, None, False
        error = done.exception()
        if isinstance(error, ModelError | TrainingError):
            logger.warning("training failed: %s", error)
            return
        if error is not None:
            self._bug = error
            return
        logger.info("%s", in_words(done.result()))
