"""The form that imports a list, on the page for adding sites."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.features.exchange.adding import add_all
from incremental.features.exchange.apart import read_list_apart
from incremental.interfaces.web.context import web_of
from incremental.interfaces.web.routes.adding import show_forms
from incremental.interfaces.web.views import problem_of

router = APIRouter(include_in_schema=False)


@router.post("/import")
def import_list(
    request: Request,
    content: Annotated[str, Form(max_length=1_900_000)],
    dry_run: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """Watch the sites of a list, or only say what would be taken."""
    web = web_of(request)
    try:
        given = content.encode("utf-8", "replace")
        found = read_list_apart(given, "auto", web.settings.daemon)
        with web.store() as store:
            added = add_all(
                store,
                found.wanted,
                now=web.now(),
                fetch=web.settings.fetch,
                dry_run=bool(dry_run),
            )
    except InputError as error:
        problem = problem_of(request, error)
        return show_forms(request, import_problem=problem, import_again=content)
    imported = {
        "dry_run": bool(dry_run),
        "sites": added.sites,
        "feeds": added.feeds,
        "known": added.known,
        "problems": [*found.problems, *added.problems],
        "skipped": found.skipped,
        "entries": added.entries,
    }
    again = content if dry_run else ""
    return show_forms(request, imported=imported, import_again=again)
