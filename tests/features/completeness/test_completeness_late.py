"""A page that was found late has one cause, and the cause says what would help."""

from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, FakeWeb, Reply, Watch, feed, page
from lab.clocks import SimulatedClock

from incremental.base.texts import Words
from incremental.features.completeness.keeping import Keeper
from incremental.features.completeness.showing import History, Late, cause_of, of_site

DATED, SEEN = 0.0, 30 * HOUR


@pytest.mark.parametrize(
    ("found_at", "baseline_at", "visits", "cause"),
    [
        (70 * HOUR, -DAY, ["fetched"], Late.HELD_BACK),
        (31 * HOUR, -DAY, ["robots_denied", "robots_denied"], Late.ROBOTS),
        (31 * HOUR, -DAY, ["blocked"], Late.BLOCKED),
        (31 * HOUR, None, [], Late.UNWATCHED),
        (31 * HOUR, HOUR, ["fetched"], Late.UNWATCHED),
        (31 * HOUR, -DAY, ["timed_out", "not_modified"], Late.SHOWN_LATER),
        (31 * HOUR, -DAY, ["timed_out", "blocked"], Late.UNREADABLE),
        (31 * HOUR, -DAY, [], Late.NOT_VISITED),
    ],
)
def test_the_first_cause_that_holds_counts(
    found_at: float, baseline_at: float | None, visits: list[str], cause: Late
) -> None:
    assert cause_of(History(DATED, SEEN, found_at, baseline_at, visits)) is cause


def test_a_list_that_was_replaced_and_a_topic_that_refused_come_before_other_causes() -> None:
    passed = History(DATED, SEEN, 31 * HOUR, None, [], overflowed=True)
    assert cause_of(passed) is Late.SCROLLED_OFF
    assert cause_of(replace(passed, found_at=70 * HOUR)) is Late.HELD_BACK
    assert cause_of(replace(passed, found_at=70 * HOUR, refused=True)) is Late.OFF_TOPIC


HOME = "https://news.example/"
OUTAGE = (10 * DAY, 12 * DAY)


def outage(answers: Reply) -> dict[str, Any]:
    """A story a day; the list *answers* so for two days."""

    def written(n: int) -> str:
        date = datetime.fromtimestamp(START + (n - 10) * DAY, UTC).isoformat()
        dated = f'<meta property="article:published_time" content="{date}">'
        return page(title=f"Story {n}", text=f"Story {n} says much. " * 40, head=dated)

    def home(now: float) -> Any:
        if OUTAGE[0] <= now - START < OUTAGE[1]:
            return answers
        last = int((now - START) // DAY) + 10
        return page(*(f"/story-{n}.html" for n in range(last, last - 10, -1)), title="News")

    return {HOME: home, **{f"{HOME}story-{n}.html": written(n) for n in range(40)}}


@pytest.mark.parametrize(
    ("code", "cause", "why", "chinese"),
    [
        (503, Late.UNREADABLE, "could not be read in between", "当时无法读取"),
        (403, Late.BLOCKED, "another page that lists the same", "被网站拒绝访问"),
    ],
)
def test_stories_of_an_outage_are_misses_because_their_list_could_not_be_read(
    tmp_path: Path, code: int, cause: Late, why: str, chinese: str
) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), outage(Reply(b"", code))), HOME)
    watch.run(15 * DAY)
    said = of_site(watch.store, 1, "news.example", watch.clock.now())
    Keeper(watch.store).step(watch.clock.now())
    kept = watch.store.completeness.causes()
    watch.store.close()
    assert {one.cause for one in said.late} == {cause}
    assert kept == {1: {cause: said.missed}}
    assert said.missed == len(said.late) > 0
    assert why in said.late[0].says
    assert chinese in Words("zh").said(said.says)


def test_what_a_new_list_shows_of_last_week_was_missed(tmp_path: Path) -> None:
    """The menu names the list of sport a week after the site was added; five stories were on it by then."""

    def written(n: int) -> str:
        date = datetime.fromtimestamp(START + n * DAY + HOUR, UTC).isoformat()
        dated = f'<meta property="article:published_time" content="{date}">'
        return page(title=f"Match {n}", text=f"Match {n} was lost again. " * 40, head=dated)

    def entries(now: float) -> Reply:
        last = int((now - START) // DAY)
        dates = [formatdate(START + n * DAY + HOUR) for n in range(last)]
        return feed(*((f"{HOME}sport/match-{n}.html", dates[n]) for n in range(last)))

    def home(now: float) -> str:
        menu = f'<link rel="alternate" type="application/rss+xml" href="{HOME}sport.xml">'
        return page("/about.html", title="News", head=menu if now - START > 7 * DAY else "")

    site: dict[str, Any] = {HOME: home, f"{HOME}sport.xml": entries}
    site |= {f"{HOME}sport/match-{n}.html": written(n) for n in range(20)}
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), site), HOME)
    watch.run(10 * DAY)
    said = of_site(watch.store, 1, "news.example", watch.clock.now())
    watch.store.close()
    assert {one.cause for one in said.late} == {Late.UNWATCHED}
    assert said.missed >= 5
    assert "was not watched yet; it is now" in said.late[0].says


def test_what_was_published_before_anybody_watched_is_no_miss(tmp_path: Path) -> None:
    """A site shows on its third day a story that it dates to the day before it was added."""

    def written(n: int) -> str:
        date = datetime.fromtimestamp(START - n * DAY, UTC).isoformat()
        dated = f'<meta property="article:published_time" content="{date}">'
        return page(title=f"Story {n}", text=f"Story {n} says much. " * 40, head=dated)

    def home(now: float) -> str:
        first = 1 if now - START > 3 * DAY else 2
        return page(*(f"/story-{n}.html" for n in range(first, 12)), title="News")

    site: dict[str, Any] = {HOME: home, **{f"{HOME}story-{n}.html": written(n) for n in range(12)}}
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), site), HOME)
    watch.run(5 * DAY)
    said = of_site(watch.store, 1, "news.example", watch.clock.now())
    watch.store.close()
    assert (said.pages, said.missed, said.late) == (1, 0, [])
