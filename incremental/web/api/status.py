"""Status."""

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
    """Return what is due, and each site's budget, price and visits of the last day."""
    web = web_of(request)
    with web.store() as store:
        return Status.model_validate(status_facts(web, store))
