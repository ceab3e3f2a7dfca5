"""Checks before every route: host, body size, authentication, authorization, cross-site requests.

::

    Host known? ── body small? ── who asks? ── may they? ── from our own page? ── route
       400           413            401 / log in   403            403

Rules match paths and methods, so no route can forget them: a path outside :data:`PUBLIC` needs ``read``,
any method but GET and HEAD needs ``write``.
"""

import asyncio
import ipaddress
import re
from collections.abc import Callable, Iterable
from http import HTTPStatus
from urllib.parse import quote, urlsplit

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from incremental.interfaces.web.access import (
    SESSION_COOKIE,
    Caller,
    Gate,
    is_form_token,
)
from incremental.interfaces.web.context import Web
from store.errors import StoreError

# No credentials needed; what is below ``/answer/`` checks the signature in its path.
PUBLIC = ("/answer/", "/healthz", "/login", "/preferences", "/static/")
# For programs: they get a 401 instead of the login form.
MACHINES = ("/api/", "/feeds/", "/metrics")
FORM_COOKIE = "hubwatch_form"
MOST_BODY_BYTES = 2_000_000
BODY_SECONDS = 30.0
# What a cross-site form can send without a preflight.
_SIMPLE = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f.]*:[0-9A-Fa-f:.]+)\]|([^\s:/\\@\[\]?#,]+))(?::[0-9]{0,5})?")
_FORM_TOKEN = re.compile(rb"(?:^|&)form_token=([0-9a-f]+)")
_LOOPBACK = frozenset(("localhost", "127.0.0.1", "::1"))
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; font-src 'self'; manifest-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: browsers would send "Origin: null" with our own forms.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


_UNREAD = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "too_large",
    HTTPStatus.REQUEST_TIMEOUT: "too_slow",
}
Refused = Callable[[Request, HTTPStatus, str], Response]
"""Answers a request that is refused, with the key of the reason below ``refused``."""


def _is_public(path: str) -> bool:
    """Return whether *path* is in :data:`PUBLIC`; a name that ends in ``/`` stands for all below it."""
    folders = tuple(one for one in PUBLIC if one.endswith("/"))
    return path in PUBLIC or (path.startswith(folders) and ".." not in path)


class Guard:
    """ASGI middleware that passes allowed requests on to *app*."""

    def __init__(self, app: FastAPI, web: Web, gate: Gate, refused: Refused) -> None:
        self._app = app
        self._refused = refused
        self._web = web
        self._gate = gate
        own = web.settings.web
        names = (own.host, *own.allowed_hosts, urlsplit(own.public_url).netloc)
        self._hosts = _LOOPBACK.union(map(_bare, names))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return
        # HEAD is answered as GET; the server sends no body (RFC 9110, section 9.3.2).
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        # With the application, as a refusal is a page of its own.
        request = Request({**scope, "app": self._app, "method": method})
        body = await _read_body(request, receive)
        answer = await run_in_threadpool(self._refusal, request, body)
        if answer is None:
            await self._app(request.scope, _replay(body, receive), _with_headers(send))
        else:
            await answer(scope, receive, _with_headers(send))

    def _refusal(self, request: Request, body: bytes | HTTPStatus) -> Response | None:
        """Return the refusal, or None after storing the caller in the request's state."""
        if isinstance(body, HTTPStatus):
            return self._refused(request, body, _UNREAD[body])
        # A configured name, or any address: DNS rebinding needs a name; an address cannot be rebound.
        name = _host_of(request.headers.get("host", ""))
        if name is None or not (name in self._hosts or _is_address(name)):
            return self._refused(request, HTTPStatus.BAD_REQUEST, "unknown_name")
        if "\0" in request.url.path or "%00" in request.url.query:
            return self._refused(request, HTTPStatus.BAD_REQUEST, "nul")
        try:
            with self._web.store() as store:
                caller = self._gate.identify(store, request, self._web.now())
        except StoreError:
            # Nobody is known then. /healthz says the same of the whole daemon.
            if not _is_public(request.url.path):
                return self._refused(request, HTTPStatus.SERVICE_UNAVAILABLE, "no_store")
            caller = None
        request.state.caller = caller
        if caller is None and not _is_public(request.url.path):
            return self._ask_for_credentials(request)
        return None if request.method == "GET" else self._refused_change(request, caller, body)

    def _refused_change(
        self, request: Request, caller: Caller | None, body: bytes
    ) -> Response | None:
        """Return the refusal of an unauthorized or cross-site change, else None."""
        path = request.url.path
        if caller is not None and not _is_public(path) and not caller.may_write:
            return self._refused(request, HTTPStatus.FORBIDDEN, "read_only")
        if (caller is None or caller.ambient) and not _is_from_us(request, body):
            why = "not_json" if path.startswith("/api/") else "not_from_us"
            return self._refused(request, HTTPStatus.FORBIDDEN, why)
        return None

    def _ask_for_credentials(self, request: Request) -> Response:
        path = request.url.path
        if path.startswith(MACHINES):
            refusal = self._refused(request, HTTPStatus.UNAUTHORIZED, "no_token")
            feed = path.startswith("/feeds/")
            kind = 'Basic realm="Hubwatch", charset="UTF-8"' if feed else "Bearer"
            refusal.headers["WWW-Authenticate"] = kind
            return refusal
        if "hx-request" in request.headers:
            return Response("", HTTPStatus.UNAUTHORIZED, {"HX-Redirect": "/login"})
        if request.method != "GET":
            return self._refused(request, HTTPStatus.UNAUTHORIZED, "log_in")
        there = quote(path + (f"?{request.url.query}" if request.url.query else ""), safe="")
        return RedirectResponse(f"/login?next={there}", HTTPStatus.SEE_OTHER)


def form_cookie(request: Request) -> str:
    """Return the cookie that form tokens derive from: the session, else the form cookie."""
    return request.cookies.get(SESSION_COOKIE) or request.cookies.get(FORM_COOKIE, "")


def _host_of(header: str) -> str | None:
    """Return the lower-case name in a Host header, None if malformed (RFC 9110, section 7.2).

    Strict, because lenient parsers disagree about values like ``localhost:evil.example``.
    """
    found = _HOST.fullmatch(header)
    if found is None or (found[1] and not _is_address(found[1])):
        return None
    return str(found[1] or found[2]).lower().rstrip(".")


def _bare(host: str) -> str:
    """Return a configured host name in lower case, without port and brackets."""
    return _host_of(host.strip()) or host


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_from_us(request: Request, body: bytes) -> bool:
    """Return whether a change comes from one of our pages or from a program (CSRF check).

    Browsers send the origin with each change. Forms must also carry the page's token; cross-site JSON
    would need a CORS preflight, which is never granted.
    """
    headers = request.headers
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc.lower() != headers.get("host", "").lower():
        return False
    if request.url.path.startswith("/api/"):
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        return kind == "application/json" or (not body and kind not in _SIMPLE)
    cookie = form_cookie(request)
    field = _FORM_TOKEN.search(body)
    token = headers.get("x-form-token") or (field[1].decode() if field else "")
    return bool(cookie) and is_form_token(token, cookie)


async def _read_body(request: Request, receive: Receive) -> bytes | HTTPStatus:
    """Return the whole body, or the status if it is too large or too slow.

    The limit holds even if Content-Length lies.
    """
    if request.method == "GET":
        return b""
    stated = request.headers.get("content-length", "0")
    if stated.isdigit() and int(stated) > MOST_BODY_BYTES:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    body, more = b"", True
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while more and len(body) <= MOST_BODY_BYTES:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
    except TimeoutError:
        return HTTPStatus.REQUEST_TIMEOUT
    return body if len(body) <= MOST_BODY_BYTES else HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def _replay(body: object, receive: Receive) -> Receive:
    """Return a receiver that yields the body already read."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


def _with_headers(send: Send) -> Send:
    """Return a sender that adds :data:`_HEADERS` unless the route set them."""

    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return sender


def names_for_others(settings_hosts: Iterable[str]) -> list[str]:
    """Return the configured names by which other machines can reach us."""
    return [name for name in settings_hosts if not _is_loopback(_bare(name))]


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name in _LOOPBACK
