"""Discovery: proposals, decisions on them, the last run."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.base.texts import Words
from incremental.features.discovery.accepting import Decision, decide
from incremental.features.discovery.facts import Round, discovery_of, proposal_of
from incremental.features.discovery.searches import MAX_PAGES, MAX_ROUNDS, begin_search, search_of
from incremental.features.discovery.settings import DiscoverySettings
from incremental.interfaces.web.charts import bars
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.forms import see
from incremental.interfaces.web.views import page, words_of
from store import Store
from store.topics.values import TopicRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
# Proposals per page; rounds in chart and table.
_SHOWN = 50
_LABELS = 10
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
    words = words_of(request)
    found = discovery_of(store, topic.id)
    rows = store.discovery.proposals(topic.id, state)
    rounds = found.rounds[-_SHOWN:]
    values = {
        "run": found.run,
        "topic": topic,
        "state": state,
        "counts": found.proposals,
        "proposals": [proposal_of(row) for row in rows[:_SHOWN]],
        "more": max(len(rows) - _SHOWN, 0),
        "rounds": rounds[::-1],
        "rewards": _chart(words, rounds) if rounds else None,
        "command": f"hubwatch discover run --topic {shlex.quote(topic.name)}",
        "settings": web.settings.of(DiscoverySettings),
        "search": search_of(web, topic.id),
    }
    return page(request, "discovery/discovery.html", values)


def _chart(words: Words, rounds: Sequence[Round]) -> Any:  # noqa: ANN401 - markup
    """Draw the reward of each round, coloured by operator."""
    labels = [str(one.number) for one in rounds]
    series = {
        words.maybe("discovery", f"operator_{name}"): [
            one.reward if one.operator == name else 0.0 for one in rounds
        ]
        for name in dict.fromkeys(one.operator for one in rounds)
    }
    every = max(len(rounds) // _LABELS, 1)
    return bars(words("discovery.rewards"), labels, series, every=every)


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
