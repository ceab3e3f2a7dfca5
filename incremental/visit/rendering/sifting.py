"""What happens to a request of a page that is drawn. Pure.

::

    another scheme, an image, a font, a film, a socket, a beacon, an inner frame    refused
    a style sheet                                                                   empty
    the document; scripts; what scripts read by GET or HEAD                         fetched
    a POST to its own origin where the user allows it                               fetched, without secrets
    anything else that sends something                                              refused
"""

from __future__ import annotations

from enum import StrEnum

from incremental.fetch.options import host_name, origin
from incremental.visit.rendering.frames import Wanted

_READ = frozenset({"xhr", "fetch"})
MOST_POST_BYTES = 64_000


class Ruling(StrEnum):
    """What happens to a request."""

    FETCH = "fetch"
    EMPTY = "empty"
    """Answered with nothing, so that scripts that wait for it go on."""
    REFUSE = "refuse"


def ruling_of(wanted: Wanted, page_url: str, *, may_post: bool = False) -> Ruling:
    """Return what happens to a request of the page at *page_url*, whose scripts *may_post* to its origin."""
    try:
        origin(wanted.url)
    except ValueError:  # another scheme, or no address at all
        return Ruling.REFUSE
    if wanted.kind == "stylesheet":
        return Ruling.EMPTY
    if wanted.method == "POST":
        own = wanted.kind in _READ and origin(wanted.url) == origin(page_url)
        small = len(wanted.post or b"") <= MOST_POST_BYTES
        return Ruling.FETCH if may_post and own and small else Ruling.REFUSE
    if wanted.method not in ("GET", "HEAD"):
        return Ruling.REFUSE
    if wanted.kind == "document":
        # A script may lead to another page of the host, such as that of a language.
        own = wanted.main and host_name(wanted.url) == host_name(page_url)
        return Ruling.FETCH if own else Ruling.REFUSE
    return Ruling.FETCH if wanted.kind == "script" or wanted.kind in _READ else Ruling.REFUSE


def is_own(url: str, page_url: str) -> bool:
    """Return whether *url* is on the host of the page, whose terms and secrets then hold for it."""
    return host_name(url) == host_name(page_url)
