"""Pages from templates: escaped always, in the language of the browser, bound to its cookie."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from fastapi import Request
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from incremental.plain_text import one_line
from incremental.readable_urls import readable
from incremental.results.schema import utc, when
from incremental.web.access import SESSION_COOKIE, form_token
from incremental.web.context import web_of
from incremental.web.guard import FORM_COOKIE, cookies_of, form_cookie
from incremental.web.language import LANGUAGE_COOKIE, LANGUAGES, Words, choose

_TEMPLATES = Path(__file__).with_name("templates")
_STATIC = Path(__file__).with_name("static")
_UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))
_MOST_SHOWN = 300


@dataclass(frozen=True)
class View:
    """What templates use besides the values of the page."""

    words: Words
    now: float

    def ago(self, at: float | None) -> str:
        """Return how long ago *at* was, or how far off it is."""
        if at is None:
            return "–"
        seconds = self.now - at
        key = "time.ago" if seconds >= 0 else "time.ahead"
        return self.words(key, span=self.span(abs(seconds)))

    def due(self, at: float | None) -> str:
        """Return when something planned comes: what has passed is due now."""
        return self.ago(at) if at is None or at > self.now else self.words("time.now")

    def span(self, seconds: float) -> str:
        """Return a length of time in its largest unit."""
        for unit, size in _UNITS:
            if seconds >= size:
                return self.words(f"time.{unit}", count=int(seconds / size))
        return self.words("time.s", count=int(seconds))


def text(value: object, most: int = _MOST_SHOWN) -> str:
    """Return text from a stranger as one line, without control and direction characters, cut."""
    return one_line(str(value or "")[: most * 8], most)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number for people; a dash for none."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.{digits}g}"  # noqa: PLR2004 - whole numbers say enough from there on


def address(url: object) -> str:
    """Return *url* if a browser may follow it, else nothing."""
    parts = str(url or "")
    return parts if urlsplit(parts).scheme in ("http", "https") else ""


def query(path: str, **values: object) -> str:
    """Return *path* with those of *values* that say something as its query."""
    said = {key: value for key, value in values.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(said, doseq=True)}" if said else path


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates, with escaping on whatever a file is called."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "text": text,
        "number": number,
        "address": address,
        "readable": lambda url: text(readable(str(url))),
        "when": when,
        "utc": utc,
        "host": lambda url: urlsplit(str(url)).netloc,
    }
    made.globals |= {"query": query, "languages": LANGUAGES, "version": _version()}
    return made


def _version() -> str:
    """Return what changes when a static file does."""
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(_STATIC.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def words_of(request: Request) -> Words:
    """Return the words in the language of a request."""
    web = web_of(request)
    cookie = cookies_of(request.headers).get(LANGUAGE_COOKIE, "")
    accepted = request.headers.get("accept-language", "")
    return Words(web.catalogue, choose(cookie, web.settings.web.language, accepted))


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any] | None = None,
    *,
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    """Render *template*, whole pages and parts of them alike."""
    web, words = web_of(request), words_of(request)
    cookie = form_cookie(request)
    fresh = "" if cookie else secrets.token_urlsafe(24)
    common = {
        "t": words,
        "view": View(words, web.now()),
        "request_path": request.url.path,
        "back": _way_back(request),
        "caller": getattr(request.state, "caller", None),
        "may_write": may_write(request),
        "form_token": form_token(cookie or fresh),
        "crawling": web.crawling,
        "logged_in": SESSION_COOKIE in cookies_of(request.headers),
    }
    html = environment().get_template(template).render(**common, **(values or {}))
    response = HTMLResponse(html, status)
    response.headers["Content-Language"] = words.language
    response.headers["Vary"] = "Accept-Language, Cookie, HX-Request"
    if fresh:
        set_cookie(request, response, FORM_COOKIE, fresh, same_site="strict")
    return response


def _way_back(request: Request) -> str:
    """Return where forms lead back to: here, unless here is only a part of a page or takes forms alone."""
    whole = request.method in {"GET", "HEAD"} and "hx-request" not in request.headers
    return request.url.path if whole else "/"


def may_write(request: Request) -> bool:
    """Return whether who asks may change things."""
    caller = getattr(request.state, "caller", None)
    return caller is not None and caller.may("write")


def set_cookie(  # noqa: PLR0913 - the parts of a cookie
    request: Request,
    response: Response,
    name: str,
    value: str,
    *,
    seconds: float | None = None,
    same_site: str = "lax",
) -> None:
    """Set a cookie that scripts cannot read, for encrypted connections alone where there is one."""
    response.set_cookie(
        name,
        value,
        max_age=None if seconds is None else int(seconds),
        httponly=True,
        secure=request.url.scheme == "https",
        samesite="strict" if same_site == "strict" else "lax",
    )


def error_page(request: Request, status: HTTPStatus, detail: str) -> Response:
    """Say what went wrong: as a page, or as one line where a part of a page was asked for."""
    template = "_error.html" if "hx-request" in request.headers else "error.html"
    return page(request, template, {"code": int(status), "detail": detail}, status=status)
