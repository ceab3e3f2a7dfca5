"""The database and the page cache.

::

    open_store(where) -> Store
        .read       Queries     queries of the crawler and the interfaces
        .write      Recorder    writes, one transaction per visit
        .answers    Answers     announced pages for readers, with their marks
        .backfills  Backfills   events of older pages that lists gained
        .topics     Topics      topics, their training examples and scores
        .discovery  Discovery   discovery runs and proposals
        .editing    Editing     users' edits: sites, requested visits
        .tags       Tags        tags of sites and topics
        .outbox     Outbox      messages to send and sent
        .cache      PageCache   bodies, named by MD5
        .access     Access      tokens and sessions of the web page and the API
        .monitor    Monitoring  counts over time, for dashboards and metrics
        .retention  Retention   expiry of old data
        .space      Space       sizes, release of free space
        .vectors    Vectors     vectors of announced pages, for search by meaning
        .refreshes       Refreshes       pages fetched again for changes of their text
        .page_watches    PageWatches     pages watched for such changes
        .watched_changes WatchedChanges  changes of those
        .quarantine Quarantined pages, sites, topics and jobs that met a bug
        .completeness  Completeness  how the new pages of a site were found
        .icons      Icons       icons of sites
        .problems   Problems    what is wrong with sites that may answer every visit
        .daemons    Daemons     daemons that share a PostgreSQL store, their sites and hosts

Each part loads on first use: a command needs two or three, and loading all of them takes longer than most
commands.

The store imports neither ``incremental`` nor ``classifier``; it keeps plain values (:mod:`store.values`).
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar

from store.errors import StoreFullError, StoreGoneError

if TYPE_CHECKING:
    from peewee import Database

    from store.access import Access
    from store.answers import Answers
    from store.completeness import Completeness
    from store.crawl.backfills import Backfills
    from store.crawl.quarantine import Quarantined
    from store.crawl.queries import Queries
    from store.crawl.record import Recorder
    from store.crawl.refreshes import Refreshes
    from store.daemons import Daemons
    from store.database.postgres import ServerBounds
    from store.discovery import Discovery
    from store.editing import Editing, Tags
    from store.files.page_cache import PageCache
    from store.icons import Icons
    from store.maintenance.monitoring import Monitoring
    from store.maintenance.retention import Retention
    from store.maintenance.space import Space
    from store.near_duplicates import NearDuplicates
    from store.outbox import Outbox
    from store.page_watches import PageWatches
    from store.problems import Problems
    from store.search.vectors import Vectors
    from store.topics import Topics
    from store.watched_changes import WatchedChanges

Loaded = TypeVar("Loaded")


class _Part(Generic[Loaded]):
    """A part of a store, loaded on first use. Parts hold no state, so two threads may load one at once."""

    def __init__(self, place: str) -> None:
        self._place = place

    def __set_name__(self, _owner: type[Store], name: str) -> None:
        self._name = name

    def __get__(self, store: Store | None, _owner: type[Store]) -> Loaded:
        if store is None:
            raise AttributeError(self._name)  # of the class there is none
        module, _, kind = self._place.partition(":")
        part: Loaded = getattr(import_module(module), kind)(store.database, store.where)
        vars(store)[self._name] = part
        return part


@dataclass(frozen=True)
class Store:
    """An open store. Use as a context manager, or call :meth:`close`."""

    database: Database
    where: str
    cache_folder: Path
    cache_quota_bytes: int
    file_id: tuple[int, int] | None = None
    """Of the SQLite file that was opened; None = PostgreSQL."""

    read: ClassVar[_Part[Queries]] = _Part("store.crawl.queries:Queries")
    answers: ClassVar[_Part[Answers]] = _Part("store.answers:Answers")
    backfills: ClassVar[_Part[Backfills]] = _Part("store.crawl.backfills:Backfills")
    topics: ClassVar[_Part[Topics]] = _Part("store.topics:Topics")
    discovery: ClassVar[_Part[Discovery]] = _Part("store.discovery:Discovery")
    editing: ClassVar[_Part[Editing]] = _Part("store.editing:Editing")
    tags: ClassVar[_Part[Tags]] = _Part("store.editing:Tags")
    outbox: ClassVar[_Part[Outbox]] = _Part("store.outbox:Outbox")
    access: ClassVar[_Part[Access]] = _Part("store.access:Access")
    monitor: ClassVar[_Part[Monitoring]] = _Part("store.maintenance.monitoring:Monitoring")
    retention: ClassVar[_Part[Retention]] = _Part("store.maintenance.retention:Retention")
    space: ClassVar[_Part[Space]] = _Part("store.maintenance.space:Space")
    vectors: ClassVar[_Part[Vectors]] = _Part("store.search.vectors:Vectors")
    page_watches: ClassVar[_Part[PageWatches]] = _Part("store.page_watches:PageWatches")
    refreshes: ClassVar[_Part[Refreshes]] = _Part("store.crawl.refreshes:Refreshes")
    watched_changes: ClassVar[_Part[WatchedChanges]] = _Part("store.watched_changes:WatchedChanges")
    quarantine: ClassVar[_Part[Quarantined]] = _Part("store.crawl.quarantine:Quarantined")
    completeness: ClassVar[_Part[Completeness]] = _Part("store.completeness:Completeness")
    near_duplicates: ClassVar[_Part[NearDuplicates]] = _Part("store.near_duplicates:NearDuplicates")
    icons: ClassVar[_Part[Icons]] = _Part("store.icons:Icons")
    problems: ClassVar[_Part[Problems]] = _Part("store.problems:Problems")
    daemons: ClassVar[_Part[Daemons]] = _Part("store.daemons:Daemons")

    @cached_property
    def write(self) -> Recorder:
        """The part that writes visits, and their bodies to the page cache."""
        from store.crawl.record import Recorder  # noqa: PLC0415 - see _Part

        return Recorder(self.database, self.where, self.cache)

    @cached_property
    def cache(self) -> PageCache:
        """The page cache."""
        from store.files.page_cache import PageCache  # noqa: PLC0415 - as in open_store

        return PageCache(self.cache_folder, quota_bytes=self.cache_quota_bytes)

    def close(self) -> None:
        """Close the database."""
        from store.database import close  # noqa: PLC0415 - as in open_store

        close(self.database)

    def still_there(self) -> None:
        """Check that writes still go to the file of the store's name, at the cost of one system call.

        Raises:
            StoreGoneError: the file, or its folder, was deleted or replaced.
        """
        from store.database.home import file_id  # noqa: PLC0415 - likewise

        if self.file_id is None:
            return
        try:
            there = file_id(Path(self.where))
        except FileNotFoundError:
            way_out = "restore a backup, or move what it left away to begin with an empty one"
            raise StoreGoneError(
                f"{self.where} was deleted while it was in use; {way_out}"
            ) from None
        except OSError:
            return  # unreadable for now; the next write says why
        if there != self.file_id:
            raise StoreGoneError(f"{self.where} was replaced while it was in use; start again")

    def recover(self) -> None:
        """Replace the calling thread's connection, and check that the new one can write.

        Raises:
            StoreUnavailableError: not yet.
            StoreGoneError: see :meth:`still_there`.
        """
        from peewee import PeeweeException  # noqa: PLC0415 - as in open_store

        self.still_there()
        # An open transaction is rolled back by its owner.
        with contextlib.suppress(PeeweeException):
            self.database.close()
        self.database.dispose()
        self.check_writable()
        self.cache.check()

    def check_writable(self) -> None:
        """Write nothing, in a transaction that needs the right to write.

        Raises:
            StoreUnavailableError: the database is locked, lost or read-only.
        """
        from store.database import writing  # noqa: PLC0415 - as in open_store
        from store.database.statements import run_sql  # noqa: PLC0415 - likewise

        with writing(self.database, self.where):
            run_sql(self.database, "DELETE FROM quarantine WHERE id < 0")

    def check_room(self, least_bytes: float) -> None:
        """Refuse to go on when little space is left.

        Raises:
            StoreFullError: less than *least_bytes* are free in the file system of the page cache.
        """
        folder = self.cache_folder.parent
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent
        free = shutil.disk_usage(folder).free
        if free < least_bytes:
            raise StoreFullError(
                f"{folder} has {free / 1e6:,.0f} MB left, and [store] min_free_mb asks for "
                f"{least_bytes / 1e6:,.0f}; make room"
            )

    @contextlib.contextmanager
    def in_this_thread(self) -> Iterator[Self]:
        """Use the store on the calling thread's own connection, closed at the end.

        For threads that did not open the store: connections are never shared between threads.
        """
        from store.database import own_connection  # noqa: PLC0415 - as in open_store

        with own_connection(self.database, self.where):
            yield self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_store(
    where: str,
    *,
    cache_folder: Path,
    cache_quota_bytes: int = 2_000_000_000,
    busy_seconds: float | None = None,
    bounds: ServerBounds | None = None,
) -> Store:
    """Open the database *where* (SQLite path or PostgreSQL URL) with its page cache.

    *busy_seconds*, *bounds*: see :func:`store.database.open_database`.

    Raises:
        StoreError: see :func:`store.database.open_database`.
    """
    from store.database import is_server, open_database  # noqa: PLC0415 - peewee loads every driver that there is
    from store.database.home import file_id  # noqa: PLC0415 - with it

    database = open_database(where, busy_seconds, bounds=bounds)
    own = None if is_server(where) else file_id(Path(where))
    return Store(database, where, cache_folder, cache_quota_bytes, own)
