"""Discovery: proposals, decisions on them, the last run; a search takes minutes, in the background."""

import shlex
from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.base.lookup import topic_numbered
from incremental.features.discovery.facts import Decision, decide
from incremental.features.discovery.making import make_discoverer
from incremental.features.discovery.settings import DiscoverySettings
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.views import page, see
from store import Store
from store.topics.values import TopicRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
# Proposals per page.
_SHOWN = 50
MAX_PAGES = 2_000
MAX_ROUNDS = 100
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
    rows = store.discovery.proposals(topic.id, state)
    values = {
        "run": store.discovery.last_run(topic.id),
        "topic": topic,
        "state": state,
        "counts": store.discovery.proposal_counts().get(topic.id, {}),
        "proposals": rows[:_SHOWN],
        "more": max(len(rows) - _SHOWN, 0),
        "command": f"hubwatch discover run --topic {shlex.quote(topic.name)}",
        "settings": web.settings.of(DiscoverySettings),
        "search": web.background.last(f"search {topic.id}"),
    }
    return page(request, "discovery/discovery.html", values)


@router.post("/topics/{topic_id}/discovery")
def search(
    web: Web, topic: TopicRow, pages: Annotated[int, Form(ge=1, le=MAX_PAGES)] = 200
) -> Response:
    """Search for further sites now, which takes minutes."""
    web.background.begin(f"search {topic.id}", partial(_search, web, topic.id, pages))
    return see(f"/topics/{topic.id}/discovery")


def _search(web: Web, topic_id: int, pages: int) -> object:
    with web.store() as store:
        topic = topic_numbered(store, topic_id)
        with make_discoverer(store, web.settings, web.folder, topic) as discoverer:
            return discoverer.run(rounds=MAX_ROUNDS, pages=pages)


@router.post("/topics/{topic_id}/proposals")
def answer(
    web: Web, store: Store, topic: TopicRow, site: _Hosts, decision: Annotated[Decision, Form()]
) -> Response:
    """Accept or reject proposed sites."""
    decide(store, topic, site, decision, now=web.now())
    return see(f"/topics/{topic.id}/discovery")
