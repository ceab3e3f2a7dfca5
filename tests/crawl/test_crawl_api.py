"""The door for Python programs, and the examples of its documentation."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fake_web import DAY, HOUR, START, FakeWeb, page
from lab.clocks import SimulatedClock
from local_site import LocalSite

import hubwatch.api
from hubwatch import Hubwatch, Page
from incremental.base.errors import InputError, SettingsError
from incremental.base.scope import Reach
from incremental.base.threads import InlineExecutor
from incremental.settings.seeds import SeedTerms
from store.errors import StoreDamagedError

HOME = "https://news.example/"
STORY = "/stories/a-long-story-about-the-harbour-01.html"
ROOT = Path(__file__).parents[2]
PAGES = {
    HOME: [(0, page("/stories/old-and-known-story-of-the-sea.html")), (START + HOUR, page(STORY))],
    HOME[:-1] + STORY: page(title="The harbour", text="A story. " * 99),
}


def crawler(folder: Path, clock: SimulatedClock, **more: Any) -> Hubwatch:
    web = FakeWeb(clock, PAGES)
    return Hubwatch(folder, clock=clock, adapter=web, executor=InlineExecutor(), **more)


def run_until(watching: Hubwatch, clock: SimulatedClock, end: float) -> None:
    while clock.now() < end:
        watching.run()
        clock.advance_to(min(watching.step(), end))


def test_seeds_in_new_pages_out(tmp_path: Path) -> None:
    clock = SimulatedClock(START)
    with crawler(tmp_path, clock) as watching:
        assert watching.add(HOME) == [1]
        run_until(watching, clock, START + DAY)
        (found,) = watching.new_pages()
    assert isinstance(found, Page)
    assert (found.url, found.title, found.site) == (
        HOME[:-1] + STORY,
        "The harbour",
        "news.example",
    )
    assert found.hub_url == HOME
    assert found.found_at.tzinfo is UTC
    assert found.found_at > datetime.fromtimestamp(START + HOUR, UTC)


def test_step_works_at_once_after_add(tmp_path: Path) -> None:
    clock = SimulatedClock(START)
    with crawler(tmp_path, clock) as watching:
        watching.add(HOME)
        for _ in range(4):
            clock.advance_to(watching.step())
        assert watching.hub_urls() == [HOME]


def test_following_on_from_a_cursor(tmp_path: Path) -> None:
    clock = SimulatedClock(START)
    with crawler(tmp_path, clock) as watching:
        watching.add(HOME, terms=SeedTerms(reach=Reach.DOMAIN, requests_per_day=100))
        run_until(watching, clock, START + DAY)
        (found,) = watching.new_pages(after=0)
        assert list(watching.new_pages(after=found.cursor)) == []
        assert list(watching.new_pages(since=found.found_at)) == [found]
        assert list(watching.new_pages(since=found.found_at + timedelta(seconds=1))) == []


def test_what_a_program_can_do_wrong(tmp_path: Path) -> None:
    with crawler(tmp_path, SimulatedClock(START)) as watching, pytest.raises(InputError):
        watching.add(HOME, "file:///etc/passwd")
    (tmp_path / "bad" / "hubwatch-data").mkdir(parents=True)
    (tmp_path / "bad" / "hubwatch-data" / "hubwatch.sqlite").write_bytes(b"no database" * 99)
    with pytest.raises(StoreDamagedError):
        Hubwatch(tmp_path / "bad")


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="contct"):
        Hubwatch(tmp_path, {"fetch": {"contct": "me@example.org"}})


def test_real_time_threads_and_sockets(tmp_path: Path) -> None:
    settings = {"fetch": {"allowed_networks": ["127.0.0.0/8"]}}
    with (
        LocalSite({"/": page(STORY)}) as site,
        ThreadPoolExecutor(2) as pool,
        Hubwatch(tmp_path, settings, executor=pool) as watching,
    ):
        watching.add(site.url)
        watching.run()
        assert watching.hub_urls() == [site.url + "/"]


# --- documentation ----------------------------------------------------------------------------

FENCE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def examples() -> list[tuple[str, str]]:
    """Return the Python code of the documents, and of the docstring of the door."""
    files = sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")])
    found = [
        (file.name, code)
        for file in files
        if file.exists()
        # Its code is that of the sample package, which is installed and tested as a whole.
        if file.name != "extending.md"
        for code in FENCE.findall(file.read_text())
    ]
    lines = re.findall(r"^(?:>>>|\.\.\.) ?(.*)$", hubwatch.api.__doc__ or "", re.MULTILINE)
    return [("api.py", "\n".join(lines)), *found]


@pytest.mark.parametrize(("name", "code"), examples())
def test_the_examples_of_the_documents_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    code: str,
) -> None:
    """They run as they stand; the network below them is a fake one, and time jumps."""
    clock = SimulatedClock(START)

    class Offline(Hubwatch):
        def __init__(self, *arguments: Any, **more: Any) -> None:
            given = {"clock": clock, "adapter": FakeWeb(clock, EVERY), "executor": InlineExecutor()}
            super().__init__(*arguments, **{**given, **more})

        def run(self, rounds: int = 1) -> None:
            run_until(super(), clock, clock.now() + rounds * 2 * HOUR)  # type: ignore[arg-type]  # super() is the crawler

        def watch(self, **more: Any) -> Iterator[Page]:
            """Watch for a day: the loops of the examples have no end of their own."""
            self.run(12)
            yield from self.new_pages(**more)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("hubwatch.api.Hubwatch", Offline)
    exec(compile(code, name, "exec"), {"__name__": "example"})
    assert not name.startswith("README") or "['https://example.org/" in capsys.readouterr().out


EVERY = {url: page(STORY) for url in ("https://example.org/", "https://example.org/news/")}
EVERY |= {"https://example.org" + STORY: page(title="The harbour", text="A story. " * 99)}


def test_older_pages_that_a_list_gained_are_given_on_demand(tmp_path: Path) -> None:
    old = [f"/blog/2007/03/{day:02}/old.html" for day in range(1, 6)]
    stories = [f"/story-{n}.html" for n in range(6)]
    clock = SimulatedClock(START)
    web = FakeWeb(clock, {HOME: [(0, page(*stories)), (START + DAY, page(*stories, *old))]})
    with Hubwatch(tmp_path, clock=clock, adapter=web, executor=InlineExecutor()) as watching:
        watching.add(HOME)
        run_until(watching, clock, START + 2 * DAY)
        assert list(watching.new_pages()) == []
        found = list(watching.new_pages(backfill=True))
        assert [one.url for one in found] == [HOME[:-1] + path for path in old]
        assert found[0].hub_url == HOME
        rest = watching.new_pages(backfill=True, after=found[1].cursor)
        assert [one.url for one in rest] == [one.url for one in found[2:]]


def test_a_budget_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"revisit\.requests_per_day = -1"):
        Hubwatch(tmp_path, requests_per_day=-1)
