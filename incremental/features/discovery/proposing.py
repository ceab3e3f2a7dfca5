"""From fetched pages to sites worth watching. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from incremental.base.texts import Text
from incremental.base.urls import host_of, registered_domain
from incremental.features.discovery.operators import OutLink
from store.discovery.values import NewProposal, ProposedHub, ProposedPage, ReadPage

# Their scores are summed: one lucky page counts less than three good ones, and large sites have no
# advantage.
BEST_PAGES = 5
BEST_HUBS = 5
MIN_HUB = 0.5
MAX_LINKS = 200
LIKELY = 0.5


def site_of(url: str) -> str:
    """Return the registered domain of a URL."""
    return registered_domain(host_of(url))


def propose(
    pages: Iterable[ReadPage],
    *,
    links: Callable[[str], Sequence[OutLink]],
    watched: Collection[str],
    hub_scores: Callable[[Mapping[str, str]], Mapping[str, float]],
) -> list[NewProposal]:
    """Return the sites of relevant pages that are not *watched*, best first.

    *links* gives those of a page, as far as they are known; *hub_scores* gives hub probabilities for URLs
    with their anchors.
    """
    by_site: dict[str, list[ReadPage]] = {}
    for page in pages:
        site = site_of(page.url)
        if site and site not in watched:
            by_site.setdefault(site, []).append(page)
    found = [
        _proposal(site, read, links, hub_scores)
        for site, read in by_site.items()
        if any(page.score >= LIKELY for page in read)
    ]
    return sorted(found, key=lambda one: (-one.score, one.host))


def _proposal(
    site: str,
    read: list[ReadPage],
    links: Callable[[str], Sequence[OutLink]],
    hub_scores: Callable[[Mapping[str, str]], Mapping[str, float]],
) -> NewProposal:
    best = sorted(read, key=lambda page: -page.score)[:BEST_PAGES]
    inside = {page.url: "" for page in read}
    for page in read:
        own = (link for link in links(page.url)[:MAX_LINKS] if site_of(link.url) == site)
        inside |= {link.url: link.anchor for link in own if link.url not in inside}
    scores = hub_scores(inside)
    hubs = sorted(scores.items(), key=lambda one: (-one[1], len(one[0])))
    relevant = [page for page in read if page.score >= LIKELY]
    ways = dict.fromkeys(page.operator for page in relevant)
    named_ways = tuple(Text(f"discovery.operator_{way}") for way in ways)
    return NewProposal(
        host=site,
        score=round(sum(page.score for page in best), 4),
        pages=tuple(ProposedPage(one.url, one.title, round(one.score, 4)) for one in best),
        hubs=tuple(ProposedHub(url, round(p, 4)) for url, p in hubs[:BEST_HUBS] if p >= MIN_HUB),
        why=Text(
            "discovery.proposed_why", relevant=len(relevant), read=len(read), ways=named_ways
        ).stored(),
    )
