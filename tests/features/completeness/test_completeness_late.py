"""A page that was found late has one cause, and the cause says what would help."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, FakeWeb, Reply, Watch, page

from incremental.base.clock import SimulatedClock
from incremental.base.texts import Words
from incremental.features.completeness.late import Late, cause_of
from incremental.features.completeness.showing import of_site

DATED, SEEN = 0.0, 30 * HOUR


@pytest.mark.parametrize(
    ("found_at", "baseline_at", "visits", "cause"),
    [
        (70 * HOUR, -DAY, ["fetched"], Late.HELD_BACK),
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
    assert cause_of(DATED, SEEN, found_at, baseline_at, visits) is cause


HOME = "https://news.example/"
OUTAGE = (10 * DAY, 12 * DAY)


def outage() -> dict[str, Any]:
    """A story a day; the server of the list is down for two days."""

    def written(n: int) -> str:
        date = datetime.fromtimestamp(START + (n - 10) * DAY, UTC).isoformat()
        dated = f'<meta property="article:published_time" content="{date}">'
        return page(title=f"Story {n}", text=f"Story {n} says much. " * 40, head=dated)

    def home(now: float) -> Any:
        if OUTAGE[0] <= now - START < OUTAGE[1]:
            return Reply(b"", 503)
        last = int((now - START) // DAY) + 10
        return page(*(f"/story-{n}.html" for n in range(last, last - 10, -1)), title="News")

    return {HOME: home, **{f"{HOME}story-{n}.html": written(n) for n in range(40)}}


def test_stories_of_an_outage_are_late_because_their_list_could_not_be_read(tmp_path: Path) -> None:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), outage()), HOME)
    watch.run(15 * DAY)
    said = of_site(watch.store, 1, "news.example", watch.clock.now())
    watch.store.close()
    assert {one.cause for one in said.late} == {Late.UNREADABLE}
    assert "on lists that could not be read" in said.says
    assert "could not be read in between" in said.late[0].says
    assert "当时无法读取" in Words("zh").said(said.says)
