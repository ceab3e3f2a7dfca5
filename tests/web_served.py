"""A served store in the test's own process, and a client that asks it as a browser would."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from empty_store import open_in
from fake_web import DAY, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from incremental.settings import Settings
from incremental.settings.sections import WebSettings
from store import Store

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from incremental.interfaces.web.context import Web

ADDRESS = "http://127.0.0.1:8787"
HOME = "https://news.example/"
OTHER = "https://other.example/"


@dataclass
class Served:
    """A store behind the whole application, guard and all."""

    web: Web
    store: Store
    clock: SimulatedClock
    app: Any = None
    """The application, made when a first browser comes: that takes a while."""

    def client(self, *, address: str = ADDRESS, **headers: str) -> TestClient:
        """Return a new browser; headers are given with underscores."""
        from fastapi.testclient import TestClient

        from incremental.interfaces.web.app import make_app

        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.app = self.app or make_app(self.web)
        return TestClient(self.app, base_url=address, headers=named)

    def with_settings(self, **web: Any) -> Served:
        """Return the same store under other settings of the web page."""
        settings = msgspec.structs.replace(self.web.settings, web=WebSettings(**web))
        return served_with(self, settings)


def served_with(served: Served, settings: Settings) -> Served:
    """Return the same store under other settings."""
    return _served(settings, served.web.folder, served.clock, served.store)


def _served(settings: Settings, folder: Path, clock: SimulatedClock, store: Store) -> Served:
    # Loaded here: every test process reads this file, and few need the libraries of the web page.
    pytest.importorskip("fastapi", reason="the extra `web` is not installed")
    from incremental.interfaces.web.context import Web

    return Served(Web(settings, folder, clock, store), store, clock)


def served_at(folder: Path, clock: SimulatedClock, store: Store) -> Served:
    """Return a store in *folder* under the settings that everybody begins with."""
    return _served(Settings(), folder, clock, store)


def form_token(client: TestClient, path: str = "/login") -> str:
    """Return the token that the forms of a page carry."""
    found = re.search(r'name="form_token" value="([0-9a-f]+)"', client.get(path).text)
    assert found is not None
    return found[1]


def post(client: TestClient, path: str, **fields: Any) -> Any:
    """Send a form of ours."""
    data = {"form_token": form_token(client), **fields}
    return client.post(path, data=data, follow_redirects=False)


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Served]:
    """Nothing is watched yet."""
    clock = SimulatedClock(START)
    with open_in(tmp_path) as store:
        yield _served(Settings(), tmp_path, clock, store)


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a store in which two sites were watched for two days, made once."""
    folder = tmp_path_factory.mktemp("watched")
    new = [f"{HOME}new-{n}.html" for n in range(3)]
    old = [f"{HOME}old-{n}.html" for n in range(3)]
    before, after = "The bridge is closed. " * 40, "The bridge is open again. " * 40
    pages: dict[str, Any] = {
        HOME: [(0, page(*old)), (START + DAY / 2, page(*new, *old))],
        **{url: page(title=f"Title of {url[-10:]}", text="A story. " * 80) for url in new[1:]},
        new[0]: [(0, article(before)), (START + DAY, article(after))],
        OTHER: [(0, page("/a.html")), (START + DAY / 2, page("/b.html|桥梁招标公告", "/a.html"))],
        OTHER + "b.html": page(title="桥梁招标公告", text="招标文件。" * 80),
    }
    with Watch(folder, FakeWeb(SimulatedClock(START), pages), HOME, OTHER) as crawl:
        crawl.run(3 * DAY)
    return folder


@pytest.fixture
def served(watched: Path, tmp_path: Path) -> Iterator[Served]:
    """Two sites were watched: four pages were announced, and one of them changed."""
    folder = tmp_path / "copy"
    shutil.copytree(watched, folder)
    clock = SimulatedClock(START + 3 * DAY)
    with open_in(folder) as store:
        yield _served(Settings(), folder, clock, store)


def article(text: str) -> str:
    """Write a page with a body of text."""
    paragraphs = "".join(f"<p>{text}</p>" for _ in range(2))
    body = f"<article><h1>The bridge</h1>{paragraphs}</article>"
    return f"<html><head><title>The bridge</title></head><body>{body}</body></html>"


@pytest.fixture
def announced(served: Served) -> Callable[[], list[int]]:
    """Return the ids of announced pages, the newest first."""
    from store.answers import NewQuery

    return lambda: [row.page_id for row in served.store.answers.new(NewQuery()).rows]
