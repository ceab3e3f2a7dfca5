"""Killed at any instant, a store has every visit whole or not at all; two processes share one."""

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from recording import SHOWN, STEP, record
from stories import HOME, START, announced_pages, news_site, seen, visit_of

from store import Store, open_store
from store.answers import NewQuery

ROOT = Path(__file__).resolve().parents[2]


def start_recording(where: str, cache: Path, first: int, last: int) -> subprocess.Popen[str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    program = Path(__file__).with_name("recording.py")
    return subprocess.Popen(
        [sys.executable, str(program), where, str(cache), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": paths},
    )


def kill_after(process: subprocess.Popen[str], visits: int) -> int:
    """Kill without warning once *visits* are reported; return the last that was reported at all."""
    assert process.stdout is not None
    with process.stdout as lines:
        reported = [int(lines.readline()) for _ in range(visits)]
        process.kill()
        reported += [int(line) for line in lines if line.endswith("\n")]
    process.wait()
    return reported[-1]


def check(store: Store, committed: int) -> int:
    """Every visit is whole: its pages announced, each once. Returns the number of the last visit."""
    announced = Counter(page.url for page in announced_pages(store, limit=99_999))
    visits = store.read.visits(store.read.hubs()[0].page_id, limit=9_999)
    last: int = round(visits[0]["at"] - START)
    assert last >= committed
    assert set(announced.values()) == {1}
    assert set(announced) == {f"{HOME}{page}" for page in range(last * STEP + SHOWN)}
    older = Counter(page.url for page in store.backfills.all_pages(NewQuery()))
    assert set(older.values()) == {1}
    assert set(older) == {f"{HOME}2007/{page}" for page in range(last * STEP + SHOWN)}
    events = store.backfills.events(NewQuery(limit=1_000))
    assert len(events) == 1_000 or sum(event.pages for event in events) == len(older)
    return last


def test_a_killed_process_loses_no_visit_and_announces_nothing_twice(
    where: str, tmp_path: Path
) -> None:
    """SIGKILL twice at random moments; each time another process goes on from there."""
    first = 0
    for visits in random.sample(range(1, 20), 2):
        process = start_recording(where, tmp_path, first, 99_999)
        committed = kill_after(process, visits)
        with open_store(where, cache_folder=tmp_path) as store:
            first = check(store, committed)
            record(store, first)
            assert check(store, committed) == first


@pytest.mark.parametrize("empty", [False, True])
def test_two_processes_take_turns_at_writing(
    sqlite_store: Store, tmp_path: Path, *, empty: bool
) -> None:
    """A visit that begins by reading is not refused because the other process wrote meanwhile."""
    where = str(tmp_path / "hubwatch.sqlite")
    site, home = news_site(sqlite_store)
    process = start_recording(where, tmp_path, 0, 30)
    assert process.stdout is not None
    with process.stdout as lines:
        count = 0
        for count, _ in enumerate(lines, 1):
            links = () if empty else (seen(f"{HOME}mine/{count}"),)
            sqlite_store.write.visit(visit_of(site, home, START, *links))
    assert process.wait() == 0
    assert count == 30
    assert len(sqlite_store.read.visits(home, limit=999)) == 60


def test_a_reader_sees_the_last_visit_while_the_next_is_written(
    sqlite_store: Store, tmp_path: Path
) -> None:
    site, home = news_site(sqlite_store)
    where = str(tmp_path / "hubwatch.sqlite")
    with open_store(where, cache_folder=tmp_path) as reader:
        with sqlite_store.database.atomic("IMMEDIATE"):
            sqlite_store.write.update_site(site, origin="{1}")
            assert [row.origin for row in reader.read.sites()] == ["{}"]
            assert reader.read.visible(home) == set()
        assert [row.origin for row in reader.read.sites()] == ["{1}"]
