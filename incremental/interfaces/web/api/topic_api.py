"""Topics."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from incremental.interfaces.results.topics import (
    Topic,
    TopicPreview,
    preview_of_edit,
    preview_result,
    topic_result,
    topic_results,
)
from incremental.interfaces.web.api.schemas import (
    RequestSchema,
    TagList,
    WebAddress,
    WordList,
    api_router,
)
from incremental.interfaces.web.context import Web
from incremental.topics.editing import (
    METHODS,
    begin,
    edit_topic,
    give_feedback,
    set_paused,
)
from store import Store
from store.enums import ExampleOrigin
from store.topics.values import TopicRow

router = api_router("topics")
Name = Annotated[str, StringConstraints(min_length=1, max_length=80, strip_whitespace=True)]
_Urls = Annotated[list[WebAddress], Field(max_length=200)]
_Method = Annotated[str, StringConstraints(pattern=f"^({'|'.join(METHODS)})$")]


_Keywords = Annotated[
    list[Annotated[str, StringConstraints(min_length=1, max_length=100)]], Field(max_length=100)
]


class _Wanted(RequestSchema):
    """What a topic learns from beside pages."""

    keywords: _Keywords = Field(default_factory=list)
    description: Annotated[str, StringConstraints(max_length=500)] = ""
    method: _Method = METHODS[0]


class NewTopic(_Wanted):
    """A topic from example pages, keywords, a sentence, or all of them."""

    name: Name
    examples: _Urls = Field(default_factory=list)


class TopicChange(_Wanted):
    """New values of a topic's fields; those left out stay."""

    name: Name = "-"
    tags: TagList = Field(default_factory=list)
    state: Literal["active", "paused"] = "active"
    include: WordList = Field(default_factory=list)
    """Only pages with one of these words are listed and announced."""
    exclude: WordList = Field(default_factory=list)
    """No page with any of these words is."""


class TriedTopic(TopicChange):
    """New values of a topic's fields to try, and pages to learn from; those left out stay.

    A name, tags and a state change nothing of the list.
    """

    urls: _Urls = Field(default_factory=list)
    """Pages whose text is known here; others do not count."""
    origin: ExampleOrigin = ExampleOrigin.EXAMPLE
    """As what they are given: `example`, `relevant` or `irrelevant`."""


class NewExamples(RequestSchema):
    """Relevant or irrelevant pages of a topic."""

    urls: Annotated[list[WebAddress], Field(min_length=1, max_length=200)]
    relevant: bool


@router.get("/topics")
def list_topics(store: Store) -> list[Topic]:
    """List the topics."""
    return topic_results(store)


@router.post("/topics")
def add_topic(web: Web, store: Store, body: NewTopic) -> Topic:
    """Create a topic, or give the one of that name more examples."""
    row, _ = begin(store, **body.model_dump(), now=web.now())
    return topic_result(store, row)


@router.post("/topics/{topic_id}/preview")
def preview_topic(web: Web, store: Store, topic: TopicRow, body: TriedTopic) -> TopicPreview:
    """Show what a change would add to a topic's list and remove from it; nothing is stored."""
    changes = body.model_dump(include=body.model_fields_set - {"urls", "origin", "state"})
    found = preview_of_edit(
        *(store, web.settings, web.clock, topic, changes), urls=body.urls, origin=body.origin
    )
    return preview_result(found)


@router.get("/topics/{topic_id}")
def get_topic(store: Store, topic: TopicRow) -> Topic:
    """Return a topic."""
    return topic_result(store, topic)


@router.patch("/topics/{topic_id}")
def change_topic(web: Web, store: Store, topic: TopicRow, body: TopicChange) -> Topic:
    """Change a topic: rename it, replace its keywords, sentence or method, pause or resume it."""
    edited = body.model_fields_set - {"state"}
    if edited:
        topic = edit_topic(store, topic, **body.model_dump(include=edited), now=web.now())
    if "state" in body.model_fields_set:
        topic = set_paused(store, topic.name, paused=body.state == "paused", now=web.now())
    return topic_result(store, topic)


@router.delete("/topics/{topic_id}", status_code=204)
def remove_topic(store: Store, topic: TopicRow) -> None:
    """Delete a topic with its examples and scores."""
    store.topics.remove(topic.id)


@router.post("/topics/{topic_id}/examples")
def add_examples(web: Web, store: Store, topic: TopicRow, body: NewExamples) -> Topic:
    """Label pages as relevant or irrelevant to a topic; the last label of a page counts."""
    row, _ = give_feedback(store, topic.name, body.urls, relevant=body.relevant, now=web.now())
    return topic_result(store, row)
