"""Topics and saved searches."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from pydantic import Field, StringConstraints

from incremental.base.errors import NotFoundError
from incremental.base.lookup import topic_numbered
from incremental.interfaces.filters import Filters, to_json
from incremental.interfaces.web.api.filtering import NEW_SEARCH
from incremental.interfaces.web.api.schemas import (
    REFUSED,
    Moment,
    RequestSchema,
    ResponseSchema,
    RowId,
    TagList,
    WebAddress,
    shape_of,
)
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of
from incremental.topics.editing import (
    METHODS,
    begin,
    edit_topic,
    forget_example,
    give_feedback,
    set_paused,
)
from store import Store
from store.answers import SavedSearchRow
from store.topics.values import ExampleRow, TopicRow

router = APIRouter(
    prefix="/api/v1", tags=["topics"], route_class=ConditionalRoute, responses=REFUSED
)
TopicId = Annotated[RowId, InPath(description="Id from the list.")]
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
_Urls = Annotated[list[WebAddress], Field(max_length=200)]
_Method = Annotated[str, StringConstraints(pattern=f"^({'|'.join(METHODS)})$")]


_Words = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=50)
]


class Topic(ResponseSchema):
    """A topic and its page counts."""

    id: int
    name: str
    state: str
    why: str
    method: str
    keywords: list[str]
    include: list[str]
    exclude: list[str]
    tags: list[str]
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


class TopicChange(RequestSchema):
    """New values of a topic's fields; those left out stay."""

    name: Name = "-"
    keywords: Annotated[
        list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=100)
    ] = Field(default_factory=list)
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    method: _Method = METHODS[0]
    include: _Words = Field(default_factory=list)
    """Only pages with one of these words are listed and announced."""
    exclude: _Words = Field(default_factory=list)
    """No page with any of these words is."""
    tags: TagList = Field(default_factory=list)
    state: Literal["active", "paused"] = "active"


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


@router.get("/topics")
def list_topics(request: Request) -> list[Topic]:
    """List the topics."""
    with web_of(request).store() as store:
        counts, tags = store.topics.counts(), store.tags.of_topics()
        return [_shown(row, counts, tags) for row in store.topics.topics()]


def _topic(store: Store, row: TopicRow) -> Topic:
    return _shown(row, store.topics.counts(), store.tags.of_topics())


def _shown(row: TopicRow, counts: dict[int, dict[str, int]], tags: dict[int, list[str]]) -> Topic:
    facts = {
        name: getattr(row, name)
        for name in ("id", "name", "state", "why", "method", "version", "description")
    }
    columns = ("keywords", "include", "exclude", "warnings")
    lists = {name: json.loads(getattr(row, name)) for name in columns}
    lists["tags"] = tags.get(row.id, [])
    times = {"created_at": row.created_at, "learned_at": row.learned_at}
    return Topic.model_validate({**facts, **lists, **times, "pages": counts.get(row.id, {})})


@router.post("/topics")
def add_topic(request: Request, body: NewTopic) -> Topic:
    """Create a topic, or give the one of that name more examples."""
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
        return _topic(store, row)


@router.get("/topics/{topic_id}")
def get_topic(request: Request, topic_id: TopicId) -> Topic:
    """Return a topic."""
    with web_of(request).store() as store:
        return _topic(store, topic_numbered(store, topic_id))


@router.patch("/topics/{topic_id}")
def change_topic(request: Request, topic_id: TopicId, body: TopicChange) -> Topic:
    """Change a topic: rename it, replace its keywords, sentence or method, pause or resume it."""
    web = web_of(request)
    edited = body.model_fields_set - {"state"}
    with web.store() as store:
        row = topic_numbered(store, topic_id)
        if edited:
            row = edit_topic(store, row, **body.model_dump(include=edited), now=web.now())
        if "state" in body.model_fields_set:
            row = set_paused(store, row.name, paused=body.state == "paused", now=web.now())
        return _topic(store, row)


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


@router.delete("/topics/{topic_id}/examples/{example_id}")
def remove_example(
    request: Request,
    topic_id: TopicId,
    example_id: Annotated[RowId, InPath(description="Id from the list of examples.")],
) -> Topic:
    """Remove a page from the topic's examples."""
    web = web_of(request)
    with web.store() as store:
        row = topic_numbered(store, topic_id)
        row = forget_example(store, row, example_id, now=web.now())
        return _topic(store, row)


@router.post("/topics/{topic_id}/examples")
def add_examples(request: Request, topic_id: TopicId, body: NewExamples) -> Topic:
    """Label pages as relevant or irrelevant to a topic; the last label of a page counts."""
    web = web_of(request)
    with web.store() as store:
        name = topic_numbered(store, topic_id).name
        row, _ = give_feedback(store, name, body.urls, relevant=body.relevant, now=web.now())
        return _topic(store, row)


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
def save_search(request: Request, name: Name, body: NEW_SEARCH) -> SavedSearch:
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
