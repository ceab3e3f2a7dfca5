"""Discovery: proposals, decisions on them, the last run."""

from __future__ import annotations

import shlex
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.features.discovery.accepting import Decision, decide
from incremental.features.discovery.facts import discovery_of, proposal_of
from incremental.features.discovery.searches import MAX_PAGES, MAX_ROUNDS, begin_search, search_of
from incremental.features.discovery.settings import DiscoverySettings
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.forms import see
from incremental.interfaces.web.views import page
from store import Store
from store.topics.values import TopicRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
# Proposals, and rounds of the last run, per page.
_SHOWN = 50
_State = Literal["proposed", "accepted", "rejected"]
_Hosts = Annotated[
    list[Annotated[str, Form(min_length=1, max_length=300)]], Form(min_length=1, max_length=_SHOWN)
]


@router.get("/topics/{topic_id}/discovery")
def discovery_page(
    request: Request,
    web: Web,
    store: Store,
    topic: TopicRow,
    state: Annotated[_State, Query()] = "proposed",
) -> Response:
    """Show the proposals in a state, and the last run."""
    found = discovery_of(store, topic.id)
    rows = store.discovery.proposals(topic.id, state)
    values = {
        "run": found.run,
        "topic": topic,
        "state": state,
        "counts": found.proposals,
        "proposals": [proposal_of(row) for row in rows[:_SHOWN]],
        "more": max(len(rows) - _SHOWN, 0),
        "rounds": found.rounds[-_SHOWN:][::-1],
        "command": f"hubwatch discover run --topic {shlex.quote(topic.name)}",
        "settings": web.settings.of(DiscoverySettings),
        "search": search_of(web, topic.id),
    }
    return page(request, "discovery/discovery.html", values)


@router.post("/topics/{topic_id}/discovery")
def search(
    web: Web, topic: TopicRow, pages: Annotated[int, Form(ge=1, le=MAX_PAGES)] = 200
) -> Response:
    """Search for further sites now, which takes minutes."""
    begin_search(web, topic.id, rounds=MAX_ROUNDS, pages=pages)
    return see(f"/topics/{topic.id}/discovery")


@router.post("/topics/{topic_id}/proposals")
def answer(
    web: Web, store: Store, topic: TopicRow, site: _Hosts, decision: Annotated[Decision, Form()]
) -> Response:
    """Accept or reject proposed sites."""
    decide(store, topic, site, decision, now=web.now())
    return see(f"/topics/{topic.id}/discovery")
