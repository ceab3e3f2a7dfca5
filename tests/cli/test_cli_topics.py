"""Topics from the command line: begin, list, show, test, correct, end; and what goes wrong."""

import csv
import io
import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Result, Run
from fake_web import DAY, FakeWeb, Watch
from lab.clocks import SimulatedClock
from local_site import LocalSite
from topic_web import HOME, NEW, OLD, address, shown, story

from incremental.base.clock import SystemClock
from incremental.daemon.health import DaemonState, HealthReport, JobBeat
from incremental.daemon.pulse import REPORT, write_report
from incremental.settings import Settings
from incremental.settings.storage import only_writer
from store.database.home import make_file

BRIDGES = [address(*one) for one in NEW if one[0] == "bridge"]
SOUPS = [address(*one) for one in NEW if one[0] == "soup"]


@pytest.fixture
def read(hubwatch: Run, tmp_path: Path) -> Run:
    """The command line, on a store in which a site with two subjects was watched for half a day."""
    start = SystemClock().now() - DAY / 2
    pages: dict[str, Any] = {
        HOME: [(0, shown(*OLD)), (start + DAY / 6, shown(*NEW, *OLD))],
        **{address(s, n): story(s, n) for s, n in [*OLD, *NEW]},
    }
    with Watch(tmp_path, FakeWeb(SimulatedClock(start), pages), HOME) as crawl:
        crawl.run(DAY / 2)
    return hubwatch


def bridges(hubwatch: Run, *more: str) -> Result:
    examples = [part for url in BRIDGES[:2] for part in ("--example", url)]
    return hubwatch("topic", "add", "bridges", *examples, *more)


def test_a_topic_learns_at_once_from_pages_that_are_in_the_cache(read: Run) -> None:
    answer = bridges(read, "--keyword", "viaduct", "--json").json
    assert (answer["state"], answer["examples"], answer["keywords"]) == ("ready", 2, ["viaduct"])
    assert (answer["learned"], answer["waiting"]) == (BRIDGES[:2], [])
    assert answer["version"]
    (row,) = read("topic", "list", "--json").json
    assert row["name"] == "bridges"
    table = read("topic", "list").out
    assert "bridges" in table
    assert "viaduct" in table


def test_a_topic_shows_what_it_learned_from(read: Run) -> None:
    bridges(read)
    answer = read("topic", "show", "bridges", "--json").json
    assert [one["url"] for one in answer["pages_learned"]] == BRIDGES[:2]
    assert {one["status"] for one in answer["pages_learned"]} == {"from the cache"}
    assert answer["terms"]
    table = read("topic", "show", "bridges").out
    assert "ready" in table
    assert answer["terms"][0]["word"] in table
    assert re.search(r"created at +│ \d{4}-\d\d-\d\d \d\d:\d\d +│", table)


def test_a_sentence_is_shown(read: Run) -> None:
    sentence = "Inspection of bridges, arches and viaducts over the river"
    read("topic", "add", "bridges", "--describe", sentence)
    shown = read("topic", "show", "bridges").out
    assert re.search(rf"sentence +│ {sentence}", shown)
    assert "Pages it learns from" not in shown
    assert sentence[:20] in read("topic", "list").out


def test_check_shows_what_topics_made_of_a_page(read: Run) -> None:
    bridges(read)
    read("irrelevant", SOUPS[0], "--topic", "bridges")
    (said,) = read("check", SOUPS[0], "--json").json["topics"]
    assert (said["topic"], said["verdict"], said["method"]) == ("bridges", "irrelevant", "you")
    assert read("check", BRIDGES[0], "--json").json["topics"] == []
    assert "bridges" in read("check", SOUPS[0]).out


def test_what_you_say_of_a_page_shows_at_once(read: Run) -> None:
    bridges(read)
    before = read("topic", "list", "--json").json[0]["version"]
    done = read("relevant", BRIDGES[2], "--topic", "bridges", "--json").json
    assert (done["corrections"], done["version"] != before) == (1, True)
    read("irrelevant", SOUPS[0], SOUPS[1], "--topic", "bridges")
    listed = {row["url"]: row for row in read("new", "--topic", "bridges", "--json").json}
    assert set(listed) == {BRIDGES[2]}
    assert listed[BRIDGES[2]]["topics"][0]["score"] == 1.0
    rejected = read("new", "--topic", "bridges", "--verdict", "irrelevant", "--json").json
    assert {row["url"] for row in rejected} == set(SOUPS[:2])
    read("relevant", SOUPS[0], "--topic", "bridges")
    assert len(read("new", "--topic", "bridges", "--json").json) == 2


@contextmanager
def _at_work(folder: Path, *jobs: str, ago: float = 0.0) -> Iterator[None]:
    """Hold the store as a daemon does, with its report of *ago* seconds."""
    home, at = folder / Settings().store.folder, SystemClock().now() - ago
    with only_writer(Settings(), folder):
        beats = tuple(map(JobBeat, jobs))
        make_file(home / REPORT)
        write_report(home / REPORT, HealthReport(at, DaemonState.RUNNING, at, beats, 0, ()))
        yield


@pytest.mark.parametrize(
    ("jobs", "ago"), [(("round",), 0.0), (("round", "topics"), 600.0), ((), 0.0)]
)
def test_who_would_not_notice_a_changed_topic_is_left_nothing_to_learn(
    read: Run, tmp_path: Path, jobs: tuple[str, ...], ago: float
) -> None:
    """A single run, a daemon that hangs, and a program of the user's."""
    bridges(read)
    before = read("topic", "show", "bridges", "--json").json
    with _at_work(tmp_path, *jobs, ago=ago):
        said = read("irrelevant", SOUPS[0], "--topic", "bridges").err
        assert "it was trained on" in said
        assert read("topic", "show", "bridges", "--json").json["version"] != before["version"]


def test_while_a_daemon_runs_a_command_leaves_learning_to_it(read: Run, tmp_path: Path) -> None:
    """It has the libraries and vectors at hand that would cost the command seconds."""
    bridges(read)
    before = read("topic", "show", "bridges", "--json").json
    with _at_work(tmp_path, "topics"):
        said = read("irrelevant", SOUPS[0], "--topic", "bridges")
        assert "1 page marked as irrelevant to bridges; the daemon retrains it within" in said.err
        assert "to undo: hubwatch topic forget" in said.err
        changed = read("topic", "edit", "bridges", "--keyword", "viaduct").err
        assert changed == "bridges was changed; the daemon retrains it within seconds\n"
        new = read("topic", "add", "soups", "--keyword", "soup")
        assert new.err == "topic soups was added; the daemon trains it within seconds\n"
        kept = read("topic", "show", "bridges", "--json").json
        assert (kept["version"], kept["terms"]) == (before["version"], before["terms"])
    with Watch(tmp_path, FakeWeb(SimulatedClock(SystemClock().now()), {})):
        after = read("topic", "show", "bridges", "--json").json
    assert after["version"] not in {"", before["version"]}
    assert (after["keywords"], after["corrections"]) == (["viaduct"], 1)


def test_a_mark_says_what_it_does_to_the_latest_pages_and_how_to_undo_it(read: Run) -> None:
    assert re.search(
        r"Of the latest \d+ pages it now shows \d+\.$", bridges(read).err, re.MULTILINE
    )
    before = read("topic", "show", "bridges", "--json").json
    said = read("relevant", SOUPS[0], "--topic", "bridges").err
    assert re.search(
        r"Of the latest \d+ pages it now shows \d+: \d+ more and \d+ fewer than before", said
    )
    (undo,) = re.findall("to undo: hubwatch (.+)", said)
    read(*shlex.split(undo))
    after = read("topic", "show", "bridges", "--json").json
    assert [one["url"] for one in after["pages_learned"]] == BRIDGES[:2]
    assert after["terms"] == before["terms"]
    read("irrelevant", BRIDGES[0], "--topic", "bridges")
    assert "to undo" not in read("relevant", BRIDGES[0], "--topic", "bridges").err


def test_new_pages_of_a_topic_in_every_form(read: Run) -> None:
    bridges(read)
    read("relevant", *BRIDGES, "--topic", "bridges")
    assert len(read("new", "--json").json) == len(NEW)
    rows = read("new", "--topic", "bridges", "--min-score", "0.9", "--json").json
    assert {row["url"] for row in rows} == set(BRIDGES)
    made = [one for row in rows for one in row["topics"]]
    assert {(one["topic"], one["verdict"], one["fetched"]) for one in made} == {
        ("bridges", "relevant", True)
    }
    assert "1.00" in read("new", "--topic", "bridges").out
    table = csv.DictReader(io.StringIO(read("new", "--topic", "bridges", "--format", "csv").out))
    cells = {(row["bridges.verdict"], row["bridges.fetched"]) for row in table}
    assert cells == {("relevant", "True")}
    urls = read("new", "--topic", "bridges", "--format", "urls").out.split()
    assert sorted(urls) == sorted(BRIDGES)
    assert read("new", "--topic", "bridges", "--limit", "1", "--json").json[0] == rows[0]


def test_a_new_topic_says_that_pages_are_scored_while_the_daemon_runs(
    read: Run, tmp_path: Path
) -> None:
    said = read("topic", "add", "gardens", "--keyword", "orchard").err
    assert "pages are scored while the daemon runs: hubwatch run" in said
    with only_writer(Settings(), tmp_path):
        assert "hubwatch run" not in read("topic", "add", "ponds", "--keyword", "pond").err


def test_an_empty_list_of_a_topic_says_what_became_of_the_new_pages(read: Run) -> None:
    read("topic", "add", "gardens", "--keyword", "orchard")
    said = read("new", "--topic", "gardens")
    assert "6 new pages not scored yet for gardens" in said.err
    read("irrelevant", BRIDGES[0], "--topic", "gardens")
    said = read("new", "--topic", "gardens")
    assert "1 new page not relevant to gardens: --verdict irrelevant; 5 new pages" in said.err
    read("irrelevant", *BRIDGES, *SOUPS[1:], "--topic", "gardens")
    said = read("new", "--topic", "gardens")
    assert "5 new pages not relevant to gardens: --verdict irrelevant" in said.err
    assert "1 new page not scored yet for gardens" in said.err
    read("irrelevant", SOUPS[0], "--topic", "gardens")
    assert "not scored" not in read("new", "--topic", "gardens").err
    assert read("new", "--topic", "gardens", "--json").json == []
    assert len(read("new", "--topic", "gardens", "--verdict", "irrelevant", "--json").json) == len(
        NEW
    )


def test_each_change_of_a_topic_says_what_was_done(read: Run) -> None:
    bridges(read)
    said = read("irrelevant", SOUPS[0], "--topic", "bridges").err
    assert "1 page marked as irrelevant to bridges; it was trained on 3 pages" in said
    assert "is ready" not in said
    said = read("topic", "forget", SOUPS[0], "--topic", "bridges").err
    assert "1 page forgotten by bridges; it was trained on 2 pages" in said
    unknown = "https://library.example/bridge"
    said = read("relevant", unknown, "--topic", "bridges").err
    assert "1 page marked as relevant to bridges\n" in said
    assert f"{unknown} will be fetched" in said
    said = read("topic", "edit", "bridges", "--name", "spans", "--keyword", "viaduct").err
    assert "bridges is now called spans; it was trained on 2 pages and 1 key word" in said
    assert "spans was changed" in read("topic", "edit", "spans", "--tag", "work").err


def test_a_topic_edited_without_options_says_what_is_missing(read: Run) -> None:
    read("topic", "add", "bridges", "--keyword", "viaduct")
    done = read("topic", "edit", "bridges")
    assert (done.code, "hubwatch topic show bridges" in done.err) == (2, True)


def test_a_paused_topic_is_resumed(read: Run) -> None:
    bridges(read)
    assert read("topic", "edit", "bridges", "--pause", "--json").json["state"] == "paused"
    assert read("topic", "list", "--json").json[0]["state"] == "paused"
    assert read("topic", "edit", "bridges", "--resume", "--json").json["state"] == "ready"


def test_a_removed_topic_is_gone_and_its_pages_stay(read: Run) -> None:
    bridges(read)
    assert read("topic", "remove", "bridges", "--yes").code == 0
    assert read("topic", "list", "--json").json == []
    assert len(read("new", "--json").json) == len(NEW)


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["topic", "add", "x"], 2, "example"),
        (["topic", "add", " ", "--keyword", "a"], 2, "name"),
        (["topic", "add", "x", "--example", "nonsense"], 2, "nonsense"),
        (["topic", "add", "x", "--keyword", "--"], 2, "word"),
        (["topic", "add", "x", "--keyword", "a", "--method", "magic"], 2, "bayes_kernel"),
        (["topic", "show", "nothing"], 4, "there is none yet"),
        (["topic", "remove", "nothing", "--yes"], 4, "nothing"),
        (["topic", "edit", "nothing", "--pause"], 4, "nothing"),
        (["relevant", "https://a.example/", "--topic", "nothing"], 4, "nothing"),
        (["relevant", "https://a.example/"], 2, "--topic"),
        (["new", "--topic", "nothing"], 4, "nothing"),
        (["new", "--min-score", "0.5"], 2, "--topic"),
        (["new", "--topic", "x", "--min-score", "7"], 2, "min-score"),
    ],
)
def test_what_cannot_be_done_is_reported(
    hubwatch: Run, arguments: list[str], code: int, says: str
) -> None:
    done = hubwatch(*arguments)
    assert (done.code, says in done.err) == (code, True), done.err
    assert "Traceback" not in done.err


def test_a_wrong_example_stores_nothing(hubwatch: Run) -> None:
    hubwatch("topic", "add", "x", "--keyword", "bridge", "--example", "nonsense")
    assert hubwatch("topic", "list", "--json").json == []


def test_a_topic_without_its_examples_waits_and_says_so(hubwatch: Run) -> None:
    url = "https://library.example/bridge"
    done = hubwatch("topic", "add", "bridges", "--example", url)
    assert done.code == 0
    assert "is waiting" in done.err
    assert "fetched by the daemon" in done.err
    assert (
        f"{url}: waiting to be fetched"
        in hubwatch("topic", "show", "bridges", "--json").json["why"]
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        ("this is no tree\n", "no format that we know"),
        ("id\tpos\thypernyms\ten\na\tn\tb\tx\nb\tn\ta\ty\n", "cycle"),
    ],
)
def test_a_broken_semantic_tree_is_named_and_left_out(
    hubwatch: Run, tmp_path: Path, content: str | None, says: str
) -> None:
    (tmp_path / "hubwatch.toml").write_text('[topics]\ntree = "words.tree"\n')
    if content is not None:
        (tmp_path / "words.tree").write_text(content)
    words = ["--keyword", "suspension bridge", "--keyword", "viaduct"]
    answer = hubwatch("topic", "add", "bridges", *words, "--method", "semantic", "--json").json
    assert answer["state"] == "ready"
    assert any("words.tree" in one and says in one for one in answer["warnings"]), answer[
        "warnings"
    ]


# --- over HTTP --------------------------------------------------------------------------------


@pytest.fixture
def site(tmp_path: Path) -> Iterator[LocalSite]:
    """A site on loopback, which the settings allow."""
    (tmp_path / "hubwatch.toml").write_text('[fetch]\nallowed_networks = ["127.0.0.0/8"]\n')
    pages = {
        "/robots.txt": "User-agent: *\nDisallow: /private",
        "/bridge": story("bridge", 1),
        "/span": story("bridge", 2),
        "/soup": story("soup", 3),
        "/empty": "<html></html>",
        "/": shown(),
    }
    with LocalSite(pages) as local:
        yield local


def test_examples_are_fetched_by_a_run_without_any_site(hubwatch: Run, site: LocalSite) -> None:
    done = hubwatch("topic", "add", "bridges", "--example", f"{site.url}/bridge")
    assert "is waiting" in done.err
    assert hubwatch("run", "--once").code == 0
    answer = hubwatch("topic", "show", "bridges", "--json").json
    assert (answer["state"], answer["pages_learned"][0]["status"]) == ("ready", "fetched")
    assert hubwatch("list", "--json").json == []


def test_hostile_names_and_titles_are_shown_harmlessly(hubwatch: Run) -> None:
    hubwatch("topic", "add", "[red]x[/red]", "--keyword", "bridge")
    assert hubwatch("topic", "add", "a\x1b[31mb", "--keyword", "bridge").code == 2
    assert "[red]x[/red]" in hubwatch("topic", "list").out
    assert hubwatch("topic", "list", "--json").json[0]["name"] == "[red]x[/red]"
