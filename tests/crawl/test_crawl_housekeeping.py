"""Housekeeping keeps a store in bounds, in small pieces, and says what it did."""

import os
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from stories import DAY, HOME, START, announced_pages, news_site, seen, visit_of

from incremental.daemon.housekeeping import Housekeeping, ages, last_done
from incremental.settings import Settings
from store import Store
from store.maintenance.retention import Kind
from store.models import ALL
from store.values import ReadText

ROOT = Path(__file__).resolve().parents[2]
NOW = START + 500 * DAY


def settings(**store: Any) -> Settings:
    return msgspec.convert({"store": store}, Settings)


def _used(store: Store) -> int:
    used = store.space.size().used_bytes
    assert used is not None
    return used


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
    first = _used(sqlite_store)
    site, home = sqlite_store.read.sites()[0].id, sqlite_store.read.hubs()[0].page_id
    for day in range(30):
        at = NOW + day * DAY
        links = [seen(f"{HOME}later/{day}/{number}", fate="announce") for number in range(20)]
        for page in sqlite_store.write.visit(visit_of(site, home, at, *links)):
            text = ReadText("Title", " ".join(f"{page}w{n}" for n in range(400)), "a" * 32)
            sqlite_store.write.visit(visit_of(site, page, at + 1, links=None, text=text))
        keep_house(sqlite_store, at, text_days=7, visit_log_days=7, sighting_days=7)
    per_page = (_used(sqlite_store) - first) / 600
    assert per_page < 4_000


def test_the_document_names_every_table() -> None:
    text = (ROOT / "docs" / "retention.md").read_text(encoding="utf-8")
    listed = text.partition("## Every table")[2].partition("\n## ")[0]
    cells = "".join(line.split("|")[1] for line in listed.splitlines() if line.startswith("| `"))
    tables = {model._meta.table_name for model in ALL} | {"news_words"}
    assert set(re.findall(r"`(\w+)`", cells)) == tables


def test_the_document_names_the_settings_with_their_defaults() -> None:
    text = (ROOT / "docs" / "retention.md").read_text(encoding="utf-8")
    listed = text.partition("## Giving space back")[0]
    named = re.findall(r"^\| `(\w+)` \| ([\d,]+)", listed, re.MULTILINE)
    assert len(named) == 6
    for name, value in named:
        assert getattr(Settings().store, name) == float(value.replace(",", "")), name
