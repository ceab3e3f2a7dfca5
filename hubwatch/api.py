"""The interface for Python programs: :class:`Hubwatch`, the same crawler that the daemon runs.

>>> from hubwatch import Hubwatch
>>> with Hubwatch("watching", requests_per_day=200) as hubwatch:   # doctest: +SKIP
...     hubwatch.add("https://example.org/news/")
...     hubwatch.add_topic("harbour", describe="Ships, docks and the harbour authority")
...     for page in hubwatch.watch():
...         print(page.found_at, page.url, page.title)

One process writes to a store at a time: beside a running daemon use :meth:`Hubwatch.connect`, which has the
same methods, except those that crawl, or :meth:`Hubwatch.connect_async`. The crawler itself decides and
writes in one thread on purpose: in an asyncio program run it as ``await asyncio.to_thread(hubwatch.run)``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self

from msgspec import to_builtins
from msgspec.structs import replace as with_fields
from requests.adapters import BaseAdapter

from hubwatch.asynchronous import AsyncClient
from hubwatch.client import Client
from incremental.base.clock import Clock, SystemClock
from incremental.base.errors import InputError
from incremental.base.lookup import find_page, find_sites, find_topic
from incremental.base.times import moment
from incremental.base.urls import canonical_key
from incremental.crawl.sharing import refuse_beside
from incremental.daemon.assembly import make_crawler, make_fetcher, make_renderer
from incremental.interfaces.explain.page import explain
from incremental.interfaces.filters import Filters
from incremental.interfaces.results.schema import Page as Page  # noqa: PLC0414 - offered with the crawler
from incremental.interfaces.results.schema import PageChange as PageChange  # noqa: PLC0414 - likewise
from incremental.interfaces.results.schema import SiteVisit as SiteVisit  # noqa: PLC0414 - likewise
from incremental.interfaces.results.schema import TextChange as TextChange  # noqa: PLC0414 - likewise
from incremental.interfaces.results.schema import change_result, page_result, plain, result_of
from incremental.interfaces.results.sites import AddingSites, site_results
from incremental.interfaces.results.sites import Site as Site  # noqa: PLC0414 - likewise
from incremental.interfaces.results.tables import to_pandas as to_pandas  # noqa: PLC0414 - likewise
from incremental.interfaces.results.topics import Topic as Topic  # noqa: PLC0414 - likewise
from incremental.interfaces.results.topics import (
    TopicPreview,
    preview_of_edit,
    preview_result,
    topic_result,
    topic_results,
)
from incremental.interfaces.site_editing import edit_site
from incremental.settings import Settings
from incremental.settings.loading import build_settings, load_settings
from incremental.settings.seeds import SeedTerms
from incremental.settings.storage import models_folder, only_writer, open_configured_store
from incremental.topics.editing import begin, edit_topic, give_feedback
from incremental.topics.editing import set_paused as pause_topic
from incremental.topics.training.corrections import correct
from store.answers import NewQuery
from store.enums import HubStatus, SiteStatus
from store.topics.values import TopicRow
from store.values import SiteRow
from store.watched_changes import ChangeQuery

_BATCH = 500
_PATIENCE_SECONDS = 60.0


class Hubwatch:
    """Watches sites from a Python program.

    Args:
        folder: the store is kept in ``hubwatch-data`` below it; created if missing.
        settings: the sections of ``hubwatch.toml`` as nested mappings, ``{"fetch": {"contact": ...}}``, or
            settings already built; None = the defaults. :meth:`from_toml` reads a file.
        requests_per_day: the budget of each site, instead of that of *settings*.
        clock: a simulated one makes runs repeatable.
        adapter: a transport for requests instead of the network.
        executor: runs visits; None = a few threads.

    Raises:
        SettingsError: a setting is wrong.
        InputError: *folder* is itself a store.
        StoreError: the store in *folder* is locked, damaged or of a later version.
    """

    def __init__(  # noqa: PLR0913 - each is replaced by some program
        self,
        folder: str | Path,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        requests_per_day: float | None = None,
        clock: Clock | None = None,
        adapter: BaseAdapter | None = None,
        executor: Executor | None = None,
    ) -> None:
        place = Path(folder)
        if (place / "hubwatch.sqlite").exists():
            raise InputError("folder", str(place), f"is a store itself; give {place.parent}")
        self._settings = (
            settings if isinstance(settings, Settings) else build_settings(settings or {})
        )
        if requests_per_day is not None:
            given = to_builtins(self._settings.revisit) | {"requests_per_day": requests_per_day}
            revisit = build_settings({"revisit": given}).revisit
            self._settings = with_fields(self._settings, revisit=revisit)
        self._models = models_folder(self._settings, place)
        self._clock = clock or SystemClock()
        self._open = ExitStack()
        with ExitStack() as opening:
            opening.enter_context(only_writer(self._settings, place))
            self._store = open_configured_store(self._settings, place)
            opening.callback(self._store.close)
            refuse_beside(self._store.daemons.keep_out())
            fetcher = make_fetcher(self._settings, self._clock, adapter=adapter)
            opening.callback(fetcher.close)
            renderer = opening.enter_context(
                make_renderer(self._settings, self._clock, fetcher.fetch, adapter=adapter)
            )
            visits = executor or ThreadPoolExecutor(self._settings.daemon.workers)
            opening.callback(visits.shutdown, wait=True)
            self._crawler = make_crawler(
                self._store,
                self._settings,
                fetch=fetcher.fetch,
                executor=visits,
                models=self._models,
                renderer=renderer,
            )
            self._crawler.load(self._clock.now())
            self._open = opening.pop_all()

    @classmethod
    def from_toml(cls, path: str | Path) -> Self:
        """Open the store that the settings file at *path* configures."""
        settings, folder = load_settings(Path(path))
        return cls(folder, settings)

    @staticmethod
    def connect(url: str = "http://127.0.0.1:8787", token: str = "") -> Client:
        """Return a client of the Hubwatch that runs at *url*; ``hubwatch token add`` makes a *token*."""
        return Client(url, token)

    @staticmethod
    def connect_async(url: str = "http://127.0.0.1:8787", token: str = "") -> AsyncClient:
        """Return :meth:`connect` for asyncio: its methods are awaited, its iterators are asynchronous."""
        return AsyncClient(url, token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Wait for the fetches under way, discard them, and close the store."""
        self._open.close()

    # --- sites --------------------------------------------------------------------------------

    def add(self, *urls: str, terms: SeedTerms | None = None) -> list[int]:
        """Watch the sites of *urls*; return their ids.

        A page of a watched site becomes a hub of that site, unless it has *terms* of its own.

        Raises:
            InputError: one is not usable; those before it were added.
        """
        now = self._clock.now()
        adding = AddingSites(self._store, self._settings, terms=terms, now=now)
        try:
            return [adding.add(url)[0] for url in urls]
        finally:
            self._crawler.load(self._clock.now())

    def sites(self) -> list[Site]:
        """Return the watched sites, in the order in which they were added."""
        return site_results(self._store, self._store.read.sites())

    def edit_site(self, site: str, **changes: Any) -> Site:  # noqa: ANN401 - by field
        """Change a site given by name, seed or id; *changes* are its fields, such as ``tags``.

        Raises:
            NotFoundError: there is no such site.
            InputError: a value is not usable; nothing was changed.
        """
        now = self._clock.now()
        row = edit_site(self._store, self._row(site), changes, self._settings, now=now)
        self._crawler.load(now)
        return self._site(row)

    def pause(self, site: str) -> Site:
        """Fetch nothing more from a site."""
        return self.edit_site(site, state=SiteStatus.PAUSED)

    def resume(self, site: str) -> Site:
        """Visit a paused site again."""
        return self.edit_site(site, state=SiteStatus.ACTIVE)

    def remove(self, site: str) -> None:
        """Delete a site with its pages and history."""
        self._store.write.remove_site(self._row(site).id)
        self._crawler.load(self._clock.now())

    def hub_urls(self) -> Sequence[str]:
        """Return the URLs of active hubs, most new pages first."""
        return [hub.url for hub in self._store.read.hubs() if hub.state == HubStatus.ACTIVE]

    def label(self, url: str, label: Literal["hub", "article"]) -> tuple[str, ...]:
        """Correct the hub classifier; return the names of the sites where it takes effect at once.

        Raises:
            InputError: not a web address, an unknown label, or ``article`` for a seed.
        """
        if label not in ("hub", "article"):
            raise InputError("label", label, "must be hub or article")
        done = correct(self._store, url, label, now=self._clock.now())
        self._crawler.load(self._clock.now())
        return done.sites

    # --- topics -------------------------------------------------------------------------------

    def add_topic(
        self,
        name: str,
        *,
        examples: Sequence[str] = (),
        keywords: Sequence[str] = (),
        describe: str = "",
    ) -> Topic:
        """Add a topic from example pages, key words or a sentence.

        Raises:
            InputError: nothing to learn from, or a value that is not usable. Nothing was stored.
        """
        row, _ = begin(
            self._store,
            name,
            examples=examples,
            keywords=keywords,
            description=describe,
            now=self._clock.now(),
        )
        return self._topic(row)

    def topics(self) -> list[Topic]:
        """Return the topics, by name."""
        return topic_results(self._store)

    def edit_topic(self, name: str, /, **changes: Any) -> Topic:  # noqa: ANN401 - see below
        """Change a topic: ``name``, ``keywords``, ``description``, ``include``, ``exclude`` or ``tags``."""
        row = find_topic(self._store, name)
        return self._topic(edit_topic(self._store, row, now=self._clock.now(), **changes))

    def preview_topic(self, name: str, /, **changes: Any) -> TopicPreview:  # noqa: ANN401 - see below
        """Return what a change would do to a topic's list, which is not made.

        *changes* as for :meth:`edit_topic`, and ``method``.
        """
        row = find_topic(self._store, name)
        return preview_result(
            preview_of_edit(self._store, self._settings, self._clock, row, changes)
        )

    def judge(self, topic: str, *urls: str, relevant: bool) -> Topic:
        """Tell a topic that pages are relevant or not; it learns from them in the next round."""
        now = self._clock.now()
        row, _ = give_feedback(self._store, topic, urls, relevant=relevant, now=now)
        return self._topic(row)

    def pause_topic(self, name: str, *, paused: bool = True) -> Topic:
        """Pause or resume the judging of pages by a topic."""
        return self._topic(pause_topic(self._store, name, paused=paused, now=self._clock.now()))

    def remove_topic(self, name: str) -> None:
        """Delete a topic with its verdicts."""
        self._store.topics.remove(find_topic(self._store, name).id)

    # --- crawling -----------------------------------------------------------------------------

    def step(self, when_done: Callable[[], object] | None = None) -> float:
        """Do what can be done now; return when to call again (unix seconds), as the daemon does."""
        return self._crawler.step(self._clock.now(), when_done)

    def run(self, rounds: int = 1) -> None:
        """Do everything that is due, *rounds* times.

        The first round of a site only records what is there; what appears later is new. A round waits for
        what politeness delays by up to a minute. With a simulated clock, which does not wait, it ends when
        nothing more can be done at that time.
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

    def watch(self, *, after: int | None = None, **filters: Any) -> Iterator[Page]:  # noqa: ANN401
        """Crawl without end and yield each page when it is announced, oldest first.

        *after* is the cursor of the last page seen; None begins with what is announced from now on.
        *filters* are those of :meth:`new_pages`. Closing the iterator ends it.
        """
        if after is None:
            after = self.newest_cursor()
        done = threading.Event()
        while True:
            done.clear()
            wake_at = self._crawler.step(self._clock.now(), done.set)
            for page in self.new_pages(after=after, **filters):
                after = page.cursor
                yield page
            done.wait(max(min(wake_at - self._clock.now(), _PATIENCE_SECONDS), 0.0))

    # --- reading ------------------------------------------------------------------------------

    def new_pages(  # noqa: PLR0913 - each narrows the list
        self,
        *,
        since: datetime | str = "",
        until: datetime | str = "",
        after: int | None = None,
        site: str | None = None,
        topic: str | None = None,
        backfill: bool = False,
        **more: Any,  # noqa: ANN401 - fields of Filters
    ) -> Iterator[Page]:
        """Yield announced pages, oldest first.

        Args:
            since: found at this time or later: a datetime, a date, or a span such as ``3h``.
            until: found before it.
            after: the cursor of the last page seen.
            site: name, seed or id of a site.
            topic: only pages that are relevant to this topic, or may be.
            backfill: yield the older pages that lists gained instead; their cursors are separate.
            **more: ``q`` (words in title or text), ``verdict``, ``tag``, ``language``, ``min_score`` and
                ``show`` (``unread`` or ``starred``), as parameters of the HTTP API.

        Raises:
            NotFoundError: there is no such site or topic.
            InputError: *since* or *until* is no time.
        """
        filters = Filters(
            since=str(since),
            until=str(until),
            site=None if site is None else self._row(site).id,
            topic=None if topic is None else find_topic(self._store, topic).id,
            **more,
        )
        query = filters.query(self._clock.now(), after=after, limit=_BATCH, order="oldest")
        if backfill:
            yield from map(page_result, self._store.backfills.all_pages(query))
        else:
            yield from map(page_result, self._store.answers.all_new(query))

    def newest_cursor(self) -> int:
        """Return the cursor of the latest announced page; 0 = there is none."""
        newest = self._store.answers.new(NewQuery(limit=1))
        return newest.rows[0].cursor if newest.rows else 0

    def history(self, url: str) -> list[PageChange]:
        """Return what changed on a page, newest first.

        Raises:
            NotFoundError: no hub has shown it.
        """
        page = find_page(self._store, url)["id"]
        return [result_of(PageChange, row) for row in self._store.answers.history(page)]

    def visits(
        self, *, since: datetime | str = "", site: str | None = None, after: int = 0
    ) -> Iterator[SiteVisit]:
        """Yield visits in the order in which they were made; *after* is the id of the last one read."""
        at = moment(str(since), self._clock.now()) if since else 0.0
        sites = None if site is None else (self._row(site).id,)
        while rows := self._store.read.visits_after(after, since=at, sites=sites, limit=_BATCH):
            yield from (result_of(SiteVisit, row) for row in rows)
            after = rows[-1]["id"]

    def changes(self, *, limit: int = 50) -> list[TextChange]:
        """Return the latest changes of watched pages, newest first."""
        rows = self._store.watched_changes.changes(ChangeQuery(limit=limit))
        return [change_result(row) for row in rows]

    def explain(self, url: str) -> Mapping[str, Any]:
        """Return why a URL was or was not announced, and its next visit, as ``check --json`` does."""
        found = explain(
            self._store, self._settings, url, now=self._clock.now(), models=self._models
        )
        answer: Mapping[str, Any] = plain(found)
        return answer

    def mark(self, *urls: str, read: bool | None = None, starred: bool | None = None) -> int:
        """Mark announced pages; return how many were."""
        pages = [page["id"] for url in urls for page in self._pages(url)]
        return len(
            self._store.answers.mark(pages, now=self._clock.now(), read=read, starred=starred)
        )

    def _pages(self, url: str) -> Sequence[Mapping[str, Any]]:
        return self._store.read.find_page(url, canonical_key(url))

    def _row(self, site: str) -> SiteRow:
        (row,) = find_sites(self._store, [site])
        return row

    def _site(self, row: SiteRow) -> Site:
        return site_results(self._store, [row])[0]

    def _topic(self, row: TopicRow) -> Topic:
        return topic_result(self._store, row)
