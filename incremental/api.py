"""The interface for Python programs: :class:`Hubwatch`, the same crawler that the daemon runs.

>>> from incremental import Hubwatch
>>> with Hubwatch("watching") as hubwatch:                        # doctest: +SKIP
...     hubwatch.add("https://example.org/news/")
...     hubwatch.run(rounds=1)
...     for page in hubwatch.new_pages():
...         print(page.found, page.url, page.name)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from requests.adapters import BaseAdapter

from incremental.assembly import make_crawler, make_fetcher, make_renderer
from incremental.clock import Clock, SystemClock
from incremental.seeds import SeedTerms, add_seed
from incremental.settings import Settings
from incremental.sharing.joining import refuse_beside
from incremental.storage import models_folder, only_writer, open_configured_store
from store.announced import AnnouncedPage as AnnouncedPage  # noqa: PLC0414 - offered with the crawler
from store.answers import NewQuery
from store.backfills import BackfillQuery
from store.enums import HubStatus
from store.errors import StoreError

_BATCH = 500
_PATIENCE_SECONDS = 60.0


class Hubwatch:
    """Watches sites from a Python program.

    Args:
        folder: where everything is stored; created if missing.
        settings: as in ``hubwatch.toml``; None = the defaults.
        clock: a simulated one makes runs repeatable.
        adapter: a transport for requests instead of the network.
        executor: runs visits; None = a few threads.

    Raises:
        SettingsError: a setting is wrong.
        StoreError: the store in *folder* is locked, damaged or of a later version.
    """

    def __init__(
        self,
        folder: str | Path,
        settings: Settings | None = None,
        *,
        clock: Clock | None = None,
        adapter: BaseAdapter | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._settings = settings or Settings()
        self._clock = clock or SystemClock()
        self._lock = only_writer(self._settings, Path(folder))
        self._lock.__enter__()
        self._store = open_configured_store(self._settings, Path(folder))
        try:
            refuse_beside(self._store.daemons.keep_out())
        except StoreError:
            self._store.close()
            self._lock.__exit__(None, None, None)
            raise
        self._executor = executor or ThreadPoolExecutor(self._settings.daemon.workers)
        self._fetcher = make_fetcher(self._settings, self._clock, adapter=adapter)
        self._open = ExitStack()
        renderer = self._open.enter_context(
            make_renderer(self._settings, self._clock, self._fetcher.fetch, adapter=adapter)
        )
        self._crawler = make_crawler(
            self._store,
            self._settings,
            fetch=self._fetcher.fetch,
            executor=self._executor,
            models=models_folder(self._settings, Path(folder)),
            renderer=renderer,
        )
        self._crawler.load(self._clock.now())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the fetches under way, discard them, and close the store."""
        self._executor.shutdown(wait=True)
        self._open.close()
        self._fetcher.close()
        self._store.close()
        self._lock.__exit__(None, None, None)

    def add(self, *urls: str, terms: SeedTerms | None = None) -> list[int]:
        """Watch the sites of *urls*; return their ids.

        Raises:
            InputError: one is not usable; those before it were added.
        """
        try:
            return [self._add(url, terms) for url in urls]
        finally:
            self._crawler.load(self._clock.now())

    def _add(self, url: str, terms: SeedTerms | None) -> int:
        now = self._clock.now()
        return add_seed(self._store, url, now=now, terms=terms, fetch=self._settings.fetch)

    def step(self, when_done: Callable[[], object] | None = None) -> float:
        """Do what can be done now; return when to call again (unix seconds), as the daemon does."""
        return self._crawler.step(self._clock.now(), when_done)

    def run(self, rounds: int = 1) -> None:
        """Do everything that is due, *rounds* times.

        A round waits for what politeness delays by up to a minute. With a simulated clock, which does not
        wait, it ends when nothing more can be done at that time.
        """
        for _ in range(rounds):
            self._crawler.load(self._clock.now())
            self._round()

    def _round(self) -> None:
        done = threading.Event()
        while True:
            done.clear()
            now = self._clock.now()
            wake_at = self._crawler.step(now, done.set)
            waits = isinstance(self._clock, SystemClock)
            due = waits and self._crawler.is_due(now, _PATIENCE_SECONDS)
            if self._crawler.idle and not due:
                return
            done.wait(max(min(wake_at - now, _PATIENCE_SECONDS), 0.0))

    def new_pages(
        self,
        *,
        since: datetime | None = None,
        after: int | None = None,
        backfill: bool = False,
    ) -> Iterator[AnnouncedPage]:
        """Yield announced pages, oldest first.

        *since* must be aware; *after* is the cursor of the last page seen. *backfill*: yield the older
        pages that lists gained instead; their cursors are separate.
        """
        at = since.timestamp() if since is not None else None
        if backfill:
            asked = BackfillQuery(since=at, after=after, order="oldest")
            yield from self._store.backfills.all_pages(asked)
            return
        query = NewQuery(since=at, after=after, limit=_BATCH, order="oldest")
        while True:
            answer = self._store.answers.new(query)
            yield from answer.rows
            if not answer.more:
                return
            query = replace(query, after=answer.cursor)

    def hub_urls(self) -> Sequence[str]:
        """Return the URLs of active hubs, most new pages first."""
        return [hub.url for hub in self._store.read.hubs() if hub.state == HubStatus.ACTIVE]
