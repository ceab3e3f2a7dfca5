"""Older pages that lists gained, at the command line: a line with ``new``, all with ``--backfills``."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import DAY, FakeWeb, Watch, page
from lab.clocks import SimulatedClock
from stories import START, news_site, seen, visit_of

from incremental.base.clock import SystemClock
from incremental.interfaces.cli.reporting import Reporter
from store import open_store
from store.rules import Fate
from store.values import VisitRecord

HOME = "https://news.example/"
STORIES = [f"/story-{n}.html" for n in range(9)]
PAST = [f"/blog/2007/03/{day:02}/old.html" for day in range(1, 13)]


@pytest.fixture
def gained(tmp_path: Path) -> list[str]:
    """Have a list watched that gains twelve old posts; return their addresses in its order."""
    start = SystemClock().now() - 2 * DAY
    after = page(*STORIES[:3], *(f"{one}|Tale \x1b[31m{one[-11:-9]}" for one in PAST), *STORIES[3:])
    web = FakeWeb(SimulatedClock(start), {HOME: [(0, page(*STORIES)), (start + DAY, after)]})
    with Watch(tmp_path, web, HOME) as crawl:
        crawl.run(2 * DAY)
    return [HOME + one[1:] for one in PAST]


def test_new_says_in_a_line_what_a_list_gained(hubwatch: Run, gained: list[str]) -> None:
    done = hubwatch("new")
    assert (done.code, done.out) == (0, "")
    assert f"{len(gained)} older articles were added under /blog/2007/03/" in done.err
    assert "hubwatch new --backfills" in done.err
    assert hubwatch("new", "--json").json == []


def test_backfills_lists_them_one_by_one(hubwatch: Run, gained: list[str]) -> None:
    rows = hubwatch("new", "--backfills", "--json").json
    assert [row["url"] for row in rows] == gained[::-1]
    assert rows[-1]["title"].startswith("Tale")
    assert "\x1b" not in rows[-1]["title"]
    urls = hubwatch("new", "--backfills", "--format", "urls", "--limit", "3").out.split()
    assert urls == gained[::-1][:3]
    table = hubwatch("new", "--backfills")
    assert "12 older pages" in table.out
    for given in (("--show", "starred"), ("--language", "en"), ("--topic", "bridges")):
        refused = hubwatch("new", "--backfills", *given)
        assert (refused.code, given[0] in refused.err) == (2, True)
    text = hubwatch("new", "--backfills", "--format", "csv").out
    assert [row["url"] for row in csv.DictReader(io.StringIO(text))] == gained[::-1]


def test_a_cursor_neither_skips_nor_repeats(hubwatch: Run, gained: list[str]) -> None:
    first = hubwatch("new", "--backfills", "--after", "0", "--limit", "5", "--json").json
    rest = hubwatch("new", "--backfills", "--after", str(first[-1]["cursor"]), "--json").json
    assert [row["url"] for row in first + rest] == gained


def test_times_and_sites_narrow_them(hubwatch: Run, gained: list[str]) -> None:
    assert len(hubwatch("new", "--backfills", "--since", "2d", "--json").json) == len(gained)
    assert hubwatch("new", "--backfills", "--until", "47h", "--json").json == []
    assert hubwatch("new", "--backfills", "--site", "nowhere.example").code == 4
    nothing = hubwatch("new", "--backfills", "--since", "1m")
    assert "no older pages have been added to lists" in nothing.err


def test_check_says_with_which_event_a_page_came(hubwatch: Run, gained: list[str]) -> None:
    answer = hubwatch("check", gained[4], "--json").json
    assert "12 older articles were added under /blog/2007/03/" in answer["verdict"]
    (site,) = answer["sites"]
    assert (site["page_state"], site["backfill"]["pages"]) == ("backfill", 12)
    told = " ".join(hubwatch("check", gained[4]).out.split())
    assert "Its address dates it before 2007-03-06" in told


def test_status_names_the_event(hubwatch: Run, gained: list[str]) -> None:
    (site,) = hubwatch("status", "--json").json["sites"]
    assert [(e["kind"], e["detail"]) for e in site["events"]] == [
        ("backfill", f"{len(gained)} older articles were added under /blog/2007/03/")
    ]
    assert site["new_pages"] == 0


def test_a_run_says_it_as_it_happens(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = SystemClock().now() - 2 * DAY
    after = page(*STORIES[:3], *PAST, *STORIES[3:])
    web = FakeWeb(SimulatedClock(start), {HOME: [(0, page(*STORIES)), (start + DAY, after)]})
    with Watch(tmp_path, web, HOME) as crawl:
        for as_json in (False, True):
            reporter = Reporter(crawl.store, as_json=as_json)
            crawl.crawler._announced = reporter.announced
            crawl.run(DAY if as_json else 1.5 * DAY)
            reporter.finish(crawl.crawler.frontier.gate, once=False)
    printed = capsys.readouterr().out
    assert "older news.example: 12 older articles were added under /blog/2007/03/" in printed


@pytest.mark.parametrize(("wait", "joins"), [(60.0, True), (2 * 3600.0, False)])
def test_a_run_says_that_a_page_joined_an_event_or_began_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], wait: float, joins: bool
) -> None:
    with open_store(str(tmp_path / "h.sqlite"), cache_folder=tmp_path) as store:
        reporter = Reporter(store, as_json=False)

        def visit(record: VisitRecord) -> None:
            reporter.announced(record, store.write.visit(record))

        site, home = news_site(store)
        older = [seen(HOME + one[1:], fate=Fate.BACKFILL) for one in PAST]
        visit(visit_of(site, home, START, *older, backfill_folder="/blog/2007/03/"))
        link = seen(HOME + "blog/2008/x/", anchor="Tale", fate=Fate.HUB_AND_BACKFILL)
        (page_id,) = store.write.add_pages(site, [link], now=START, hub_id=home).values()
        own = visit_of(site, page_id, START + wait, fate=Fate.BACKFILL)
        own = replace(own, links=None, first_hub_id=home, backfill_folder="/blog/2008/x/")
        visit(own)
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line.startswith("older ")]
    assert len(lines) == 2
    joined = "13 older articles were added under /blog/"
    alone = "1 older article was added under /blog/2008/x/: Tale"
    assert lines[1] == f"older news.example: {joined if joins else alone}"
