"""Further sites of a topic: what is proposed, what is said of it, how the last search went.

A search is begun on the command line, or by the daemon at night: it takes minutes, and an answer
over HTTP should not.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field, StringConstraints

from incremental.discovery.accepting import accept_sites, proposals_named, reject_sites
from incremental.explain.discovery import discovery_facts, proposal_facts
from incremental.results.lookup import topic_numbered
from incremental.web.api.schemas import REFUSED, Moment, RequestSchema, ResponseSchema
from incremental.web.api.topic_api import TopicId
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of

router = APIRouter(
    prefix="/api/v1", tags=["discovery"], route_class=ConditionalRoute, responses=REFUSED
)
_MOST_SITES = 500
_State = Literal["proposed", "accepted", "rejected", "all"]
_Host = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class ProposedPage(ResponseSchema):
    """A page of a proposed site, and what the ranking makes of it."""

    url: str
    title: str
    score: float


class ProposedHub(ResponseSchema):
    """A page of a proposed site that seems to lead to others."""

    url: str
    probability: float


class Proposal(ResponseSchema):
    """A site that seems worth watching, and what was said of it."""

    site: str
    state: str
    score: float
    why: str
    pages: list[ProposedPage]
    hubs: list[ProposedHub]
    proposed_at: Moment
    decided_at: Moment


class Choice(RequestSchema):
    """Sites, as the proposals name them."""

    sites: Annotated[list[_Host], Field(min_length=1, max_length=_MOST_SITES)]


class Decided(ResponseSchema):
    """Sites of which something was said."""

    sites: list[str]
    site_ids: list[int] = Field(default_factory=list)
    """Of accepted ones, in the same order: their numbers as watched sites."""


class Run(ResponseSchema):
    """A search for further sites."""

    id: int
    status: str
    """running (or cut off, and to be taken up again), done, stopped."""
    why: str
    rounds: int
    """As many as it may have."""
    pages: int
    """As many as it may read."""
    started_at: Moment
    ended_at: Moment


class Round(ResponseSchema):
    """One choice among the ways of finding pages, and what came of it."""

    number: int
    operator: str
    scores: dict[str, float | None]
    """Of each way of finding when it was chosen; null = not tried before."""
    asked: int
    read: int
    new_sites: int
    reward: float
    note: str
    at: Moment


class Discovery(ResponseSchema):
    """How the last search went."""

    run: Run | None
    """null = nothing was looked for yet."""
    proposals: dict[str, int]
    """Numbers of sites by what was said of them."""
    rounds: list[Round]


@router.get("/topics/{topic_id}/discovery")
def get_discovery(request: Request, topic_id: TopicId) -> Discovery:
    """Return the last search for further sites of a topic, round by round."""
    with web_of(request).store() as store:
        return Discovery.model_validate(discovery_facts(store, topic_numbered(store, topic_id).id))


@router.get("/topics/{topic_id}/proposals")
def list_proposals(
    request: Request,
    topic_id: TopicId,
    state: _State = "proposed",
    limit: Annotated[int, Query(ge=1, le=5_000, description="At most so many.")] = 200,
) -> list[Proposal]:
    """List sites that were proposed, the best first, with their best pages and hubs."""
    with web_of(request).store() as store:
        wanted = None if state == "all" else state
        rows = store.discovery.proposals(topic_numbered(store, topic_id).id, wanted)[:limit]
    return [Proposal.model_validate(proposal_facts(row)) for row in rows]


@router.post("/topics/{topic_id}/proposals/accept")
def accept(request: Request, topic_id: TopicId, body: Choice) -> Decided:
    """Watch proposed sites, beginning from the hubs that were found there.

    If one of them was never proposed, none is watched.
    """
    web = web_of(request)
    with web.store() as store:
        topic = topic_numbered(store, topic_id)
        chosen = proposals_named(store, topic.id, body.sites)
        ids = accept_sites(store, chosen, topic=topic.name, now=web.now())
    return Decided(sites=[one.host for one in chosen], site_ids=ids)


@router.post("/topics/{topic_id}/proposals/reject")
def reject(request: Request, topic_id: TopicId, body: Choice) -> Decided:
    """Turn sites down: they are not proposed again, and pages like theirs rank lower."""
    web = web_of(request)
    with web.store() as store:
        chosen = proposals_named(store, topic_numbered(store, topic_id).id, body.sites)
        reject_sites(store, chosen, now=web.now())
    return Decided(sites=[one.host for one in chosen])
