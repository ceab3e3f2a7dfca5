"""After a pause nothing that is still on a watched list is lost: the daemon was down, or suspended.

A feed and a home page of forty, four sections of thirty that are covered by them. Seventy articles come
while nobody looks: thirty of them are on the sections alone.
"""

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, HOUR, MINUTE, START, FakeWeb, Reply, Watch, feed, page
from lab.clocks import SimulatedClock

from incremental.crawl.overflows import Overflows
from incremental.decide.decision import Decision
from incremental.settings import RevisitSettings, Settings

HOME = "https://news.example/"
SECTIONS = ("city", "sport", "science", "arts")
WATCHED_DAYS = 9.0
PAUSES = (6 * HOUR, 3 * DAY, 30 * DAY)
CAME = 70
SHOWN, SHOWN_IN_SECTION = 40, 30
RUNS = range(10)
CATCH_UP = 3 * HOUR
"""Until then all is to be found: a day later it has scrolled off the sections as well."""


@dataclass
class Magazine:
    """A site whose articles each stand in one section, newest first, and on the front while they are new."""

    articles: list[tuple[float, float, str]] = field(default_factory=list)
    """When each came, how it is dated, its path."""

    def add(self, came: float, section: str, dated: float | None = None) -> str:
        path = f"/{section}/story-{len(self.articles)}.html"
        self.articles.append((came, came if dated is None else dated, path))
        return path

    def shown(self, now: float, section: str = "") -> list[tuple[float, str]]:
        there = ((dated, path) for came, dated, path in self.articles if came <= now)
        newest = sorted((one for one in there if section in one[1]), reverse=True)
        return newest[: SHOWN_IN_SECTION if section else SHOWN]

    def home(self, now: float) -> str:
        head = '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
        sections = [f"/{name}/" for name in SECTIONS]
        return page(*sections, *(path for _, path in self.shown(now)), head=head)

    def feed(self, now: float) -> Reply:
        items = self.shown(now)
        return feed(*((HOME + path[1:], formatdate(dated, usegmt=True)) for dated, path in items))

    def section(self, name: str) -> Callable[[float], str]:
        return lambda now: page(*(path for _, path in self.shown(now, f"/{name}/")))

    def pages(self) -> dict[str, Any]:
        lists = {HOME + name + "/": self.section(name) for name in SECTIONS}
        return {HOME: self.home, HOME + "feed.xml": self.feed, **lists}


def before_the_pause() -> Magazine:
    """Return a magazine with forty old articles in each section, and one more every two hours."""
    magazine, chance = Magazine(), random.Random(0)
    for number in range(40 * len(SECTIONS)):
        magazine.add(START - (200 - number) * HOUR, SECTIONS[number % len(SECTIONS)])
    for number in range(int(WATCHED_DAYS * 12) + 1):
        magazine.add(START + number * 2 * HOUR, chance.choice(SECTIONS))
    return magazine


def in_the_pause(magazine: Magazine, seed: int, since: float, until: float) -> list[str]:
    """Let articles come in any sections and order, some dated back a little; return their paths."""
    chance = random.Random(seed)
    weights = [chance.uniform(0.7, 1.0) for _ in SECTIONS]
    room = dict.fromkeys(SECTIONS, 24)
    paths = []
    for came in sorted(chance.uniform(since + 60, until - 60) for _ in range(CAME)):
        section = chance.choice(
            [name for name in chance.choices(SECTIONS, weights, k=9) if room[name]]
        )
        room[section] -= 1
        dated = came - chance.uniform(0, 6 * HOUR) if chance.random() < 0.2 else came
        paths.append(magazine.add(came, section, dated))
    return paths


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """Watch the magazine for days; return the store's folder and the time."""
    folder = tmp_path_factory.mktemp("watched")
    web = FakeWeb(SimulatedClock(START), before_the_pause().pages())
    with Watch(folder, web, HOME, settings=Settings()) as crawl:
        crawl.run(WATCHED_DAYS * DAY)
        covered = next(iter(crawl.crawler.frontier.watched)).coverage.covered
        is_covered = {h.url: h.page_id in covered for h in crawl.store.read.hubs()}
        assert all(is_covered[HOME + name + "/"] for name in SECTIONS)
        assert not (is_covered[HOME] and is_covered[HOME + "feed.xml"])
    return folder, web.clock.now()


@dataclass
class Pause:
    """One run: the pause that it is about, and what came in it."""

    crawl: Watch
    came: list[str]

    def lost(self) -> set[str]:
        return set(self.came) - set(self.crawl.new())


@contextmanager
def after_a_pause(
    watched: tuple[Path, float], folder: Path, seed: int, seconds: float, *, restart: bool
) -> Iterator[Pause]:
    """Go on with a copy of the store, pause, and go on again for some hours."""
    shutil.copytree(watched[0], folder)
    magazine = before_the_pause()
    web = FakeWeb(SimulatedClock(watched[1]), magazine.pages())
    crawl = Watch(folder, web, settings=Settings())
    # Some hours before the pause, so that what is kept in memory alone is there too.
    crawl.run((seed % 5) * HOUR + 1)
    since = web.clock.now()
    came = in_the_pause(magazine, seed, since, since + seconds)
    if restart:
        crawl.store.close()
    web.clock.advance_to(since + seconds)
    on_lists = {
        path
        for name in ("", *SECTIONS)
        for _, path in magazine.shown(since + seconds, f"/{name}/" if name else "")
    }
    assert set(came) <= on_lists
    with Watch(folder, web, settings=Settings()) if restart else crawl as crawl:
        yield Pause(crawl.run(CATCH_UP), came)


@pytest.mark.parametrize("seed", RUNS)
@pytest.mark.parametrize("restart", [True, False], ids=["restarted", "suspended"])
def test_nothing_that_came_in_a_pause_is_lost(
    watched: tuple[Path, float], tmp_path: Path, seed: int, *, restart: bool
) -> None:
    """Six hours, three days and thirty days, in turn."""
    seconds = PAUSES[seed % len(PAUSES)]
    with after_a_pause(watched, tmp_path / "store", seed, seconds, restart=restart) as run:
        assert run.lost() == set()


@pytest.mark.parametrize("minutes", [2, 15])
def test_a_list_that_overflows_at_two_visits_in_a_row_loses_nothing(
    watched: tuple[Path, float], tmp_path: Path, minutes: int
) -> None:
    """What its second overflow took is on the sections that were read after the first."""
    shutil.copytree(watched[0], tmp_path / "store")
    magazine = before_the_pause()
    since = watched[1]
    web = FakeWeb(SimulatedClock(since), magazine.pages())
    revisit = RevisitSettings(requests_per_day=20_000, min_interval_minutes=minutes)
    settings = msgspec.structs.replace(Settings(), revisit=revisit)
    came = in_the_pause(magazine, 1, since, since + 6 * HOUR)
    web.clock.advance_to(since + 6 * HOUR)
    with Watch(tmp_path / "store", web, settings=settings) as crawl:
        crawl.run(10 * MINUTE)
        now = web.clock.now()
        again = in_the_pause(magazine, 2, now - 59, now + 121)
        there = {path for name in SECTIONS for _, path in magazine.shown(now + 121, f"/{name}/")}
        # What is dated back far enough is on no list, and never was.
        came += [path for path in again if path in there]
        crawl.run(CATCH_UP)
        assert Pause(crawl, came).lost() == set()


def test_killed_before_what_an_overflow_asks_for_was_queued_nothing_is_lost(
    watched: tuple[Path, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class KilledError(BaseException):
        pass

    def die(_: Overflows, decision: Decision, *__: object) -> None:
        if decision.record.overflow:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Overflows, "settle", die)
        with (
            pytest.raises(KilledError),
            after_a_pause(watched, tmp_path / "store", 1, 6 * HOUR, restart=True) as run,
        ):
            pass
    magazine = before_the_pause()
    since = watched[1] + HOUR + 1
    came = in_the_pause(magazine, 1, since, since + 6 * HOUR)
    web = FakeWeb(SimulatedClock(since + 7 * HOUR), magazine.pages())
    with Watch(tmp_path / "store", web, settings=Settings()) as crawl:
        run = Pause(crawl.run(CATCH_UP), came)
        assert run.lost() == set()
