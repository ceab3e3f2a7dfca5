"""The application: routes, the guard before them, error responses."""

import logging
from copy import copy
from functools import cache, partial
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp

from hubwatch.errors import HubwatchError
from incremental.base.attempts import Bug, attempt
from incremental.base.errors import FeatureError, NotFoundError
from incremental.base.features import Feature, target_of
from incremental.base.texts import Text, named
from incremental.daemon.health import SERIOUS, ProblemKind
from incremental.interfaces.web.access import Gate, Throttle
from incremental.interfaces.web.context import Web
from incremental.interfaces.web.guard import MACHINES, Guard
from incremental.interfaces.web.metrics import MetricsPage
from incremental.interfaces.web.undo import new_changes
from incremental.interfaces.web.views import STATIC, error_page, problem_of, words_of
from store.errors import StoreError

logger = logging.getLogger("hubwatch.web")
_STATIC_SECONDS = 86_400
_ROUTERS = (
    *(f"api.{name}" for name in ("page_api", "sites", "topic_api")),
    *(f"routes.{name}" for name in ("entry", "news", "adding", "sites", "topic_html", "feeds")),
)


class _Static(StaticFiles):
    """Static files, cached for a day; their URLs change with the version."""

    def file_response(self, *args: object, **more: object) -> Response:
        """Return a file with Cache-Control."""
        response = super().file_response(*args, **more)  # type: ignore[arg-type]  # as it came
        response.headers["Cache-Control"] = f"public, max-age={_STATIC_SECONDS}"
        return response


_UNHEALTHY = {
    ProblemKind.ROUNDS: "rounds stand still",
    ProblemKind.VISITS: "visits stand still",
    ProblemKind.STORE: "the store cannot be used",
    ProblemKind.ENGINE: "no worker can be reached",
}


def make_app(web: Web, *, warm: bool = False) -> ASGIApp:
    """Return the application behind its guard; *warm* builds the routes before the first request."""
    gate = Gate(web.settings.web.password, Throttle())
    app = make_routes(web, gate)
    if warm:
        app.openapi()
    guarded = Guard(app, web, gate, _turned_away)
    return GZipMiddleware(guarded, minimum_size=1_000, compresslevel=5)


def make_routes(web: Web, gate: Gate) -> FastAPI:
    """Return the routes without the guard."""
    # A copy with its own state: the routes are the same for every store and slow to build.
    app = copy(_routes(web.settings.enabled.on))
    app.state = State()
    app.state.web = web
    app.state.gate = gate
    app.state.changes = new_changes()
    app.state.metrics = MetricsPage(web)
    return app


@cache
def _routes(features: tuple[Feature, ...]) -> FastAPI:
    """Build the routes once per process; never served itself."""
    app = FastAPI(
        title="Hubwatch",
        version="1",
        summary="New pages of watched sites, with their sites, hubs and topics.",
        # The stock documentation pages load scripts from a CDN.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
    )
    for name in _ROUTERS:
        _include(app, f"{__package__}.{name}:router")
    for name, target in ((one.name, target) for one in features for target in one.routers):
        done = attempt(partial(_include, app, target))
        if isinstance(done, Bug):
            logger.warning("%s", FeatureError(name, done.error))
    app.add_api_route("/healthz", _healthz, include_in_schema=False)
    app.add_api_route("/metrics", _metrics, include_in_schema=False)
    app.mount("/static", _Static(directory=STATIC), name="static")
    app.add_exception_handler(HubwatchError, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


def _include(app: FastAPI, target: str) -> None:
    app.include_router(target_of(target))


def _healthz(request: Request) -> Response:
    """Say whether all is well or what is not; no more, because it is public."""
    web: Web = request.app.state.web
    reported = web.health.report().problems if web.health is not None else ()
    problems = {
        _UNHEALTHY.get(one.kind) or named(one.feature, "problem")
        for one in reported
        if one.kind in SERIOUS
    }
    try:
        with web.store() as store:
            store.read.generation()
    except StoreError:
        problems.add(_UNHEALTHY[ProblemKind.STORE])
    if not problems:
        return PlainTextResponse("ok\n")
    return PlainTextResponse("\n".join(sorted(problems)) + "\n", HTTPStatus.SERVICE_UNAVAILABLE)


def _metrics(request: Request) -> Response:
    page: MetricsPage = request.app.state.metrics
    return Response(page.render(), media_type=page.content_type)


def _turned_away(request: Request, status: HTTPStatus, why: str) -> Response:
    """Answer what the guard refuses."""
    detail = Text(f"refused.{why}")
    return _answer(request, status, detail, words_of(request).said(detail))


def _answer(request: Request, status: HTTPStatus, detail: object, shown: str) -> Response:
    """Return why a request failed: *detail* as JSON for programs, else a page with what is *shown*."""
    if request.url.path.startswith(MACHINES):
        return JSONResponse({"detail": detail}, status)
    return error_page(request, status, shown)


def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HubwatchError)
    status = HTTPStatus.BAD_REQUEST
    if isinstance(error, NotFoundError):
        status = HTTPStatus.NOT_FOUND
    elif isinstance(error, StoreError):
        status = HTTPStatus.SERVICE_UNAVAILABLE
    return _answer(request, status, str(error), problem_of(request, error))


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status, headers = HTTPStatus(error.status_code), error.headers or {}
    detail = str(error.detail)
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = Text("error.method", methods=headers.get("Allow", ""))
    # The library's own phrase says no more than the heading of the page does.
    shown = "" if detail == status.phrase else words_of(request).said(detail)
    answer = _answer(request, status, detail, shown)
    answer.headers.update(headers)
    return answer


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # Do not echo the input: it may be long, and the client knows it.
    faults = [
        {"loc": list(fault["loc"]), "msg": str(fault["msg"]), "type": str(fault["type"])}
        for fault in error.errors()
    ]
    in_path = any(fault["loc"][0] == "path" for fault in faults)
    if in_path and not request.url.path.startswith(MACHINES):
        return error_page(request, HTTPStatus.NOT_FOUND, "")
    words = words_of(request)
    fields = ", ".join(words.maybe("field", str(fault["loc"][-1])) for fault in faults)
    shown = words("error.invalid", fields=fields)
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, faults, shown)
