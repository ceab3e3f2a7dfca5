"""How the watching goes."""

from __future__ import annotations

from fastapi import APIRouter, Request

from incremental.web.api.schemas import REFUSED, Status
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from incremental.web.facts import status_facts

router = APIRouter(
    prefix="/api/v1", tags=["status"], route_class=ConditionalRoute, responses=REFUSED
)


@router.get("/status")
def get_status(request: Request) -> Status:
    """Return budget and price of each site, its visits of the last day, and what is due."""
    web = web_of(request)
    with web.store() as store:
        return Status.model_validate(status_facts(web, store))
