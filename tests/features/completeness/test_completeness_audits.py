"""Refreshes of announced pages audit what the hubs show: stories link to the story that followed them."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from fake_web import DAY, HOUR, SPARING, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.features.completeness.showing import Completeness, Late, of_site
from incremental.settings import RevisitSettings, Settings

HOME = "https://news.example/"
BEFORE = 10
HIDDEN = range(BEFORE + 2, 60, 4)


def paper(*unlisted: int) -> dict[str, Any]:
    """A story a day on the front page, but for some; each names the next one once that is there."""

    def last(now: float) -> int:
        return int((now - START) // DAY) + BEFORE

    def story(n: int) -> Any:
        date = datetime.fromtimestamp(START + (n - BEFORE) * DAY, UTC).isoformat()
        dated = f'<meta property="article:published_time" content="{date}">'
        text = f"Story {n} says what happened. " * 40

        def told(now: float) -> str:
            following = [f"/story-{n + 1}.html"] if n < last(now) else []
            return page(*following, title=f"Story {n}", text=text, head=dated)

        return told

    def home(now: float) -> str:
        shown = [n for n in range(last(now), 0, -1) if n not in unlisted][:BEFORE]
        return page(*(f"/story-{n}.html" for n in shown), title="News")

    return {HOME: home, **{f"{HOME}story-{n}.html": story(n) for n in range(60)}}


FEW = msgspec.structs.replace(
    Settings(), revisit=RevisitSettings(requests_per_day=24, min_interval_minutes=180)
)
"""Half a refresh a day."""


def watched(folder: Path, site: dict[str, Any], settings: Settings = SPARING) -> Completeness:
    web = FakeWeb(SimulatedClock(START - HOUR), site)
    with Watch(folder, web, HOME, settings=settings) as watch:
        watch.run(30 * DAY)
        return of_site(watch.store, 1, "news.example", watch.clock.now())


def test_one_list_alone_is_judged_by_what_stories_link_to(tmp_path: Path) -> None:
    """No two hubs can be compared, and every story that others came to link to was known."""
    said = watched(tmp_path, paper())
    assert said.share is not None
    assert said.share > 0.95
    assert said.missed == 0


def test_stories_that_audits_bring_in_time_are_found(tmp_path: Path) -> None:
    """Every fourth story is on no list, and the story before it tells of it within a day."""
    said = watched(tmp_path, paper(*HIDDEN))
    assert said.pages == 30
    assert said.high == 1.0


def test_with_few_refreshes_audits_bring_some_late_and_the_estimate_doubts_the_rest(
    tmp_path: Path,
) -> None:
    said = watched(tmp_path, paper(*HIDDEN), FEW)
    assert {one.cause for one in said.late} == {Late.UNWATCHED}
    assert said.missed == len(said.late) > 0
    assert said.share is not None
    assert said.low is not None
    assert said.low < 0.75
    assert said.share < 0.9
