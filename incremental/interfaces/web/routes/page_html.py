"""One page: facts, cached text, history, diff, sightings, visits."""

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from incremental.base.errors import NotFoundError
from incremental.interfaces.explain.page_versions import Difference, difference, versions_of_change
from incremental.interfaces.explain.topic import word_of
from incremental.interfaces.web.context import StoreRoute
from incremental.interfaces.web.reading import feedback, marker, paragraphs, terms_of
from incremental.interfaces.web.views import page, words_of
from store import Store
from store.answers import NewQuery, PageDetail

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_MOST_SIGHTINGS = 200
_MOST_LIKE = 50


@router.get("/pages/{page_id}")
def page_page(
    request: Request,
    store: Store,
    detail: PageDetail,
    change: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    asked: Annotated[int, Query(ge=0, le=10_000)] = 0,
    refused: Annotated[str, Query(max_length=500)] = "",
    said: Annotated[str, Query(max_length=500)] = "",
    q: Annotated[str, Query(max_length=300)] = "",
) -> Response:
    """Show a page, and the diff of *change*; to htmx, for the pane, its text with the words *q* marked."""
    body = paragraphs(detail.text.text, detail.title) if detail.text else []
    if "hx-request" in request.headers:
        part = {"page": detail, "body": body, "marked": marker(q)}
        return page(request, "_reading.html", part)
    values: dict[str, Any] = {
        "page": detail,
        "body": body,
        "hub": store.read.hub(detail.page_id),
        "sightings": store.read.sightings(detail.page_id)[:_MOST_SIGHTINGS],
        "visits": store.read.visits(detail.page_id),
        "change": change,
        "diff": None if change is None else _difference(store, detail, change),
        "asked": asked,
        "problem": words_of(request).known(refused),
        "said": words_of(request).known(said),
        "feedback": feedback(store, [detail.news] if detail.news else [], None),
    }
    if any(mark.fetched for mark in detail.topics):
        values["terms_of"] = partial(terms_of, word=word_of(store, detail.page_id))
    return page(request, "page.html", values)


@router.get("/pages/{page_id}/like")
def like_page(request: Request, store: Store, detail: PageDetail) -> Response:
    """Show announced pages that are like a page in meaning, or why that cannot be said."""
    # Loads numpy.
    from incremental.topics.embedding.likeness import NoVectorError, pages_like, vector_of  # noqa: PLC0415

    asked, own = NewQuery(limit=_MOST_LIKE), detail.page_id
    try:
        found = pages_like(store, *vector_of(store, own), asked, but=own)
    except NoVectorError:
        found = None
    values: dict[str, Any] = {
        "page": detail,
        "found": found,
        "counts": store.vectors.counts(),
        "feedback": feedback(store, [one.page for one in found or ()], None),
    }
    return page(request, "like.html", values)


def _difference(store: Store, detail: PageDetail, change: int) -> Difference | None:
    """Return the diff of a change; None = a body is no longer in the cache."""
    before, after = versions_of_change(store, detail.page_id, change)
    try:
        return difference(store, detail.page_id, detail.url, before, after)
    except NotFoundError:
        return None
