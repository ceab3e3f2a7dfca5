"""The page ``/problems`` and its answer for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from incremental.features.watchdog.showing import problem
from incremental.interfaces.web.api.schemas import REFUSED, Moment, ResponseSchema
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of
from incremental.interfaces.web.views import page

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/v1", tags=["sites"], route_class=ConditionalRoute, responses=REFUSED)
_Ended = Annotated[bool, Query(description="Also those that have ended.")]


class SiteProblem(ResponseSchema):
    """Something wrong with a site, though it may answer every visit."""

    site: str
    hub: str
    """URL; empty = the whole site."""
    kind: str
    says: str
    since: Moment
    ended_at: Moment | None


@api.get("/problems", response_model=list[SiteProblem])
def get_problems(request: Request, *, ended: _Ended = False) -> list[dict[str, Any]]:
    """Return the problems of sites, latest first."""
    with web_of(request).store() as store:
        return [asdict(problem(row)) for row in store.problems.all(ended=ended)]


@router.get("/problems")
def problems_page(request: Request, *, ended: Annotated[bool, Query()] = False) -> Response:
    """Show the problems of sites."""
    with web_of(request).store() as store:
        found = [problem(row) for row in store.problems.all(ended=ended)]
    return page(request, "watchdog/problems.html", {"problems": found, "ended": ended})
