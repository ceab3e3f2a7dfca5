"""Outgoing requests: an unambiguous URL, and the headers its origin gets."""

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

import requests
from requests import PreparedRequest
from requests.auth import HTTPBasicAuth
from requests.exceptions import InvalidURL
from urllib3.util import make_headers, parse_url

from incremental.fetch.options import FetchSettings, SiteAccess, host_name, origin
from incremental.fetch.status import Request

# RFC 9110, section 4.1, recommends supporting at least this length.
_MAX_URL_LENGTH = 8_000
_MAX_HOST_LENGTH = 253  # RFC 1035, section 2.3.4, as text
_MAX_LABEL = 63  # the same
# Parsers disagree about backslashes and blanks: one's host is another's path or password.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_USERINFO = re.compile(r"//[^/?#]*@")
_MAX_VALIDATOR_LENGTH = 1_000
_ACCEPT = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,application/rss+xml;q=0.9,"
    "application/atom+xml;q=0.9,application/feed+json;q=0.9,*/*;q=0.7"
)


@lru_cache(maxsize=2_048)
def url_problem(url: str) -> str:
    """Return why *url* cannot be fetched, for display; empty if it can."""
    if len(url) > _MAX_URL_LENGTH:
        return "the URL is too long"
    if _AMBIGUOUS.search(url):
        return "the URL contains a blank, a backslash or a control character"
    try:
        origin(url)
    except ValueError:
        return "not an absolute http(s) URL"
    if "@" in urlsplit(url).netloc:
        return "the URL contains a user name: put credentials into the site's settings"
    return ""


@lru_cache(maxsize=2_048)
def ascii_url(url: str) -> str:
    """Return *url* as sent; raises requests' InvalidURL if its host is ambiguous."""
    prepared = PreparedRequest()
    prepared.prepare_url(url, None)
    ready = prepared.url or ""
    connected = (parse_url(ready).host or "").strip("[]").rstrip(".").lower()
    fits_dns = len(connected) <= _MAX_HOST_LENGTH and _HOST.fullmatch(connected)
    labels_fit = all(0 < len(label) <= _MAX_LABEL for label in connected.split("."))
    # urllib.parse decides which secrets are sent, urllib3 where the connection goes; a URL in which they
    # see different hosts is refused.
    differs = "@" in urlsplit(ready).netloc or connected != host_name(ready)
    if differs or not fits_dns or not labels_fit:
        raise InvalidURL("the host of the URL is ambiguous, or no name at all")
    return ready


def is_robots_url(url: str) -> bool:
    """Return whether *url* is the robots.txt of its origin."""
    return urlsplit(url).path == "/robots.txt"


def without_userinfo(url: str) -> str:
    """Return *url* without user name and password."""
    return _USERINFO.sub("//", url, count=1)


def prepare(
    url: str,
    request: Request,
    settings: FetchSettings,
    access: SiteAccess,
    cookies: Mapping[str, str],
) -> requests.PreparedRequest:
    """Build the request for *url*, as :func:`ascii_url` gives it: our identity, validators, credentials.

    *cookies* were set by the site during this fetch and replace configured ones of the same name.
    """
    given = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    validators = {name: value for name, value in given.items() if value and _is_plain(value)}
    headers = {
        "User-Agent": settings.user_agent_header,
        "Accept": _ACCEPT,
        **make_headers(accept_encoding=True),
        **access.headers,
        **validators,
        **(request.headers if origin(url) == origin(request.url) else {}),
    }
    # Not prepare(), which spends more time on parts that a request does not have than on those it has.
    prepared = PreparedRequest()
    prepared.method, prepared.url = "GET", url
    prepared.prepare_headers(headers)
    if shown := {**access.cookies, **cookies}:
        prepared.prepare_cookies(shown)
    if access.username is not None:
        password = (access.password or "").encode()
        prepared.prepare_auth(HTTPBasicAuth(access.username.encode(), password))
    return prepared


def _is_plain(value: str) -> bool:
    """Whether a validator is safe to send back."""
    # A server's value must not break the request.
    one_line = value.isascii() and value.isprintable() and value == value.strip()
    return one_line and len(value) <= _MAX_VALIDATOR_LENGTH
