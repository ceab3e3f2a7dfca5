"""What is known of a link before its page is fetched, and how a URL falls into parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

# Characters of a URL that are looked at; a longer one is judged by its beginning.
URL_LIMIT = 2048
# Characters of an anchor text that are looked at.
ANCHOR_LIMIT = 200

_URL = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)
_NO_HOST = re.compile(r"()([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """One link as the classifier sees it; None = unknown, which is not the same as 0 or empty.

    The three fields of site context, and the size of pages like this one, come from
    :mod:`classifier.hub.context`. Size and depth are features of paper 003's method; ours uses the size
    where the page itself is at hand (``docs/how-hubs-are-found.md`` has the figures).
    """

    url: str
    anchor: str | None = None
    """Visible text of the link. An empty string counts as unknown, as in the label files."""
    urls_below: int | None = None
    """Known URLs of the site whose path starts with this one's path."""
    template_siblings: int | None = None
    """Known URLs of the site that share this URL's template (same form, other values)."""
    anchor_ratio: float | None = None
    """Length of the anchor over the median length of its template siblings' anchors."""
    page_bytes: int | None = None
    """Size of the page once it was fetched, before that the usual size of its template siblings, as far
    as some were (paper 003's ninth feature)."""
    crawl_depth: int | None = None
    """Steps from the seed at which the crawler found it; a link of the seed has 1 (paper 003's tenth)."""


class UrlParts(NamedTuple):
    """A URL taken apart leniently: nothing a site writes makes this fail.

    A named tuple because a frozen dataclass costs four times as much to make, for every link.
    """

    host: str
    path: str
    """Percent-decoded; a fragment that is a route (``#/list/3``) is part of it."""
    query: str
    fragment: str
    segments: tuple[str, ...]
    stem: str
    """The last segment without its file type."""
    extension: str
    """Lower case without the dot; empty if there is none."""

    @property
    def is_root(self) -> bool:
        """Neither path nor query: the home page of its host."""
        return not self.segments and not self.query


def split_url(url: str) -> UrlParts:
    """Take a URL apart; without a scheme or host the whole is read as a path."""
    match = _URL.match(url[:URL_LIMIT]) or _NO_HOST.match(url[:URL_LIMIT])
    host, path, query, fragment = match.groups("") if match else ("", "", "", "")
    if fragment and fragment[0] in "/!":
        path = f"{path.rstrip('/')}/{fragment.lstrip('/!')}"
    if "%" in path:
        path = unquote(path)
    segments = tuple([segment for segment in path.split("/") if segment])
    stem, extension = _file_name(segments[-1]) if segments else ("", "")
    return UrlParts(host.lower(), path, query, fragment, segments, stem, extension)


def _file_name(segment: str) -> tuple[str, str]:
    stem, dot, extension = segment.rpartition(".")
    if dot and stem and len(extension) <= 6 and extension.isalnum():  # noqa: PLR2004 - jhtml, action
        return stem, extension.lower()
    return segment, ""
