"""The page ``/problems`` and its answer for programs."""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from incremental.features.watchdog.showing import Problem, problems_of
from incremental.interfaces.web.api.schemas import api_router
from incremental.interfaces.web.context import StoreRoute
from incremental.interfaces.web.views import page
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
api = api_router("sites")
_Ended = Annotated[bool, Query(description="Also those that have ended.")]


@api.get("/problems")
def get_problems(store: Store, *, ended: _Ended = False) -> list[Problem]:
    """Return the problems of sites, latest first."""
    return problems_of(store, ended=ended)


@router.get("/problems")
def problems_page(request: Request, store: Store, *, ended: _Ended = False) -> Response:
    """Show the problems of sites."""
    found = problems_of(store, ended=ended)
    return page(request, "watchdog/problems.html", {"problems": found, "ended": ended})
