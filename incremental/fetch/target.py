"""What a URL must be to be fetched, and how it is read by all who read it."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from requests import PreparedRequest
from requests.exceptions import InvalidURL
from urllib3.util import parse_url

from incremental.fetch.options import host_name, origin

_MAX_URL_LENGTH = 8_000
_MAX_HOST_LENGTH = 253  # RFC 1035, section 2.3.4, as text
_MAX_LABEL = 63
# A backslash or a blank is where parsers part ways: what one takes for the host, another takes for
# the path or for a password.
_AMBIGUOUS = re.compile(r"[\x00-\x20\x7f\\]")
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_USERINFO = re.compile(r"//[^/?#]*@")


def url_problem(url: str) -> str:
    """Return why *url* cannot be fetched, in words for people; empty if it can."""
    if len(url) > _MAX_URL_LENGTH:
        return "the URL is too long"
    if _AMBIGUOUS.search(url):
        return "the URL holds a blank, a backslash or a control character"
    try:
        origin(url)
    except ValueError:
        return "not an absolute http(s) URL"
    if "@" in urlsplit(url).netloc:
        return "the URL holds a user name: credentials belong into the settings of the site"
    return ""


def ascii_url(url: str) -> str:
    """Return *url* as it goes over the wire; raises requests' InvalidURL if it has no clear host.

    What secrets are shown depends on what urllib.parse reads, where the connection goes on what
    urllib3 reads; a URL in which they see different hosts is refused.
    """
    prepared = PreparedRequest()
    prepared.prepare_url(url, None)
    ready = prepared.url or ""
    connected = (parse_url(ready).host or "").strip("[]").rstrip(".").lower()
    if "@" in urlsplit(ready).netloc or connected != host_name(ready) or not _is_host(connected):
        raise InvalidURL("the host of the URL is ambiguous, or no name at all")
    return ready


def _is_host(host: str) -> bool:
    labels = host.split(".")
    fits_dns = len(host) <= _MAX_HOST_LENGTH and all(0 < len(it) <= _MAX_LABEL for it in labels)
    return fits_dns and _HOST.fullmatch(host) is not None


def is_robots_url(url: str) -> bool:
    """Return whether *url* is the robots.txt of its origin."""
    return urlsplit(url).path == "/robots.txt"


def without_userinfo(url: str) -> str:
    """Return *url* without user name and password: what is told on must hold no secret."""
    return _USERINFO.sub("//", url, count=1)
