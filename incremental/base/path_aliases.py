"""Path prefixes under which a site shows the same pages as without them. Pure.

A site that moved from ``user.github.io/project/`` to its own domain often answers under both
``/project/x`` and ``/x``, and its links may change form overnight. Without this rule every page would
be new a second time. The evidence is two URLs of one site with the same body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

# One pair with the same body may be chance (two empty lists).
PAIRS_FOR_A_RULE = 2
# Share of links in common from which two hubs are compared byte by byte.
ALIKE_SHARE = 0.6
# Shorter pages prove nothing: empty lists and error messages look alike.
MIN_BODY_BYTES = 512


def path_alias_prefix(one: str, other: str) -> str | None:
    """Return the prefix by which the longer of two paths of one host exceeds the shorter, or None.

    ``/project/news/`` and ``/news/`` give ``/project``.
    """
    first, second = urlsplit(one), urlsplit(other)
    if first.netloc != second.netloc or first.query != second.query:
        return None
    long, short = sorted((first.path.rstrip("/"), second.path.rstrip("/")), key=len, reverse=True)
    if long == short or not long.endswith(short):
        return None
    prefix = long[: len(long) - len(short)]
    return prefix if prefix.startswith("/") and not prefix.endswith("/") else None


def stripped(url: str, prefix: str) -> str:
    """Return *url* without the path prefix, if it has it."""
    parts = urlsplit(url)
    if parts.path != prefix and not parts.path.startswith(prefix + "/"):
        return url
    return parts._replace(path=parts.path[len(prefix) :] or "/").geturl()


def rules(evidence: Mapping[str, list[str]]) -> tuple[str, ...]:
    """Return the prefixes with enough pairs. *evidence*: prefix to the shorter paths seen."""
    return tuple(prefix for prefix, paths in evidence.items() if len(paths) >= PAIRS_FOR_A_RULE)


def without_path_alias(url: str, path_aliases: Sequence[str]) -> str:
    """Return *url* without the path prefix that only repeats the site, if it has one."""
    for prefix in path_aliases:
        url = stripped(url, prefix)
    return url
