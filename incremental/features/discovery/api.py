"""Discovery: proposals, decisions on them, and the last run.

A run takes minutes: one that is begun here goes on in the background.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field, StringConstraints

from incremental.base.lookup import topic_numbered
from incremental.features.discovery.accepting import accept_sites, proposals_named, reject_sites
from incremental.features.discovery.facts import discovery_facts, proposal_facts
from incremental.features.discovery.searches import MAX_PAGES, MAX_ROUNDS, begin_search
from incremental.interfaces.web.api.schemas import (
    REFUSED,
    LongWork,
    Moment,
    RequestSchema,
    ResponseSchema,
)
from incremental.interfaces.web.api.topic_api import TopicId
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of

router = APIRouter(
    prefix="/api/v1", tags=["discovery"], route_class=ConditionalRoute, responses=REFUSED
)
_MOST_SITES = 500
_State = Literal["proposed", "accepted", "rejected", "all"]
_Host = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class ProposedPage(ResponseSchema):
    """A page of a proposed site and its ranking score."""

    url: str
    title: str
    score: float


class ProposedHub(ResponseSchema):
    """A likely hub of a proposed site."""

    url: str
    probability: float


class Proposal(ResponseSchema):
    """A proposed site and the user's decision."""

    site: str
    state: str
    score: float
    why: str
    pages: list[ProposedPage]
    hubs: list[ProposedHub]
    proposed_at: Moment
    decided_at: Moment


class Choice(RequestSchema):
    """Sites, named as in the proposals."""

    sites: Annotated[list[_Host], Field(min_length=1, max_length=_MOST_SITES)]


class Decided(ResponseSchema):
    """Sites that were accepted or rejected."""

    sites: list[str]
    site_ids: list[int] = Field(default_factory=list)
    """Site ids of accepted sites, in the same order."""


class Run(ResponseSchema):
    """A discovery run."""

    id: int
    status: str
    """running (or interrupted, to be resumed), done, stopped."""
    why: str
    rounds: int
    """Limit."""
    pages: int
    """Limit of pages read."""
    started_at: Moment
    ended_at: Moment


class Round(ResponseSchema):
    """One round: the chosen operator and its result."""

    number: int
    operator: str
    scores: dict[str, float | None]
    """Operators' scores at the choice; null = not tried before."""
    asked: int
    read: int
    new_sites: int
    reward: float
    note: str
    at: Moment


class NewRun(RequestSchema):
    """The limits of a run."""

    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 20
    pages: Annotated[int, Field(ge=1, le=MAX_PAGES)] = 200


class Discovery(ResponseSchema):
    """The last run."""

    run: Run | None
    """null = no run yet."""
    proposals: dict[str, int]
    """Number of sites by state."""
    rounds: list[Round]


@router.get("/topics/{topic_id}/discovery")
def get_discovery(request: Request, topic_id: TopicId) -> Discovery:
    """Return a topic's last discovery run, round by round."""
    with web_of(request).store() as store:
        return Discovery.model_validate(discovery_facts(store, topic_numbered(store, topic_id).id))


@router.post("/topics/{topic_id}/discovery")
def search(request: Request, topic_id: TopicId, body: NewRun) -> LongWork:
    """Search for further sites now, unless a search of this topic is under way."""
    web = web_of(request)
    with web.store() as store:
        topic_numbered(store, topic_id)
    return LongWork.model_validate(
        begin_search(web, topic_id, rounds=body.rounds, pages=body.pages)
    )


@router.get("/topics/{topic_id}/proposals")
def list_proposals(
    request: Request,
    topic_id: TopicId,
    state: _State = "proposed",
    limit: Annotated[int, Query(ge=1, le=5_000, description="Maximum number.")] = 200,
) -> list[Proposal]:
    """List proposed sites, best first, with their best pages and hubs."""
    with web_of(request).store() as store:
        wanted = None if state == "all" else state
        rows = store.discovery.proposals(topic_numbered(store, topic_id).id, wanted)[:limit]
    return [Proposal.model_validate(proposal_facts(row)) for row in rows]


@router.post("/topics/{topic_id}/proposals/accept")
def accept(request: Request, topic_id: TopicId, body: Choice) -> Decided:
    """Watch proposed sites, starting from the hubs found there; all of them, or none if one is unknown."""
    web = web_of(request)
    with web.store() as store:
        topic = topic_numbered(store, topic_id)
        chosen = proposals_named(store, topic.id, body.sites)
        ids = accept_sites(store, chosen, topic=topic.name, now=web.now())
    return Decided(sites=[one.host for one in chosen], site_ids=ids)


@router.post("/topics/{topic_id}/proposals/reject")
def reject(request: Request, topic_id: TopicId, body: Choice) -> Decided:
    """Reject sites: they are not proposed again, and similar pages rank lower."""
    web = web_of(request)
    with web.store() as store:
        chosen = proposals_named(store, topic_numbered(store, topic_id).id, body.sites)
        reject_sites(store, chosen, now=web.now())
    return Decided(sites=[one.host for one in chosen])
