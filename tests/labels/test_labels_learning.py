"""Once a night the classifier learns what was said, and the crawler that runs uses it."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_web import DAY, HOUR, START, page, watch
from hub_samples import train_small_model

from classifier.hub import LinkEvidence
from classifier.hub.model import read_manifest
from classifier.hub.registry import ModelRegistry
from incremental.learning import MAX_LABELS, POLL_SECONDS, Learner, base_model, lesson, taught_until
from incremental.models import ActiveScorer, list_models
from incremental.urls import identity
from store import Store
from store.values import LabelEntry

BASE = "0001-5a5a5a5a"
DIGEST = LinkEvidence("https://other.example/digest/2024/05/13/digest-77.html")
"""A form of hub that the small model takes for a topic page."""


def digests(
    count: int, *, first: int = 0, at: float = START, label: str = "hub"
) -> list[LabelEntry]:
    """A user's labels of such pages."""
    urls = [
        f"https://odd{n}.example/digest/2024/05/1{n % 10}/digest-{n}.html"
        for n in range(first, first + count)
    ]
    return [LabelEntry(url, identity(url), label, "user", at) for url in urls]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A registry whose active model was trained in full."""
    folder = tmp_path / "models"
    ModelRegistry(folder).add(train_small_model())
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
    scorer = ActiveScorer(root)
    assert next(iter(scorer.score([DIGEST]))) < 0.5
    sqlite_store.write.put_labels(digests(20))
    assert learner(sqlite_store, root).step(START) == START + DAY
    assert scorer.version == active(root) != BASE
    assert next(iter(scorer.score([DIGEST]))) > 0.5


def test_the_crawler_that_runs_takes_it_up(tmp_path: Path, root: Path) -> None:
    home, old, new = (
        "https://other.example/",
        "/digest/2024/05/13/digest-7.html",
        "/digest/2024/06/14/digest-8.html",
    )
    links = [(0, page(old)), (START + DAY, page(old, new))]
    pages = {home: links, home[:-1] + old: page("/a.html"), home[:-1] + new: page("/b.html")}
    with watch(tmp_path, pages, home, scorer=ActiveScorer(root)) as crawl:
        crawl.run(HOUR)
        assert [
            hub.role for hub in crawl.store.read.hubs() if hub.kind == "html" and hub.role == "list"
        ] == []
        crawl.store.write.put_labels(digests(20))
        learner(crawl.store, root).step(crawl.clock.now())
        crawl.run(2 * DAY)
        assert [why.url for why in crawl.store.read.hubs() if why.role == "list"] == [
            home[:-1] + new
        ]


def test_rolling_back_returns_to_the_version_before(sqlite_store: Store, root: Path) -> None:
    sqlite_store.write.put_labels(digests(20))
    learner(sqlite_store, root).step(START)
    scorer = ActiveScorer(root)
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
    assert taught_until(root) == START + 2


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
    """What was said of one form is contradictory, so nothing can be learned from it."""
    caplog.set_level(logging.INFO)
    known = [f"https://site{n}.example/news/2024/01/10/new-river-opens-{n}.html" for n in range(20)]
    labels = ["hub" if n % 4 == 0 else "topic" for n in range(20)]
    entries = [
        LabelEntry(u, identity(u), word, "user", START)
        for u, word in zip(known, labels, strict=True)
    ]
    sqlite_store.write.put_labels(entries)
    nightly = learner(sqlite_store, root)
    nightly.step(START)
    nightly.step(START + DAY)
    assert len(list_models(root)) == 3  # the shipped one, the base, and the one attempt
    assert ("kept aside" in caplog.text) is (active(root) == BASE)


def test_the_lesson_holds_users_labels_before_the_latest_others() -> None:
    mine = digests(5)
    others = [
        LabelEntry(f"https://x.example/{n}", f"//x.example/{n}", "hub", "behaviour", START + n)
        for n in range(MAX_LABELS)
    ]
    chosen = lesson(others + mine)
    assert len(chosen) == MAX_LABELS
    assert set(mine) <= set(chosen)
    assert others[4] not in chosen


# --- what can go wrong ------------------------------------------------------------------------


def test_a_damaged_version_leaves_the_present_one_in_use_and_says_why(
    root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scorer = ActiveScorer(root)
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
    assert ActiveScorer(root).version


def test_a_lesson_under_way_is_waited_for_and_not_begun_twice(
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


def test_it_learns_in_a_thread_of_its_own_unless_told_otherwise(
    sqlite_store: Store, root: Path
) -> None:
    sqlite_store.write.put_labels(digests(20))
    nightly = Learner(sqlite_store, root, 20)
    assert nightly.step(START) == START + POLL_SECONDS
    while active(root) == BASE:
        nightly.step(START + 1)
    assert active(root) != BASE


def test_without_a_registry_the_shipped_model_is_used_and_listed(tmp_path: Path) -> None:
    (row,) = list_models(tmp_path / "models")
    assert (row["active"], row["origin"], row["problem"]) == (True, "shipped", "")
    assert ActiveScorer(tmp_path / "models").version == row["version"]
    assert not (tmp_path / "models").exists()
