"""What happens to a request of a page that is drawn. Pure.

::

    another scheme, an image, a font, a film, a socket, a beacon, an inner frame    refused
    a style sheet                                                                   empty
    the document; scripts; what scripts read by GET                                 fetched
    a query by POST to its own origin, in GraphQL and without a mutation            fetched
    anything else that sends something                                              refused
"""

from __future__ import annotations

import json
import re
from enum import StrEnum

from incremental.fetch.options import host_name, origin
from incremental.rendering.frames import Wanted

_READ = frozenset({"xhr", "fetch"})
_MOST_POST_BYTES = 64_000
_CHANGES = re.compile(r"(?:^|[\s}])(?:mutation|subscription)\b", re.IGNORECASE)


class Ruling(StrEnum):
    """What happens to a request."""

    FETCH = "fetch"
    EMPTY = "empty"
    """Answered with nothing, so that scripts that wait for it go on."""
    REFUSE = "refuse"


def ruling_of(wanted: Wanted, page_url: str) -> Ruling:
    """Return what happens to a request of the page at *page_url*."""
    try:
        origin(wanted.url)
    except ValueError:  # another scheme, or no address at all
        return Ruling.REFUSE
    if wanted.kind == "stylesheet":
        return Ruling.EMPTY
    if wanted.method == "POST":
        own = wanted.kind in _READ and origin(wanted.url) == origin(page_url)
        return Ruling.FETCH if own and is_query(wanted) else Ruling.REFUSE
    if wanted.method != "GET":
        return Ruling.REFUSE
    if wanted.kind == "document":
        # A script may lead to another page of the host, such as that of a language.
        own = wanted.main and host_name(wanted.url) == host_name(page_url)
        return Ruling.FETCH if own else Ruling.REFUSE
    return Ruling.FETCH if wanted.kind == "script" or wanted.kind in _READ else Ruling.REFUSE


def is_query(wanted: Wanted) -> bool:
    """Return whether a POST only asks: a query of GraphQL, as JSON."""
    post = wanted.post or b""
    if "json" not in wanted.content_type or len(post) > _MOST_POST_BYTES:
        return False
    try:
        asked = json.loads(post)
    except (ValueError, RecursionError):
        return False
    operations = asked if isinstance(asked, list) else [asked]
    texts = [one.get("query") for one in operations if isinstance(one, dict)]
    if not texts or len(texts) != len(operations):
        return False
    return all(isinstance(text, str) and not _CHANGES.search(text) for text in texts)


def is_own(url: str, page_url: str) -> bool:
    """Return whether *url* is on the host of the page, whose terms and secrets then hold for it."""
    return host_name(url) == host_name(page_url)
