"""From fetched pages to sites worth watching. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from incremental.base.texts import Text
from incremental.features.discovery.operators import OutLink

# Their scores are summed: one lucky page counts less than three good ones, and large sites have no
# advantage.
BEST_PAGES = 5
BEST_HUBS = 5
MIN_HUB = 0.5
MAX_LINKS = 200
LIKELY = 0.5


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """A fetched page with its topic score."""

    url: str
    host: str
    title: str
    score: float
    operator: str
    via: str
    links: tuple[OutLink, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteProposal:
    """A site to propose, with its evidence."""

    host: str
    score: float
    pages: tuple[tuple[str, str, float], ...]
    """URL, title and score, best first."""
    hubs: tuple[tuple[str, float], ...]
    """URL and hub probability, likeliest first."""
    why: str


def propose(
    pages: Iterable[JudgedPage],
    *,
    watched: Collection[str],
    site_of: Callable[[str], str],
    hub_scores: Callable[[Mapping[str, str]], Mapping[str, float]],
) -> list[SiteProposal]:
    """Return the sites of relevant pages that are not *watched*, best first.

    *hub_scores* gives hub probabilities for URLs with their anchors.
    """
    by_site: dict[str, list[JudgedPage]] = {}
    for page in pages:
        site = site_of(page.url)
        if site and site not in watched:
            by_site.setdefault(site, []).append(page)
    found = [
        _proposal(site, read, site_of, hub_scores)
        for site, read in by_site.items()
        if any(page.score >= LIKELY for page in read)
    ]
    return sorted(found, key=lambda one: (-one.score, one.host))


def _proposal(
    site: str,
    read: list[JudgedPage],
    site_of: Callable[[str], str],
    hub_scores: Callable[[Mapping[str, str]], Mapping[str, float]],
) -> SiteProposal:
    best = sorted(read, key=lambda page: -page.score)[:BEST_PAGES]
    inside = {page.url: "" for page in read}
    for page in read:
        own = (link for link in page.links[:MAX_LINKS] if site_of(link.url) == site)
        inside |= {link.url: link.anchor for link in own if link.url not in inside}
    scores = hub_scores(inside)
    hubs = sorted(scores.items(), key=lambda one: (-one[1], len(one[0])))
    relevant = [page for page in read if page.score >= LIKELY]
    ways = dict.fromkeys(page.operator for page in relevant)
    named_ways = tuple(Text(f"discovery.operator_{way}") for way in ways)
    return SiteProposal(
        host=site,
        score=round(sum(page.score for page in best), 4),
        pages=tuple((page.url, page.title, round(page.score, 4)) for page in best),
        hubs=tuple((url, round(p, 4)) for url, p in hubs[:BEST_HUBS] if p >= MIN_HUB),
        why=Text(
            "discovery.proposed_why", relevant=len(relevant), read=len(read), ways=named_ways
        ).stored(),
    )
