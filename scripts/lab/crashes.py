"""Killing the real daemon, and what must be true afterwards.

::

    site that publishes  <--  hubwatch run  -->  web hook
    (truth)                    SIGKILL            (what was sent, under which key)

A *moment* says what is killed, and when: see :class:`Moment`. After all kills the daemon runs until it has
found everything, ends by TERM, and store, page cache and messages are compared with the truth.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import random
import shutil
import sqlite3
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Self

from lab.daemon_process import command, complete, wait_until
from lab.fault_world import FaultWorld
from store.answers import NewQuery
from store.database.home import BACKING_UP, DATABASE, RESTORING
from store.enums import LabelOrigin, PageLabel
from store.values import LabelEntry

LONGEST_START_SECONDS = 60.0


class Moment(StrEnum):
    """When a kill falls."""

    START_UP = "start-up"
    """Before the daemon has sent its first request."""
    WORK = "work"
    """Up to a second or two after it."""
    RETRAINING = "retraining"
    """While a version of the hub classifier is trained beside the crawler."""
    BACKUP = "backup"
    """Of ``hubwatch backup``, and every other time of the daemon beside it."""
    RESTORE = "restore"
    """Of ``hubwatch restore``."""


WEIGHTS = {
    Moment.START_UP: 24,
    Moment.WORK: 46,
    Moment.RETRAINING: 4,
    Moment.BACKUP: 9,
    Moment.RESTORE: 8,
}
"""How many of a hundred kills fall at each moment."""
SERVER_ONLY = frozenset({Moment.BACKUP, Moment.RESTORE})
"""What PostgreSQL has programs of its own for."""


@dataclass
class Counted:
    """What came of the kills; everything but the first four and the times should be zero."""

    kills: int = 0
    by_moment: Counter[str] = field(default_factory=Counter)
    left_half_done: Counter[str] = field(default_factory=Counter)
    """Kills after which something was left half done, as a look at the disk shows."""
    published: int = 0
    lost: list[str] = field(default_factory=list)
    announced_twice: list[str] = field(default_factory=list)
    messages_twice: list[str] = field(default_factory=list)
    messages_missing: list[str] = field(default_factory=list)
    """Announced, but in no message."""
    messages: int = 0
    messages_retried: int = 0
    corrupt_cache_files: int = 0
    corrupt_stores: list[str] = field(default_factory=list)
    failed_starts: list[str] = field(default_factory=list)
    leftovers: list[str] = field(default_factory=list)
    recoveries: list[float] = field(default_factory=list)
    """Seconds from a start to its first request."""
    checks: int = 0

    def add(self, other: Counted) -> None:
        """Take in what came of another world's kills."""
        for name, value in vars(other).items():
            mine = getattr(self, name)
            if isinstance(mine, Counter):
                mine.update(value)
            else:
                setattr(self, name, mine + value)


class CrashWorld(FaultWorld):
    """One site, one web hook and one daemon that is killed again and again. A context manager.

    *where*: a ``postgresql://`` URL, or empty for SQLite. *web_share*: of the starts, those with the web
    page, which take half a second longer. Each kill is drawn from *seed*.
    """

    def __init__(
        self, folder: Path, *, where: str = "", seed: int = 0, web_share: float = 0.25
    ) -> None:
        super().__init__(folder, where=where, hook_delay_seconds=0.4, seed=seed)
        self.counted = Counted()
        self._web_share = web_share
        self._dice = random.Random(seed)
        self._start_seconds = 2.0
        # Where the middle of each command is believed to be; learned from what a kill leaves behind.
        self._middle = {
            Moment.RETRAINING: 2.0,
            Moment.BACKUP: 0.05,
            Moment.RESTORE: 0.05,
        }
        self._checked: set[Path] = set()
        self._acts: dict[Moment, Callable[[], None]] = {
            Moment.START_UP: self._at_start,
            Moment.WORK: self._at_work,
            Moment.RETRAINING: self._in_retraining,
            Moment.BACKUP: self._in_backup,
            Moment.RESTORE: self._in_restore,
        }

    def __enter__(self) -> Self:
        super().__enter__()
        self._baseline()
        return self

    def kill_at(self, moment: Moment) -> None:
        """Let it run up to *moment*, and kill."""
        before = self.counted.kills
        self._acts[moment]()
        self.counted.by_moment[moment] += self.counted.kills - before

    # The moments.

    def _begin(self, variables: dict[str, str] | None = None) -> None:
        served = {} if self._dice.random() < self._web_share else {"HUBWATCH_WEB_ENABLED": "false"}
        self.daemon.start(variables=served | (variables or {}))
        self._started_at = time.time()

    def _first_request(self) -> bool:
        began = self._started_at
        arrived = wait_until(
            lambda: self.site.asked_at > began or not self.daemon.running, LONGEST_START_SECONDS
        )
        if self.site.asked_at <= began:
            why = "ended" if self.daemon.exit_code is not None else "sent no request"
            self._failed(f"{why} (exit {self.daemon.exit_code}): {self.daemon.errors()[-400:]}")
            return False
        self.counted.recoveries.append(self.site.asked_at - began)
        self._start_seconds += 0.2 * (self.site.asked_at - began - self._start_seconds)
        return arrived

    def _failed(self, what: str) -> None:
        self.counted.failed_starts.append(what)

    def _kill(self) -> None:
        ended = self.daemon.kill()
        if ended is not None:
            self._failed(f"exit {ended}: {self.daemon.errors()[-400:]}")
        self.counted.kills += 1

    def _at_start(self) -> None:
        self._begin()
        time.sleep(self._dice.uniform(0, self._start_seconds))
        self._kill()

    def _at_work(self) -> None:
        self._begin()
        self._first_request()
        time.sleep(self._dice.uniform(0, 1.5))
        self._kill()

    def _in_retraining(self) -> None:
        self._label()
        versions = self._versions()
        self._begin({"HUBWATCH_HUBS_RETRAIN_LABELS": "1"})
        self._first_request()
        self._wait_for_middle(Moment.RETRAINING)
        self._kill()
        self._learn_middle(
            Moment.RETRAINING, inside=len(self._versions()) <= max(len(versions), 1), ended=True
        )

    def _versions(self) -> set[str]:
        """Return the versions of the hub classifier; the first training adopts the shipped one."""
        folder = self.home / "models"
        return {path.parent.name for path in folder.glob("[!.]*/manifest.json")}

    def _label(self) -> None:
        """Label three pages, which is what a retraining is due for."""
        entries = []
        for path in self._dice.sample([one.path for one in self.site.site.articles()], 3):
            url = self.site.url.rstrip("/") + path
            key = url.partition("://")[2]
            made = LabelEntry(url, key, PageLabel.ARTICLE, LabelOrigin.USER, time.time())
            entries.append(made)
        with self.opened() as store:
            store.write.put_labels(entries)

    def _in_backup(self) -> None:
        self._begin()
        self._first_request()
        self._run_and_kill(Moment.BACKUP, "backup", str(self.folder / "killed.tar.gz"))
        if self._dice.random() < 0.5:  # noqa: PLR2004 - every other time
            self._kill()
        elif (code := self.daemon.kill()) is not None:
            self._failed(f"the daemon ended beside a killed backup: exit {code}")

    def _in_restore(self) -> None:
        """Restore a backup of the store as the last kill left it in its place; kill that twice."""
        archive = self.folder / "whole.tar.gz"
        if complete(self.folder, "backup", str(archive)):
            self._failed(f"backup: {self._errors('backup')}")
            return
        aside = self.folder / "aside"
        self.home.rename(aside)
        for _ in range(2):
            if not (self.home / DATABASE).exists():
                self._run_and_kill(Moment.RESTORE, "restore", "--keep-all", str(archive))
        if not (self.home / DATABASE).exists() and complete(
            self.folder, "restore", "--keep-all", str(archive)
        ):
            self._failed(f"restore: {self._errors('restore')}")
            shutil.rmtree(self.home, ignore_errors=True)
            aside.rename(self.home)
            return
        # The archive holds the store and its pages; what a running daemon keeps beside them comes again.
        shutil.rmtree(aside)

    def _run_and_kill(self, moment: Moment, *arguments: str) -> None:
        """Kill a command while its work folder is there."""
        process = command(self.folder, *arguments)
        wait_until(lambda: self._half_done(moment) or process.poll() is not None, 60, every=0.002)
        time.sleep(self._dice.uniform(0, self._middle[moment]))
        ended = process.poll()
        process.kill()
        process.wait()
        if ended:
            self._failed(f"{arguments[0]}: exit {ended}: {self._errors(arguments[0])}")
        self.counted.kills += 1
        self._learn_middle(moment, inside=self._half_done(moment), ended=ended is not None)

    def _wait_for_middle(self, moment: Moment) -> None:
        middle = self._middle[moment]
        time.sleep(max(self._dice.gauss(middle, 0.15 * middle), 0.0))

    def _learn_middle(self, moment: Moment, *, inside: bool, ended: bool) -> None:
        """Count a kill that left something half done; after others move the middle towards such kills."""
        self.counted.left_half_done[moment] += inside
        step = -0.06 if ended and not inside else 0.06
        self._middle[moment] = min(max(self._middle[moment] * (1 + step), 0.02), 20.0)

    def _half_done(self, moment: Moment) -> bool:
        parents = (self.folder, self.home)
        prefix = BACKING_UP if moment is Moment.BACKUP else RESTORING
        return any(any(parent.glob(f"{prefix}*")) for parent in parents)

    def _errors(self, name: str) -> str:
        path = self.folder / f"{name}.err"
        return path.read_text(encoding="utf-8", errors="replace")[-400:] if path.exists() else ""

    # What must be true.

    @contextlib.contextmanager
    def _copy(self) -> Iterator[Path]:
        """Copy the database with its log, as it lies there, so that looking at it mends nothing."""
        with tempfile.TemporaryDirectory(prefix="hubwatch-copy-") as name:
            for ending in ("", "-wal", "-journal"):
                path = self.home / f"{DATABASE}{ending}"
                if path.exists():
                    shutil.copy(path, Path(name) / path.name)
            yield Path(name) / DATABASE

    def check(self) -> None:
        """Look at what the last kill left: integrity, references, and new files of the page cache."""
        self.counted.checks += 1
        if not self._where and (self.home / DATABASE).exists():
            with self._copy() as path:
                self.counted.corrupt_stores += _faults(path)
        for path in (self.home / "pages").glob("*/*/*"):
            if path not in self._checked:
                self._checked.add(path)
                self.counted.corrupt_cache_files += not _is_sound(path)

    def _baseline(self) -> None:
        """Let the daemon read the site once, so that what is published from now on is news."""
        self.daemon.start(self.site.url, variables={"HUBWATCH_WEB_ENABLED": "false"})
        self.knows_lists()
        self.daemon.stop()
        self.site.site.begin()

    def finish(self, within: float = 240) -> Counted:
        """Publish nothing more, let the daemon find the rest, stop it, and compare with the truth."""
        self.site.site.end()
        published = self.site.published()
        self._begin()
        self._first_request()
        wait_until(lambda: published.keys() <= self._listed().keys(), within, every=0.5)
        self._stop()
        if self._unsent():
            # Messages are planned every half minute, and at a start.
            self._begin()
            wait_until(lambda: not self._unsent(), within, every=0.5)
            self._stop()
        if not self._where and complete(self.folder, "backup", str(self.folder / "last.tar.gz")):
            self._failed(f"backup: {self._errors('backup')}")
        self._checked.clear()
        self.check()
        self._compare(published)
        return self.counted

    def _stop(self) -> None:
        code, _ = self.daemon.stop()
        if code != 0:
            self._failed(f"did not end by TERM: {code} {self.daemon.errors()[-400:]}")

    def _unsent(self) -> bool:
        """Whether a page is in no message yet, or waits for an answer to it."""
        if len(self._listed().keys() - self.hook.urls()) > self.hook.unlisted():
            return True
        with self.opened() as store:
            return bool(store.outbox.open("hook"))

    def _listed(self) -> Counter[str]:
        """Return how often each address is in the lists of new pages, and of older ones."""
        found = self.found()
        with self.opened() as store:
            found.update(page.url for page in store.backfills.all_pages(NewQuery()))
        return found

    def _compare(self, published: dict[str, float]) -> None:
        counted = self.counted
        announced = self._listed()
        counted.published = len(published)
        counted.lost, counted.announced_twice, counted.messages_twice = self.compared(announced)
        counted.messages = len(self.hook.messages)
        counted.messages_retried = self.hook.retried()
        not_listed = sorted(announced.keys() - self.hook.urls())
        counted.messages_missing = not_listed if len(not_listed) != self.hook.unlisted() else []
        counted.leftovers = [
            str(path.relative_to(self.folder))
            for parent in (self.folder, self.home)
            for prefix in (BACKING_UP, RESTORING)
            for path in parent.glob(f"{prefix}*")
            # An empty one waits a minute for the next to remove it.
            if any(path.iterdir())
        ]


def _faults(path: Path) -> list[str]:
    try:
        with contextlib.closing(sqlite3.connect(path)) as connection:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(3)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [one for one in found if one != "ok"] + [f"foreign key: {row}" for row in broken[:3]]


def _is_sound(path: Path) -> bool:
    """Whether a file of the page cache is what its name says; unfinished ones begin with a tilde."""
    try:
        content = gzip.decompress(path.read_bytes())
    except FileNotFoundError:
        return True  # forgotten meanwhile
    except (OSError, EOFError, zlib.error):
        return path.name.startswith("~")
    if path.name.startswith("~"):
        return True
    head, _, body = content.partition(b"\n")
    url = head.partition(b"\t")[0]
    return path.name == f"{hashlib.md5(url).hexdigest()}.{hashlib.md5(body).hexdigest()}"


def plan(kills: int, moments: list[Moment], seed: int) -> list[Moment]:
    """Return the moments of about so many kills in a drawn order, each often enough for its weight."""
    whole = sum(WEIGHTS[one] for one in moments)
    drawn = [one for one in moments for _ in range(max(1, round(kills * WEIGHTS[one] / whole)))]
    random.Random(seed).shuffle(drawn)
    return drawn
