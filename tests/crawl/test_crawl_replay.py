"""The proving ground: ``replay.py`` and ``serve_replay.py`` on a small recording, and one real one."""

import csv
import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import replay
import serve_replay
from fake_web import DAY, HOUR, START
from replay_file import END, HOST, T0, recorded, small_site
from replay_site import ReplaySite

ROOT = Path(__file__).parents[2]
REAL = ROOT.parent / "shared" / "replay"
KEYS = {
    *("site", "scored", "found", "recall", "announced", "false_new", "fetches", "not_modified"),
    *("fetches_per_found", "delay_minutes", "simulated_days", "wall_seconds"),
    *("bound_mean_minutes", "ratio_to_bound"),
}


@pytest.fixture
def small(tmp_path: Path) -> tuple[Path, Path]:
    return small_site(tmp_path)


def run_replay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object
) -> dict[str, object]:
    monkeypatch.setattr("sys.argv", ["replay.py", *map(str, arguments), "--json"])
    assert replay.main() == 0
    result: dict[str, object] = json.loads(capsys.readouterr().out.splitlines()[-1])
    return result


def test_replay_finds_what_there_is(
    small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    log = small[0].with_suffix(".log")
    given = (small[0], "--truth", small[1], "--log", log, "--bound")
    result = run_replay(monkeypatch, capsys, *given)
    assert set(result) >= KEYS
    assert (result["scored"], result["recall"], result["false_new"]) == (6, 1.0, 0)
    assert result["simulated_days"] == 10
    assert set(result["delay_minutes"]) == {"mean", "median", "p95"}  # type: ignore[call-overload]  # JSON
    rows = list(csv.DictReader(log.read_text().splitlines(), delimiter="\t"))
    assert list(rows[0]) == ["time", "event", "url", "detail"]
    assert {row["event"] for row in rows} == {"fetch", "announce"}
    fetches = [row for row in rows if row["event"] == "fetch"]
    assert len(fetches) == result["fetches"]
    assert sum(row["detail"] == "not_modified" for row in fetches) == result["not_modified"]
    assert all(START <= float(row["time"]) <= END for row in rows)
    announced = [row for row in rows if row["event"] == "announce" and float(row["time"]) >= T0]
    assert len(announced) == result["announced"]
    assert {row["detail"] for row in announced} == {HOST + "/"}


def test_with_a_topic_as_much_is_found(
    small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = f"{HOST}/story-of-the-day-number-0.html"
    topic = ("--topic-example", example, "--topic-keyword", "story")
    result = run_replay(monkeypatch, capsys, small[0], "--truth", small[1], *topic)
    assert (result["scored"], result["recall"], result["false_new"]) == (6, 1.0, 0)
    judged: dict[str, Any] = result["topic"]  # type: ignore[assignment]  # JSON
    assert judged["state"] == "ready"
    assert sum(judged.get(verdict, 0) for verdict in ("relevant", "doubtful", "guess")) == 6


def test_the_budget_of_a_replay_is_held(
    small: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    result = run_replay(monkeypatch, capsys, small[0], "--requests-per-day", 12)
    assert 10 < int(str(result["fetches"])) <= 12 * 10 + 12


@pytest.mark.parametrize(
    "wrong",
    [["nowhere.sqlite"], ["{small}", "--truth", "no.tsv"], ["{small}", "--engine", "magic"]],
)
def test_wrong_usage_of_replay_is_reported(
    small: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    wrong: list[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["replay.py", *(word.format(small=small[0]) for word in wrong)])
    with pytest.raises(SystemExit) as ending:
        replay.main()
    assert ending.value.code == 2
    assert wrong[-1].format(small=small[0]).split("/")[-1] in capsys.readouterr().err


def test_a_recording_answers_as_its_server_did(tmp_path: Path) -> None:
    pages: dict[str, Any] = {
        "/": [(START, START + HOUR, "one"), (START + HOUR, None, "two")],
        "/folder/": [(START, None, "in")],
        "/a%20b.html": [(START + DAY, None, "late")],
    }
    site = ReplaySite(recorded(tmp_path / "x.sqlite", pages))
    first = site.answer(HOST + "/index.html", START)
    assert (first.code, first.body) == (200, b"one")
    assert site.answer(HOST + "/?q=1", START, first.headers["ETag"]).code == 304
    assert site.answer(HOST + "/", START + HOUR, first.headers["ETag"]).body == b"two"
    assert site.answer(HOST + "/folder", START).headers["Location"] == HOST + "/folder/"
    assert [site.answer(HOST + "/a b.html", START + at).code for at in (0, DAY)] == [404, 200]


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://A.example/x/index.html?q#f", "a.example/x"),
        ("https://a.example/x/", "a.example/x"),
        ("https://a.example/", "a.example"),
        ("https://a.example/%E4%BB%B7", "a.example/价"),
    ],
)
def test_what_scoring_takes_for_one_page(url: str, key: str) -> None:
    assert replay.page_key(url) == key


# --- over HTTP --------------------------------------------------------------------------------


def ask(url: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=named)) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, answer.read(), dict(answer.headers)


def test_a_recording_is_served_at_its_time(small: tuple[Path, Path]) -> None:
    moment = START
    with serve_replay.serve(ReplaySite(small[0]), lambda: moment) as url:
        code, body, headers = ask(url)
        assert (code, b"number-2" in body, b"number-3" in body) == (200, True, False)
        assert ask(url, If_None_Match=headers["ETag"])[0] == 304
        assert ask(url, If_Modified_Since=headers["Last-Modified"])[0] == 304
        assert ask(url + "nowhere.html")[0] == 404
        moment = START + 5 * DAY
        assert b"number-4" in ask(url, If_None_Match=headers["ETag"])[1]


def test_absolute_addresses_lead_to_the_server_itself(tmp_path: Path) -> None:
    body = f'<a href="{HOST}/x.html">x</a>'
    pages = {"/": [(START, None, body)], "/sub/": [(START, None, "s")]}
    with serve_replay.serve(
        ReplaySite(recorded(tmp_path / "x.sqlite", pages)), lambda: START
    ) as url:
        assert ask(url)[1].decode() == f'<a href="{url}x.html">x</a>'
        assert ask(url + "sub")[1] == b"s"


def test_recorded_time_runs_fast_and_ends(small: tuple[Path, Path]) -> None:
    site = ReplaySite(small[0])
    assert serve_replay.RecordedTime(site, 1.0)() == pytest.approx(START, abs=60)
    assert serve_replay.RecordedTime(site, 1.0, START + DAY)() == pytest.approx(START + DAY, abs=60)
    endless = serve_replay.RecordedTime(site, 1e15)
    endless()
    assert endless() == END


def test_serve_replay_prints_its_address_and_ends_by_ctrl_c(small: tuple[Path, Path]) -> None:
    command = [
        sys.executable,
        str(ROOT / "scripts" / "serve_replay.py"),
        str(small[0]),
        "--speed",
        "9",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        assert ask(url)[0] == 200
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0


def test_serve_replay_refuses_what_is_no_recording() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "serve_replay.py"), str(ROOT / "README.md")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "README.md is no recording" in done.stderr) == (2, True)


# --- a real site ------------------------------------------------------------------------------


@pytest.mark.skipif(
    not (REAL / "kubaik.sqlite").is_file(), reason="no recorded sites in ../shared/replay"
)
def test_the_first_ten_days_of_a_real_site(tmp_path: Path) -> None:
    """A bounded run: what was linked on days six to nine is found, and next to nothing else told."""
    from incremental.settings import Settings

    site = ReplaySite(REAL / "kubaik.sqlite")
    t0 = site.first_ts + replay.BASELINE_SHARE * (site.last_ts - site.first_ts)
    site.last_ts = site.first_ts + 10 * DAY
    with (tmp_path / "log").open("w") as log:
        tally = replay.simulate(site, Settings(), log, quiet=True)
    with (REAL / "truth" / "kubaik.tsv").open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    wanted = {
        replay.page_key(row["url"])
        for row in rows
        if row["scored"] == "1" and t0 <= float(row["linked"]) < site.last_ts - DAY
    }
    announced = {replay.page_key(url) for at, url in tally.announced if at >= t0}
    new = {replay.page_key(row["url"]) for row in rows}
    assert len(wanted) > 5
    assert len(wanted & announced) >= 0.8 * len(wanted)
    assert len(announced - new) <= 0.1 * len(announced) + 1
    assert tally.fetches <= 100 * 10
