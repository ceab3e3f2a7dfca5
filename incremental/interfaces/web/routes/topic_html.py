"""Topics: examples, keywords, scores."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from markupsafe import escape
from pydantic import BaseModel, Field

from incremental.base.errors import FeatureError, InputError
from incremental.base.features import called
from incremental.base.lookup import page_numbered, topic_numbered
from incremental.base.tagging import parted
from incremental.base.urls import canonical_key
from incremental.interfaces.explain.topic import top_terms
from incremental.interfaces.results.topics import (
    preview_of_edit,
    preview_of_mark,
    preview_of_new,
    topic_result,
    topic_results,
)
from incremental.interfaces.web.api.schemas import RowId
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.undo import undoable
from incremental.interfaces.web.views import page, problem_of, see, words_of
from incremental.topics.editing import (
    METHODS,
    begin,
    edit_topic,
    forget_example,
    give_feedback,
    set_paused,
)
from incremental.topics.previewing import Preview
from store import Store
from store.topics.values import TopicRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_Many = Annotated[str, Field(max_length=10_000)]


@router.get("/topics")
def topics_page(request: Request, web: Web, store: Store) -> Response:
    """Show all topics."""
    values = {"topics": topic_results(store), "links": _links(web, store)}
    return page(request, "topics.html", values)


def _links(web: Web, store: Store) -> list[tuple[str, str, str, dict[int, int]]]:
    """Return the links of features beside each topic: path, feature, text, and counts by topic."""
    found = []
    for feature in web.settings.enabled.on:
        for link in feature.topic_links:
            with suppress(FeatureError):
                counts = called(feature.name, link.counts, store)
                found.append((link.path, feature.name, link.text, counts))
    return found


class NewTopicForm(BaseModel):
    """What is typed for a new topic."""

    name: Annotated[str, Field(max_length=80)] = ""
    keywords: Annotated[str, Field(max_length=1_000)] = ""
    urls: Annotated[str, Field(max_length=100_000)] = ""
    description: Annotated[str, Field(max_length=500)] = ""

    def wanted(self) -> dict[str, Any]:
        """Return what the topic learns from beside pages."""
        return {"keywords": parted(self.keywords), "description": self.description}


@router.post("/topics")
def add_topic(web: Web, store: Store, form: Annotated[NewTopicForm, Form()]) -> Response:
    """Create a topic from examples, keywords, a sentence, or all of them."""
    urls, now = form.urls.split(), web.now()
    row, _ = begin(store, form.name, examples=urls, **form.wanted(), now=now)
    return see(f"/topics/{row.id}")


class TopicForm(BaseModel):
    """What is typed for a topic."""

    name: Annotated[str, Field(max_length=200)]
    method: Annotated[str, Field(max_length=40)]
    keywords: _Many = ""
    description: Annotated[str, Field(max_length=500)] = ""
    include: _Many = ""
    exclude: _Many = ""
    tags: _Many = ""

    def values(self) -> dict[str, Any]:
        """Return them as ``edit_topic`` takes them."""
        lists = ("keywords", "include", "exclude", "tags")
        return self.model_dump() | {name: parted(getattr(self, name)) for name in lists}


@router.post("/topics/{topic_id}/edit")
def edit(
    request: Request, web: Web, store: Store, topic: TopicRow, form: Annotated[TopicForm, Form()]
) -> Response:
    """Rename a topic, or replace its keywords, sentence, method, tags, or the words that narrow it."""
    before = topic_result(store, topic)
    old = {name: getattr(before, name) for name in TopicForm.model_fields}
    edit_topic(store, topic, **form.values(), now=web.now())
    undoable(
        request,
        "topic_edited",
        lambda store, now: edit_topic(store, topic_numbered(store, topic.id), **old, now=now),
    )
    return see(f"/topics/{topic.id}")


@router.post("/topics/{topic_id}/preview")
def preview_edit(
    request: Request, web: Web, store: Store, topic: TopicRow, form: Annotated[TopicForm, Form()]
) -> Response:
    """Show what a topic's list would be if the form was saved."""
    tried = partial(preview_of_edit, store, web.settings, web.clock, topic, form.values())
    return _preview(request, tried)


@router.post("/topics/preview")
def preview_new(
    request: Request, web: Web, store: Store, form: Annotated[NewTopicForm, Form()]
) -> Response:
    """Show what a topic would show if it was made."""
    new = {"urls": form.urls.split(), **form.wanted()}
    return _preview(request, partial(preview_of_new, store, web.settings, web.clock, **new))


def _preview(request: Request, tried: Callable[[], Preview]) -> Response:
    """Show a preview, as a part of the page to htmx."""
    values: dict[str, Any] = {"found": None, "problem": ""}
    try:
        values["found"] = tried()
    except InputError as error:
        values["problem"] = problem_of(request, error)
    whole = "hx-request" not in request.headers
    return page(request, "preview.html" if whole else "_preview.html", values)


@router.post("/topics/{topic_id}/effect")
def effect(request: Request, web: Web, store: Store, topic: TopicRow, page_id: RowId) -> Response:
    """Say what the verdict on a page did to the topic's list."""
    key = canonical_key(page_numbered(store, page_id).url)
    found = preview_of_mark(store, web.settings, web.clock, topic, key)
    return Response(str(escape(words_of(request)(found.said("verdict")))), media_type="text/html")


@router.post("/topics/{topic_id}/forget")
def forget(
    web: Web, store: Store, topic: TopicRow, example: Annotated[int, Form(ge=1, le=2**62)]
) -> Response:
    """Remove a page from the topic's examples."""
    forget_example(store, topic, example, now=web.now())
    return see(f"/topics/{topic.id}")


@router.get("/topics/{topic_id}")
def topic_page(request: Request, web: Web, store: Store, topic: TopicRow) -> Response:
    """Show one topic: counts, scores, terms, examples."""
    examples = store.topics.examples(topic.id)
    values = {
        "topic": topic_result(store, topic),
        "examples": examples,
        "terms": top_terms(store, topic, examples),
        "links": _links(web, store),
        "methods": METHODS,
    }
    return page(request, "topic.html", values)


@router.post("/topics/{topic_id}/examples")
def add_examples(
    web: Web,
    store: Store,
    topic: TopicRow,
    urls: Annotated[str, Form(max_length=100_000)],
    origin: Annotated[Literal["relevant", "irrelevant"], Form()],
) -> Response:
    """Label pages as relevant or irrelevant."""
    relevant = origin == "relevant"
    give_feedback(store, topic.name, urls.split(), relevant=relevant, now=web.now())
    return see(f"/topics/{topic.id}")


@router.post("/topics/{topic_id}/state")
def set_state(
    web: Web,
    store: Store,
    topic: TopicRow,
    state: Annotated[Literal["active", "paused"], Form()],
) -> Response:
    """Pause or resume a topic."""
    set_paused(store, topic.name, paused=state == "paused", now=web.now())
    return see(f"/topics/{topic.id}")


@router.post("/topics/{topic_id}/remove")
def remove_topic(store: Store, topic: TopicRow) -> Response:
    """Delete a topic with its examples and scores."""
    store.topics.remove(topic.id)
    return see("/topics")
