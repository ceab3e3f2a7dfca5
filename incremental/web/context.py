"""What every route needs: settings, the time, the store on a connection of its own thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fastapi import Request

from incremental.clock import Clock
from incremental.settings import Settings
from incremental.storage import models_folder
from incremental.web.hub_models import HubModels
from incremental.web.language import Catalogue, read_catalogue
from incremental.websub.callback import CallbackAnswer, CallbackRequest
from store import Store


@dataclass(frozen=True)
class Web:
    """One served store."""

    settings: Settings
    folder: Path
    """The folder that relative paths of the settings are relative to."""
    clock: Clock
    shared: Store
    """Opened once; use :meth:`store`, which gives each thread a connection of its own."""
    crawling: bool = True
    """Whether a daemon runs in this process; otherwise the pages say that nothing is fetched."""
    receive: Callable[[CallbackRequest, float], CallbackAnswer] | None = None
    """Takes in what WebSub hubs send; None = no hub is asked to."""
    catalogue: Catalogue = field(default_factory=read_catalogue)

    @contextlib.contextmanager
    def store(self) -> Iterator[Store]:
        """Give the store to the calling thread for the length of a request."""
        with self.shared.in_this_thread() as store:
            yield store

    @cached_property
    def hub_models(self) -> HubModels:
        """The versions of the hub classifier."""
        return HubModels(self.models)

    @property
    def models(self) -> Path:
        """The folder with the versions of the hub classifier."""
        return models_folder(self.settings, self.folder)

    def now(self) -> float:
        """Return the time, unix seconds, UTC."""
        return self.clock.now()


def web_of(request: Request) -> Web:
    """Return what the application of this request serves."""
    web: Web = request.app.state.web
    return web
