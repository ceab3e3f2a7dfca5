"""Discovery results: the last run, proposals, and the user's decisions on them."""

from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

from incremental.base.errors import NotFoundError
from incremental.base.texts import hub_why, read_text
from incremental.base.urls import canonical_key
from incremental.interfaces.results.schema import Row, dated
from incremental.settings.seeds import add_seed
from store import Store
from store.database.texts import to_json
from store.discovery.values import ProposalRow, ProposalState, RunRow
from store.enums import HubKind, HubRole
from store.topics.values import TopicRow
from store.values import NewHub, SeenLink

Decision = Literal["accept", "reject"]
_NAMED_AT_MOST = 20


def discovery_result(row: RunRow | ProposalRow) -> Row:
    """Return a run or a proposed site, for JSON."""
    return dated(row, why=read_text(row.why))


def open_proposals(store: Store) -> dict[int, int]:
    """Count the undecided proposals by topic."""
    counts = store.discovery.proposal_counts()
    return {topic: states.get(ProposalState.PROPOSED, 0) for topic, states in counts.items()}


def decide(
    store: Store, topic: TopicRow, sites: Sequence[str] | None, decision: Decision, *, now: float
) -> list[str]:
    """Watch proposed sites, or reject them: they are not proposed again, and pages like theirs rank lower.

    No *sites* = every open proposal. Returns the sites.

    Raises:
        NotFoundError: a site was never proposed; nothing was decided.
    """
    if sites is None:
        chosen = store.discovery.proposals(topic.id)
    else:
        chosen = _proposals_named(store, topic.id, sites)
    if decision == "accept":
        accept_sites(store, chosen, topic=topic.name, now=now)
    else:
        store.discovery.decide([one.id for one in chosen], ProposalState.REJECTED)
    return [one.host for one in chosen]


def _proposals_named(store: Store, topic_id: int, sites: Sequence[str]) -> list[ProposalRow]:
    """Return a topic's proposals for these sites, decided or not."""
    by_host = {one.host: one for one in store.discovery.proposals(topic_id, None)}
    for site in sites:
        if site not in by_host:
            known = ", ".join(list(by_host)[:_NAMED_AT_MOST]) or "none yet"
            raise NotFoundError(f"{site[:300]!r} was not proposed (known: {known})")
    return [by_host[site] for site in dict.fromkeys(sites)]


def accept_sites(store: Store, chosen: Sequence[ProposalRow], *, topic: str, now: float) -> None:
    """Watch the proposed sites. Sites already watched are unchanged."""
    for one in chosen:
        places = [*(hub.url for hub in one.hubs), *(page.url for page in one.pages)]
        parts = urlsplit(next(iter(places), f"https://{one.host}/"))
        site_id = add_seed(store, f"{parts.scheme}://{parts.netloc}/", now=now)
        page = one.pages[0].url if one.pages else ""
        origin = {"topic": topic, "page": page, "found_by": "discovery"}
        store.write.update_site(site_id, origin=to_json(origin))
        why = hub_why("discovered")
        links = [
            SeenLink(
                canonical_key(hub.url),
                hub.url,
                hub=NewHub(HubKind.HTML, HubRole.LIST, hub.probability, why, now),
            )
            for hub in one.hubs
            if urlsplit(hub.url).netloc == parts.netloc
        ]
        if links:
            store.write.add_pages(site_id, links, now=now)
    store.discovery.decide([one.id for one in chosen], ProposalState.ACCEPTED)
