"""Discovery results: the last run, proposals, and the user's decisions on them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from urllib.parse import urlsplit

from incremental.base.errors import NotFoundError
from incremental.base.texts import hub_why, read_text
from incremental.base.urls import canonical_key
from incremental.interfaces.results.schema import result_of
from incremental.settings.seeds import add_seed
from store import Store
from store.database.texts import to_json
from store.discovery.values import ProposalRow, ProposalState, RunRow
from store.enums import HubKind, HubRole
from store.topics.values import TopicRow
from store.values import NewHub, SeenLink

Decision = Literal["accept", "reject"]
_NAMED_AT_MOST = 20


@dataclass(frozen=True, slots=True)
class ProposedPage:
    """A page of a proposed site and its ranking score."""

    url: str
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class ProposedHub:
    """A likely hub of a proposed site."""

    url: str
    probability: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """A proposed site with its best pages and hubs, and the user's decision."""

    site: str
    state: str
    score: float
    why: str
    pages: list[ProposedPage]
    hubs: list[ProposedHub]
    proposed_at: datetime
    decided_at: datetime | None


@dataclass(frozen=True, slots=True)
class Run:
    """The last run of a topic."""

    why: str
    """Why it ended; empty = it is running, or was interrupted."""
    note: str
    """Errors of the search provider."""
    started_at: datetime
    ended_at: datetime | None


def run_of(row: RunRow) -> Run:
    """Return a run."""
    return result_of(Run, row, why=read_text(row.why))


def proposal_of(row: ProposalRow) -> Proposal:
    """Return a proposed site."""
    pages = [ProposedPage(*page) for page in json.loads(row.pages)]
    hubs = [ProposedHub(*hub) for hub in json.loads(row.hubs)]
    return result_of(Proposal, row, site=row.host, pages=pages, hubs=hubs, why=read_text(row.why))


def open_proposals(store: Store) -> dict[int, int]:
    """Count the undecided proposals by topic."""
    counts = store.discovery.proposal_counts()
    return {topic: states.get(ProposalState.PROPOSED, 0) for topic, states in counts.items()}


@dataclass(frozen=True, slots=True)
class Decided:
    """Sites that were accepted or rejected."""

    sites: list[str]
    site_ids: list[int]
    """Of accepted sites, in the same order."""


def decide(
    store: Store, topic: TopicRow, sites: Sequence[str] | None, decision: Decision, *, now: float
) -> Decided:
    """Watch proposed sites, or reject them: they are not proposed again, and pages like theirs rank lower.

    No *sites* = every open proposal.

    Raises:
        NotFoundError: a site was never proposed; nothing was decided.
    """
    if sites is None:
        chosen = store.discovery.proposals(topic.id)
    else:
        chosen = _proposals_named(store, topic.id, sites)
    ids = []
    if decision == "accept":
        ids = accept_sites(store, chosen, topic=topic.name, now=now)
    else:
        store.discovery.decide([one.id for one in chosen], ProposalState.REJECTED, now=now)
    return Decided([one.host for one in chosen], ids)


def _proposals_named(store: Store, topic_id: int, sites: Sequence[str]) -> list[ProposalRow]:
    """Return a topic's proposals for these sites, decided or not."""
    by_host = {one.host: one for one in store.discovery.proposals(topic_id, None)}
    for site in sites:
        if site not in by_host:
            known = ", ".join(list(by_host)[:_NAMED_AT_MOST]) or "none yet"
            raise NotFoundError(f"{site[:300]!r} was not proposed (known: {known})")
    return [by_host[site] for site in dict.fromkeys(sites)]


def accept_sites(
    store: Store, chosen: Sequence[ProposalRow], *, topic: str, now: float
) -> list[int]:
    """Watch the proposed sites; return their ids. Sites already watched are unchanged."""
    ids = []
    for one in chosen:
        pages = json.loads(one.pages)
        hubs = json.loads(one.hubs)
        first = hubs[0][0] if hubs else pages[0][0] if pages else f"https://{one.host}/"
        parts = urlsplit(first)
        site_id = add_seed(store, f"{parts.scheme}://{parts.netloc}/", now=now)
        page = pages[0][0] if pages else ""
        origin = {"topic": topic, "page": page, "found_by": "discovery"}
        store.write.update_site(site_id, origin=to_json(origin))
        links = [
            SeenLink(
                canonical_key(url),
                url,
                hub=NewHub(HubKind.HTML, HubRole.LIST, score, hub_why("discovered"), now),
            )
            for url, score in hubs
            if urlsplit(url).netloc == parts.netloc
        ]
        if links:
            store.write.add_pages(site_id, links, now=now)
        ids.append(site_id)
    store.discovery.decide([one.id for one in chosen], ProposalState.ACCEPTED, now=now)
    return ids
