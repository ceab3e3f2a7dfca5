"""Nightly training on labels, beside the crawler.

::

    step(now) ── observe, a few sites at a time ── enough new labels? ── in its own thread: update, register
        └ later, when the thread has finished: log the outcome

A training (:mod:`classifier.hub.updating`) takes a minute or two of one core.
"""

import logging
from collections import Counter
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path

from classifier.hub.errors import ModelError, TrainingError
from classifier.hub.labels import ARTICLE, HUB, Behaviour, label_of, labels_hash
from classifier.hub.registry import ModelRegistry, next_version, refusal
from classifier.hub.updating import update_model
from incremental.base.threads import InlineExecutor, Start, start_thread
from incremental.base.times import DAY
from incremental.base.urls import host_of, registered_domain
from incremental.topics.training.label_files import label_rows, merged
from incremental.topics.training.model_versions import adopt_shipped, base_model
from store import Store
from store.enums import HubKind, HubRole, LabelOrigin, PageLabel
from store.values import HubNews, HubRow, LabelEntry

# Pages on more hubs than this, and on more than half of their site's, are part of its frame and say
# nothing about any hub.
FRAME_HUBS = 8
# Probability of being a hub below which a silent page is labelled an article.
SILENT_PROBABILITY = 1 / 3
# Feeds and sitemaps are not found by their URLs, and later pages of a list are fetched once.
_OBSERVED_ROLES = (HubRole.SEED, HubRole.HOME, HubRole.LIST, HubRole.USER)


def observe(store: Store, now: float) -> int:
    """Write labels from behaviour; return how many are new or changed."""
    return sum(observe_site(store, row.id, now) for row in store.read.sites())


def observe_site(store: Store, site_id: int, now: float) -> int:
    """Write the labels of one site; return how many are new or changed."""
    labels = _judge(_behaviours(store, site_id, store.read.hubs(site_id)))
    if not labels:
        return 0
    said = {
        one.canonical_key: one for one in store.read.site_labels(site_id, LabelOrigin.BEHAVIOUR)
    }
    entries = [_entry(store, hub, label, now) for hub, label in labels if label is not None]
    silent = [
        hub.canonical_key for hub, label in labels if label is None and hub.canonical_key in said
    ]
    taken_back = [one for one in silent if said[one].label == ARTICLE]
    # Most sites say nothing new; a transaction costs something even when it is empty.
    changed = store.write.put_labels(entries) if entries else 0
    if taken_back:
        store.write.forget_labels(taken_back, LabelOrigin.BEHAVIOUR)
    return changed


def _behaviours(
    store: Store, site_id: int, hubs: list[HubRow]
) -> list[tuple[HubRow, Behaviour, Behaviour]]:
    """Return the hubs that can be judged, with their behaviour in all and without the site's frame."""
    judged = [
        hub
        for hub in hubs
        if hub.kind == HubKind.HTML and hub.role in _OBSERVED_ROLES and not hub.failures
        if hub.baseline_at is not None and hub.visited_at is not None
    ]
    if not judged:
        return []
    all_news = store.read.hub_news(site_id)
    own_news = store.read.hub_news(site_id, most_hubs=max(FRAME_HUBS, len(judged) // 2))
    return [
        (
            hub,
            _behaviour(hub, all_news.get(hub.page_id)),
            _behaviour(hub, own_news.get(hub.page_id)),
        )
        for hub in judged
    ]


def _behaviour(hub: HubRow, news: HubNews | None) -> Behaviour:
    brought = news or HubNews()
    return Behaviour(
        visits=hub.visits - 1,
        visits_with_news=brought.visits,
        new_links=brought.new_links,
        watched_seconds=(hub.visited_at or 0.0) - (hub.baseline_at or 0.0),
    )


def _judge(
    behaviours: list[tuple[HubRow, Behaviour, Behaviour]],
) -> list[tuple[HubRow, str | None]]:
    """Return the label that each hub's visits suggest; None = open."""
    # The rarer silence is on a site, the more it counts: on a blog that posts monthly, most tags are silent
    # for a year, yet are lists. Without this 59 quiet tag pages of one recorded blog, and 4 of another,
    # became articles; with it none. Silent seeds and users' hubs get no label: somebody wants them watched.
    lists = [label_of(own) for hub, _, own in behaviours if hub.role == HubRole.LIST]
    silent, brought = lists.count(ARTICLE), lists.count(HUB)
    odds = (silent + 1) / (silent + brought + 2)
    labels: list[tuple[HubRow, str | None]] = []
    for hub, behaviour, own in behaviours:
        label = HUB if label_of(own) == HUB else None
        if hub.role == HubRole.LIST and label_of(behaviour) == ARTICLE:
            prior = min(max(hub.score, 0.01), 0.99)
            hub_like = prior * odds
            label = ARTICLE if hub_like / (hub_like + 1 - prior) < SILENT_PROBABILITY else None
        labels.append((hub, label))
    return labels


def _entry(store: Store, hub: HubRow, label: str, now: float) -> LabelEntry:
    page = store.read.page(hub.page_id)
    return LabelEntry(
        url=hub.url,
        canonical_key=hub.canonical_key,
        label=PageLabel(label),
        origin=LabelOrigin.BEHAVIOUR,
        at=now,
        anchor=page.anchor if page else "",
        site_id=hub.site_id,
    )


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
    active = not refusal(model)
    registry.add(model, use=active)
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
