"""The daemon looks for further sites once a night, within its budget, and trouble stops nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from stories import DAY, START

from classifier.hub import ModelError
from incremental.base.errors import InputError
from incremental.features.discovery.exploration import Find, Round
from incremental.features.discovery.nightly_discovery import NightlyDiscovery
from store import Store
from store.enums import TopicState
from store.errors import StoreLockedError
from store.topics.values import TopicRow

FIND = Find("http://a.example/", "forward", "", 1)


class Runs:
    """Stands in for what looks; knows for whom it was asked, and how far it may go."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []
        self.bug = False

    @contextmanager
    def make(self, topic: TopicRow) -> Iterator[Any]:
        if topic.name == "broken":
            raise InputError("topic", topic.name, "has no page")
        if topic.name == "modelless":
            raise ModelError(Path("models/x"), "a file is missing")
        self.name = topic.name
        yield self

    def run(self, *, rounds: int, pages: int, progress: Any, stop: Any) -> Any:
        assert rounds > 0
        assert progress is not None
        assert not stop()
        if self.bug:
            raise ZeroDivisionError
        self.asked.append((self.name, pages))
        return type("Run", (), {"why": "done"})


def night(store: Store, runs: Runs) -> NightlyDiscovery:
    return NightlyDiscovery(store, 30, runs.make, start=lambda work: work())


def ready(store: Store, *names: str) -> None:
    for name in names:
        store.topics.update(
            store.topics.add(name, ["x"], "fused", now=START), state=TopicState.READY
        )


def test_each_ready_topic_has_its_round_once_a_day(sqlite_store: Store) -> None:
    ready(sqlite_store, "bridges", "rivers")
    sqlite_store.topics.add("waiting", ["x"], "fused", now=START)
    runs = Runs()
    nightly = night(sqlite_store, runs)
    for hour in range(50):
        nightly.step(START + hour * 3600)
    assert runs.asked == [("bridges", 30), ("rivers", 30)] * 2


def test_nothing_is_looked_for_right_after_a_start(sqlite_store: Store) -> None:
    ready(sqlite_store, "bridges")
    runs = Runs()
    night(sqlite_store, runs).step(START)
    assert runs.asked == []


def test_a_daemon_that_is_begun_again_every_morning_has_its_nights(sqlite_store: Store) -> None:
    ready(sqlite_store, "bridges")
    runs = Runs()
    for hours in (2, 26):
        night(sqlite_store, runs).step(START + hours * 3600)
    assert runs.asked == [("bridges", 30)]
    (topic,) = sqlite_store.topics.topics()
    sqlite_store.discovery.begin(topic.id, rounds=1, pages=30, now=START + 26 * 3600)
    night(sqlite_store, runs).step(START + 27 * 3600)
    assert len(runs.asked) == 1


def test_a_night_ends_with_its_own_pages(sqlite_store: Store) -> None:
    """Whatever the run that it takes up may read."""

    class LongRun(Runs):
        def run(self, *, progress: Any, stop: Any, **_: Any) -> Any:
            while not stop():
                self.asked.append((self.name, 20))
                progress(None, Round(1, "forward", {}, 20, (FIND,) * 20, 1.0), 0)
            return type("Run", (), {"why": ""})

    ready(sqlite_store, "bridges")
    runs = LongRun()
    night(sqlite_store, runs).step(START + DAY)
    assert len(runs.asked) == 2


def test_a_topic_in_trouble_leaves_the_others_alone(sqlite_store: Store) -> None:
    ready(sqlite_store, "broken", "modelless", "rivers")
    runs = Runs()
    nightly = night(sqlite_store, runs)
    nightly.step(START)
    nightly.step(START + DAY)
    assert runs.asked == [("rivers", 30)]


def test_a_bug_is_raised_until_the_next_night_so_that_status_shows_it(sqlite_store: Store) -> None:
    ready(sqlite_store, "bridges")
    runs = Runs()
    runs.bug = True
    nightly = night(sqlite_store, runs)
    nightly.step(START)
    for hour in (25, 30):
        with pytest.raises(ZeroDivisionError):
            nightly.step(START + hour * 3600)
    runs.bug = False
    nightly.step(START + 50 * 3600)
    assert runs.asked == [("bridges", 30)]


def test_a_store_that_is_lost_in_the_night_is_no_bug(sqlite_store: Store) -> None:
    """The daemon waits for it elsewhere; raising it here for a day would end nothing but its work."""
    ready(sqlite_store, "bridges")

    class Losing(Runs):
        def run(self, **_: Any) -> Any:
            raise StoreLockedError("held by another process")

    nightly = night(sqlite_store, Losing())
    nightly.step(START)
    nightly.step(START + 25 * 3600)
    nightly.step(START + 26 * 3600)
