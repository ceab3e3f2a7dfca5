"""Sites that only a browser can read, watched by the crawler with a real Chromium."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest
from cli_runner import Run
from fake_web import FolderScorer
from lab.clocks import FastClock, SimulatedClock
from scripted_site import LIST, ScriptedSite, rows
from stories import announced_pages

from incremental.base.findings import Verdict
from incremental.base.texts import Words
from incremental.base.threads import InlineExecutor
from incremental.base.times import HOUR
from incremental.daemon.assembly import make_crawler, make_fetcher, make_renderer
from incremental.fetch.options import FetchSettings
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.status import hub_results
from incremental.interfaces.web.explanation import explanation
from incremental.parse.hub_way import Way, WayKind, read_way
from incremental.settings import RevisitSettings, Settings
from incremental.settings.sections import BrowserSettings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.settings.storage import open_configured_store
from incremental.visit.rendering.browser import BrowserProblem, browser_finding, find_browser

START = 1_717_400_000.0
NEEDS_CHROMIUM = pytest.mark.skipif(
    not find_browser(BrowserSettings()).executable, reason="no Chromium is installed"
)


class Watching:
    """A crawler on a scripted site, whose time is set by hand."""

    def __init__(
        self, stack: ExitStack, folder: Path, site: ScriptedSite, url: str, **browser: object
    ) -> None:
        self.settings = msgspec.structs.replace(
            Settings(),
            fetch=FetchSettings(allowed_hosts=frozenset({f"127.0.0.1:{site.port}"})),
            revisit=RevisitSettings(requests_per_day=500),
            browser=msgspec.structs.replace(BrowserSettings(page_seconds=20), **browser),
        )
        self.clock, self.url = SimulatedClock(START), url
        self.store = stack.enter_context(open_configured_store(self.settings, folder))
        fetcher = make_fetcher(self.settings, FastClock(1.0))
        stack.callback(fetcher.close)
        add_seed(self.store, url, now=START, terms=SeedTerms())
        renderer = stack.enter_context(make_renderer(self.settings, FastClock(1.0), fetcher.fetch))
        self.crawler = make_crawler(
            self.store,
            self.settings,
            fetch=fetcher.fetch,
            executor=InlineExecutor(),
            scorer=FolderScorer(),
            renderer=renderer,
        )
        self.crawler.load(START)

    def run(self, hours: float, *, until_announced: bool = False) -> None:
        end = self.clock.now() + hours * HOUR
        while self.clock.now() < end:
            if until_announced and announced_pages(self.store):
                return
            wake_at = self.crawler.step(self.clock.now())
            self.clock.advance_to(min(max(wake_at, self.clock.now() + 1), end))
        self.crawler.step(end)

    @property
    def way(self) -> Way:
        (hub,) = [hub for hub in self.store.read.hubs() if hub.url == self.url]
        way = read_way(hub.way)
        assert way is not None
        return way

    def says(self, language: str) -> str:
        answer = explain(self.store, self.settings, self.url, now=self.clock.now())
        words = Words(language)
        return dict(explanation(answer, words))[answer["sites"][0]["site"]]


@pytest.fixture
def site() -> Iterator[ScriptedSite]:
    with ScriptedSite() as found:
        yield found


@NEEDS_CHROMIUM
def test_what_a_script_draws_at_the_second_visit_is_announced(
    tmp_path: Path, site: ScriptedSite
) -> None:
    url = site.page("/news", LIST)
    site.json("/zz/rows", rows(1, 2, 3))
    with ExitStack() as stack:
        watching = Watching(stack, tmp_path, site, url)
        watching.run(0.2)
        assert watching.way.kind == WayKind.RENDERED
        assert announced_pages(watching.store) == []
        site.json("/zz/rows", rows(4, 1, 2, 3))
        site.page("/n/4", "show()")
        watching.run(3, until_announced=True)
        (found,) = announced_pages(watching.store)
        assert found.url == f"{site.url}/n/4"
        assert found.anchor == "The council decides on matter 4"
        (row,) = [
            one
            for one in hub_results(
                watching.store, watching.settings, watching.store.read.sites(), now=START
            )
            if one.url == url
        ]
        assert row.way == "rendered"
        assert row.cost_requests > 2
        assert "in a browser" in watching.says("en")
        assert "由浏览器运行脚本生成" in watching.says("zh")


@NEEDS_CHROMIUM
def test_json_is_preferred_to_a_browser(tmp_path: Path, site: ScriptedSite) -> None:
    script = """
        fetch("/api/news").then(answer => answer.json()).then(rows => {
            document.getElementById("root").innerHTML =
                rows.map(r => `<a href="${r.url}">${r.title}</a>`).join("");
        });
    """
    listed = [
        {"url": f"/n/{n}", "title": f"The council decides on matter {n}", "date": "2024-05-30"}
        for n in range(3)
    ]
    site.json("/api/news", listed)
    with ExitStack() as stack:
        watching = Watching(stack, tmp_path, site, site.page("/news", script))
        watching.run(0.2)
        assert watching.way.kind == WayKind.JSON
        new = {"url": "/n/9", "title": "The council decides on matter 9", "date": "2024-06-03"}
        site.json("/api/news", [new, *listed])
        site.page("/n/9", "show()")
        watching.run(3)
        (found,) = announced_pages(watching.store)
        assert (found.url, found.published_at) == (f"{site.url}/n/9", 1717372800.0)
        assert site.url in watching.says("en")


def test_without_a_browser_the_hub_says_what_is_missing(tmp_path: Path, site: ScriptedSite) -> None:
    with ExitStack() as stack:
        watching = Watching(stack, tmp_path, site, site.page("/news", LIST), enabled=False)
        watching.run(0.2)
        assert watching.way.kind == WayKind.BROWSER_MISSING
        assert "needs a browser: it is switched off" in watching.says("en")
        assert "需要浏览器：浏览器已在设置中关闭" in watching.says("zh")


def test_the_settings_say_which_browser(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\n")
    assert find_browser(BrowserSettings(executable=str(program))).problem is BrowserProblem.PROGRAM
    wrong = browser_finding(BrowserSettings(executable=str(program)))
    assert wrong.verdict is Verdict.WARNING
    program.chmod(0o755)
    assert find_browser(BrowserSettings(executable=str(program))).executable == str(program)
    assert find_browser(BrowserSettings(enabled=False)).problem is BrowserProblem.OFF
    assert "[browser] enabled" in browser_finding(BrowserSettings(enabled=False)).says


def test_nothing_is_found_where_nothing_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_browser(BrowserSettings()).problem is BrowserProblem.NOT_FOUND
    assert "playwright install chromium" in browser_finding(BrowserSettings()).says
    own = tmp_path / "chromium-1200" / "chrome-linux" / "chrome"
    own.parent.mkdir(parents=True)
    own.touch(0o755)
    assert find_browser(BrowserSettings()).executable == str(own)


def test_a_program_that_is_no_browser_is_a_failed_visit(tmp_path: Path, site: ScriptedSite) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    with ExitStack() as stack:
        url = site.page("/news", LIST)
        watching = Watching(stack, tmp_path, site, url, executable=str(program))
        watching.run(0.2)
        (hub,) = [hub for hub in watching.store.read.hubs() if hub.url == url]
        assert hub.last_status == "parse_failed"
        visit, *_ = watching.store.read.visits(hub.page_id)
        assert visit["detail"].startswith("the browser did not start: ")
        assert "\n" not in visit["detail"]


@NEEDS_CHROMIUM
def test_the_commands_of_a_person_watch_a_page_that_scripts_draw(
    hubwatch: Run, tmp_path: Path, site: ScriptedSite
) -> None:
    url = site.page("/news", LIST)
    site.json("/zz/rows", rows(1, 2, 3))
    (tmp_path / "hubwatch.toml").write_text(
        f'[fetch]\nallowed_hosts = ["127.0.0.1:{site.port}"]\n[web]\nenabled = false\n'
    )
    assert hubwatch("add", url).code == 0
    assert hubwatch("run", "--once").code == 0
    (row,) = [one for one in hubwatch("hubs", "--json").json if one["url"] == url]
    assert (row["way"], row["last_status"]) == ("rendered", "fetched")
    assert "in a browser" in " ".join(hubwatch("check", url).out.split())
    site.json("/zz/rows", rows(4, 1, 2, 3))
    site.page("/n/4", "show()")
    assert hubwatch("visit", url).code == 0
    assert hubwatch("run", "--once").code == 0
    assert [one["url"] for one in hubwatch("new", "--json").json] == [f"{site.url}/n/4"]
