"""Evidence about a link before its page is fetched, and lenient URL parsing."""

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

# Characters of a URL that count; a longer one is judged by its beginning.
URL_LIMIT = 2048
# Characters of an anchor text that count.
ANCHOR_LIMIT = 200

_URL = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?//([^/?#]*)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL
)
_NO_HOST = re.compile(r"()([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class LinkEvidence:
    """A link as seen by the classifier; None = unknown, which differs from 0 and empty.

    :mod:`classifier.hub.context` fills the site context.
    """

    # Paper 003's method uses the page's size and the clicks from the seed, too. Both hurt our URL SVM on
    # unseen sites, size most: a large page on one site is a small one on another.

    url: str
    anchor: str | None = None
    """Visible text of the link; empty counts as unknown, as in label files."""
    urls_below: int | None = None
    """Known URLs of the site whose path starts with this one's."""
    template_siblings: int | None = None
    """Known URLs of the site with the same template (same form, other values)."""
    anchor_ratio: float | None = None
    """Length of the anchor over the median of its template siblings' anchors."""


# A named tuple: creating a frozen dataclass for every link costs four times as much.
class UrlParts(NamedTuple):
    """The parts of a URL, however malformed."""

    host: str
    path: str
    """Percent-decoded; a fragment that is a route (``#/list/3``) is part of it."""
    query: str
    fragment: str
    segments: tuple[str, ...]
    stem: str
    """The last segment without its extension."""
    extension: str
    """Lower case, without the dot; empty if there is none."""

    @property
    def is_root(self) -> bool:
        """Neither path nor query: a host's home page."""
        return not self.segments and not self.query


def split_url(url: str) -> UrlParts:
    """Split a URL; without a host all of it is a path."""
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
