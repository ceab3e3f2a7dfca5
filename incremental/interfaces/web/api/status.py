"""Status."""

from __future__ import annotations

from fastapi import APIRouter, Request

from incremental.interfaces.results.status import Status
from incremental.interfaces.web.api.schemas import REFUSED
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of

router = APIRouter(
    prefix="/api/v1", tags=["status"], route_class=ConditionalRoute, responses=REFUSED
)


@router.get("/status")
def get_status(request: Request) -> Status:
    """Return what is due, and each site's budget, price and visits of the last day."""
    web = web_of(request)
    with web.store() as store:
        return web.status(store)
