"""The page ``/completeness`` and its answer for programs."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from incremental.features.completeness.showing import Completeness, completeness_of
from incremental.interfaces.web.api.schemas import api_router
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.views import page
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
api = api_router("sites")


@api.get("/completeness")
def get_completeness(web: Web, store: Store) -> list[Completeness]:
    """Return what share of each site's new pages of the last 30 days was found, and how soon."""
    return completeness_of(store, web.now())


@router.get("/completeness")
def completeness_page(request: Request, web: Web, store: Store) -> Response:
    """Show the completeness of sites."""
    return page(
        request, "completeness/completeness.html", {"found": completeness_of(store, web.now())}
    )
