"""From the links of a parsed page to their target pages. Pure.

Canonical, in scope, no trap, each page once: with its longest anchor, at its first place.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlsplit

from incremental.base.path_aliases import without_path_alias
from incremental.base.scope import Scope, page_number, trap
from incremental.base.urls import canonical_key, host_of, normalize
from incremental.parse import Link
from incremental.parse.json_lists import JSON_PLACE
from store.enums import HubKind
from store.values import HubRow, SeenLink

_DIGITS = re.compile(r"\d+")


def targets(
    links: Iterable[Link],
    scope: Scope,
    *,
    path_aliases: Sequence[str] = (),
    own: str = "",
    beyond: Scope | None = None,
) -> list[SeenLink]:
    """Return the targets of *links* inside *scope*, in page order, each page once.

    *own*: canonical key of the page itself, which is left out. Of a link with several URLs the first
    inside *scope* counts, else the first inside *beyond*.
    """
    found: dict[str, SeenLink] = {}
    aliases = tuple(path_aliases)
    for link in links:
        target = _target(link, scope, aliases)
        if target is None and beyond is not None:
            target = _target(link, beyond, aliases)
        if target is None or target.canonical_key == own:
            continue
        before = found.setdefault(target.canonical_key, target)
        if before is not target:
            found[target.canonical_key] = _merged(before, target)
    return list(found.values())


def at_home(links: Sequence[Link], own_url: str) -> list[Link]:
    """Return the links of a sitemap under its own host, if all are under one other host; else none.

    A sitemap may only name its own host's pages, so the other is what a generator was not told (the
    documentation of a recorded site stood below ``your-docusaurus-test-site.com``).
    """
    if len({host_of(link.url) for link in links}) != 1:
        return []
    own = urlsplit(own_url)
    home = {"scheme": own.scheme, "netloc": own.netloc}
    return [replace(link, url=urlsplit(link.url)._replace(**home).geturl()) for link in links]


def _target(link: Link, scope: Scope, path_aliases: tuple[str, ...]) -> SeenLink | None:
    place = _place(link.url, scope, path_aliases)
    if place is None and link.others:
        places = (_place(url, scope, path_aliases) for url in link.others)
        place = next(filter(None, places), None)
    if place is None:
        return None
    key, url = place
    return SeenLink(key, url, link.anchor, link.tag_path, link.published_at)


# Lists show mostly what they showed last time.
@lru_cache(maxsize=8_192)
def _place(url: str, scope: Scope, path_aliases: tuple[str, ...]) -> tuple[str, str] | None:
    """Return the canonical key and the URL of a page; None = out of scope, a trap, or no URL."""
    usable = normalize(url)
    if usable is None or not scope.holds(usable) or trap(usable):
        return None
    usable = without_path_alias(usable, path_aliases)
    return canonical_key(usable), usable


def _merged(first: SeenLink, again: SeenLink) -> SeenLink:
    # A headline says more than "Read more".
    anchor = again.anchor if len(again.anchor) > len(first.anchor) else first.anchor
    return replace(first, anchor=anchor, published_at=first.published_at or again.published_at)


def links_digest(found: Iterable[SeenLink]) -> str:
    """Return an MD5 of the pages that a page links to, in any order and under any anchors."""
    names = "\n".join(sorted(target.canonical_key for target in found))
    return hashlib.md5(names.encode("utf-8", "surrogatepass")).hexdigest()


def top_folder(canonical_key: str) -> str:
    """Return the first folder of a key: ``//host/news/2024/x`` -> ``//host/news/``; empty at the root."""
    parts = canonical_key.split("/", 4)
    return "/".join(parts[:4]) + "/" if len(parts) == 5 else ""  # noqa: PLR2004 - //host/folder/rest


def list_of(tag_path: str) -> str:
    """Return the place in the markup that the links of one list share."""
    return _DIGITS.sub("0", tag_path)


def stated_date(target: SeenLink, hub: HubRow) -> float | None:
    """Return the publication date that *hub* itself states; a sitemap's lastmod is none."""
    states = hub.kind == HubKind.FEED or target.tag_path.startswith(JSON_PLACE)
    return target.published_at if states else None


def is_later_page(target: SeenLink) -> bool:
    """Whether the URL names a later page of a list."""
    return page_number(target.url) is not None
