"""Shared by all routes: settings, time, and the store on a connection per thread."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fastapi import Request

from incremental.base.clock import Clock
from incremental.daemon.at_work import Job
from incremental.daemon.health import Health
from incremental.daemon.pulse import read_report
from incremental.interfaces.results.status import Status, health_of, status_of
from incremental.interfaces.web.background import Background
from incremental.interfaces.web.hub_models import HubModels
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store
from store.errors import StoreError


@dataclass(frozen=True)
class Web:
    """A served store with its settings."""

    settings: Settings
    folder: Path
    """Base of relative paths in the settings."""
    clock: Clock
    shared: Store
    """Opened once; use :meth:`store`, which has a connection per thread."""
    crawling: bool = True
    """Whether a daemon runs in this process; if there is no other, the pages say that nothing is fetched."""
    running: Mapping[str, Job] = field(default_factory=dict)
    """The jobs of features that run in this process, by name."""
    health: Health | None = None
    """Of the daemon in this process."""

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        """Lend the store to the calling thread for one request."""
        with self.shared.in_this_thread() as store:
            yield store

    def is_crawled(self) -> bool:
        """Whether a daemon runs in this process, or others that share the store."""
        if self.crawling or self.shared.file_id is not None:
            return self.crawling
        # The page that says that the store cannot be used must not need it.
        with contextlib.suppress(StoreError), self.store() as store:
            return bool(store.daemons.live())
        return False

    @cached_property
    def background(self) -> Background:
        """Work that takes minutes and was begun by a request."""
        return Background(self.now)

    @cached_property
    def hub_models(self) -> HubModels:
        """The versions of the hub classifier."""
        return HubModels(self.models)

    @property
    def models(self) -> Path:
        """The folder of hub classifier versions."""
        return models_folder(self.settings, self.folder)

    def status(self, store: Store) -> Status:
        """Return the state of the daemon in this process, or of another one, and of each site."""
        folder, now = self.folder / self.settings.store.folder, self.now()
        report = read_report(folder) if self.health is None else self.health.report()
        daemon = health_of(report, now)
        return status_of(store, self.settings, daemon, crawling=self.is_crawled(), now=now)

    def now(self) -> float:
        """Return the time, unix seconds, UTC."""
        return self.clock.now()


def web_of(request: Request) -> Web:
    """Return the :class:`Web` of a request."""
    web: Web = request.app.state.web
    return web
