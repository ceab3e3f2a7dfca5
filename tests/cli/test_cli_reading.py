"""What was found: ``new hubs history show status``, as a table, JSON, CSV and plain URLs."""

import csv
import io
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Run
from fake_web import DAY, FakeWeb, Watch, page
from lab.clocks import SimulatedClock
from rich.cells import cell_len

from incremental.base.clock import SystemClock
from incremental.base.plain_text import cell, clean
from incremental.interfaces.cli.common import print_table, safe

HOME = "https://news.example/"


def test_new_as_json(hubwatch: Run, found: list[str]) -> None:
    rows = hubwatch("new", "--json").json
    assert {row["url"] for row in rows} == {*found, "https://other.example/b.html"}
    row = next(row for row in rows if row["url"] == found[0])
    assert row["title"] == "Title of new-0.html"
    assert (row["site"], row["hub_url"], row["state"]) == ("news.example", HOME, "known")
    assert datetime.fromisoformat(row["found_at"]).utcoffset() == timedelta(0)


def test_new_as_a_table_and_as_urls(hubwatch: Run, found: list[str]) -> None:
    assert "Title of new-1.html" in hubwatch("new").out
    urls = hubwatch("new", "--format", "urls", "--site", "news.example").out.split()
    assert sorted(urls) == sorted(found)


def test_new_as_csv(hubwatch: Run, found: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(hubwatch("new", "--format", "csv").out)))
    assert set(found) < {row["url"] for row in rows}


def test_new_since_and_until(hubwatch: Run, found: list[str]) -> None:
    assert len(hubwatch("new", "--since", "2d", "--json").json) == len(found) + 1
    assert hubwatch("new", "--until", "36h", "--json").json == []
    assert (
        hubwatch("new", "--since", "2000-01-01", "--until", "2001-01-01 08:00", "--json").json == []
    )
    nothing = hubwatch("new", "--since", "1m")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing new" in nothing.err


@pytest.mark.parametrize(
    "time", ["yesterday", "3 weeks", "-1d", "1e9d", "2026-13-45", "", "9999999999999w"]
)
def test_a_time_that_means_nothing_is_refused(hubwatch: Run, time: str) -> None:
    done = hubwatch("new", f"--since={time}", "--json")
    assert done.code in (0, 2)
    assert "Traceback" not in done.err
    assert done.code == 0 or "2026-11-01" in done.err


def test_new_after_a_cursor_goes_on_oldest_first(hubwatch: Run, found: list[str]) -> None:
    rows = hubwatch("new", "--after", "0", "--json").json
    cursors = [row["cursor"] for row in rows]
    assert cursors == sorted(cursors)
    rest = hubwatch("new", "--after", str(cursors[1]), "--json").json
    assert [row["cursor"] for row in rest] == cursors[2:]
    assert len(hubwatch("new", "--limit", "2", "--json").json) == 2
    assert found


def test_hubs(hubwatch: Run, found: list[str]) -> None:
    rows = hubwatch("hubs", "news.example", "--json").json
    seed = next(row for row in rows if row["url"] == HOME)
    assert (seed["state"], seed["new_pages"]) == ("active", len(found))
    assert seed["why"]
    assert datetime.fromisoformat(seed["due_at"]) > datetime.fromisoformat(seed["visited_at"])
    assert HOME in hubwatch("hubs").out


def test_history_tells_all_that_happened(hubwatch: Run, found: list[str]) -> None:
    history = hubwatch("history", found[0], "--json").json
    assert [change["kind"] for change in history["changes"]] == ["added"]
    assert [sighting["hub_url"] for sighting in history["sightings"]] == [HOME]
    assert [visit["status"] for visit in history["visits"]] == ["fetched"]
    table = hubwatch("history", HOME).out
    assert "visit: fetched" in table
    assert table.startswith(HOME + "\n")
    assert to_the_minute(table)


def to_the_minute(table: str) -> bool:
    """Whether the times of a table are those of the other commands."""
    times = re.findall(r"\d{4}-\d\d-\d\d[T ][^ │]*", table)
    return bool(times) and all(re.fullmatch(r"[\d-]{10} \d\d:\d\d", one) for one in times)


def test_show_gives_the_text_of_the_page(hubwatch: Run, found: list[str]) -> None:
    shown = hubwatch("show", found[0], "--json").json
    assert shown["title"] == "Title of new-0.html"
    assert shown["text"].startswith("A story.")
    assert "A story." in hubwatch("show", found[0]).out
    assert to_the_minute(hubwatch("show", found[0]).out)
    assert "no body kept" in hubwatch("show", HOME + "old-0.html").out


def test_status(hubwatch: Run, found: list[str]) -> None:
    status = hubwatch("status", "--json").json
    site = status["sites"][0]
    assert (site["name"], site["new_pages"]) == ("news.example", len(found))
    assert site["price_minutes"] >= 0
    assert site["requests_last_day"] > 0
    assert site["visits_by_status"]["fetched"] > 0
    assert "news.example" in hubwatch("status").out


def test_status_shows_a_large_budget_as_it_was_given(
    hubwatch: Run, found: list[str], tmp_path: Path
) -> None:
    assert found
    (tmp_path / "hubwatch.toml").write_text("[revisit]\nrequests_per_day = 12345\n")
    assert "of 12345" in hubwatch("status").out


def test_a_cell_that_is_cut_says_so() -> None:
    assert safe("x" * 400).plain == "x" * 299 + "…"


def test_a_site_with_a_budget_of_zero_is_still_json(hubwatch: Run) -> None:
    hubwatch("add", HOME)
    hubwatch("edit", "news.example", "--requests-per-day", "0")
    assert hubwatch("status", "--json").json["sites"][0]["price_minutes"] is None
    assert hubwatch("hubs", "--json").json[0]["url"] == HOME
    assert hubwatch("check", HOME, "--json").code == 0


def test_nothing_yet_is_said_and_no_error(hubwatch: Run) -> None:
    for command in ("new", "hubs", "status", "list"):
        done = hubwatch(command)
        assert (done.code, done.out) == (0, "")
        assert done.err
        assert hubwatch(command, "--json").code == 0


# --- titles from strangers --------------------------------------------------------------------

HOSTILE = [
    "\x1b[31mred\x1b[0m \x07bell \x9b2J",
    "abc\u202egpj.exe \u2066x\u2069",
    "[red]markup[/red] [link=https://evil.example]x[/link] [/]",
    "line\r\nbreak\u2028and\u2029more\x0b\x0c",
    '=HYPERLINK("https://evil.example")',
    "+1|cmd",
    "@SUM(1)",
    "-2+3",
    "\uff1d1+1",
    "zero\u200bwidth\ufeff\u00ad",
    "\U000e0041tag",
    "M" * 1_000_000,
]


@pytest.fixture
def hostile(tmp_path: Path) -> list[str]:
    """Have pages with hostile titles announced as new."""
    start = SystemClock().now() - DAY
    # Written as character references, so that all but NUL comes through the parser.
    titles = ["".join(f"&#{ord(c)};" if len(t) < 999 else c for c in t) for t in HOSTILE]
    urls = [f"{HOME}n-{n}.html" for n in range(len(titles))]
    links = [f"{u}|{t}" for u, t in zip(urls, titles, strict=True)]
    pages: dict[str, Any] = {
        HOME: [
            (0, page("/a.html")),
            (start + DAY / 4, page("/a.html", *links, "/%5Bred%5D%E2%80%AE.html")),
        ]
    }
    pages[HOME + "%5Bred%5D%E2%80%AE.html"] = page(title="plain")
    pages |= {u: page(title=t, text=t[:9000]) for u, t in zip(urls, titles, strict=True)}
    with Watch(tmp_path, FakeWeb(SimulatedClock(start), pages), HOME) as crawl:
        crawl.run(DAY)
        assert len(crawl.new()) == len(titles) + 1
    return urls


def is_harmless(text: str) -> bool:
    """Return whether nothing in *text* steers a terminal or turns its writing."""
    return clean(text) == " ".join(text.split())


def test_hostile_titles_are_harmless_in_every_table(hubwatch: Run, hostile: list[str]) -> None:
    commands = [("new",), ("hubs",), ("status",), ("list",), ("history", HOME)]
    commands += [("show", url) for url in hostile] + [("check", HOME + "%5Bred%5D%E2%80%AE.html")]
    for command in commands:
        done = hubwatch(*command)
        assert done.code == 0
        assert is_harmless(done.out), command


def test_markup_in_titles_is_text(hubwatch: Run, hostile: list[str]) -> None:
    assert "[red]markup[/red]" in hubwatch("new").out
    assert "[red]markup[/red]" in hubwatch("show", hostile[2]).out
    history = hubwatch("history", HOME + "%5Bred%5D%E2%80%AE.html")
    assert "%5Bred%5D" in history.out


def test_markup_in_a_url_is_text(hubwatch: Run, tmp_path: Path) -> None:
    start = SystemClock().now() - DAY
    pages: dict[str, Any] = {
        HOME: [(0, page("/a.html")), (start + 9, page("/%5Bbold%5Dx.html", "/a.html"))]
    }
    pages[HOME + "%5Bbold%5Dx.html"] = page()
    with Watch(tmp_path, FakeWeb(SimulatedClock(start), pages), HOME) as crawl:
        crawl.run(DAY)
    assert "%5Bbold%5Dx.html" in hubwatch("history", HOME + "%5Bbold%5Dx.html").out
    assert "%5Bbold%5Dx.html" in hubwatch("new").out


def test_a_table_stays_within_bounds_whatever_the_title(hubwatch: Run, hostile: list[str]) -> None:
    table = hubwatch("new").out
    assert len(table) < 20_000
    _, header, *lines = table.splitlines()
    before = [cell_len(line.rpartition(" ")[0]) for line in lines]
    assert before.count(cell_len(header.rpartition(" ")[0])) == len(hostile) + 1


def test_no_cell_of_the_csv_is_a_formula(hubwatch: Run, hostile: list[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(hubwatch("new", "--format", "csv").out)))
    assert len(rows) == len(hostile) + 1
    cells = [cell for row in rows for cell in row.values()]
    assert not [cell for cell in cells if cell[:1] in "=+-@\t\r\uff1d" and cell]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)


def test_each_new_page_is_one_line_of_urls(hubwatch: Run, hostile: list[str]) -> None:
    lines = hubwatch("new", "--format", "urls").out.splitlines()
    assert len(lines) == len(hostile) + 1
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    "value", ["=1", "+1", "-1", "@x", "\t=1", "\r=1", " =1", "\uff1d1", "\x00=1"]
)
def test_what_a_spreadsheet_would_run_is_quoted(value: str) -> None:
    assert cell(value).startswith("'")


def test_nothing_to_search_for_is_wrong_usage(hubwatch: Run) -> None:
    assert hubwatch("search", "").code == 2


def test_a_table_without_names_of_columns_has_no_row_for_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table("", ("", ""), [("name", "Bridges")])
    assert "name" in capsys.readouterr().out.splitlines()[1]


def test_an_address_is_whole_on_its_line_however_narrow_the_terminal_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    address = "https://news.example/" + "a-long-story/" * 40 + "桥.html"
    print_table("1 page", ("found", "title", "url"), [("2026-11-25", "A title " * 30, address)])
    (line,) = (one for one in capsys.readouterr().out.splitlines() if address in one)
    assert line.endswith(address)
