"""Pages watched for changes, from the command line: ``watch-page`` and ``changes``."""

from pathlib import Path

import pytest
from cli_runner import Run
from stories import START
from watching import PRICE, change

from incremental.base.errors import InputError
from incremental.features.page_watches.watching import span
from store import open_store

SITE = "https://news.example/"
RICE = SITE + "prices/rice"


def test_a_watch_is_added_listed_paused_and_removed(hubwatch: Run) -> None:
    hubwatch("add", SITE)
    added = hubwatch("watch-page", "add", PRICE, "--every", "6h", "--include", "tea", "--json").json
    assert (added["url"], added["every_seconds"], added["include"]) == (PRICE, 21_600, ["tea"])
    assert f"watching {RICE} for changes" in hubwatch("watch-page", "add", RICE).err
    rows = hubwatch("watch-page", "list", "--json").json
    assert [row["url"] for row in rows] == [PRICE, RICE]
    assert hubwatch("watch-page", "pause", PRICE, "--json").json["state"] == "paused"
    assert hubwatch("watch-page", "resume", PRICE, "--json").json["state"] == "active"
    assert PRICE.removeprefix("https://") in hubwatch("watch-page", "list").out
    assert hubwatch("watch-page", "remove", PRICE).code == 0
    assert hubwatch("watch-page", "remove", PRICE).code == 4


def test_changes_are_shown_and_read_on(hubwatch: Run, tmp_path: Path) -> None:
    hubwatch("add", SITE)
    assert hubwatch("changes").err.startswith("no change yet")
    hubwatch("watch-page", "add", PRICE)
    folder = tmp_path / "hubwatch-data"
    with open_store(str(folder / "hubwatch.sqlite"), cache_folder=folder / "pages") as store:
        (row,) = store.page_watches.watches()
        assert row.page_id is not None
        change(store, row.page_id, at=START)
        change(store, row.page_id, ("+", "In stock \x1b[31m again"), at=START + 60)
    first, second = hubwatch("changes", "--json", "--after", "0").json
    assert first["lines"] == ["- The price is 12 euros.", "+ The price is 14 euros."]
    assert [one["id"] for one in hubwatch("changes", "--json", "--limit", "1").json] == [
        second["id"]
    ]
    assert len(hubwatch("changes", "--json", "--after", str(first["id"])).json) == 1
    assert len(hubwatch("changes", "--json", "--watch", PRICE, "--site", "news.example").json) == 2
    assert hubwatch("changes", "--json", "--since", "1d").json == []
    text = hubwatch("changes").out
    assert "+ The price is 14 euros." in text
    assert "\x1b[31m" not in text


def test_a_site_known_for_a_watched_page_alone_can_be_added_in_full(hubwatch: Run) -> None:
    hubwatch("watch-page", "add", "https://shop.example/tea")
    for command in ("list", "status", "hubs", "doctor"):
        assert hubwatch(command).code in (0, 1), command
    (site,) = hubwatch("list", "--json").json
    assert site["seed"] == "https://shop.example/tea"
    assert hubwatch("check", "https://shop.example/tea").code == 0
    hubwatch("add", "https://shop.example/tea")
    assert [row["id"] for row in hubwatch("list", "--json").json] == [site["id"]]
    assert [row["url"] for row in hubwatch("hubs", "--json").json] == ["https://shop.example/tea"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("ftp://x.example/",), "not a web address"),
        ((PRICE, "--every", "soon"), "give a span of time"),
        ((PRICE, "--every", "0m"), "1 minute to 365 days"),
        ((PRICE, "--channel", "nobody"), "no channel has that name"),
        ((PRICE, "--include", "!!"), "give a word"),
    ],
)
def test_what_cannot_be_watched_says_why(
    hubwatch: Run, arguments: tuple[str, ...], why: str
) -> None:
    hubwatch("add", SITE)
    done = hubwatch("watch-page", "add", *arguments)
    assert (done.code, why in done.err) == (2, True), done.err
    assert hubwatch("watch-page", "list", "--json").json == []


@pytest.mark.parametrize(("text", "minutes"), [("30m", 30), ("6h", 360), ("2d", 2880)])
def test_spans_are_read(text: str, minutes: float) -> None:
    assert span(text) == minutes * 60


@pytest.mark.parametrize("text", ["h", "15", "-3m", "1e9h", "3 weeks", "١m"])
def test_other_spans_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="span of time"):
        span(text)
