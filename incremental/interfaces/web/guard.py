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
from urllib.parse import parse_qs, quote, urlsplit

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.types import Message, Receive, Scope, Send

from incremental.interfaces.web.access import (
    READ,
    SESSION_COOKIE,
    WRITE,
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
_SAFE = ("GET", "HEAD")
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/\\@\[\]?#,]+))(?::[0-9]{0,5})?")
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
        self._hosts = _LOOPBACK | {_bare(name) for name in _own_names(web)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse the request or pass it on."""
        if scope["type"] != "http":
            return
        sender = _with_headers(send)
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await _read_body(scope, receive)
        except TimeoutError:
            body = HTTPStatus.REQUEST_TIMEOUT
        # As the application does it; a refusal is a page of its own.
        request = Request({**scope, "app": self._app})
        if isinstance(body, bytes):
            refusal = await run_in_threadpool(self._refusal, request, body)
        else:
            refusal = await run_in_threadpool(self._refused, request, body, _UNREAD[body])
        if refusal is not None:
            await refusal(scope, receive, sender)
        elif isinstance(body, bytes):
            await self._app(request.scope, _replay(body, receive), sender)

    def _refusal(self, request: Request, body: bytes) -> Response | None:
        """Return the refusal, or None after storing the caller in the request's state."""
        if not self._is_our_name(request.headers.get("host", "")):
            return self._refused(request, HTTPStatus.BAD_REQUEST, "unknown_name")
        if "\0" in request.url.path or "%00" in request.url.query:
            return self._refused(request, HTTPStatus.BAD_REQUEST, "nul")
        try:
            caller = self._caller(request)
        except StoreError:
            # Nobody is known then. /healthz says the same of the whole daemon.
            if not _is_public(request.url.path):
                return self._refused(request, HTTPStatus.SERVICE_UNAVAILABLE, "no_store")
            caller = None
        request.state.caller = caller
        if caller is None and not _is_public(request.url.path):
            return self._ask_for_credentials(request)
        if request.method in _SAFE:
            return None
        return self._refused_change(request, caller, body)

    def _refused_change(
        self, request: Request, caller: Caller | None, body: bytes
    ) -> Response | None:
        """Return the refusal of an unauthorized or cross-site change, else None."""
        path = request.url.path
        if caller is not None and not _is_public(path) and not caller.may(WRITE):
            return self._refused(request, HTTPStatus.FORBIDDEN, "read_only")
        ambient = caller is None or caller.ambient
        if ambient and not _is_from_us(request, body):
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
        if request.method not in _SAFE:
            return self._refused(request, HTTPStatus.UNAUTHORIZED, "log_in")
        there = quote(path + (f"?{request.url.query}" if request.url.query else ""), safe="")
        return RedirectResponse(f"/login?next={there}", HTTPStatus.SEE_OTHER)

    def _caller(self, request: Request) -> Caller | None:
        feed = request.url.path.startswith("/feeds/")
        query_token = request.query_params.get("token", "") if feed else ""
        with self._web.store() as store:
            caller = self._gate.identify(
                store,
                now=self._web.now(),
                authorization=request.headers.get("authorization", ""),
                session=cookies_of(request.headers).get(SESSION_COOKIE, ""),
                query_token=query_token,
                client=client_of(request),
            )
        if caller is not None and query_token and caller.by == "token":
            # URLs end up in logs and bookmarks, so a token in one is read-only.
            return Caller(READ, "token", caller.token_id)
        return caller

    def _is_our_name(self, host: str) -> bool:
        """Return whether a Host header is ours: a configured name, or any IP address.

        Stops DNS rebinding, which needs a name; an address cannot be rebound.
        """
        name = _host_of(host)
        return name is not None and (name in self._hosts or _is_address(name))


def client_of(request: Request) -> str:
    """Return the client's IP address, empty if unknown."""
    return request.client.host if request.client else ""


def cookies_of(headers: Headers) -> dict[str, str]:
    """Return the cookies of a request."""
    return cookie_parser(headers.get("cookie", ""))


def form_cookie(request: Request) -> str:
    """Return the cookie that form tokens derive from: the session, else the form cookie."""
    cookies = cookies_of(request.headers)
    return cookies.get(SESSION_COOKIE) or cookies.get(FORM_COOKIE, "")


def _own_names(web: Web) -> Iterable[str]:
    own = web.settings.web
    return (own.host, *own.allowed_hosts, urlsplit(own.public_url).netloc)


def _host_of(header: str) -> str | None:
    """Return the lower-case name in a Host header, None if malformed (RFC 9110, section 7.2).

    Strict, because lenient parsers disagree about values like ``localhost:evil.example``.
    """
    found = _HOST.fullmatch(header)
    if found is None:
        return None
    address, name = found[1], found[2]
    if address is not None:
        return str(address).lower() if ":" in address and _is_address(address) else None
    return str(name).lower().rstrip(".")


def _bare(host: str) -> str:
    """Return a configured host name in lower case, without port and brackets."""
    name = host.strip().lower().rstrip(".")
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name if name.count(":") > 1 else name.partition(":")[0]


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
        return kind == "application/json" or (not body and not _is_simple(kind))
    cookie = form_cookie(request)
    token = headers.get("x-form-token") or _form_field(body, "form_token")
    return bool(cookie) and is_form_token(token, cookie)


def _is_simple(kind: str) -> bool:
    """Return whether a cross-site form can send this type without a preflight."""
    return kind in ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")


def _form_field(body: bytes, name: str) -> str:
    try:
        fields = parse_qs(body.decode(), max_num_fields=10_000)
    except ValueError:
        return ""
    return fields.get(name, [""])[0]


async def _read_body(scope: Scope, receive: Receive) -> bytes | HTTPStatus:
    """Return the whole body, or a status if it is too large; the limit holds even if Content-Length lies."""
    if scope["method"] in _SAFE:
        return b""
    stated = Headers(scope=scope).get("content-length", "0")
    if stated.isdigit() and int(stated) > MOST_BODY_BYTES:
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MOST_BODY_BYTES:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return body


def _replay(body: bytes, receive: Receive) -> Receive:
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
    return [name for name in settings_hosts if _bare(name) not in _LOOPBACK]
