"""Path prefixes under which a site shows the same pages as without them. Pure.

A site that moved from ``user.github.io/project/`` to its own domain often answers under both
``/project/x`` and ``/x``, and its links may change form overnight. Without this rule every page would
be new a second time. The evidence is two URLs of one site with the same body.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key
from store.database.texts import to_json
from store.enums import HubKind, HubRole
from store.values import NewHub, SeenLink, SiteChanges, SiteUpdate

# One pair with the same body may be chance (two empty lists).
PAIRS_FOR_A_RULE = 2
# Share of links in common from which two hubs are compared byte by byte.
ALIKE_SHARE = 0.6
# Shorter pages prove nothing: empty lists and error messages look alike.
MIN_BODY_BYTES = 512
# Hubs below a suspected prefix that are compared with their counterparts.
COMPARED = 3


@dataclass(frozen=True, slots=True)
class AliasFacts:
    """What is known when a hub was read."""

    url: str
    same: Sequence[str]
    """URLs of the site's hubs with the same body."""
    evidence: Mapping[str, Sequence[str]]
    """By prefix: the shorter paths of the pairs seen before."""
    below: Mapping[str, Sequence[tuple[int, str]]]
    """Pages below each prefix by which *same* differ: id and URL."""
    hubs: Collection[int]
    """Which of them are hubs."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What follows from new pairs."""

    evidence: dict[str, list[str]]
    changes: SiteChanges
    pairs: Sequence[tuple[int, str]]
    """Hubs to read together: a page id and the canonical key of its counterpart."""


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


def learned(facts: AliasFacts, now: float) -> Learned | None:
    """Count each two URLs with one body as evidence; None = there is no new one.

    Pages below a prefix with enough of it are one page with their counterparts. Below another a few hubs are
    to be compared.
    """
    evidence = {prefix: [*paths] for prefix, paths in facts.evidence.items()}
    folded, added, pairs = list[tuple[int, SeenLink]](), list[SeenLink](), list[tuple[int, str]]()
    new = False
    for other in facts.same:
        prefix = path_alias_prefix(facts.url, other)
        path = urlsplit(min(facts.url, other, key=len)).path
        if prefix is None or prefix in rules(evidence) or path in evidence.get(prefix, ()):
            continue
        new = True
        evidence.setdefault(prefix, []).append(path)
        below = [(page, url, stripped(url, prefix)) for page, url in facts.below[prefix]]
        if prefix in rules(evidence):
            folded += [
                (page, SeenLink(canonical_key(twin), twin))
                for page, url, twin in below
                if twin != url
            ]
            continue
        for page, url, twin in [one for one in below if one[0] in facts.hubs][:COMPARED]:
            hub = NewHub(HubKind.HTML, HubRole.LIST, 0.5, hub_why("may_be_same", page=url), now)
            added.append(SeenLink(canonical_key(twin), twin, hub=hub))
            pairs.append((page, canonical_key(twin)))
    if not new:
        return None
    fields = SiteUpdate(path_aliases=to_json(evidence))
    changes = SiteChanges(fields=fields, added=tuple(added), folded=tuple(folded))
    return Learned(evidence, changes, pairs)


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
