"""The page ``/tally``."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from hubwatch_sample.tallying import tallies
from incremental.interfaces.web.context import web_of
from incremental.interfaces.web.views import page

router = APIRouter(include_in_schema=False)


@router.get("/tally")
def tally(request: Request) -> Response:
    """Show how many pages each site has announced."""
    with web_of(request).store() as store:
        return page(request, "sample/tally.html", {"found": tallies(store)})
