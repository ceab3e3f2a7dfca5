"""Faults of operation, by name: each happens to a real daemon in a process of its own.

Where a fault is inside the process (a bug, a clock, a resolver), the daemon's process runs a few lines
before the command line that replace one function; everything else is as people run it.
"""

import contextlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lab.daemon_process import MAIN, command, complete, wait_until
from lab.fault_server import FaultServer
from lab.fault_world import FaultWorld, NotHeldError, require
from store.database.home import BACKING_UP, DATABASE, RESTORING
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry

_SQLITE_BUSY_SECONDS = (40.0, 90.0)


class SkippedError(Exception):
    """A fault cannot be made here; the message says why."""


@dataclass(frozen=True)
class Fault:
    """One fault."""

    story: Callable[[FaultWorld], None]
    """What happens to a daemon that has found something; where it *begins* itself, to one not yet started."""
    begins: bool = False
    after: Callable[[FaultWorld], None] | None = FaultWorld.recovers
    """What must hold then; None = the story says so itself."""
    postgres: bool = False
    code: str = MAIN
    sections: dict[str, dict[str, object]] = field(default_factory=dict)

    def run(self, folder: Path) -> tuple[str, list[str]]:
        """Let it happen; return what did not hold, empty if all did, and notes.

        Raises:
            SkippedError: it cannot be made here.
        """
        with FaultWorld(
            folder, postgres=self.postgres, code=self.code, sections=self.sections
        ) as world:
            try:
                if not self.begins:
                    world.begin()
                self.story(world)
                if self.after is not None:
                    self.after(world)
            except NotHeldError as error:
                return str(error), world.notes
            return "", world.notes


# PostgreSQL.


def _backends_terminated(world: FaultWorld) -> None:
    assert world.server is not None
    for _ in range(3):
        require(world.server.terminate_backends(), "no connection to terminate")
        world.finds()


def _server_restarted(world: FaultWorld) -> None:
    assert world.server is not None
    for mode in ("fast", "immediate"):
        world.server.stop(mode)
        world.server.start()
        world.finds()


def _server_stopped_for_a_minute(world: FaultWorld) -> None:
    assert world.server is not None
    world.server.stop()
    end = time.monotonic() + 60
    world.unhealthy(60)
    world.lasts(max(end - time.monotonic(), 0))
    world.server.start()


def _server_absent_at_start(world: FaultWorld) -> None:
    assert world.server is not None
    world.stops()
    world.server.stop()
    world.start()
    world.lasts(20)
    world.server.start()


# SQLite.


def _locked(seconds: float) -> Callable[[FaultWorld], None]:
    def story(world: FaultWorld) -> None:
        # The lock of another process: this one.
        with contextlib.closing(sqlite3.connect(world.database, timeout=30)) as other:
            other.execute("BEGIN IMMEDIATE")
            end = time.monotonic() + seconds
            if seconds > min(_SQLITE_BUSY_SECONDS):
                world.unhealthy(seconds)
            world.lasts(end - time.monotonic())
            other.rollback()

    return story


def _disk_full(world: FaultWorld) -> None:
    if not world.on_tmpfs(64):
        raise SkippedError("only root may mount a file system that can be filled")
    world.begin()
    filler = world.home / "hubwatch.filler"
    with filler.open("wb") as file, contextlib.suppress(OSError):
        while True:
            file.write(b"\0" * 65_536)
            file.flush()
    world.unhealthy()
    asked = sum(world.site.asked.values())
    world.lasts(15)
    late = sum(world.site.asked.values()) - asked
    world.note(f"{late} requests in 15 s without space")
    filler.unlink()


def _read_only(world: FaultWorld) -> None:
    """Make the file system of the store read-only under a daemon that is then started, until it is not."""
    if not world.on_tmpfs(256):
        raise SkippedError("only root may mount a file system")
    world.begin()
    world.stops()
    world.remount("ro")
    world.start()
    world.lasts(20)
    world.remount("rw")


def _pages_read_only(world: FaultWorld) -> None:
    """Take the page cache away from a running daemon: a file stands in the place of its folder."""
    pages, aside = world.home / "pages", world.home / "aside"
    pages.rename(aside)
    pages.touch()
    world.lasts(15)
    pages.unlink()
    aside.rename(pages)


def _database_deleted(world: FaultWorld) -> None:
    for path in world.home.glob(f"{DATABASE}*"):
        path.unlink()
    world.ends(90)
    require(not world.database.exists(), "the store was silently made again")
    world.refuses()
    require(not world.database.exists(), "the next start silently made a new store")


def _folder_deleted(world: FaultWorld) -> None:
    shutil.rmtree(world.home)
    world.ends(90)
    require(not world.database.exists(), "the store was silently made again")


def _database_replaced(world: FaultWorld) -> None:
    other = world.home / "other"
    with contextlib.closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE another (program INTEGER)")
        connection.commit()
    other.replace(world.database)
    world.ends(90)


def _settings_deleted(world: FaultWorld) -> None:
    text = world.settings.read_bytes()
    world.settings.unlink()
    world.finds()
    world.stops()
    world.refuses()
    world.settings.write_bytes(text)
    world.start()


_HOT = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = delete")
connection.execute("PRAGMA cache_size = 1")
connection.execute("PRAGMA synchronous = full")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE page SET title = title || hex(randomblob(400))")
connection.execute("UPDATE page SET anchor = anchor || hex(randomblob(400))")
os.kill(os.getpid(), 9)
"""


def _hot_journal(world: FaultWorld) -> None:
    """Start on the rollback journal of a transaction that was killed after it had written to the file."""
    world.stops()
    subprocess.run([sys.executable, "-c", _HOT, str(world.database)], check=False)  # noqa: S603 - ours
    journal = world.database.with_name(f"{DATABASE}-journal")
    require(journal.exists() and journal.stat().st_size, "no journal was left: nothing is tested")
    world.start()


def _leftovers(world: FaultWorld) -> None:
    """Start after backups into the store's folder and restores were killed: their folders are removed."""
    world.stops()
    archive = world.folder / "whole.tar.gz"
    require(complete(world.folder, "backup", str(archive)) == 0, "no backup")
    inside = world.home / "inside.tar.gz"
    for _ in range(12):
        _killed_when(world, f"{BACKING_UP}*/half", "backup", str(inside))
        inside.unlink(missing_ok=True)
        if len(list(world.home.glob(f"{BACKING_UP}*"))) > 2:  # noqa: PLR2004 - a few
            break
    aside = world.folder / "aside"
    world.home.rename(aside)
    _killed_when(world, f"{RESTORING}*/store/*", "restore", "--yes", str(archive))
    for path in world.home.glob("~*"):
        path.rename(aside / path.name)
    shutil.rmtree(world.home)
    aside.rename(world.home)
    left = sorted(path.name for path in world.home.glob("~*"))
    require(left, "nothing was left: nothing is tested")
    world.note(f"left: {', '.join(left)}")
    world.start()
    world.finds()
    gone = not any(path.is_dir() for path in world.home.glob("~*"))
    require(gone, f"still there: {[path.name for path in world.home.glob('~*')]}")


def _killed_when(world: FaultWorld, pattern: str, *arguments: str) -> None:
    """Kill a command as soon as something in the store's folder matches *pattern*."""
    process = command(world.folder, *arguments)
    wait_until(lambda: any(world.home.glob(pattern)) or process.poll() is not None, 60, every=0.001)
    process.kill()
    process.wait()


# The clock.

_SHIFTED = (
    """
import datetime, pathlib, time
import apscheduler.schedulers.base, apscheduler.schedulers.blocking
from incremental.base.clock import SystemClock
def shifted():
    try:
        return time.time() + float(pathlib.Path("offset").read_text())
    except FileNotFoundError:
        return time.time()
class Shifted(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(shifted(), tz)
SystemClock.now = lambda self: shifted()
apscheduler.schedulers.base.datetime = Shifted
"""
    + MAIN
)
"""The daemon's clock, and that of its scheduler, are as far off the machine's as a file says."""


def _clock_back(world: FaultWorld) -> None:
    world.set_offset(-3_600.0)
    world.finds(150)


def _clock_forward(world: FaultWorld) -> None:
    world.set_offset(2 * 86_400.0)


def _dst(world: FaultWorld) -> None:
    """Half a minute before the clocks of Berlin go back, with a digest at an hour that comes twice."""
    change = datetime(2026, 10, 25, 1, 0, tzinfo=UTC).timestamp()
    world.set_offset(change - 40 - time.time(), site=True)
    world.begin()
    wait_until(lambda: world.now() > change + 20, 60)


# Bugs, put into one function each.


def _replaced(module: str, name: str, condition: str) -> str:
    """Return the code of a daemon whose *name* in *module* raises KeyError when *condition* holds."""
    owner, _, attribute = name.rpartition(".")
    place = f"module.{owner}" if owner else "module"
    return f"""
import importlib, os
module = importlib.import_module({module!r})
real = getattr({place}, {attribute!r})
def failing(*args, **kwargs):
    if {condition} and not os.path.exists("mended"):
        raise KeyError("a bug, for the benchmark")
    return real(*args, **kwargs)
setattr({place}, {attribute!r}, failing)
if os.path.exists("mended"):
    import store.crawl.quarantine
    store.quarantine.version = lambda _: "99.0"
{MAIN}
"""


def _page_with_a_bug(world: FaultWorld) -> None:
    """Let some pages raise: the others are found; after an upgrade that mends it, these are, too."""
    require(wait_until(lambda: _quarantined(world), 60, every=0.5), "nothing is in the quarantine")
    world.finds()
    world.note(f"in quarantine: {_quarantined(world)[0]}")
    world.stops()
    (world.folder / "mended").touch()
    world.start()


def _quarantined(world: FaultWorld) -> list[str]:
    with world.opened() as store:
        rows = store.quarantine.entries(limit=20)
        return [f"{row.kind} {row.key}: {row.error}" for row in rows]


def _job_with_a_bug(world: FaultWorld) -> None:
    require(wait_until(lambda: _quarantined(world), 45, every=0.5), "nothing is in the quarantine")
    world.note(f"in quarantine: {_quarantined(world)[0]}")


def _training_with_a_bug(world: FaultWorld) -> None:
    world.stops()
    urls = [world.site.url.rstrip("/") + one.path for one in world.site.site.articles()[:3]]
    with world.opened() as store:
        store.write.put_labels(
            [
                LabelEntry(
                    url, url.partition("://")[2], PageLabel.ARTICLE, LabelOrigin.USER, time.time()
                )
                for url in urls
            ]
        )
    world.start(variables={"HUBWATCH_HUBS_RETRAIN_LABELS": "1"})
    world.finds()
    require(wait_until(lambda: _quarantined(world), 90, every=0.5), "nothing is in the quarantine")
    world.note(f"in quarantine: {_quarantined(world)[0]}")


# Ending.


def _ends_beside(*behaviours: str) -> Callable[[FaultWorld], None]:
    """Return the story of a TERM while hosts of these kinds have the daemon wait."""

    def story(world: FaultWorld) -> None:
        with FaultServer(behaviours) as faults:
            added = complete(world.folder, "add", *faults.urls.values())
            require(added == 0, "the hosts were not added")
            busy = wait_until(lambda: len(faults.asked) == len(behaviours), 120, every=0.2)
            require(busy, f"only {list(faults.asked)} were asked")
            time.sleep(2)
            world.stops()
            before = faults.asked.total()
            world.start()
            again = wait_until(lambda: faults.asked.total() > before, 120, every=0.2)
            require(again, "the unfinished visits were not due again")
            world.goes_on()

    return story


_STUCK = (
    """
import socket, time
real = socket.getaddrinfo
def stuck(host, *args, **kwargs):
    if "stuck" in str(host):
        open("asked-resolver", "w").close()
        time.sleep(300)
    return real(host, *args, **kwargs)
socket.getaddrinfo = stuck
"""
    + MAIN
)


def _stuck_resolver(world: FaultWorld) -> None:
    hosts = [f"http://stuck{n}.example/" for n in range(3)]
    require(complete(world.folder, "add", *hosts) == 0, "the hosts were not added")
    asked = wait_until((world.folder / "asked-resolver").exists, 120, every=0.2)
    require(asked, "the resolver was not asked")


def _open_connections(world: FaultWorld) -> None:
    """TERM while browsers hold connections open: idle ones, half a request, an answer nobody reads."""
    for text in (
        b"",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n",
        b"GET /api/v1/pages?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    ):
        world.connected().sendall(text)


def _messages_refused(world: FaultWorld) -> None:
    """Let the web hook refuse everything for a while: nothing is lost, nothing sent twice."""
    world.hook.status = 500
    world.lasts(35)
    world.finds()
    world.hook.status = 200


def _suspended(world: FaultWorld) -> None:
    world.daemon.send(signal.SIGSTOP)
    time.sleep(40)
    world.daemon.send(signal.SIGCONT)


def _step_blocked(world: FaultWorld) -> None:
    """Let the crawler's step not return: the health check says so, and when it does all goes on."""
    (world.folder / "block").touch()
    world.unhealthy(240)
    (world.folder / "block").unlink()


_BLOCKED = (
    """
import os, time
from incremental.crawl.crawler import Crawler
real = Crawler.step
def step(self, *args, **kwargs):
    while os.path.exists("block"):
        time.sleep(0.1)
    return real(self, *args, **kwargs)
Crawler.step = step
"""
    + MAIN
)

_SMALL_DISK: dict[str, dict[str, object]] = {"store": {"min_free_mb": 4}}
_BERLIN: dict[str, dict[str, object]] = {
    "[messages.channel]": {"every_minutes": 0, "daily_at": "02:59", "time_zone": "Europe/Berlin"}
}

FAULTS: dict[str, Fault] = {
    "PostgreSQL: connections terminated": Fault(_backends_terminated, postgres=True),
    "PostgreSQL: server restarted": Fault(_server_restarted, postgres=True),
    "PostgreSQL: server away for a minute": Fault(_server_stopped_for_a_minute, postgres=True),
    "PostgreSQL: server absent at start": Fault(_server_absent_at_start, postgres=True),
    "SQLite: locked for 40 s": Fault(_locked(40)),
    "SQLite: locked for 90 s": Fault(_locked(90)),
    "disk full, then room again": Fault(_disk_full, begins=True, sections=_SMALL_DISK),
    "store read-only at start, then writable": Fault(_read_only, begins=True),
    "page cache cannot be written for a while": Fault(_pages_read_only),
    "database deleted": Fault(_database_deleted, after=None),
    "folder of the store deleted": Fault(_folder_deleted, after=None),
    "database replaced": Fault(_database_replaced, after=None),
    "settings file deleted": Fault(_settings_deleted, after=FaultWorld.goes_on),
    "hot rollback journal at start": Fault(_hot_journal, after=FaultWorld.goes_on),
    "leftovers of killed backups and restores": Fault(_leftovers, after=FaultWorld.goes_on),
    "clock set back by an hour": Fault(_clock_back, code=_SHIFTED),
    "clock set forward by two days": Fault(_clock_forward, code=_SHIFTED),
    "end of daylight saving time": Fault(_dst, begins=True, code=_SHIFTED, sections=_BERLIN),
    "bug in judging a page": Fault(
        _page_with_a_bug,
        after=FaultWorld.goes_on,
        code=_replaced(
            "incremental.decide.cases",
            "decide_verification",
            'args[0].task.url.endswith("3.html")',
        ),
    ),
    "bug in recording a page": Fault(
        _page_with_a_bug,
        after=FaultWorld.goes_on,
        code=_replaced(
            "store.crawl.record",
            "Recorder.visit",
            "args[1].fate == 'announce' and args[1].page_id % 5 == 3",
        ),
    ),
    "bug in composing a message": Fault(
        _job_with_a_bug,
        after=FaultWorld.goes_on,
        code=_replaced("incremental.features.messages.notifier", "compose", "True"),
    ),
    "bug in sending a message": Fault(
        _job_with_a_bug,
        after=FaultWorld.goes_on,
        code=_replaced("incremental.features.messages.notifier", "deliver", "True"),
    ),
    "bug in training": Fault(
        _training_with_a_bug,
        after=FaultWorld.goes_on,
        code=_replaced("incremental.topics.training.nightly_training", "train", "True"),
    ),
    "bug in housekeeping": Fault(
        _job_with_a_bug,
        after=FaultWorld.goes_on,
        code=_replaced("store.files.page_cache", "PageCache.prune", "True"),
    ),
    "messages refused for half a minute": Fault(_messages_refused, after=FaultWorld.goes_on),
    "round that stands still": Fault(_step_blocked, code=_BLOCKED),
    "suspended for 40 s": Fault(_suspended),
    "TERM beside dripping bodies": Fault(
        _ends_beside("dripping body", "dripping chunks"), after=None
    ),
    "TERM beside servers that never answer": Fault(
        _ends_beside("silence", "slow headers", "half-closed connection"), after=None
    ),
    "TERM beside a resolver that hangs": Fault(
        _stuck_resolver, after=FaultWorld.goes_on, code=_STUCK
    ),
    "TERM beside open connections to the web page": Fault(
        _open_connections, after=FaultWorld.goes_on
    ),
}
"""All faults, by name."""
