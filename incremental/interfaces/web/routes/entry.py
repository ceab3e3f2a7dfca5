"""Login, logout, language."""

from __future__ import annotations

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from incremental.interfaces.web.access import SESSION_COOKIE, SESSION_SECONDS, Gate
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.guard import client_of, cookies_of
from incremental.interfaces.web.routes.forms import Back, inside, see
from incremental.interfaces.web.views import page, prefer, set_cookie, words_of
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)


@router.get("/login")
def login_page(request: Request, next: str = "/") -> Response:  # noqa: A002 - the usual name
    """Show the login form."""
    return page(request, "login.html", {"problem": "", "next": inside(next)})


@router.post("/login")
def log_in(
    request: Request,
    web: Web,
    store: Store,
    secret: Annotated[str, Form(max_length=500)],
    next: Back = "/",  # noqa: A002 - as above
) -> Response:
    """Start a session if the secret is the password or a token."""
    words, client = words_of(request), client_of(request)
    gate: Gate = request.app.state.gate
    now = web.now()
    wait = gate.wait_seconds(client, now)
    session = gate.log_in(store, secret, client, now=now)
    if session is None and wait > 0:
        problem = words("login.wait", n=math.ceil(wait))
        answer = _again(request, problem, next, HTTPStatus.TOO_MANY_REQUESTS)
        answer.headers["Retry-After"] = str(math.ceil(wait))
        return answer
    if session is None:
        return _again(request, words("login.wrong"), next, HTTPStatus.UNAUTHORIZED)
    answer = see(next)
    set_cookie(request, answer, SESSION_COOKIE, session, seconds=SESSION_SECONDS)
    return answer


def _again(request: Request, problem: str, next_page: str, status: HTTPStatus) -> Response:
    values = {"problem": problem, "next": inside(next_page)}
    return page(request, "login.html", values, status=status)


@router.post("/logout")
def log_out(request: Request, web: Web, store: Store) -> Response:
    """End the session."""
    gate: Gate = request.app.state.gate
    session = cookies_of(request.headers).get(SESSION_COOKIE, "")
    gate.log_out(store, session, now=web.now())
    answer = see("/login")
    answer.delete_cookie(SESSION_COOKIE)
    return answer


@router.post("/preferences")
def choose(
    request: Request,
    language: Annotated[str, Form(max_length=20)] = "",
    theme: Annotated[str, Form(max_length=20)] = "",
    back: Back = "/",
) -> Response:
    """Set the language or the theme of this browser."""
    answer = see(back)
    prefer(request, answer, "language", language)
    prefer(request, answer, "theme", theme)
    return answer
