"""A town's paper loses its list of sport, and Hubwatch says what it no longer finds."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Run
from empty_store import open_in
from fake_web import DAY, HOUR, START, FakeWeb, Reply, Watch, feed, page
from lab.clocks import SimulatedClock
from web_served import Served

from incremental.base.texts import Words
from incremental.features.completeness.keeping import Keeper
from incremental.features.completeness.showing import Completeness, of_site, of_topic
from incremental.interfaces.results.status import status_of
from incremental.settings import Settings
from incremental.settings.seeds import add_seed
from incremental.topics.editing import begin
from store import Store
from store.models import News, PageTopic

HOME, FEED, SPORT = (f"https://news.example/{name}" for name in ("", "feed.xml", "sport/"))
LOST = 20 * DAY
NAMES_FEED = f'<link rel="alternate" type="application/rss+xml" href="{FEED}">'


def stories(now: float, folder: str) -> list[str]:
    """Return the addresses of the latest ten stories: two a day in each folder."""
    last = int((now - START) // (12 * HOUR))
    return [f"/{folder}/story-{n}.html" for n in range(last + 10, last, -1)]


def paper() -> dict[str, Any]:
    """Town stories are in the feed and on the home page; sport is on its own list alone."""

    def home(now: float) -> str:
        return page(*stories(now, "town"), "/sport/|Sport", title="News", head=NAMES_FEED)

    def sport(now: float) -> Any:
        gone = now - START >= LOST
        return Reply(b"gone", 404) if gone else page(*stories(now, "sport"), title="Sport")

    def entries(now: float) -> Reply:
        return feed(*((HOME + place[1:], "") for place in stories(now, "town")))

    texts = {
        f"https://news.example/{folder}/story-{n}.html": page(
            title=f"{folder} {n}", text=f"In {folder} number {n} much happened again. " * 30
        )
        for folder in ("town", "sport")
        for n in range(110)
    }
    return {HOME: home, SPORT: sport, FEED: entries, **texts}


@pytest.fixture
def press(tmp_path: Path) -> Any:
    watch = Watch(tmp_path, FakeWeb(SimulatedClock(START), paper()), HOME)
    yield watch
    watch.store.close()


@pytest.fixture(scope="module")
def after_the_loss(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store that was watched until two weeks after the loss, made once."""
    folder = tmp_path_factory.mktemp("press")
    with Watch(folder, FakeWeb(SimulatedClock(START), paper()), HOME) as watch:
        watch.run(LOST + 15 * DAY)
    return folder


@pytest.fixture
def later(after_the_loss: Path, tmp_path: Path) -> Iterator[tuple[Store, float]]:
    """That store, and the time that it is by then."""
    folder = tmp_path / "copy"
    shutil.copytree(after_the_loss, folder)
    with open_in(folder) as store:
        yield store, START + LOST + 15 * DAY


def said(store: Store, now: float) -> Completeness:
    return of_site(store, 1, "news.example", now)


def test_a_site_that_loses_a_list_is_less_complete_and_says_which(press: Watch) -> None:
    press.run(LOST - HOUR)
    before = said(press.store, press.clock.now())
    assert before.share is not None
    assert before.share > 0.9
    assert before.lost == []
    press.run(20 * DAY)
    after = said(press.store, press.clock.now())
    assert after.share is not None
    assert after.high is not None
    assert after.share < before.share - 0.15
    assert after.lost == ["https://news.example/sport/"]
    assert "1 hub can no longer be read: https://news.example/sport/" in after.says
    chinese = Words("zh").said(after.says)
    assert "1 个枢纽页已无法读取" in chinese
    assert "约占全部的" in chinese


def test_the_command_the_page_and_the_api_say_the_same(hubwatch: Run, served: Served) -> None:
    hubwatch("add", HOME)
    assert "No new pages in the last 30 days" in hubwatch("completeness").out
    (row,) = hubwatch("completeness", "news.example", "--json").json
    assert (row["site"], row["share"], row["pages"]) == ("news.example", None, 0)
    client = served.client(Accept_Language="zh")
    assert "完整度" in client.get("/completeness").text
    assert "最近 30 天找到 3 个新页面；" in client.get("/sites/1").text
    answer = client.get("/api/v1/completeness").json()
    assert {"site", "share", "low", "high", "delay_minutes", "late", "lost", "says"} <= set(
        answer[0]
    )


def test_status_says_how_complete_sites_are_without_estimating(later: tuple[Store, float]) -> None:
    """The least complete site comes first, and one that cannot be judged is left out."""
    store, now = later
    add_seed(store, "https://other.example/", now=now, fetch=Settings().fetch)
    keeper = Keeper(store)
    keeper.step(now)
    (row,) = store.completeness.kept()
    assert (row.site, row.at, row.share) == (1, now, said(store, now).share)
    (words,) = status_of(store, Settings(), None, crawling=False, now=now).words
    assert words["site"] == "news.example"
    assert "of all (90 % interval:" in words["says"]
    keeper.step(now + HOUR)
    assert store.completeness.kept()[0].at == now
    keeper.step(now + 7 * HOUR)
    assert store.completeness.kept()[0].at == now + 7 * HOUR


def test_a_topic_is_as_complete_as_the_sites_that_bring_its_pages(
    later: tuple[Store, float],
) -> None:
    """A site that brings most of the pages weighs most; a topic without any says so."""
    store, now = later
    harbour, _ = begin(
        store,
        "Harbours",
        examples=[],
        keywords=["harbour"],
        description="News of harbours",
        now=now,
    )
    assert of_topic(store, harbour, now).share is None
    pages = [row[0] for row in News.select(News.page).tuples().execute(store.database)]
    for page_id in pages:
        PageTopic.insert(
            page=page_id,
            topic=harbour.id,
            score=0.9,
            verdict="relevant",
            fetched=True,
            method="fused",
            version="1",
            at=now,
        ).execute(store.database)
    found, site = of_topic(store, harbour, now), said(store, now)
    assert found.pages == site.pages > 10
    assert found.share == pytest.approx(site.share, abs=0.002)
    assert "on Harbours" in found.says
