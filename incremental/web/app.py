"""The application: every route in its room, the guard before them, errors as answers."""

from __future__ import annotations

from copy import copy
from functools import cache
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from hubwatch_errors import HubwatchError
from incremental.errors import NotFoundError
from incremental.web import api, routes
from incremental.web.access import Gate
from incremental.web.context import Web
from incremental.web.guard import MACHINES, Guard
from incremental.web.metrics import MetricsPage
from incremental.web.throttle import Throttle
from incremental.web.views import error_page
from store.errors import StoreError

STATIC = Path(__file__).with_name("static")
_STATIC_SECONDS = 86_400


class _Static(StaticFiles):
    """Files of our own, which browsers may keep for a day: their address changes with the version."""

    def file_response(self, *args: object, **more: object) -> Response:
        """Return a file with how long it may be kept."""
        response = super().file_response(*args, **more)  # type: ignore[arg-type]  # as it came
        response.headers["Cache-Control"] = f"public, max-age={_STATIC_SECONDS}"
        return response


def make_app(web: Web, *, warm: bool = False) -> ASGIApp:
    """Return the whole application with its guard.

    FastAPI builds its routes when the first request comes; with *warm* that is done now.
    """
    gate = Gate(web.settings.web.password, Throttle())
    app = make_routes(web, gate)
    if warm:
        app.openapi()
    return Guard(app, web, gate)


def make_routes(web: Web, gate: Gate) -> FastAPI:
    """Return the routes alone; :func:`make_app` puts the guard before them."""
    # A copy with a state of its own: the routes are the same for every store, and take a while to build.
    app = copy(_routes())
    app.state = State()
    app.state.web = web
    app.state.gate = gate
    app.state.metrics = MetricsPage(web)
    return app


@cache
def _routes() -> FastAPI:
    """Return what all applications of a process share; it is never asked itself."""
    app = FastAPI(
        title="Hubwatch",
        version="1",
        summary="New pages of watched sites, and everything that is known of them.",
        # The usual pages of documentation load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
    )
    for router in (*api.ROUTERS, *routes.ROUTERS):
        app.include_router(router)
    app.add_api_route("/healthz", _healthz, include_in_schema=False)
    app.add_api_route("/metrics", _metrics, include_in_schema=False)
    app.mount("/static", _Static(directory=STATIC), name="static")
    app.add_exception_handler(HubwatchError, _refused)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    return app


def _healthz(request: Request) -> Response:
    """Say that the server answers and the store can be read; nothing more, because anybody may ask."""
    web: Web = request.app.state.web
    with web.store() as store:
        store.read.generation()
    return PlainTextResponse("ok\n")


def _metrics(request: Request) -> Response:
    page: MetricsPage = request.app.state.metrics
    return Response(page.render(), media_type=page.content_type)


def _refused(request: Request, error: Exception) -> Response:
    status = HTTPStatus.BAD_REQUEST
    if isinstance(error, NotFoundError):
        status = HTTPStatus.NOT_FOUND
    elif isinstance(error, StoreError):
        status = HTTPStatus.SERVICE_UNAVAILABLE
    return _answer(request, status, str(error))


def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _answer(request, HTTPStatus(error.status_code), str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    # Without what was sent: it may be long, and it is known to who sent it.
    faults = [
        {"loc": list(fault["loc"]), "msg": str(fault["msg"]), "type": str(fault["type"])}
        for fault in error.errors()
    ]
    if request.url.path.startswith(MACHINES):
        return JSONResponse({"detail": faults}, HTTPStatus.UNPROCESSABLE_ENTITY)
    if any(fault["loc"][0] == "path" for fault in faults):
        return _answer(request, HTTPStatus.NOT_FOUND, "there is no such page")
    detail = "; ".join(f"{fault['loc'][-1]}: {fault['msg']}" for fault in faults)
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail)


def _answer(request: Request, status: HTTPStatus, detail: str) -> Response:
    if request.url.path.startswith(MACHINES):
        return JSONResponse({"detail": detail}, status)
    return error_page(request, status, detail)
