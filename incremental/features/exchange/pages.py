"""The form that imports a list, on the page for adding sites."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.features.exchange.adding import import_all
from incremental.features.exchange.apart import read_list_apart
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.adding import show_forms
from incremental.interfaces.web.views import problem_of

router = APIRouter(include_in_schema=False, route_class=StoreRoute)


@router.post("/import")
def import_list(
    request: Request,
    web: Web,
    content: Annotated[str, Form(max_length=1_900_000)],
    dry_run: Annotated[str, Form(max_length=1)] = "",
) -> Response:
    """Watch the sites of a list, or only say what would be taken."""
    try:
        given = content.encode("utf-8", "replace")
        found = read_list_apart(given, web.settings.daemon)
        fetch = web.settings.fetch
        with web.store() as store:
            imported = import_all(store, found, fetch, now=web.now(), dry_run=bool(dry_run))
    except InputError as error:
        problem = problem_of(request, error)
        return show_forms(request, import_problem=problem, import_again=content)
    again = content if dry_run else ""
    return show_forms(request, imported=imported, import_again=again)
