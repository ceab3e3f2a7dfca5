"""Status."""

from __future__ import annotations

from fastapi import APIRouter

from incremental.interfaces.results.status import Status
from incremental.interfaces.web.api.schemas import REFUSED
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import Web
from store import Store

router = APIRouter(
    prefix="/api/v1", tags=["status"], route_class=ConditionalRoute, responses=REFUSED
)


@router.get("/status")
def get_status(web: Web, store: Store) -> Status:
    """Return what is due, and each site's budget, price and visits of the last day."""
    return web.status(store)
