"""Answers to messages: a signed link asks, and its button answers. Nobody needs to log in.

Opening a link changes nothing, because mail scanners follow links.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from incremental.base.errors import NotFoundError
from incremental.base.texts import Text
from incremental.interfaces.answer_links import AnswerLinks
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.views import page
from incremental.topics.editing import give_feedback
from store import Store
from store.answers.announced import AnnouncedPage
from store.topics.values import TopicRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)


@router.get("/answer/irrelevant/{link}")
def ask(request: Request, web: Web, store: Store, link: str) -> Response:
    """Show the page and the topic that a link is about, and a button."""
    topic, row = _asked(web, store, link)
    return page(request, "answer.html", {"topic": topic, "row": row, "done": False})


@router.post("/answer/irrelevant/{link}")
def answer(request: Request, web: Web, store: Store, link: str) -> Response:
    """Mark the page as not relevant to the topic."""
    topic, row = _asked(web, store, link)
    give_feedback(store, topic.name, [row.url], relevant=False, now=web.now())
    return page(request, "answer.html", {"topic": topic, "row": row, "done": True})


def _asked(web: Web, store: Store, link: str) -> tuple[TopicRow, AnnouncedPage]:
    links = AnswerLinks.of(web.settings, web.folder)
    if links is None:
        raise NotFoundError(Text("missing.answer"))
    return links.read(store, link, web.now())
