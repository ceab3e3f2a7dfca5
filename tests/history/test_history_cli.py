"""The commands of the reading list and of a page's past."""

from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import DAY, HOUR, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.base.clock import SystemClock
from incremental.base.urls import canonical_key
from incremental.settings import Settings, build_settings
from incremental.settings.sections import RefreshSettings
from incremental.settings.storage import open_configured_store

HOME = "https://news.example/"
PAGE = HOME + "a.html"
OLD = "The council meets on Monday and decides on the budget of the town. " * 6
NEW = OLD.replace("Monday", "Friday", 1)


def article(body: str, views: int) -> str:
    return (
        f"<html><head><title>Budget</title></head><body><article><h1>Budget</h1>"
        f"<p>{views} views</p><p>{body}</p></article></body></html>"
    )


@pytest.fixture
def past(tmp_path: Path) -> float:
    """Have a page announced five days ago, on a site known for a week, and changed two days ago."""
    start = SystemClock().now() - 12 * DAY
    announced, changed = start + 7 * DAY + 2 * HOUR, start + 10 * DAY
    pages = {
        HOME: [(0, page("/z.html")), (announced, page("/a.html", "/b.html", "/z.html"))],
        PAGE: [(0, article(OLD, 17)), (changed, article(NEW, 99))],
        HOME + "b.html": article(OLD, 5),
    }
    settings = build_settings({"refresh": {"share": 0.2}})
    assert settings.refresh == RefreshSettings(share=0.2)
    with Watch(tmp_path, FakeWeb(SimulatedClock(start), pages), HOME, settings=settings) as crawl:
        crawl.run(12 * DAY)
    return changed


def mark(folder: Path, **marks: bool) -> None:
    """Mark the page, as the web page does."""
    with open_configured_store(Settings(), folder) as store:
        (page_id,) = (one["id"] for one in store.read.find_page(PAGE, canonical_key(PAGE)))
        assert store.answers.mark([page_id], now=SystemClock().now(), **marks) == [page_id]


def test_a_change_is_announced_and_shown(hubwatch: Run, past: float) -> None:
    changes = hubwatch("history", PAGE, "--json").json["changes"]
    assert [change["kind"] for change in changes] == ["added", "changed"]
    shown = hubwatch("diff", PAGE)
    assert "- The council meets on Monday and" in shown.out
    assert "+ The council meets on Friday and" in shown.out
    assert "views" not in shown.out
    assert "1 line ignored as noise" in shown.err
    assert "[counter] 99 views" in hubwatch("diff", PAGE, "--noise").out
    found = hubwatch("diff", PAGE, "--json").json
    assert found["summary"] == "+1 \u22121 words"
    assert [line[0] for line in found["lines"]] == ["-", "+"]
    assert past > 0


@pytest.mark.usefixtures("past")
def test_a_page_is_shown_as_it_was(hubwatch: Run) -> None:
    assert "Friday" in hubwatch("show", PAGE).out
    assert "Friday" not in hubwatch("show", PAGE, "--at", "4d").out
    assert hubwatch("show", PAGE, "--json").json["copies"] == 0
    same = hubwatch("diff", PAGE, "--from", "1h", "--json").json
    assert (same["lines"], same["summary"]) == ([], "nothing changed")
    assert (
        hubwatch("diff", PAGE, "--from", "4d", "--to", "1h", "--json").json["summary"]
        != same["summary"]
    )
    assert hubwatch("diff", PAGE, "--to", "4d").code == 4
    assert hubwatch("diff", HOME + "never.html").code == 4


@pytest.mark.usefixtures("past")
def test_words_find_pages_and_cursors_go_on(hubwatch: Run) -> None:
    first = hubwatch("search", "council -nowhere", "--limit", "1", "--json").json
    second = hubwatch("search", "council", "--after", str(first["cursor"]), "--json").json
    urls = [row["url"] for row in (*first["pages"], *second["pages"])]
    assert sorted(urls) == [PAGE, HOME + "b.html"]
    assert (first["more"], second["more"]) == (True, False)
    assert "council meets" in hubwatch("search", "friday").out
    assert hubwatch("search", "...").code == 2
    assert "nothing found" in hubwatch("search", "zebra").err


@pytest.mark.usefixtures("past")
def test_marks_narrow_what_is_new(hubwatch: Run, tmp_path: Path) -> None:
    mark(tmp_path, read=True, starred=True)
    unread = hubwatch("new", "--show", "unread", "--json").json
    assert [row["url"] for row in unread] == [HOME + "b.html"]
    (starred,) = hubwatch("new", "--show", "starred", "--json").json
    assert starred["read_at"]
    assert starred["starred_at"]
    mark(tmp_path, read=False, starred=False)
    assert hubwatch("new", "--show", "starred", "--json").json == []
    assert "no page meets these filters" in hubwatch("new", "--show", "starred").err
    assert len(hubwatch("new", "--show", "unread", "--json").json) == 2


@pytest.mark.usefixtures("past")
def test_a_saved_search_is_run_by_name(hubwatch: Run, tmp_path: Path) -> None:
    assert hubwatch("searches", "save", "town", "council", "--show", "unread").code == 0
    (kept,) = hubwatch("searches", "list", "--json").json
    assert kept["name"] == "town"
    assert "council --show unread" in hubwatch("searches", "list").out
    assert len(hubwatch("search", "--saved", "town", "--json").json["pages"]) == 2
    mark(tmp_path, read=True)
    assert len(hubwatch("search", "--saved", "town", "--json").json["pages"]) == 1
    refused = hubwatch("search", "--saved", "town", "--since", "1d")
    assert (refused.code, "--since" in refused.err) == (2, True)
    assert hubwatch("searches", "save", "bad", "x", "--since", "whenever").code == 2
    assert hubwatch("searches", "remove", "town").code == 0
    assert hubwatch("searches", "remove", "town").code == 4
    assert hubwatch("search", "--saved", "town").code == 4


@pytest.mark.usefixtures("past")
def test_a_text_too_short_to_compare_has_no_copies(hubwatch: Run) -> None:
    """The text repeats one sentence: it has fewer different runs of words than a copy needs."""
    assert "too short" in hubwatch("copies", PAGE).err
    assert hubwatch("copies", PAGE, "--json").json == []
