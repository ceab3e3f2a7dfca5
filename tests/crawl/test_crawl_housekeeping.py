"""Housekeeping keeps a store in bounds, in small pieces, and says what it did."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from stories import DAY, HOME, START, announced_pages, news_site, seen, visit_of

from incremental.daemon.housekeeping import Housekeeping, ages, last_done
from incremental.interfaces.results.schema import result_of
from incremental.interfaces.results.status import Housekept
from incremental.settings import Settings
from store import Store
from store.maintenance.retention import Kind
from store.values import ReadText

NOW = START + 500 * DAY


def settings(**store: Any) -> Settings:
    return msgspec.convert({"store": store}, Settings)


def keep_house(store: Store, now: float = NOW, **terms: Any) -> int:
    """Run all pieces; return how many."""
    house = Housekeeping(store, settings(**terms))
    count = 1
    while (again := house.step(now)) < now + DAY:
        assert again <= now + 1
        count += 1
    return count


def write(store: Store, days: int, *, each: int = 20, body: int = 20_000) -> None:
    """Announce a few pages a day, each with a text and a body."""
    site, home = news_site(store)
    for day in range(days):
        at = NOW - (days - day) * DAY
        paths = [f"{HOME}{day}/{number}" for number in range(each)]
        links = [seen(url, fate="announce") for url in paths]
        for page in store.write.visit(visit_of(site, home, at, *links)):
            words = " ".join(f"{page * 7919 % (number + 11)}x{number}" for number in range(400))
            text = ReadText("Title", words, "a" * 32, signature=os.urandom(120))
            store.write.visit(visit_of(site, page, at + 1, links=None, text=text))
        store.cache.put(paths[0], os.urandom(body))
        for file in store.cache_folder.rglob("*.*"):
            if file.stat().st_mtime > NOW:
                os.utime(file, (at, at))


def test_every_kind_has_an_age(store: Store) -> None:
    assert set(ages(Settings())) == set(Kind)
    assert keep_house(store) > len(Kind)


def test_what_is_older_than_its_setting_is_forgotten(store: Store) -> None:
    write(store, 10, each=2)
    keep_house(store, text_days=8, visit_log_days=7, sighting_days=7)
    done = last_done(store)
    assert done is not None
    assert (done.forgotten["texts"], done.at) == (4, NOW)
    assert done.forgotten["visits"] >= 6
    assert len(announced_pages(store)) == 20


def test_an_error_in_a_piece_does_not_stop_the_next_day(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = Housekeeping(store, Settings())
    with monkeypatch.context() as broken:
        broken.setattr(store.answers, "named_bodies", lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            house.step(NOW)
    while house.step(NOW) < NOW + DAY:
        pass
    assert last_done(store) is not None


def test_a_store_above_its_budget_forgets_the_oldest_until_it_fits(store: Store) -> None:
    write(store, 24, body=50_000)
    # PostgreSQL would do this by itself at any moment, and moves words to larger parts of the index.
    store.space.compact()
    whole = store.space.used_bytes() + store.cache.size_bytes()
    bodies = store.cache.size_bytes()
    budget = (whole - bodies // 2) / 1e6
    # Bodies go first, the oldest of them.
    keep_house(store, size_budget_mb=budget)
    done = last_done(store)
    assert done is not None
    assert done.excess_bytes == 0
    assert 0 < done.forgotten["bodies"] < 24
    assert not done.forgotten["texts"]
    left = [file.stat().st_mtime for file in store.cache_folder.rglob("*.*")]
    assert min(left) >= NOW - (24 - done.forgotten["bodies"]) * DAY
    # Then texts.
    keep_house(store, size_budget_mb=(whole - bodies) * 0.9 / 1e6)
    done = last_done(store)
    assert done is not None
    assert done.forgotten["texts"] > 0
    assert done.excess_bytes == 0
    assert len(announced_pages(store)) == 24 * 20


def test_a_budget_that_is_met_forgets_no_more_the_next_day(store: Store) -> None:
    """PostgreSQL's files do not shrink when rows go; that is no reason to forget the rest."""
    write(store, 24, body=1)
    budget = store.space.used_bytes() * 0.8 / 1e6
    keep_house(store, size_budget_mb=budget)
    first = last_done(store)
    assert first is not None
    assert first.forgotten["texts"] > 0
    keep_house(store, NOW + 1, size_budget_mb=budget * 1.02)
    second = last_done(store)
    assert second is not None
    assert sum(second.forgotten.values()) < 0.2 * sum(first.forgotten.values())


def test_a_budget_that_cannot_be_met_is_said_once(
    sqlite_store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    write(sqlite_store, 3)
    caplog.set_level(logging.WARNING, "hubwatch.housekeeping")
    for _ in range(3):
        keep_house(sqlite_store, size_budget_mb=0.01)
    assert [record.message[:40] for record in caplog.records] == [
        "database and page cache exceed [store] s"
    ]
    done = last_done(sqlite_store)
    assert done is not None
    assert "too large" in result_of(Housekept, done).space_in_words()
    assert len(announced_pages(sqlite_store, text="x1")) == 0
    keep_house(sqlite_store, size_budget_mb=500)
    keep_house(sqlite_store, size_budget_mb=0.01)
    assert len(caplog.records) == 2


def test_free_pages_go_back_to_the_file_system(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.maintenance.space.SLACK_PAGES", 50)
    write(sqlite_store, 30)
    file = tmp_path / "hubwatch.sqlite"
    keep_house(sqlite_store)
    before = file.stat().st_size
    keep_house(sqlite_store, text_days=7, visit_log_days=7)
    assert file.stat().st_size < 0.75 * before
    assert file.with_name("hubwatch.sqlite-wal").stat().st_size < 10_000


def test_a_store_levels_off(sqlite_store: Store) -> None:
    """What stays of a day is a small part of what the day brought."""
    write(sqlite_store, 10)
    keep_house(sqlite_store, text_days=7, visit_log_days=7, sighting_days=7)
    first = sqlite_store.space.used_bytes()
    site, home = sqlite_store.read.sites()[0].id, sqlite_store.read.hubs()[0].page_id
    for day in range(30):
        at = NOW + day * DAY
        links = [seen(f"{HOME}later/{day}/{number}", fate="announce") for number in range(20)]
        for page in sqlite_store.write.visit(visit_of(site, home, at, *links)):
            text = ReadText("Title", " ".join(f"{page}w{n}" for n in range(400)), "a" * 32)
            sqlite_store.write.visit(visit_of(site, page, at + 1, links=None, text=text))
        keep_house(sqlite_store, at, text_days=7, visit_log_days=7, sighting_days=7)
    per_page = (sqlite_store.space.used_bytes() - first) / 600
    assert per_page < 4_000
