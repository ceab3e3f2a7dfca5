"""What is sent: one request with what its origin is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import requests
from requests.auth import HTTPBasicAuth
from urllib3.util import make_headers

from incremental.fetch.options import origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from incremental.fetch.options import FetchSettings, SiteAccess
    from incremental.fetch.status import Request

_MAX_VALIDATOR_LENGTH = 1_000
_ACCEPT = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,application/rss+xml;q=0.9,"
    "application/atom+xml;q=0.9,application/feed+json;q=0.9,*/*;q=0.7"
)


def prepare(
    url: str,
    request: Request,
    settings: FetchSettings,
    access: SiteAccess,
    cookies: Mapping[str, str],
) -> requests.PreparedRequest:
    """Write the request for *url*: who we are, what we hold, and what this origin is shown.

    *cookies* are those the site has set during this fetch; they replace configured ones of the
    same name.
    """
    headers = {
        "User-Agent": settings.user_agent_header,
        "Accept": _ACCEPT,
        **make_headers(accept_encoding=True),
        **access.headers,
        **_validators(request),
        **(request.headers if origin(url) == origin(request.url) else {}),
    }
    shown = {**access.cookies, **cookies}
    auth = None
    if access.username is not None:
        auth = HTTPBasicAuth(access.username.encode(), (access.password or "").encode())
    method = "GET" if request.post is None else "POST"
    return requests.Request(
        method, url, headers=headers, cookies=shown, auth=auth, data=request.post
    ).prepare()


def _validators(request: Request) -> dict[str, str]:
    """Return the conditional headers; a validator that would break the request is left out.

    Validators are site-derived: what one server sent is sent back, so it must be one plain line.
    """
    given = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in given.items() if value and _is_plain(value)}


def _is_plain(value: str) -> bool:
    one_line = value.isascii() and value.isprintable() and value == value.strip()
    return one_line and len(value) <= _MAX_VALIDATOR_LENGTH
