"""Copies of a page: ``/pages/ID/copies``, on the web page and for programs."""

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from incremental.interfaces.web.api.schemas import RowId, api_router, shape_of
from incremental.interfaces.web.context import StoreRoute
from incremental.interfaces.web.views import page
from store import Store
from store.answers import PageDetail
from store.near_duplicates import Copy

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
api = api_router("pages")
_COPIES: Any = list[shape_of(Copy, leave=["site_id", "found_at"])]  # type: ignore[misc]  # made of fields


@api.get("/pages/{page_id}/copies", response_model=_COPIES)
def get_copies(store: Store, page_id: RowId) -> list[Copy]:
    """List the other pages with nearly the same text; empty = none, no text, or too short."""
    return store.near_duplicates.of(page_id)


@router.get("/pages/{page_id}/copies")
def copies_page(request: Request, store: Store, detail: PageDetail) -> Response:
    """Show the other pages with nearly the same text."""
    values = {"page": detail, "copies": store.near_duplicates.of(detail.page_id)}
    return page(request, "near_duplicates/copies.html", values)
