"""Discovery: proposals, decisions on them, and the last run.

A run takes minutes: one that is begun here goes on in the background.
"""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import Field, StringConstraints

from incremental.features.discovery.accepting import Decided, Decision, decide
from incremental.features.discovery.facts import Discovery, Proposal, discovery_of, proposal_of
from incremental.features.discovery.searches import MAX_PAGES, MAX_ROUNDS, begin_search
from incremental.interfaces.web.api.schemas import LongWork, RequestSchema, api_router
from incremental.interfaces.web.context import Web
from store import Store
from store.topics.values import TopicRow

router = api_router("discovery")
_MOST_SITES = 500
_State = Literal["proposed", "accepted", "rejected", "all"]
_Host = Annotated[str, StringConstraints(min_length=1, max_length=300)]


class Choice(RequestSchema):
    """Sites, named as in the proposals."""

    sites: Annotated[list[_Host], Field(min_length=1, max_length=_MOST_SITES)]


class NewRun(RequestSchema):
    """The limits of a run."""

    rounds: Annotated[int, Field(ge=1, le=MAX_ROUNDS)] = 20
    pages: Annotated[int, Field(ge=1, le=MAX_PAGES)] = 200


@router.get("/topics/{topic_id}/discovery")
def get_discovery(store: Store, topic: TopicRow) -> Discovery:
    """Return a topic's last discovery run, round by round."""
    return discovery_of(store, topic.id)


@router.post("/topics/{topic_id}/discovery")
def search(web: Web, topic: TopicRow, body: NewRun) -> LongWork:
    """Search for further sites now, unless a search of this topic is under way."""
    found = begin_search(web, topic.id, rounds=body.rounds, pages=body.pages)
    return LongWork.model_validate(found)


@router.get("/topics/{topic_id}/proposals")
def list_proposals(
    store: Store,
    topic: TopicRow,
    state: _State = "proposed",
    limit: Annotated[int, Query(ge=1, le=5_000, description="Maximum number.")] = 200,
) -> list[Proposal]:
    """List proposed sites, best first, with their best pages and hubs."""
    wanted = None if state == "all" else state
    rows = store.discovery.proposals(topic.id, wanted)[:limit]
    return list(map(proposal_of, rows))


@router.post("/topics/{topic_id}/proposals/{decision}")
def answer(web: Web, store: Store, topic: TopicRow, decision: Decision, body: Choice) -> Decided:
    """Watch proposed sites from the hubs found there, or reject them; all, or none if one is unknown."""
    return decide(store, topic, body.sites, decision, now=web.now())
