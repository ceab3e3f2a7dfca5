"""Once a night the classifier learns what was said, and the crawler that runs uses it."""

import logging
import shutil
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parents[1] / "classifier"))  # for its samples

from fake_web import DAY, HOUR, START, page, watch
from hub_samples import train_small_model
from lab.clocks import FastClock

from classifier.hub import LinkEvidence
from classifier.hub.model import read_manifest
from classifier.hub.registry import ActiveClassifier, ModelRegistry
from classifier.hub.updating import folds_of
from incremental.base.urls import canonical_key, host_of
from incremental.daemon.daemon import Daemon
from incremental.settings import Settings
from incremental.settings.seeds import add_seed
from incremental.topics.training import nightly_training
from incremental.topics.training.model_versions import base_model, list_models
from incremental.topics.training.nightly_training import (
    MAX_LABELS,
    MAX_LABELS_PER_SITE,
    POLL_SECONDS,
    SITES_AT_ONCE,
    SLICE_PAUSE_SECONDS,
    Learner,
    trained_until,
    training_labels,
)
from store import Store
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry

BASE = "0001-5a5a5a5a"
DIGEST = LinkEvidence("https://other.example/digest/2024/05/13/digest-77.html")
"""A form of hub that the small model takes for an article."""


def digests(count: int, *, first: int = 0, at: float = START) -> list[LabelEntry]:
    """A user's labels of such pages."""
    numbers = range(first, first + count)
    urls = [f"https://odd{n}.example/digest/2024/05/1{n % 10}/digest-{n}.html" for n in numbers]
    return [
        LabelEntry(url, canonical_key(url), PageLabel.HUB, LabelOrigin.USER, at) for url in urls
    ]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A registry whose active model was trained in full."""
    folder = tmp_path / "models"
    ModelRegistry(folder).add(train_small_model(), use=True)
    return folder


def at_once(work: Callable[[], None]) -> None:
    work()


def learner(store: Store, root: Path, enough: int = 20) -> Learner:
    return Learner(store, root, enough, start=at_once)


def active(root: Path) -> str:
    return str(ModelRegistry(root).active())


def test_enough_labels_make_a_new_version_that_is_used_at_once(
    sqlite_store: Store, root: Path
) -> None:
    scorer = ActiveClassifier(root)
    assert next(iter(scorer.score([DIGEST]))) < 0.5
    sqlite_store.write.put_labels(digests(20))
    assert learner(sqlite_store, root).step(START) == START + DAY
    assert scorer.version == active(root) != BASE
    assert next(iter(scorer.score([DIGEST]))) > 0.5


def test_the_crawler_that_runs_takes_it_up(tmp_path: Path, root: Path) -> None:
    home = "https://other.example/"
    old, new = (f"{home}digest/2024/0{n}/13/digest-{n}.html" for n in (5, 6))
    pages = {home: [(0, page(old)), (START + DAY, page(old, new))], new: page("/a.html")}
    with watch(tmp_path, pages, home, scorer=ActiveClassifier(root)) as crawl:
        crawl.run(HOUR)
        assert crawl.hub(old) is None
        crawl.store.write.put_labels(digests(20))
        learner(crawl.store, root).step(crawl.clock.now())
        crawl.run(2 * DAY)
        assert crawl.hub(new) is not None


def test_rolling_back_returns_to_the_version_before(sqlite_store: Store, root: Path) -> None:
    sqlite_store.write.put_labels(digests(20))
    learner(sqlite_store, root).step(START)
    scorer = ActiveClassifier(root)
    assert next(iter(scorer.score([DIGEST]))) > 0.5
    assert ModelRegistry(root).rollback() == BASE
    assert (scorer.version, next(iter(scorer.score([DIGEST]))) < 0.5) == (BASE, True)


@pytest.mark.parametrize(("count", "enough"), [(19, 20), (20, 0), (0, 1)])
def test_too_few_labels_or_the_users_no_teach_nothing(
    sqlite_store: Store, root: Path, count: int, enough: int
) -> None:
    sqlite_store.write.put_labels(digests(count))
    assert learner(sqlite_store, root, enough).step(START) == START + DAY
    assert [model.version for model in ModelRegistry(root).models()] == [BASE]


def test_only_what_was_said_since_counts_the_next_night(sqlite_store: Store, root: Path) -> None:
    sqlite_store.write.put_labels(digests(20))
    nightly = learner(sqlite_store, root)
    nightly.step(START)
    sqlite_store.write.put_labels(digests(19, first=20, at=START + 1))
    nightly.step(START + DAY)
    assert len(ModelRegistry(root).models()) == 2
    sqlite_store.write.put_labels(digests(1, first=39, at=START + 2))
    nightly.step(START + 2 * DAY)
    assert len(ModelRegistry(root).models()) == 3
    assert trained_until(root) == START + 2


def test_each_version_learns_all_labels_from_the_model_that_was_trained_in_full(
    sqlite_store: Store, root: Path
) -> None:
    for night in range(2):
        sqlite_store.write.put_labels(digests(20, first=20 * night, at=START + night))
        learner(sqlite_store, root).step(START + night * DAY)
    manifest = read_manifest(root / active(root))
    assert (manifest["metrics"]["update"]["base"], manifest["training"]["update_rows"]) == (
        BASE,
        40,
    )
    assert base_model(root).version == BASE


def test_a_version_that_judges_the_labels_worse_is_kept_aside_and_not_tried_again(
    sqlite_store: Store, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The sites contradict each other: what is learned from some is wrong for the rest."""
    caplog.set_level(logging.INFO)
    entries = digests(20)
    folds = folds_of([host_of(entry.url) for entry in entries], 5)
    words = ["hub" if fold < 2 else "article" for fold in folds]
    pairs = zip(entries, words, strict=True)
    sqlite_store.write.put_labels([replace(entry, label=PageLabel(word)) for entry, word in pairs])
    nightly = learner(sqlite_store, root)
    nightly.step(START)
    nightly.step(START + DAY)
    assert active(root) == BASE
    assert caplog.text.count("not used") == 1


def test_the_training_set_holds_users_labels_before_the_latest_others() -> None:
    mine = digests(5)
    urls = [f"//x{n}.example/" for n in range(MAX_LABELS)]
    others = [
        LabelEntry(f"https:{url}", url, PageLabel.HUB, LabelOrigin.BEHAVIOUR, START + n)
        for n, url in enumerate(urls)
    ]
    chosen = training_labels(others + mine)
    assert len(chosen) == MAX_LABELS
    assert set(mine) <= set(chosen)
    assert others[4] not in chosen


def test_a_site_with_many_tags_is_one_opinion_but_a_user_is_heard_in_full() -> None:
    names = [f"//x.example/{n}" for n in range(40)]
    entries = [
        LabelEntry(
            f"https:{name}",
            name,
            PageLabel.HUB,
            LabelOrigin("user" if n < 20 else "behaviour"),
            START,
        )
        for n, name in enumerate(names)
    ]
    assert len(training_labels(entries)) == 20 + MAX_LABELS_PER_SITE


# --- what can go wrong ------------------------------------------------------------------------


def test_a_damaged_version_leaves_the_present_one_in_use_and_says_why(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scorer = ActiveClassifier(root)
    before = list(scorer.score([DIGEST]))
    shutil.copytree(root / BASE, root / "0002-bbbbbbbb")
    (root / "0002-bbbbbbbb" / "url.svm").write_text("svm_type c_svc\n")
    ModelRegistry(root).use("0002-bbbbbbbb")
    assert [list(scorer.score([DIGEST])) for _ in range(3)] == [before] * 3
    assert scorer.version == BASE
    assert len([r for r in caplog.records if "checksum" in r.message]) == 1


def test_a_damaged_registry_teaches_nothing_and_stops_nobody(
    sqlite_store: Store, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sqlite_store.write.put_labels(digests(20))
    (root / "active.json").write_text("{")
    assert learner(sqlite_store, root).step(START) == START + DAY
    assert "active.json is damaged" in caplog.text
    assert ActiveClassifier(root).version


def test_a_training_under_way_is_waited_for_and_not_begun_twice(
    sqlite_store: Store, root: Path
) -> None:
    begun: list[Callable[[], None]] = []
    sqlite_store.write.put_labels(digests(20))
    nightly = Learner(sqlite_store, root, 20, start=begun.append)
    assert nightly.step(START) == START + POLL_SECONDS
    assert nightly.step(START + 2 * DAY) == START + 2 * DAY + POLL_SECONDS
    (work,) = begun
    work()
    assert nightly.step(START + 2 * DAY + 1) == START + DAY
    assert active(root) != BASE


def test_a_training_with_a_bug_is_raised_until_the_next_night(
    sqlite_store: Store, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that status shows it all day, and it is tried again by itself."""

    def broken(*_: object) -> None:
        raise IndexError("a bug")

    train = nightly_training.train
    monkeypatch.setattr(nightly_training, "train", broken)
    sqlite_store.write.put_labels(digests(20))
    nightly = learner(sqlite_store, root)
    for later in (0, 60, DAY - 1):
        with pytest.raises(IndexError):
            nightly.step(START + later)
    monkeypatch.setattr(nightly_training, "train", train)
    assert nightly.step(START + DAY) == START + 2 * DAY
    assert active(root) != BASE


def test_many_sites_are_looked_at_a_few_in_each_step(sqlite_store: Store, root: Path) -> None:
    """So that rounds go on meanwhile: a daemon that stands still loses its sites to another."""
    for number in range(2 * SITES_AT_ONCE + 1):
        add_seed(sqlite_store, f"https://site{number}.example/", now=START)
    sqlite_store.write.put_labels(digests(20))
    nightly = learner(sqlite_store, root)
    assert nightly.step(START) == START + SLICE_PAUSE_SECONDS
    assert nightly.step(START + 1) == START + 1 + SLICE_PAUSE_SECONDS
    assert active(root) == BASE
    assert nightly.step(START + 2) == START + DAY
    assert active(root) != BASE


def test_it_learns_in_a_thread_of_its_own_unless_asked(sqlite_store: Store, root: Path) -> None:
    sqlite_store.write.put_labels(digests(20))
    nightly = Learner(sqlite_store, root, 20)
    assert nightly.step(START) == START + POLL_SECONDS
    for thread in threading.enumerate():
        if thread.name == "nightly":
            thread.join()
    assert nightly.step(START + POLL_SECONDS) == START + DAY
    assert active(root) != BASE


def test_without_a_registry_the_shipped_model_is_used_and_listed(tmp_path: Path) -> None:
    (row,) = list_models(tmp_path / "models")
    assert (row.active, row.origin, row.problem) == (True, "shipped", "")
    assert ActiveClassifier(tmp_path / "models").version == row.version
    assert not (tmp_path / "models").exists()


class Straw:
    """A crawler with nothing to do."""

    idle = True
    visits = (0, 0)

    def __init__(self) -> None:
        self.frontier = self

    def load(self, _now: float) -> None:
        """Load nothing."""

    def drain(self, _now: float) -> None:
        """Drain nothing."""

    def catch_up(self, _now: float) -> bool:
        return False

    def is_due(self, _now: float, _patience_seconds: float) -> bool:
        return False

    def step(self, now: float, _when_done: object) -> float:
        return now + DAY


def test_the_daemon_repeats_the_step_when_it_asks_for_it(sqlite_store: Store) -> None:
    asked: list[float] = []
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def learn(now: float) -> float:
        asked.append(now)
        if len(asked) == 3:
            daemon.stop()
        return now + 60

    straw: Any = Straw()
    clock = FastClock(1000.0)
    daemon = Daemon(
        lambda _gate: straw, sqlite_store, Settings(), clock, once=False, jobs={"learning": learn}
    )
    daemon.run()
    for number, handler in handlers.items():
        signal.signal(number, handler)
    assert len(asked) >= 3
    # The scheduler counts whole microseconds of the machine's clock: milliseconds of this one.
    # The stop that the third step asks for may call it once more, at once.
    assert all(later - before > 59.9 for before, later in pairwise(asked[:3]))


def test_a_clock_that_was_a_month_ahead_does_not_put_training_off(
    sqlite_store: Store, tmp_path: Path
) -> None:
    nightly = Learner(sqlite_store, tmp_path, 20, start=lambda _: None)
    assert nightly.step(START + 30 * DAY) == START + 31 * DAY
    assert nightly.step(START) == START + DAY
    assert nightly.step(START + DAY) == START + 2 * DAY
