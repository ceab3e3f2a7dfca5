"""A real reader app: newsboat reads, marks and stars over the Google Reader API."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from web_served import Served

from incremental.base.tagging import add_tags
from incremental.features.google_reader import BASE
from incremental.interfaces.web.access import new_token
from incremental.interfaces.web.server import served as listening
from store.answers import NewQuery

NEWSBOAT = shutil.which("newsboat")
pytestmark = pytest.mark.skipif(NEWSBOAT is None, reason="newsboat is not installed")
SECONDS = 60.0
CTRL_E = "\x05"


class Newsboat:
    """Newsboat with its files in a folder of the test."""

    def __init__(self, folder: Path, url: str, token: str) -> None:
        folder.mkdir()
        # Older versions know the same API by the name of another server.
        source = "freshrss" if b"freshrss-url" in Path(str(NEWSBOAT)).read_bytes() else "feedhq"
        lines = {
            "urls-source": source,
            f"{source}-url": url.rstrip("/") + BASE,
            f"{source}-login": "me",
            f"{source}-password": token,
            f"{source}-flag-star": "s",
            # Streams of others, which would be asked of their own server.
            f"{source}-show-special-feeds": "no",
        }
        text = "".join(f'{name} "{value}"\n' for name, value in lines.items())
        (folder / "config").write_text(text)
        (folder / "urls").write_text("")
        files = (("-C", "config"), ("-u", "urls"), ("-c", "cache.db"))
        self._command = [str(NEWSBOAT), *(p for o, n in files for p in (o, str(folder / n)))]
        self._environment = {
            **os.environ,
            "HOME": str(folder),
            "TERM": "xterm",
            "LC_ALL": "C.UTF-8",
        }

    def unread(self) -> str:
        """Read everything; return what newsboat says of it."""
        done = subprocess.run(
            [*self._command, "-x", "reload", "print-unread"],
            env=self._environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        return done.stdout.strip()

    @contextlib.contextmanager
    def opened(self) -> Iterator[Callable[[str, Callable[[str], bool]], str]]:
        """Open it on a terminal; yield a function that types keys and waits for what comes of them."""
        child, terminal = pty.fork()
        if child == 0:  # pragma: no cover - the other process
            os.execve(self._command[0], self._command, self._environment)
        shown = ""

        def press(keys: str, until: Callable[[str], bool]) -> str:
            nonlocal shown
            os.write(terminal, keys.encode())
            ends = time.monotonic() + SECONDS
            while not until(shown) and time.monotonic() < ends:
                if select.select([terminal], [], [], 0.2)[0]:
                    shown += os.read(terminal, 65_536).decode("utf-8", "replace")
            assert until(shown), shown[-2_000:]
            done, shown = shown, ""
            return done

        try:
            yield press
        finally:
            os.close(terminal)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, 9)
            os.waitpid(child, 0)


@pytest.fixture
def newsboat(served: Served, tmp_path: Path) -> Iterator[Newsboat]:
    token = new_token(served.store, "newsboat", "write", now=served.clock.now())
    with listening(served.with_settings(port=0).web) as url:
        yield Newsboat(tmp_path / "newsboat", url, token)


def test_newsboat_sees_what_is_unread_and_what_was_read_elsewhere(
    served: Served, newsboat: Newsboat
) -> None:
    add_tags(served.store, served.store.read.sites()[0].id, ("Daily",))
    assert newsboat.unread() == "4 unread articles"
    pages = [row.page_id for row in served.store.answers.new(NewQuery()).rows]
    served.store.answers.mark(pages[:3], now=1.0, read=True)
    assert newsboat.unread() == "1 unread articles"
    served.store.answers.mark(pages, now=1.0, read=False)
    assert newsboat.unread() == "4 unread articles"


def test_what_is_read_and_starred_in_newsboat_is_so_here(
    served: Served, newsboat: Newsboat
) -> None:
    newsboat.unread()
    totals = served.store.answers.totals
    with newsboat.opened() as press:
        press("", lambda text: "news.example" in text)
        press("\n", lambda text: "Title of" in text)
        press("\n", lambda text: "Link:" in text)
        press("q", lambda _: totals().unread == 3)
        press(f"{CTRL_E}s\n", lambda _: totals().starred == 1)
        press("q", lambda text: "news.example" in text)
        press("A", lambda _: served.store.answers.counts()[1].unread == 0)
    assert totals().unread == 1
