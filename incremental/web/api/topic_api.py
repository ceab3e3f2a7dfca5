"""Topics and saved searches."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from pydantic import Field, StringConstraints

from incremental.errors import NotFoundError
from incremental.results.lookup import topic_numbered
from incremental.saved_searches import Filters, to_json
from incremental.topics.editing import METHODS, begin, give_feedback, set_paused
from incremental.web.api.schemas import (
    REFUSED,
    Moment,
    RequestSchema,
    ResponseSchema,
    RowId,
    WebAddress,
    shape_of,
)
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from store.answers import SavedSearchRow
from store.topic_values import ExampleRow, TopicRow

router = APIRouter(
    prefix="/api/v1", tags=["topics"], route_class=ConditionalRoute, responses=REFUSED
)
TopicId = Annotated[RowId, InPath(description="Id from the list.")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
_Urls = Annotated[list[WebAddress], Field(max_length=200)]
_Method = Annotated[str, StringConstraints(pattern=f"^({'|'.join(METHODS)})$")]


class Topic(ResponseSchema):
    """A topic and its page counts."""

    id: int
    name: str
    state: str
    why: str
    method: str
    keywords: list[str]
    description: str
    version: str
    pages: dict[str, int]
    """Pages by verdict; ``guess`` = judged by the link only."""
    warnings: list[str]
    created_at: Moment
    learned_at: Moment


class NewTopic(RequestSchema):
    """A topic from example pages, keywords, a sentence, or all of them."""

    name: Name
    examples: _Urls = Field(default_factory=list)
    keywords: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=100)
    ] = Field(default_factory=list)
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    method: _Method = METHODS[0]


class TopicState(RequestSchema):
    """Whether a topic judges pages."""

    state: Literal["active", "paused"]


class NewExamples(RequestSchema):
    """Relevant or irrelevant pages of a topic."""

    urls: Annotated[list[WebAddress], Field(min_length=1, max_length=200)]
    relevant: bool


_UNSHOWN = ("topic_id", "canonical_key", "text", "failures", "tried_at", "due_at")
_EXAMPLES: Any = list[shape_of(ExampleRow, leave=_UNSHOWN)]  # type: ignore[misc]  # made of fields


class SavedSearch(ResponseSchema):
    """A saved search."""

    name: str
    query: dict[str, object]
    created_at: Moment
    changed_at: Moment


class NewSearch(RequestSchema):
    """Filters, as the parameters of `GET /api/v1/pages`."""

    q: Annotated[str, StringConstraints(max_length=300)] = ""
    site: RowId | None = None
    topic: RowId | None = None
    verdict: Literal["", "relevant", "grey", "irrelevant"] = ""
    language: Annotated[str, StringConstraints(max_length=20)] = ""
    since: Annotated[str, StringConstraints(max_length=40)] = ""
    show: Literal["", "unread", "starred"] = ""


@router.get("/topics")
def list_topics(request: Request) -> list[Topic]:
    """List the topics."""
    with web_of(request).store() as store:
        counts = store.topics.counts()
        return [_topic(row, counts) for row in store.topics.topics()]


def _topic(row: TopicRow, counts: dict[int, dict[str, int]]) -> Topic:
    facts = {
        name: getattr(row, name)
        for name in ("id", "name", "state", "why", "method", "version", "description")
    }
    lists = {"keywords": json.loads(row.keywords), "warnings": json.loads(row.warnings)}
    times = {"created_at": row.created_at, "learned_at": row.learned_at}
    return Topic.model_validate({**facts, **lists, **times, "pages": counts.get(row.id, {})})


@router.post("/topics")
def add_topic(request: Request, body: NewTopic) -> Topic:
    """Create a topic, or give the one of that name more examples or other keywords."""
    web = web_of(request)
    with web.store() as store:
        row, _ = begin(
            store,
            body.name,
            examples=body.examples,
            keywords=body.keywords,
            description=body.description,
            method=body.method,
            now=web.now(),
        )
        return _topic(row, store.topics.counts())


@router.get("/topics/{topic_id}")
def get_topic(request: Request, topic_id: TopicId) -> Topic:
    """Return a topic."""
    with web_of(request).store() as store:
        return _topic(topic_numbered(store, topic_id), store.topics.counts())


@router.patch("/topics/{topic_id}")
def change_topic(request: Request, topic_id: TopicId, body: TopicState) -> Topic:
    """Pause or resume a topic."""
    web = web_of(request)
    with web.store() as store:
        name = topic_numbered(store, topic_id).name
        row = set_paused(store, name, paused=body.state == "paused", now=web.now())
        return _topic(row, store.topics.counts())


@router.delete("/topics/{topic_id}", status_code=204)
def remove_topic(request: Request, topic_id: TopicId) -> None:
    """Delete a topic with its examples and scores."""
    with web_of(request).store() as store:
        store.topics.remove(topic_numbered(store, topic_id).id)


@router.get("/topics/{topic_id}/examples", response_model=_EXAMPLES)
def list_examples(request: Request, topic_id: TopicId) -> list[ExampleRow]:
    """List a topic's training examples."""
    with web_of(request).store() as store:
        return store.topics.examples(topic_numbered(store, topic_id).id)


@router.post("/topics/{topic_id}/examples")
def add_examples(request: Request, topic_id: TopicId, body: NewExamples) -> Topic:
    """Label pages as relevant or irrelevant to a topic; the last label of a page counts."""
    web = web_of(request)
    with web.store() as store:
        name = topic_numbered(store, topic_id).name
        row, _ = give_feedback(store, name, body.urls, relevant=body.relevant, now=web.now())
        return _topic(row, store.topics.counts())


@router.get("/searches")
def list_searches(request: Request) -> list[SavedSearch]:
    """List the saved searches."""
    with web_of(request).store() as store:
        rows = store.answers.searches()
    return [_search(row) for row in rows]


def _search(row: SavedSearchRow) -> SavedSearch:
    times = {"created_at": row.created_at, "changed_at": row.changed_at}
    return SavedSearch.model_validate({"name": row.name, "query": json.loads(row.query), **times})


@router.put("/searches/{name}")
def save_search(request: Request, name: Name, body: NewSearch) -> SavedSearch:
    """Save a search; replaces one of that name."""
    web = web_of(request)
    filters = Filters(**body.model_dump())
    filters.query(web.now())
    with web.store() as store:
        store.answers.save_search(name, to_json(filters), now=web.now())
        row = store.answers.search(name)
    if row is None:
        raise NotFoundError("the search was removed meanwhile")
    return _search(row)


@router.delete("/searches/{name}", status_code=204)
def remove_search(request: Request, name: Name) -> None:
    """Delete a saved search."""
    with web_of(request).store() as store:
        if not store.answers.remove_search(name):
            raise NotFoundError("no search has that name")
