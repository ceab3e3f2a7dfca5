"""In and out: lists of other programs, new pages and sites for other programs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import IO, Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import StreamingResponse
from pydantic import StringConstraints

from incremental.times import moment
from incremental.transfer.adding import add_all
from incremental.transfer.lists import read_list
from incremental.transfer.writing import write_pages, write_sites
from incremental.web.api.schemas import REFUSED, RequestSchema, ResponseSchema, RowId
from incremental.web.conditional import ConditionalRoute
from incremental.web.context import web_of
from store.answers import NewQuery
from store.enums import TopicVerdict

router = APIRouter(
    prefix="/api/v1", tags=["transfer"], route_class=ConditionalRoute, responses=REFUSED
)
streams = APIRouter(prefix="/api/v1", tags=["transfer"], responses=REFUSED)
_IN_MEMORY = 4_000_000
_PIECE = 65_536
_KINDS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "opml": "text/x-opml; charset=utf-8",
}


class NewList(RequestSchema):
    """A list of sites, as another program wrote it."""

    content: Annotated[str, StringConstraints(min_length=1, max_length=1_900_000)]
    format: Literal["auto", "urls", "csv", "opml", "changedetection", "urlwatch"] = "auto"


class ImportedEntry(ResponseSchema):
    """What became of one entry of a list."""

    url: str
    result: Literal["watched", "feed", "known", "refused"]
    """A site of its own, a hub of a site, nothing new, or nothing at all."""
    site: str
    """Name of the site that has it; empty for what was refused."""
    why: str
    """Why it was refused, for people."""


class Imported(ResponseSchema):
    """What came of a list."""

    format: str
    sites: int
    """Sites that were not watched before."""
    feeds: int
    """Feeds that are hubs now."""
    known: int
    problems: list[str]
    entries: list[ImportedEntry]


@router.post("/import")
def import_list(request: Request, body: NewList) -> Imported:
    """Watch the sites that a list of another program names; feeds become hubs."""
    web = web_of(request)
    found = read_list(body.content.encode("utf-8", "replace"), body.format)
    with web.store() as store:
        added = add_all(store, found.wanted, now=web.now(), fetch=web.settings.fetch)
    return Imported(
        format=found.format,
        sites=added.sites,
        feeds=added.feeds,
        known=added.known,
        problems=[*found.problems, *added.problems],
        entries=[
            ImportedEntry(url=one.url, result=one.result, site=one.site, why=one.why)
            for one in added.entries
        ],
    )


@streams.get("/export/{form}", response_class=StreamingResponse)
def export(
    request: Request,
    form: Annotated[Literal["csv", "jsonl", "opml"], InPath()],
    since: Annotated[str, Query(max_length=40, description="A span (`3h`) or a date.")] = "",
    site: RowId | None = None,
    topic: RowId | None = None,
) -> StreamingResponse:
    """Return new pages (csv, jsonl) or the watched sites with their feeds (opml)."""
    web = web_of(request)
    asked = NewQuery(
        since=moment(since, web.now()) if since else None,
        sites=None if site is None else (site,),
        topic=topic,
        hidden_verdict=TopicVerdict.IRRELEVANT if topic is not None else None,
    )
    # Written whole first: a reader that is slow holds no connection to the store.
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed when it was sent
    with web.store() as store:
        if form == "opml":
            write_sites(store, file)
        else:
            write_pages(store, asked, form, file)
    file.seek(0)
    headers = {"Content-Disposition": f'attachment; filename="hubwatch.{form}"'}
    return StreamingResponse(_pieces(file), media_type=_KINDS[form], headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece
