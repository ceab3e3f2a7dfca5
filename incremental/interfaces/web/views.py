"""Render templates: always escaped, in the browser's language, with its CSRF token.

Form fields, and redirects after forms.
"""

import hashlib
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from http import HTTPStatus
from math import isfinite
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode, urlsplit

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape

from hubwatch.errors import HubwatchError
from incremental.base.errors import InputError
from incremental.base.features import Feature
from incremental.base.plain_text import one_line
from incremental.base.readable_urls import readable
from incremental.base.texts import LANGUAGES, Words
from incremental.fetch.status import HARMLESS, HAS_PAGE, FetchStatus
from incremental.interfaces.results.schema import utc, when
from incremental.interfaces.web.access import SESSION_COOKIE, form_token
from incremental.interfaces.web.context import Web, web_of
from incremental.interfaces.web.guard import FORM_COOKIE, form_cookie
from incremental.interfaces.web.reading import like_of, terms_of
from incremental.interfaces.web.undo import unsaid

_TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")
_UNITS = (("d", 86_400.0), ("h", 3_600.0), ("min", 60.0))
_MOST_SHOWN = 300
# Longer addresses are not gone back to.
_LONGEST_WAY_BACK = 2_000
PREFERENCES: Mapping[str, Collection[str]] = {
    "language": LANGUAGES,
    "theme": ("system", "light", "dark"),
    "group": ("day", "site"),
}
"""What a browser may choose, each in a cookie of its own."""
_YEAR = 365 * 86_400
_MOST_RANGES = 20
_RANGE = re.compile(r"\s*(?P<tag>[a-z]+)(-\w+)*\s*(;\s*q=(?P<weight>\d(\.\d{0,3})?)\s*)?")
RowIds = Annotated[
    list[Annotated[int, Form(ge=1, le=2**62)]], Form(max_length=1_000, default_factory=list)
]
Back = Annotated[str, Form(max_length=2_000)]
"""The path to return to; ignored if it is not ours."""


@dataclass(frozen=True)
class View:
    """Language and time for templates."""

    words: Words
    now: float

    def ago(self, at: float | datetime | None) -> str:
        """Return the time since *at*, or until it; a dash for None and never."""
        at = at.timestamp() if isinstance(at, datetime) else at
        if at is None or not isfinite(at):
            return "–"
        seconds = self.now - at
        key = "time.ago" if seconds >= 0 else "time.ahead"
        return self.words(key, span=self.span(abs(seconds)))

    def due(self, at: float | datetime | None) -> str:
        """Return the time until *at*; now if it has passed."""
        at = at.timestamp() if isinstance(at, datetime) else at
        # What is due within a second is due now.
        return self.ago(at) if at is None or at >= self.now + 1 else self.words("time.now")

    def day(self, at: float) -> str:
        """Return the local day of *at*, the latest two by name."""
        day = datetime.fromtimestamp(at, UTC).astimezone().date()
        today = datetime.fromtimestamp(self.now, UTC).astimezone().date()
        named = {today: "time.today", today - timedelta(days=1): "time.yesterday"}
        return self.words(named[day]) if day in named else day.isoformat()

    def span(self, seconds: float) -> str:
        """Return a duration in its largest unit."""
        for unit, size in _UNITS:
            if seconds >= size:
                return self.words(f"time.{unit}", count=int(seconds / size))
        return self.words("time.s", count=int(seconds))


def text(value: object, most: int = _MOST_SHOWN) -> str:
    """Return untrusted text as one line, cut, without control and bidi characters."""
    return one_line(str(value or "")[: most * 8], most)


def number(value: float | None, digits: int = 3) -> str:
    """Format a number; a dash for None."""
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.{digits}g}"  # noqa: PLR2004 - no decimals from 100 on


def address(url: object) -> str:
    """Return *url* if it is http(s), else an empty string."""
    parts = str(url or "")
    return parts if urlsplit(parts).scheme in ("http", "https") else ""


def tone(status: str | None) -> str:
    """Return the colour class of a fetch status."""
    if status in HAS_PAGE or status == FetchStatus.REDIRECTED:
        return "good"
    return "warn" if status in HARMLESS else "bad"


def query(path: str, **values: object) -> str:
    """Return *path* with the non-empty *values* as its query."""
    said = {key: value for key, value in values.items() if value not in (None, "", False)}
    return f"{path}?{urlencode(said, doseq=True)}" if said else path


@cache
def environment(features: tuple[Feature, ...] = ()) -> Environment:
    """Return the template environment; it escapes every file type."""
    folders = {one.name: FileSystemLoader(one.templates) for one in features if one.templates}
    made = Environment(
        loader=ChoiceLoader([FileSystemLoader(_TEMPLATES), PrefixLoader(folders)]),
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
    }
    pages = [(path, one.name, text) for one in features for path, text in one.pages.items()]
    made.globals |= {
        "query": query,
        "tone": tone,
        "terms_of": terms_of,
        "like_of": like_of,
        "marked": escape,
        "languages": LANGUAGES,
        "version": _version(),
        "icon": _icon,
        "nav_pages": pages,
        "add_forms": [one.add_form for one in features if one.add_form],
        "check_forms": [one.check_form for one in features if one.check_form],
        "page_forms": [one.page_form for one in features if one.page_form],
    }
    return made


def _icon(name: str) -> Markup:
    """Return one of the icons of ``static/icons.svg``; the text beside it or its button names it."""
    at = f"/static/icons.svg?v={_version()}#{name}"
    return Markup('<svg class="icon" aria-hidden="true"><use href="{}"/></svg>').format(at)


def _site_images(web: Web) -> Callable[[int], Markup]:
    """Return what shows a site's picture, if it has one; a page without sites asks for none."""

    @cache
    def paths() -> dict[int, str]:
        with web.store() as store:
            return web.settings.enabled.by_id("site_images", store)

    def shown(site: int) -> Markup:
        image = Markup('<img class="favicon" src="{}" width="16" height="16" alt="">')
        return image.format(paths()[site]) if site in paths() else Markup()

    return shown


@cache
def _version() -> str:
    """Return a digest of the static files."""
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(STATIC.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def choose(cookie: str, setting: str, accepted: str) -> str:
    """Return the language of the cookie, the setting or the browser, else English."""
    for name in (cookie, setting, *_by_preference(accepted)):
        if name in LANGUAGES:
            return name
    return "en"


def _by_preference(accepted: str) -> list[str]:
    """Return the languages of an Accept-Language header, most preferred first (RFC 9110, 12.5.4)."""
    found = map(_RANGE.fullmatch, accepted.lower().split(",")[:_MOST_RANGES])
    ranges = [(float(one["weight"] or 1), one["tag"]) for one in found if one]
    ranges.sort(key=lambda one: -one[0])
    return [tag for weight, tag in ranges if weight > 0]


def preferred(request: Request, name: str) -> str:
    """Return what this browser chose for one of :data:`PREFERENCES`; empty = nothing."""
    chosen = request.cookies.get(f"hubwatch_{name}", "")
    return chosen if chosen in PREFERENCES[name] else ""


def prefer(request: Request, response: Response, name: str, value: str) -> None:
    """Let this browser choose for a year; what it cannot choose is ignored."""
    if value in PREFERENCES[name]:
        set_cookie(request, response, f"hubwatch_{name}", value, _YEAR)


def words_of(request: Request) -> Words:
    """Return the texts in the request's language."""
    web = web_of(request)
    cookie = preferred(request, "language")
    accepted = request.headers.get("accept-language", "")
    return Words(choose(cookie, web.settings.web.language, accepted))


def page(
    request: Request,
    template: str,
    values: Mapping[str, Any],
    *,
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    """Render *template*, a page or a part of one."""
    web, words = web_of(request), words_of(request)
    cookie, caller = form_cookie(request), getattr(request.state, "caller", None)
    fresh = "" if cookie else secrets.token_urlsafe(24)
    common = {
        "t": words,
        "view": View(words, web.now()),
        "request_path": request.url.path,
        "back": _way_back(request),
        "caller": caller,
        "may_write": caller is not None and caller.may_write,
        "form_token": form_token(cookie or fresh),
        "site_image": _site_images(web),
        "send_to": web.settings.web.send_to,
        "theme": preferred(request, "theme") or "system",
        "undoable": partial(unsaid, request),
        "crawling": web.is_crawled(),
        "logged_in": SESSION_COOKIE in request.cookies,
    }
    features = web.settings.enabled.on
    html = environment(features).get_template(template).render(**common, **values)
    response = HTMLResponse(html, status)
    response.headers["Content-Language"] = words.language
    response.headers["Vary"] = "Accept-Language, Cookie, HX-Request"
    if fresh:
        set_cookie(request, response, FORM_COOKIE, fresh)
    return response


def _way_back(request: Request) -> str:
    """Return the address that forms go back to: this one if it is a whole page, else the first page."""
    if request.method != "GET" or "hx-request" in request.headers:
        return "/"
    path, query = request.url.path, request.url.query
    return f"{path}?{query}" if query and len(path + query) < _LONGEST_WAY_BACK else path


def set_cookie(
    request: Request, response: Response, name: str, value: str, seconds: int | None = None
) -> None:
    """Set an HttpOnly cookie, which no other site's form sends; Secure if the request came by https."""
    secure = request.url.scheme == "https"
    response.set_cookie(name, value, seconds, httponly=True, secure=secure, samesite="lax")


def problem_of(request: Request, error: HubwatchError) -> str:
    """Return an error in the request's language, with the field and the value."""
    words = words_of(request)
    if not isinstance(error, InputError):
        return words.said(error.args[0]) if error.args else ""
    field = words.maybe("field", error.what)
    named = field if error.value in ("", None) else f"{field} {error.value!r}"
    return f"{named}: {words.said(error.way_out)}"


def error_page(request: Request, status: HTTPStatus, detail: str) -> Response:
    """Return an error as a page, or as one line for an htmx request."""
    template = "_error.html" if "hx-request" in request.headers else "error.html"
    return page(request, template, {"code": int(status), "detail": detail}, status=status)


def see(path: str) -> Response:
    """Redirect after a POST, so that a reload does not repeat it."""
    return RedirectResponse(inside(path), HTTPStatus.SEE_OTHER)


def inside(path: str) -> str:
    """Return *path* if it is local, else ``/``: no open redirects."""
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else "/"


def base_of(request: Request) -> str:
    """Return this server's URL as the client wrote it; the guard has checked the Host header."""
    return f"{request.url.scheme}://{request.headers['host']}"
