"""Import of lists, by the form on the page for adding sites and by programs; export for programs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Annotated, Literal

from fastapi import APIRouter, Form, Request
from fastapi import Path as InPath
from fastapi.responses import Response, StreamingResponse
from pydantic import StringConstraints

from incremental.base.errors import InputError
from incremental.features.exchange.adding import Imported, import_all
from incremental.features.exchange.apart import read_list_apart
from incremental.features.exchange.writing import write_pages, write_sites
from incremental.interfaces.filters import Filters, known
from incremental.interfaces.web.api.schemas import REFUSED, RequestSchema, api_router, asking
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.adding import show_forms
from incremental.interfaces.web.views import problem_of
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)


@router.post("/import")
def import_form(
    request: Request,
    web: Web,
    content: Annotated[str, Form(max_length=1_900_000)],
    dry_run: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """Watch the sites of a list, or only say what would be taken."""
    try:
        given = content.encode("utf-8", "replace")
        found = read_list_apart(given, "auto", web.settings.daemon)
        fetch = web.settings.fetch
        with web.store() as store:
            imported = import_all(store, found, fetch, now=web.now(), dry_run=bool(dry_run))
    except InputError as error:
        problem = problem_of(request, error)
        return show_forms(request, import_problem=problem, import_again=content)
    again = content if dry_run else ""
    return show_forms(request, imported=imported, import_again=again)


api = api_router("transfer")
streams = APIRouter(prefix="/api/v1", tags=["transfer"], route_class=StoreRoute, responses=REFUSED)
_IN_MEMORY = 4_000_000
_PIECE = 65_536
_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "opml": "text/x-opml; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


class NewList(RequestSchema):
    """A list of sites."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=1_900_000)]
    format: Literal["auto", "urls", "csv", "opml"] = "auto"
    dry_run: bool = False
    """Only return what would be taken; write nothing."""


@api.post("/import")
def import_list(web: Web, body: NewList) -> Imported:
    """Watch the sites of a list; feeds become hubs."""
    content = body.content.encode("utf-8", "replace")
    found = read_list_apart(content, body.format, web.settings.daemon)
    # Only now: another process may read the list for long, and a server lends few connections.
    with web.store() as store:
        return import_all(store, found, web.settings.fetch, now=web.now(), dry_run=body.dry_run)


@streams.get("/export/{form}", response_class=StreamingResponse)
def export(
    web: Web,
    store: Store,
    form: Annotated[Literal["csv", "jsonl", "opml", "parquet"], InPath()],
    filters: Annotated[Filters, asking("since", "site", "topic")],
    with_text: bool = False,
) -> StreamingResponse:
    """Export new pages (csv, jsonl, parquet) or the watched sites with their feeds (opml)."""
    asked = known(store, filters).query(web.now())
    # Write it all first, so a slow client holds no store connection.
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed after sending
    if form == "opml":
        write_sites(store, file)
    else:
        write_pages(store, asked, form, file, with_text=with_text)
    file.seek(0)
    headers = {"Content-Disposition": f'attachment; filename="hubwatch.{form}"'}
    return StreamingResponse(_pieces(file), media_type=_KINDS[form], headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece
