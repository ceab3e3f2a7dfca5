"""Sites: list, add, change, visit now, remove."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath

from incremental.base.lookup import site_numbered
from incremental.base.tagging import checked_tags
from incremental.interfaces.results.schema import result_of
from incremental.interfaces.results.sites import AddedSite, Site, add_sites, site_results
from incremental.interfaces.site_editing import SiteEdit, edit_site
from incremental.interfaces.visit_requests import Visit, request_page, request_site
from incremental.interfaces.web.api.schemas import (
    REFUSED,
    NewSites,
    NewVisits,
    RowId,
    SiteChange,
)
from incremental.interfaces.web.conditional import ConditionalRoute
from incremental.interfaces.web.context import web_of
from incremental.settings.seeds import SeedTerms
from store import Store
from store.tags import Tag
from store.values import SiteRow

router = APIRouter(
    prefix="/api/v1/sites", tags=["sites"], route_class=ConditionalRoute, responses=REFUSED
)
SiteId = Annotated[RowId, InPath(description="Id from the list.")]


@router.get("")
def list_sites(
    request: Request,
    tag: Annotated[str | None, Query(max_length=40, description="Only sites with it.")] = None,
) -> list[Site]:
    """List the watched sites in the order they were added."""
    with web_of(request).store() as store:
        sites = site_results(store, store.read.sites())
    return [site for site in sites if tag is None or tag in site.tags]


@router.post("")
def add(request: Request, body: NewSites) -> list[AddedSite]:
    """Watch the sites of these URLs; a running daemon starts within seconds.

    Adding a site again sets its terms. Each URL has its own result, with the error if it was refused.
    """
    web, tags, terms = web_of(request), checked_tags(body.tags), _terms(body)
    with web.store() as store:
        return add_sites(store, web.settings, body.urls, terms=terms, tags=tags, now=web.now())


def _terms(body: NewSites) -> SeedTerms | None:
    """Return the requested terms; None if there are none, so a known site keeps its own."""
    if body.model_fields_set <= {"urls", "tags"}:
        return None
    shortest, longest = body.min_interval_minutes, body.max_interval_hours
    return SeedTerms(
        reach=body.reach,
        include=tuple(body.include),
        exclude=tuple(body.exclude),
        requests_per_day=body.requests_per_day,
        min_interval_seconds=None if shortest is None else shortest * 60,
        max_interval_seconds=None if longest is None else longest * 3600,
    )


@router.get("/{site_id}")
def get_site(request: Request, site_id: SiteId) -> Site:
    """Return a site."""
    with web_of(request).store() as store:
        return _site(store, site_numbered(store, site_id))


@router.patch("/{site_id}")
def change_site(request: Request, site_id: SiteId, body: SiteChange) -> Site:
    """Change a site: pause or resume it, rename it, or give it other terms."""
    web = web_of(request)
    given = {name: getattr(body, name) for name in body.model_fields_set}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    with web.store() as store:
        row = site_numbered(store, site_id)
        row = edit_site(store, row, SiteEdit(**{**given, **lists}), web.settings, now=web.now())
        return _site(store, row)


def _site(store: Store, row: SiteRow) -> Site:
    return site_results(store, [row])[0]


@router.delete("/{site_id}", status_code=204)
def remove_site(request: Request, site_id: SiteId) -> None:
    """Stop watching a site and delete everything found there."""
    with web_of(request).store() as store:
        site_numbered(store, site_id)
        store.write.remove_site(site_id)


tags_router = APIRouter(
    prefix="/api/v1/tags", tags=["sites"], route_class=ConditionalRoute, responses=REFUSED
)


@tags_router.get("")
def list_tags(request: Request) -> list[Tag]:
    """List the tags with how many sites and topics have each."""
    with web_of(request).store() as store:
        return store.tags.tags()


visits_router = APIRouter(
    prefix="/api/v1/visits", tags=["sites"], route_class=ConditionalRoute, responses=REFUSED
)


@visits_router.post("")
def visit_now(request: Request, body: NewVisits) -> list[Visit]:
    """Visit pages, hubs or whole sites now, as soon as politeness allows.

    Of a site, every hub that is neither covered nor dropped is visited.
    """
    web = web_of(request)
    with web.store() as store:
        rows = [site_numbered(store, one) for one in body.sites]
        found = [
            one
            for url in body.urls
            for one in request_page(store, web.settings, url, now=web.now())
        ]
        for row in rows:
            found += request_site(store, web.settings, row, now=web.now())
    return [result_of(Visit, one) for one in found]
