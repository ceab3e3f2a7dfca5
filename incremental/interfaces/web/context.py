"""Shared by all routes: settings, time, and the store on a connection per thread."""

import hashlib
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, wraps
from http import HTTPStatus
from inspect import Parameter, signature
from pathlib import Path
from typing import Annotated, Any

from fastapi import Path as InPath
from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.responses import Response
from fastapi.routing import APIRoute
from starlette.staticfiles import NotModifiedResponse

from incremental.base.clock import Clock
from incremental.base.errors import InputError
from incremental.base.lookup import page_numbered, site_numbered, topic_numbered
from incremental.base.texts import Text
from incremental.daemon.health import Health
from incremental.daemon.pulse import read_report
from incremental.interfaces.results.status import Status, health_of, status_of
from incremental.interfaces.web.background import Background
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store
from store.answers import PageDetail
from store.errors import StoreError
from store.topics.values import TopicRow
from store.values import SiteRow

_Id = Annotated[int, InPath(ge=1, le=2**62, description="Id from the list.")]
# What a handler gets for an id in its path, by the type that it asks for.
_ROWS: dict[Any, tuple[str, Callable[[Store, int], object]]] = {
    SiteRow: ("site_id", site_numbered),
    TopicRow: ("topic_id", topic_numbered),
    PageDetail: ("page_id", page_numbered),
}


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
    health: Health | None = None
    """Of the daemon in this process."""

    def store(self) -> AbstractContextManager[Store]:
        """Lend the store to the calling thread for one request."""
        return self.shared.in_this_thread()

    def is_crawled(self) -> bool:
        """Whether a daemon runs in this process, or others that share the store."""
        if self.crawling or self.shared.file_id is not None:
            return self.crawling
        # The page that says that the store cannot be used must not need it.
        with suppress(StoreError), self.store() as store:
            return bool(store.daemons.live())
        return False

    @cached_property
    def background(self) -> Background:
        """Work that takes minutes and was begun by a request."""
        return Background(self.now)

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


class StoreRoute(APIRoute):
    """A route whose handler may ask for ``web`` and ``store``, beside the parameters of the request.

    For ``{site_id}``, ``{topic_id}`` and ``{page_id}`` in its path it may ask for a row; without one the
    answer is 404.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **more: Any) -> None:  # noqa: ANN401 - FastAPI's
        super().__init__(path, _supplied(endpoint), **more)


def _supplied(handler: Callable[..., Any]) -> Callable[..., Any]:
    """Return *handler* as a function of the request alone; it runs on a connection of its thread."""
    own = signature(handler, eval_str=True)
    rows = {
        one.name: _ROWS[one.annotation]
        for one in own.parameters.values()
        if isinstance(one.annotation, type) and one.annotation in _ROWS
    }
    if not rows and own.parameters.keys().isdisjoint({"web", "store"}):
        return handler

    @wraps(handler)
    def handle(request: Request, **given: Any) -> Any:  # noqa: ANN401 - by name
        web = web_of(request)
        with web.store() if rows or "store" in own.parameters else nullcontext() as store:
            offered: dict[str, Any] = {"request": request, "web": web, "store": store}
            asked = {name: offered[name] for name in offered if name in own.parameters}
            found = {
                name: find(offered["store"], given.pop(key)) for name, (key, find) in rows.items()
            }
            return handler(**asked, **found, **given)

    others = [
        one.replace(name=rows[one.name][0], annotation=_Id) if one.name in rows else one
        for one in own.parameters.values()
        if one.name not in ("request", "web", "store")
    ]
    first = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    handle.__signature__ = own.replace(parameters=[first, *others])  # type: ignore[attr-defined]  # read by FastAPI
    return handle


class ConditionalRoute(StoreRoute):
    """A route of the API: adds an ETag to GET responses and answers 304 when it matches (RFC 9110, 13).

    It refuses parameters that it does not have, because they are usually typos.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Wrap the route's handler."""
        handler, parameters = super().get_route_handler(), _asked_for(self.dependant)

        async def conditional(request: Request) -> Response:
            for name in request.query_params.keys() - parameters:
                way_out = Text("input.no_parameter", known=", ".join(sorted(parameters)) or "-")
                raise InputError("parameter", name[:100], way_out)
            response = await handler(request)
            if request.method != "GET" or response.status_code != HTTPStatus.OK:
                return response
            return unless_known(request, response)

        return conditional


def _asked_for(dependant: Dependant) -> set[str]:
    """Return the names of the query parameters."""
    own = {one.alias for one in dependant.query_params}
    return own.union(*map(_asked_for, dependant.dependencies))


def unless_known(request: Request, response: Response) -> Response:
    """Return *response* with its ETag, or a 304 if the client has it."""
    tag = f'"{hashlib.blake2b(bytes(response.body), digest_size=16).hexdigest()}"'
    response.headers["ETag"] = tag
    # Private, because responses may depend on the caller.
    response.headers["Cache-Control"] = "private, no-cache"
    known = request.headers.get("if-none-match", "")
    if tag not in [one.strip().removeprefix("W/") for one in known.split(",")] and known != "*":
        return response
    return NotModifiedResponse(response.headers)
