"""``scripts/record_live.py``: a recording of a site that was watched, against what there really was."""

import csv
from pathlib import Path

import pytest
import record_live
from fake_web import DAY, HOUR, START, page
from lab.clocks import SimulatedClock
from local_site import LocalSite
from record_live import Notebook, Recording
from replay import score, simulate, truth_beside
from replay_site import ReplayAdapter, ReplaySite

from incremental.daemon.assembly import make_fetcher
from incremental.fetch.status import FetchStatus, Response
from incremental.settings import RevisitSettings, Settings
from incremental.settings.seeds import add_seed
from store import open_store

HARBOUR = Path(__file__).parents[2] / "benchmarks" / "harbour-times.sqlite"
HOST = "https://watched.example"
DAYS = 4


def truth(out: Path) -> dict[str, dict[str, str]]:
    """Return the rows of a recording's truth by path."""
    lines = truth_beside(out).read_text().splitlines()
    rows = csv.DictReader(lines, delimiter="\t")
    return {"/" + row["url"].split("/", 3)[3]: row for row in rows}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path / "seen.sqlite")


def note(
    notebook: Notebook, at: float, place: str, body: str | bytes | None, kind: str = ""
) -> None:
    """Let the site answer at so many seconds after START; None = the page is not there."""
    content = body.encode() if isinstance(body, str) else body or b""
    status = FetchStatus.GONE if body is None else FetchStatus.FETCHED
    headers = {"content-type": kind or "text/html"}
    url = HOST + place
    notebook.note(START + at, url, Response(url, status, 200, headers, content))


def written(notebook: Notebook, folder: Path, lists: str = "") -> Path:
    out = folder / "watched.sqlite"
    Recording(notebook).write(out, lists)
    return out


def test_what_was_watched_is_nearly_what_there_was(tmp_path: Path) -> None:
    """Four days of a recorded site, watched under a simulated clock and then replayed."""
    real = ReplaySite(HARBOUR)
    clock = SimulatedClock(real.first_ts)
    settings = Settings(revisit=RevisitSettings(requests_per_day=240))
    fetch = make_fetcher(settings, clock, adapter=ReplayAdapter(real, clock)).fetch
    seen, out = Notebook(tmp_path / "seen.sqlite"), tmp_path / "harbour.sqlite"
    with open_store(str(tmp_path / "store.sqlite"), cache_folder=tmp_path / "pages") as store:
        add_seed(store, real.base_url, now=clock.now())
        record_live.watch(
            store,
            settings,
            clock,
            fetch,
            seen,
            until=real.first_ts + DAYS * DAY,
            wait=clock.advance_to,
        )
    Recording(seen).write(out, r"^\w+/$|(^|/)page/\d+/$")
    recorded = ReplaySite(out)
    assert (recorded.base_url, recorded.first_ts) == (real.base_url, real.first_ts)
    rows = truth(out)
    assert len(rows) > 12
    for place, row in rows.items():
        linked, url = float(row["linked"]), real.base_url + place.lstrip("/")
        assert row["kind"] == "article"
        # It was published in the half hour before.
        assert real.answer(url, linked).code == 200
        assert real.answer(url, linked - HOUR / 2).code == 404
    result = score(simulate(recorded, Settings(), None, quiet=True), recorded, truth_beside(out))
    assert result["scored"] > 8
    assert result["recall"] == 1.0
    assert result["delay_minutes"]["mean"] < 40


def test_a_page_is_new_if_a_page_that_had_been_read_begins_to_show_it(
    notebook: Notebook, tmp_path: Path
) -> None:
    note(notebook, 0, "/", page("/old.html", "/list/"))
    note(notebook, 3 * DAY, "/", page("/new.html", "/old.html", "/list/"))
    note(notebook, 3 * DAY + HOUR, "/new.html", page("/beside.html", title="New"))
    note(notebook, 4 * DAY, "/list/", page("/new.html", "/hidden.html"))
    for place in ("/old.html", "/hidden.html", "/beside.html"):
        note(notebook, 5 * DAY, place, page(title=place))
    note(notebook, 6 * DAY, "/tag/", page())
    note(notebook, 10 * DAY, "/", page("/last.html", "/tag/"))
    out = written(notebook, tmp_path, lists="^tag/")
    kinds = {place: row["kind"] for place, row in truth(out).items()}
    assert kinds == {
        "/new.html": "article",
        "/beside.html": "unknown",
        "/hidden.html": "unknown",
        "/tag/": "list",
    }
    new = truth(out)["/new.html"]
    assert (float(new["linked"]), new["scored"]) == (START + 3 * DAY, "1")
    site = ReplaySite(out)

    def code(place: str, at: float) -> int:
        return site.answer(HOST + place, START + at).code

    # Before it was linked there was no such page, and none yet that leads to it.
    assert [code("/new.html", 3 * DAY - 1), code("/new.html", 3 * DAY)] == [404, 200]
    assert [code("/list/", 3 * DAY - 1), code("/list/", 3 * DAY)] == [404, 200]
    assert code("/hidden.html", 0) == 200
    assert code("/last.html", 10 * DAY) == 404
    assert Recording(notebook).unread() == 1


def test_a_page_that_goes_and_comes_back_is_absent_between(
    notebook: Notebook, tmp_path: Path
) -> None:
    note(notebook, 0, "/", page("/a.html", "/later.html"))
    note(notebook, 1, "/a.html", page(title="A"))
    note(notebook, 2, "/later.html", None)
    note(notebook, DAY, "/a.html", None)
    note(notebook, 2 * DAY, "/a.html", page(title="A again"))
    note(notebook, 2 * DAY, "/later.html", page(title="Later"))
    note(notebook, 3 * DAY, "/a.html", page(title="A again"))
    site = ReplaySite(written(notebook, tmp_path))
    codes = [site.answer(HOST + "/a.html", START + at).code for at in (0, DAY, 2 * DAY, 3 * DAY)]
    assert codes == [200, 404, 200, 200]
    codes = [site.answer(HOST + "/later.html", START + at).code for at in (3, DAY, 2 * DAY)]
    assert codes == [404, 404, 200]


def test_what_a_replay_cannot_hold_is_left_out_and_counted(
    notebook: Notebook, tmp_path: Path
) -> None:
    note(notebook, 0, "/robots.txt", "User-agent: *\nDisallow: /hidden/", "text/plain")
    note(notebook, 1, "/", page("/?p=1"))
    note(notebook, 2, "/?p=1", page(title="By number"))
    note(notebook, 3, "/photo", b"\x89PNG\x00\x01\x02\x03", "image/png")
    note(notebook, 4, "/long.html", "x" * 800_001)
    elsewhere = Response("https://other.example/", FetchStatus.FETCHED, 200, {}, b"<p>")
    notebook.note(START + 5, HOST + "/moved", elsewhere)
    notebook.note(START + 6, HOST + "/", Response(HOST + "/", FetchStatus.TIMED_OUT))
    assert notebook.left_out() == {
        "with a query": 1,
        "no text": 1,
        "too large": 1,
        "on another host": 1,
    }
    site = ReplaySite(written(notebook, tmp_path))
    assert site.base_url == HOST + "/"
    assert b"Disallow" in site.answer(HOST + "/robots.txt", START + 4).body


def test_a_page_of_another_charset_is_the_same_text(notebook: Notebook, tmp_path: Path) -> None:
    body = '<meta charset="gbk"><h1>公告</h1><a href="/a.html">关于春节放假的通知</a>'
    note(notebook, 0, "/", body.encode("gbk"))
    site = ReplaySite(written(notebook, tmp_path))
    assert "关于春节放假的通知" in site.answer(HOST + "/", START).body.decode()


def test_the_command_records_a_site_and_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config, out = tmp_path / "hubwatch.toml", tmp_path / "local.sqlite"
    config.write_text('[fetch]\nallowed_networks = ["127.0.0.0/8"]\n')
    with LocalSite({"/": page("/a.html"), "/a.html": page(title="A")}) as site:
        given = [site.url, "--out", str(out), "--config", str(config), "--days", "0.00002"]
        for _ in range(2):
            monkeypatch.setattr("sys.argv", ["record_live.py", *given])
            assert record_live.main() == 0
    recorded = ReplaySite(out)
    assert b"/a.html" in recorded.answer(site.url + "/", 9e10).body
    # Addresses inside a network can be replayed.
    assert simulate(recorded, Settings(), None, quiet=True).fetches
    assert "0 of them new" in capsys.readouterr().out
