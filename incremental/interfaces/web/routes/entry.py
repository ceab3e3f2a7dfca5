"""Login, logout, language; answers by the links of messages, without a login."""

import math
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from incremental.base.errors import NotFoundError
from incremental.base.texts import Text
from incremental.interfaces.answer_links import AnswerLinks
from incremental.interfaces.web.access import SESSION_COOKIE, SESSION_SECONDS, Gate, client_of
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.views import Back, inside, page, prefer, see, set_cookie, words_of
from incremental.topics.editing import give_feedback
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
    wait = math.ceil(gate.throttle.wait_seconds(client, now))
    session = gate.log_in(store, secret, client, now=now)
    if session is None:
        problem = words("login.wait", n=wait) if wait else words("login.wrong")
        status = HTTPStatus.TOO_MANY_REQUESTS if wait else HTTPStatus.UNAUTHORIZED
        values = {"problem": problem, "next": inside(next)}
        answer = page(request, "login.html", values, status=status)
        if wait:
            answer.headers["Retry-After"] = str(wait)
        return answer
    answer = see(next)
    set_cookie(request, answer, SESSION_COOKIE, session, SESSION_SECONDS)
    return answer


@router.post("/logout")
def log_out(request: Request, web: Web, store: Store) -> Response:
    """End the session."""
    gate: Gate = request.app.state.gate
    session = request.cookies.get(SESSION_COOKIE, "")
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


@router.api_route("/answer/irrelevant/{link}", methods=["GET", "POST"])
def answer(request: Request, web: Web, store: Store, link: str) -> Response:
    """Show the page and the topic that a link is about, and a button that says: not relevant to it."""
    links = AnswerLinks.of(web.settings, web.folder)
    if links is None:
        raise NotFoundError(Text("missing.answer"))
    topic, row = links.read(store, link, web.now())
    done = request.method == "POST"
    if done:
        give_feedback(store, topic.name, [row.url], relevant=False, now=web.now())
    return page(request, "answer.html", {"topic": topic, "row": row, "done": done})
