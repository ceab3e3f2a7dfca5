"""A package of somebody else, installed as by pip, adds one of each; ``docs/extending.md`` shows it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_runner import Run
from fake_web import DAY, START, FakeWeb, Reply, Watch
from lab.clocks import SimulatedClock
from web_served import Served, served_with

from incremental.base import features
from incremental.base.clock import SystemClock
from incremental.base.errors import SettingsError
from incremental.daemon.assembly import make_reader
from incremental.daemon.at_work import AtWork, jobs_of
from incremental.features.messages.channels import given_channels
from incremental.features.messages.hooks import call
from incremental.features.messages.settings import HookChannel
from incremental.fetch.libraries import LibraryGate
from incremental.fetch.options import FetchSettings
from incremental.settings import Settings, build_settings
from incremental.settings.loading import load_with_sources
from incremental.settings.reference import reference
from incremental.visit.host_gate import HostGate
from store import Store

ROOT = Path(__file__).parents[3]
SAMPLE = ROOT / "examples" / "hubwatch-sample"


def forget() -> None:
    """Look for features again, as a new process would."""
    for found in (features.entries, features.found, features.texts_of, reference):
        found.cache_clear()


def install(folder: Path, name: str, entry: str, **modules: str) -> Path:
    """Put a package into *folder* in the form in which pip leaves it."""
    about = folder / f"{name}-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[hubwatch.features]\n{entry}\n")
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source)
    return folder


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sample package, installed."""
    place = install(tmp_path / "site", "hubwatch_sample", "sample = hubwatch_sample:FEATURE")
    shutil.copytree(SAMPLE / "hubwatch_sample", place / "hubwatch_sample")
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setenv("PYTHONPATH", str(place))
    forget()
    yield place
    forget()
    for name in [one for one in sys.modules if one.startswith("hubwatch_sample")]:
        del sys.modules[name]


pytestmark = pytest.mark.usefixtures("installed")


def test_it_adds_a_command(hubwatch: Run, found: list[str]) -> None:
    assert hubwatch("tally", "--json").json["news.example"] == len(found)
    help_text = hubwatch("--help").out
    assert "Count new pages by site." in help_text
    assert "tally" in hubwatch("tally", "--help").out


def test_it_adds_a_setting_that_is_checked_like_any(hubwatch: Run, tmp_path: Path) -> None:
    settings = build_settings({"sample": {"minutes": 5}})
    assert [type(one).__name__ for one in settings.further] == ["SampleSettings"]
    for given, field in (({"minutes": 0}, "minutes"), ({"minute": 5}, "minute")):
        with pytest.raises(SettingsError) as refused:
            build_settings({"sample": given})
        assert refused.value.field == f"sample.{field}"
    (tmp_path / "hubwatch.toml").write_text("[sample]\nminutes = 5\n")
    rows = hubwatch("settings", "--json").json["settings"]
    ours = [row for row in rows if row["setting"].startswith("sample.")]
    assert {row["setting"]: row["value"] for row in ours} == {
        "sample.file": "",
        "sample.minutes": 5.0,
    }


def test_a_variable_of_the_environment_sets_it(
    hubwatch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUBWATCH_SAMPLE_MINUTES", "7")
    (row,) = hubwatch("settings", "--changed", "--json").json["settings"]
    assert (row["value"], row["source"]) == (7.0, "HUBWATCH_SAMPLE_MINUTES")
    monkeypatch.setenv("HUBWATCH_SAMPLE_MINUTE", "7")
    assert "unknown setting" in hubwatch("settings").err


def test_a_section_whose_name_begins_like_one_of_ours_has_its_own_variables(
    installed: Path,
) -> None:
    source = "from incremental.base.features import Feature\n"
    source += 'FEATURE = Feature(name="store_extra", summary="More.", '
    source += 'settings="hubwatch_sample.settings:SampleSettings")\n'
    install(installed, "extra", "store_extra = extra_one:FEATURE", extra_one=source)
    given = {"HUBWATCH_STORE_EXTRA_MINUTES": "7", "HUBWATCH_STORE_DATABASE": "other.sqlite"}
    settings, _, sources = load_with_sources(environment=given)
    assert [getattr(one, "minutes", None) for one in settings.further] == [7.0]
    assert settings.store.database == "other.sqlite"
    assert sources.keys() == {"store_extra.minutes", "store.database"}
    with pytest.raises(SettingsError, match="unknown setting"):
        load_with_sources(environment={"HUBWATCH_STORE_EXTRA_HOURS": "7"})


def test_it_adds_a_page_with_its_texts_and_a_place_in_the_navigation(served: Served) -> None:
    english = served.client(accept_language="en").get("/tally").text
    assert "<li>news.example: 3 pages</li>" in english
    assert "<li>other.example: 1 page</li>" in english
    assert '<a href="/tally" aria-current="page"><span>Tally</span></a>' in english
    assert "<li>other.example: 1 篇</li>" in served.client(accept_language="zh").get("/tally").text


def test_its_page_is_closed_to_who_shows_nothing(served: Served) -> None:
    guarded = served.with_settings(password="long enough")
    assert guarded.client().get("/tally", follow_redirects=False).status_code == 303


def test_it_adds_a_job(sqlite_store: Store, tmp_path: Path) -> None:
    settings = build_settings({"sample": {"file": "tally.json", "minutes": 5}})
    jobs, problems = jobs_of(settings.enabled, at_work(sqlite_store, settings, tmp_path))
    assert ("sample" in jobs, problems) == (True, [])
    assert jobs["sample"].step(START) == START + 300
    assert json.loads((tmp_path / "tally.json").read_text()) == {}


def at_work(store: Store, settings: Settings, folder: Path) -> AtWork:
    """A daemon that fetches nothing."""

    def nothing(*_: object) -> None:
        raise AssertionError

    return AtWork(
        store=store,
        settings=settings,
        folder=folder,
        fetch=nothing,  # type: ignore[arg-type]  # it is not called
        read=nothing,  # type: ignore[arg-type]  # likewise
        trouble=nothing,
        gate=HostGate(store, settings),
    )


def test_it_adds_a_channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAMPLE_LOG", str(tmp_path / "log"))
    (channel,) = given_channels(Settings())
    assert (channel.name, type(channel)) == ("feature:log", HookChannel)
    assert isinstance(channel, HookChannel)
    given = {"kind": "page", "page": {"url": "https://a.example/new"}}
    gate = LibraryGate(FetchSettings(), SystemClock())
    assert call(gate, channel.hook, json.dumps(given).encode(), "key").ok
    assert (tmp_path / "log").read_text() == "https://a.example/new\n"
    assert (
        call(gate, channel.hook, b'{"kind": "page"}', "key").error
        == "exit code 1: KeyError: 'page'"
    )


def test_it_adds_a_way_to_read_a_hub(tmp_path: Path) -> None:
    """In a process of its own, as the daemon reads bodies."""
    home = "https://news.example/"
    old, new = "/old,An old one\n", "/new,A new one\n/old,An old one\n"
    table = {
        home: [
            (0, Reply(old.encode(), headers={"Content-Type": "text/csv; charset=utf-8"})),
            (START + DAY, Reply(new.encode(), headers={"Content-Type": "text/csv"})),
        ],
        home + "new": "<html><title>A new one</title><p>It is here.</p></html>",
    }
    web = FakeWeb(SimulatedClock(START), table)
    with (
        make_reader(Settings(), workers=1) as read,
        Watch(tmp_path, web, home, read=read) as watch,
    ):
        watch.run(2 * DAY)
        assert watch.new() == ["/new"]


# --- off, or broken ---------------------------------------------------------------------------


def test_what_is_off_is_not_imported_and_has_no_command_page_or_channel(
    hubwatch: Run, served: Served, tmp_path: Path
) -> None:
    (tmp_path / "hubwatch.toml").write_text(
        '[features]\noff = ["sample", "assistants"]\n[sample]\nof_old = 1\n'
    )
    assert "No such command 'tally'" in hubwatch("tally").err
    assert "No such command 'mcp'" in hubwatch("mcp").err
    assert "tally" not in hubwatch("--help").out
    (tmp_path / "hubwatch.toml").rename(tmp_path / "other.toml")
    assert "No such command 'tally'" in hubwatch("-c", "other.toml", "tally").err
    off_names = ["sample", "discovery", "exchange", "messages", "page_watches"]
    off_names += ["watchdog", "completeness", "icons"]
    off = build_settings({"features": {"off": off_names}})
    assert (given_channels(off), off.enabled.readers) == ((), {})
    client = served_with(served, off).client()
    assert client.get("/tally").status_code == 404
    assert client.get("/topics/1/discovery").status_code == 404
    assert client.get("/messages").status_code == 404
    assert client.get("/problems").status_code == 404
    assert client.get("/changes").status_code == 404
    assert client.get("/feeds/changes.atom").status_code == 404
    assert "/messages" not in client.get("/").text
    assert jobs_of(off.enabled, at_work(served.store, off, tmp_path)) == ({}, [])
    assert "/import" not in client.get("/add").text
    assert not [name for name in sys.modules if name.startswith("hubwatch_sample")]


def test_nothing_of_ours_is_imported_when_all_of_it_is_off() -> None:
    """In a process of its own, because others have imported it here."""
    names = [
        name for name, one in features.entries().items() if one.value.startswith("incremental.")
    ]
    code = f"""
import sys
from incremental.interfaces.cli import commands
from incremental.settings import build_settings
from incremental.settings.reference import reference
off = frozenset({names!r})
settings = build_settings({{"features": {{"off": list(off)}}, "discovery": {{"max_pages_per_site": 3}},
    "messages": {{"channel": [{{"name": "of old"}}]}}}})
assert not settings.further and "discovery" not in [one.name for one in reference(off)]
assert "mcp" not in commands(off) and "discover" not in commands(off)
assert not {{"notify", "watch-page", "changes"}} & set(commands(off))
print([name for name in sys.modules if name.startswith("incremental.features.")])
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
    assert {
        "assistants",
        "discovery",
        "exchange",
        "messages",
        "page_watches",
    } <= set(names)


def test_a_name_that_no_feature_has_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"no such feature; installed: .*sample"):
        build_settings({"features": {"off": ["simple"]}})


def test_a_broken_feature_is_reported_in_a_sentence_and_the_others_go_on(
    hubwatch: Run, installed: Path, sqlite_store: Store, tmp_path: Path
) -> None:
    install(installed, "bad", "bad = bad_one:FEATURE", bad_one="import nowhere_at_all\n")
    why = "the feature bad cannot be used: ModuleNotFoundError: No module named 'nowhere_at_all'"
    settings = build_settings({"bad": {"colour": "red"}})
    jobs, problems = jobs_of(settings.enabled, at_work(sqlite_store, settings, tmp_path))
    assert ([str(one) for one in problems], "watchdog" in jobs) == ([why], True)
    done = hubwatch("doctor", "--json")
    found = [one for one in done.json["checks"] if one["check"] == "features"]
    assert [(one["verdict"], one["says"]) for one in found] == [
        ("problem", why),
        ("ok", f"on: {', '.join(one.name for one in settings.enabled.on)}"),
    ]
    assert hubwatch("new").code == 0
    assert "tally" in hubwatch("--help").out


def test_a_page_that_is_none_and_texts_that_are_no_toml_do_not_stop_the_web_page(
    installed: Path, served: Served
) -> None:
    source = "from incremental.base.features import Feature\n"
    source += 'FEATURE = Feature(name="odd", summary="Odd.", routers=("odd_one:nothing",), '
    source += 'pages={"/odd": "oddity"})\nnothing = 1\n'
    install(installed, "odd", "odd = odd_one:FEATURE", odd_one=source)
    (installed / "texts.toml").write_text("no TOML")
    page = served.client().get("/tally")
    assert (page.status_code, "<span>oddity</span>" in page.text) == (200, True)
    assert served.client().get("/odd").status_code == 404


# --- the tutorial -----------------------------------------------------------------------------


def test_the_tutorial_shows_the_sample_as_it_is() -> None:
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    shown = re.findall(r"`([\w./]+)`:\n\n```\w+\n(.*?)```", text, re.DOTALL)
    assert {name for name, _ in shown} >= {
        "pyproject.toml",
        *(f"hubwatch_sample/{name}" for name in ("__init__.py", "settings.py", "command.py")),
        *(f"hubwatch_sample/{name}" for name in ("routes.py", "job.py", "channel.py", "reader.py")),
    }
    for name, code in shown:
        assert code.strip() in (SAMPLE / name).read_text(encoding="utf-8"), name
