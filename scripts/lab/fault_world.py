"""What a fault happens to: the real daemon, a site that publishes, a web hook, and what must hold.

A fault that does not hold raises :class:`NotHeldError` with what was seen instead.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

from lab.daemon_process import (
    MAIN,
    DaemonProcess,
    free_port,
    quick_settings,
    wait_until,
    write_settings,
)
from lab.message_receiver import MessageReceiver
from lab.new_pages import new_pages
from lab.postgres_server import PostgresServer
from lab.publishing_site import PublishingSite, ServedSite
from store import Store, open_store
from store.database.home import DATABASE

HOME = "hubwatch-data"
FOUND_WITHIN_SECONDS = 240.0
UNHEALTHY_WITHIN_SECONDS = 90.0
STOP_SECONDS = 10.0
# The machine may be busy with other faults.
_STOP_LEEWAY_SECONDS = 2.0


class NotHeldError(Exception):
    """A fault did what it must not do; the message says what was seen."""


class FaultWorld:
    """A context manager; ends whatever it started.

    *postgres*: on a server of its own; *where* names a database of another. *code*: what the daemon's process
    runs instead of the command line alone. *sections*: further settings.
    """

    def __init__(  # noqa: PLR0913 - what a world is made of
        self,
        folder: Path,
        *,
        postgres: bool = False,
        where: str = "",
        code: str = MAIN,
        sections: Mapping[str, Mapping[str, object]] | None = None,
        hook_delay_seconds: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.folder = folder
        self.notes: list[str] = []
        self._site_offset = 0.0
        self._stack = contextlib.ExitStack()
        self.server = PostgresServer() if postgres else None
        self._where = where
        self.site = ServedSite(PublishingSite(seconds_between=1.0, seed=seed, now=self.now))
        self.hook = MessageReceiver(delay_seconds=hook_delay_seconds, seed=seed)
        self._port = free_port()
        self.daemon = DaemonProcess(folder, port=self._port, code=code)
        self._sections = sections or {}

    def __enter__(self) -> Self:
        for part in (self.server, self.site, self.hook, self.daemon):
            if part is not None:
                self._stack.enter_context(part)
        where = self.server.url if self.server else self._where
        own: dict[str, Mapping[str, object]] = {
            "store": {"folder": HOME, "database": where},
            "web": {"port": self._port},
        }
        for section, values in self._sections.items():
            own[section] = {**own.get(section, {}), **values}
        self.settings = write_settings(self.folder, quick_settings(self.hook.url, **own))
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError, AssertionError):
            self.daemon.send(signal.SIGCONT)
        self._stack.close()

    def now(self) -> float:
        """Return the time of the site."""
        return time.time() + self._site_offset

    def set_offset(self, seconds: float, *, site: bool = False) -> None:
        """Set the daemon's clock, and the *site*'s, so far off the machine's, at one instant."""
        half = self.folder / "offset.half"
        half.write_text(str(seconds), encoding="utf-8")
        half.replace(self.folder / "offset")
        self._site_offset = seconds if site else 0.0
        if site:
            self.site.site.make()

    @property
    def home(self) -> Path:
        """The folder of the store."""
        return self.folder / HOME

    @property
    def database(self) -> Path:
        """The SQLite file."""
        return self.home / DATABASE

    def note(self, text: str) -> None:
        """Keep something for the report."""
        self.notes.append(text)

    # Steps of a story.

    def begin(self) -> None:
        """Start the daemon on the site, publish once it knows the lists, and wait for the first find."""
        self.start(self.site.url)
        self.knows_lists()
        self.site.site.begin()
        self.finds()

    def knows_lists(self) -> None:
        """Require that the daemon finds the lists of the site."""
        listed = ("/", "/feed.xml", "/city/", "/harbour/", "/science/", "/sport/")
        require(
            wait_until(lambda: all(self.site.asked[path] for path in listed), 120),
            f"the lists were not found: {self.daemon.errors()[-800:]}",
        )
        time.sleep(1.0)  # what was fetched last is recorded

    def start(self, *arguments: str, variables: Mapping[str, str] | None = None) -> None:
        """Start the daemon."""
        self.daemon.start(*arguments, variables=variables)

    def alive(self) -> None:
        """Require that the daemon runs."""
        require(
            self.daemon.running,
            f"the daemon ended: exit {self.daemon.exit_code}: {self.daemon.errors()[-300:]}",
        )

    def lasts(self, seconds: float) -> None:
        """Require that the daemon runs for so long."""
        wait_until(lambda: not self.daemon.running, seconds, every=0.2)
        self.alive()

    def finds(self, within: float = FOUND_WITHIN_SECONDS) -> None:
        """Require that an article published from now on is found."""
        since = self.now()

        def found() -> bool:
            announced = set(self.daemon.announced())
            fresh = (url for url, at in self.site.published().items() if at >= since)
            return any(url in announced for url in fresh) or not self.daemon.running

        began = time.monotonic()
        done = wait_until(found, within, every=0.2)
        self.alive()
        require(done, f"nothing new was found for {within:.0f} s")
        self.note(f"finds again after {time.monotonic() - began:.1f} s")

    def unhealthy(self, within: float = UNHEALTHY_WITHIN_SECONDS) -> None:
        """Require that ``/healthz`` turns to 503, with a reason."""
        began = time.monotonic()
        answer = (0, "")

        def sick() -> bool:
            nonlocal answer
            answer = self.daemon.health()
            return answer[0] == 503 or not self.daemon.running  # noqa: PLR2004 - Service Unavailable

        wait_until(sick, within, every=0.5)
        self.alive()
        require(answer[0] == 503, f"/healthz said {answer} for {within:.0f} s")  # noqa: PLR2004 - likewise
        require(len(answer[1]) > 3, f"/healthz gave no reason: {answer}")  # noqa: PLR2004 - a word
        self.note(f"503 after {time.monotonic() - began:.1f} s: {answer[1][:80]}")

    def healthy(self, within: float = FOUND_WITHIN_SECONDS) -> None:
        """Require that ``/healthz`` turns to 200."""
        well = wait_until(lambda: self.daemon.health()[0] == 200, within, every=0.5)  # noqa: PLR2004 - OK
        self.alive()
        require(well, f"/healthz still says {self.daemon.health()}")

    def ends(self, within: float) -> int:
        """Require that the daemon ends by itself; return its exit code, which is not 0."""
        wait_until(lambda: not self.daemon.running, within, every=0.2)
        code = self.daemon.exit_code
        require(code is not None, f"the daemon went on for {within:.0f} s")
        require(code != 0, "the daemon ended with exit code 0")
        self.note(f"exit {code}: {self.daemon.errors().strip().splitlines()[-1][:120]}")
        return code or 0

    def refuses(self, *arguments: str) -> None:
        """Require that a start fails."""
        self.start(*arguments)
        self.ends(60)

    def stops(self) -> None:
        """Require that TERM ends the daemon, well, within its ten seconds."""
        code, seconds = self.daemon.stop(within=90)
        self.note(f"ended by TERM after {seconds:.1f} s")
        require(code == 0, f"TERM ended it with exit code {code} after {seconds:.0f} s")
        require(seconds <= STOP_SECONDS + _STOP_LEEWAY_SECONDS, f"TERM took {seconds:.1f} s")

    def recovers(self) -> None:
        """Require that it finds what is new, is healthy, and settles."""
        self.finds()
        self.healthy()
        self.settles()

    def goes_on(self) -> None:
        """Require that it finds what is new, and settles."""
        self.finds()
        self.settles()

    def settles(self) -> None:
        """Let it find everything, end by TERM, and require each page once."""
        self.site.site.end()
        published = set(self.site.published())
        wait_until(
            lambda: published <= set(self.daemon.announced()) or not self.daemon.running,
            FOUND_WITHIN_SECONDS,
            every=0.5,
        )
        self.alive()
        self.stops()
        lost, twice, repeated = self.compared(self.found())
        require(not lost, f"{len(lost)} of {len(published)} pages lost, as {lost[:1]}")
        require(not twice, f"announced twice: {twice[:2]}")
        require(not repeated, f"in two messages of different keys: {repeated[:2]}")

    def compared(self, found: Counter[str]) -> tuple[list[str], list[str], list[str]]:
        """Return which addresses were lost, announced twice (or printed so), and in two messages."""
        lost = sorted(self.site.published().keys() - found.keys())
        printed = Counter(self.daemon.announced())
        twice = {url for of in (found, printed) for url, count in of.items() if count > 1}
        return lost, sorted(twice), self.hook.twice()

    def opened(self) -> Store:
        """Open the store."""
        where = self.server.url if self.server else self._where or str(self.database)
        return open_store(where, cache_folder=self.home / "pages")

    def found(self) -> Counter[str]:
        """Return how often each address is in the list of new pages."""
        with self.opened() as store:
            return new_pages(store)

    def connected(self) -> socket.socket:
        """Return an open connection to the web page, closed at the end."""
        return self._stack.enter_context(socket.create_connection(("127.0.0.1", self._port), 10))

    def on_exit(self, undo: Callable[[], object]) -> None:
        """Call *undo* at the end."""
        self._stack.callback(undo)

    def on_tmpfs(self, megabytes: int) -> bool:
        """Put the store on a file system of its own; False where only root may."""
        if os.geteuid() != 0:
            return False
        self.home.mkdir(mode=0o700)
        options = f"size={megabytes}m,mode=700"
        if _system("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.home)):
            return False
        self.on_exit(lambda: _system("umount", "-l", str(self.home)))
        return True

    def remount(self, mode: str) -> None:
        """Make the store's own file system read-only (``ro``), or writable (``rw``)."""
        require(_system("mount", "-o", f"remount,{mode}", str(self.home)) == 0, "not remounted")


def _system(*arguments: str) -> int:
    return subprocess.run(arguments, check=False, stdout=subprocess.DEVNULL).returncode  # noqa: S603 - mount


def require(condition: object, otherwise: str) -> None:
    """Raise NotHeldError, saying *otherwise*, unless *condition* holds."""
    if not condition:
        raise NotHeldError(otherwise)
