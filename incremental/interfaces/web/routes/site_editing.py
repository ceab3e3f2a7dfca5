"""Changing a site where it is seen: its terms, visits now, and several hubs at once."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from hubwatch.errors import HubwatchError
from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import site_numbered
from incremental.base.scope import Reach
from incremental.base.tagging import parted
from incremental.base.texts import Text, stored
from incremental.interfaces.site_editing import (
    SiteEdit,
    edit_site,
    hours_typed,
    number_typed,
    site_in_file,
)
from incremental.interfaces.visit_requests import Visit, request_pages, request_site
from incremental.interfaces.web.api.schemas import RowId
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.routes.forms import see
from incremental.interfaces.web.routes.sites import site_view
from incremental.interfaces.web.views import problem_of, query
from incremental.topics.training.corrections import correct
from store import Store

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_MOST_HUBS = 500
_Text = Annotated[str, Field(max_length=2_000)]
_Number = Annotated[str, Field(max_length=20)]
_NUMBERS = ("requests_per_day", "min_interval_minutes", "max_interval_hours")
_Pages = Annotated[list[Annotated[int, Form(ge=1, le=2**62)]], Form(max_length=_MOST_HUBS)]


class SiteForm(BaseModel):
    """What is typed for a site; an empty field means the default of the settings."""

    name: Annotated[str, Field(max_length=200)]
    reach: Reach | None = None
    include: _Text = ""
    exclude: _Text = ""
    requests_per_day: _Number = ""
    min_interval_minutes: _Number = ""
    max_interval_hours: _Number = ""
    hours: _Text = ""
    tags: _Text = ""


@router.post("/sites/{site_id}/edit")
def edit(
    request: Request, web: Web, store: Store, site_id: RowId, form: Annotated[SiteForm, Form()]
) -> Response:
    """Change a site."""
    lists = {"include": form.include.split(), "exclude": form.exclude.split()}
    lists["tags"] = parted(form.tags)
    typed = form.model_dump() | lists
    given: dict[str, Any] = {name: tuple(value) for name, value in lists.items()} | {
        "name": form.name
    }
    try:
        row = site_numbered(store, site_id)
        if site_in_file(row, web.settings) is not None:
            given = {name: given[name] for name in ("name", "tags")}
        else:
            given |= {name: number_typed(name, typed[name]) for name in _NUMBERS}
            given["hours"] = hours_typed(form.hours.replace(",", " ").replace("，", " ").split())
            given |= {"reach": form.reach} if form.reach else {}
        edit_site(store, row, SiteEdit(**given), web.settings, now=web.now())
    except InputError as error:
        return site_view(request, site_id, problem=problem_of(request, error), typed=typed)
    return see(f"/sites/{site_id}")


@router.post("/sites/{site_id}/visit")
def visit_site(web: Web, store: Store, site_id: RowId) -> Response:
    """Visit the hubs of a site now."""
    row = site_numbered(store, site_id)
    found = request_site(store, web.settings, row, now=web.now())
    return _asked(f"/sites/{site_id}", found)


def _asked(path: str, found: list[Visit]) -> Response:
    """Return to *path*, which says what becomes of the request."""
    asked = sum(not one.refused for one in found)
    why = next((stored(one.refused) for one in found if one.refused), None)
    return see(query(path, asked=asked or None, refused=None if asked else why))


@router.post("/pages/{page_id}/visit")
def visit_page(web: Web, store: Store, page_id: RowId) -> Response:
    """Visit a page now."""
    found = request_pages(store, web.settings, [page_id], now=web.now())
    if not found:
        raise NotFoundError(Text("input.page_unknown"))
    return _asked(f"/pages/{page_id}", found)


@router.post("/sites/{site_id}/hubs")
def change_hubs(
    request: Request,
    web: Web,
    store: Store,
    site_id: RowId,
    action: Annotated[Literal["visit", "hub", "article"], Form()],
    chosen: Annotated[_Pages | None, Form(alias="page")] = None,
) -> Response:
    """Visit several hubs now, or say of each whether it is one."""
    problems = []
    site_numbered(store, site_id)
    if action == "visit":
        return _asked(
            f"/sites/{site_id}",
            request_pages(store, web.settings, chosen or [], now=web.now()),
        )
    for url in store.read.urls(chosen or []):
        try:
            correct(store, url, action, now=web.now())
        except HubwatchError as error:
            problems.append(problem_of(request, error))
    if problems:
        return site_view(request, site_id, problem="\n".join(problems))
    return see(f"/sites/{site_id}")
