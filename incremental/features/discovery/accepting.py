"""The user's decisions on proposed sites: accepted ones are watched, with the hubs found on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from incremental.base.errors import NotFoundError
from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key
from incremental.settings.seeds import add_seed
from store import Store
from store.database.texts import to_json
from store.discovery.values import ProposalRow, ProposalState
from store.enums import HubKind, HubRole
from store.topics.values import TopicRow
from store.values import NewHub, SeenLink

Decision = Literal["accept", "reject"]
_NAMED_AT_MOST = 20


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
