"""Sites and hubs: health, hubs found so far; changing a site where it is seen, visits now, removing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from hubwatch.errors import HubwatchError
from incremental.base.errors import InputError
from incremental.base.lookup import site_numbered
from incremental.base.scope import Reach
from incremental.base.tagging import parted
from incremental.base.texts import Words, stored
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.hubs import hub_results
from incremental.interfaces.results.schema import by_name
from incremental.interfaces.results.sites import site_results
from incremental.interfaces.results.status import DAY
from incremental.interfaces.site_editing import (
    SiteEdit,
    edit_site,
    hours_typed,
    number_typed,
    site_in_file,
)
from incremental.interfaces.visit_requests import Visit, request_pages, request_site
from incremental.interfaces.web.api.schemas import RowId
from incremental.interfaces.web.charts import bars
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.explanation import explanation
from incremental.interfaces.web.facts import Health, hour_rates, site_health
from incremental.interfaces.web.routes.forms import Back, see, tone
from incremental.interfaces.web.undo import undoable
from incremental.interfaces.web.views import page, problem_of, query, words_of
from incremental.topics.training.corrections import correct
from store import Store
from store.answers import PageDetail
from store.enums import SiteStatus
from store.values import SiteRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_MOST_HUBS = 500
_Text = Annotated[str, Field(max_length=2_000)]
_Number = Annotated[str, Field(max_length=20)]
_NUMBERS = ("requests_per_day", "min_interval_minutes", "max_interval_hours")
_Pages = Annotated[list[Annotated[int, Form(ge=1, le=2**62)]], Form(max_length=_MOST_HUBS)]


@router.get("/sites")
def sites_page(
    request: Request, web: Web, store: Store, tag: Annotated[str, Query(max_length=40)] = ""
) -> Response:
    """Show every site with its health, or those with a tag."""
    rows = _sites(web, store, request, store.read.sites())
    tags = [one for one in store.tags.tags() if one.sites]
    shown = [row for row in rows if not tag or tag in row["tags"]]
    return page(request, "sites.html", {"sites": shown, "tags": tags, "tag": tag})


def _sites(web: Web, store: Store, request: Request, rows: list[SiteRow]) -> list[dict[str, Any]]:
    words, now = words_of(request), web.now()
    counts = store.read.visit_counts(now - DAY)
    healths = site_health(web, store, rows, counts)
    return [
        {
            **by_name(site),
            **healths[site.id].values,
            "health": healths[site.id].tone,
            "health_why": _why(words, healths[site.id]),
            "visits_by_status": counts.get(site.id, {}),
        }
        for site in site_results(store, rows)
    ]


def _why(words: Words, health: Health) -> str:
    said = dict(health.said)
    if "status" in said:
        said["status"] = words.maybe("fetch", str(said["status"]))
    return words(f"sites.why_{health.why}", **said)


@router.get("/sites/{site_id}")
def site_page(
    request: Request,
    site_id: RowId,
    asked: Annotated[int, Query(ge=0, le=10_000)] = 0,
    refused: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """Show one site: health, terms, new links by hour, hubs."""
    # Only a sentence of ours is shown: the address may come from anywhere.
    known = words_of(request).known(refused)
    return site_view(request, site_id, problem=known, asked=asked)


def site_view(
    request: Request,
    site_id: int,
    *,
    problem: str = "",
    asked: int = 0,
    typed: Mapping[str, Any] | None = None,
) -> Response:
    """Show one site, with what was *typed* into its form and refused."""
    web, words = web_of(request), words_of(request)
    with web.store() as store:
        row = site_numbered(store, site_id)
        (site,) = _sites(web, store, request, [row])
        hubs = hub_results(store, web.settings, [row], now=web.now())[:_MOST_HUBS]
        rates = hour_rates(web, row)
        events = store.read.site_changes(site_id, limit=10)
        in_file = site_in_file(row, web.settings) is not None
        lines = [*web.settings.enabled.asked("site_line", store, row, web.now())]
    chart = None
    if rates:
        hours = [f"{hour:02d}" for hour in range(24)]
        chart = bars(
            words("sites.by_hour"), hours, {words("hubs.per_day"): rates}, every=3, wide=False
        )
    values = {
        "site": site | {"events": events},
        "hubs": hubs,
        "lines": lines,
        "by_hour": chart,
        "tone": tone,
        "problem": problem,
        "asked": asked,
        "form": {**site, **(typed or {})},
        "typed": typed is not None,
        "in_file": in_file,
        "defaults": web.settings.revisit,
    }
    return page(request, "site.html", values)


@router.get("/sites/{site_id}/hubs")
def hubs_part(request: Request, web: Web, store: Store, site: SiteRow) -> Response:
    """Return the table of a site's hubs."""
    hubs = hub_results(store, web.settings, [site], now=web.now())[:_MOST_HUBS]
    return page(request, "_hubs.html", {"hubs": hubs})


@router.post("/sites/{site_id}/state")
def set_state(
    request: Request,
    store: Store,
    site: SiteRow,
    state: Annotated[str, Form(pattern="^(active|paused)$")],
) -> Response:
    """Pause or resume a site."""
    store.write.update_site(site.id, state=SiteStatus(state))
    undoable(
        request,
        f"site_{state}",
        lambda store, _: store.write.update_site(site.id, state=site.state),
    )
    return see(f"/sites/{site.id}")


@router.post("/sites/{site_id}/remove")
def remove(store: Store, site: SiteRow) -> Response:
    """Stop watching a site and delete everything found there."""
    store.write.remove_site(site.id)
    return see("/sites")


@router.post("/labels")
def label(
    web: Web,
    store: Store,
    url: Annotated[str, Form(max_length=2_000)],
    label: Annotated[str, Form(pattern="^(hub|article)$")],
    back: Back = "/models",
) -> Response:
    """Label a page as hub or article."""
    correct(store, url, label, now=web.now())
    return see(back)


@router.get("/check")
def check(request: Request, web: Web, store: Store, url: str = "") -> Response:
    """Explain how a URL is classified and why it was (not) found."""
    values: dict[str, Any] = {"url": url[:2_000], "problem": "", "rows": [], "verdict": ""}
    if url:
        try:
            answer = explain(store, web.settings, url, now=web.now(), models=web.models)
        except InputError as error:
            values["problem"] = problem_of(request, error)
        else:
            words = words_of(request)
            values["verdict"] = words.said(answer.pop("verdict"))
            values["rows"] = explanation(answer, words)
    return page(request, "check.html", values)


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
    request: Request, web: Web, store: Store, site: SiteRow, form: Annotated[SiteForm, Form()]
) -> Response:
    """Change a site."""
    lists = {"include": form.include.split(), "exclude": form.exclude.split()}
    lists["tags"] = parted(form.tags)
    typed = form.model_dump() | lists
    given: dict[str, Any] = {name: tuple(value) for name, value in lists.items()} | {
        "name": form.name
    }
    try:
        if site_in_file(site, web.settings) is not None:
            given = {name: given[name] for name in ("name", "tags")}
        else:
            given |= {name: number_typed(name, typed[name]) for name in _NUMBERS}
            given["hours"] = hours_typed(form.hours.replace(",", " ").replace("，", " ").split())
            given |= {"reach": form.reach} if form.reach else {}
        edit_site(store, site, SiteEdit(**given), web.settings, now=web.now())
    except InputError as error:
        return site_view(request, site.id, problem=problem_of(request, error), typed=typed)
    return see(f"/sites/{site.id}")


@router.post("/sites/{site_id}/visit")
def visit_site(web: Web, store: Store, site: SiteRow) -> Response:
    """Visit the hubs of a site now."""
    return _asked(f"/sites/{site.id}", request_site(store, web.settings, site, now=web.now()))


def _asked(path: str, found: list[Visit]) -> Response:
    """Return to *path*, which says what becomes of the request."""
    asked = sum(not one.refused for one in found)
    why = next((stored(one.refused) for one in found if one.refused), None)
    return see(query(path, asked=asked or None, refused=None if asked else why))


@router.post("/pages/{page_id}/visit")
def visit_page(web: Web, store: Store, detail: PageDetail) -> Response:
    """Visit a page now."""
    found = request_pages(store, web.settings, [detail.page_id], now=web.now())
    return _asked(f"/pages/{detail.page_id}", found)


@router.post("/sites/{site_id}/hubs")
def change_hubs(
    request: Request,
    web: Web,
    store: Store,
    site: SiteRow,
    action: Annotated[Literal["visit", "hub", "article"], Form()],
    chosen: Annotated[_Pages | None, Form(alias="page")] = None,
) -> Response:
    """Visit several hubs now, or say of each whether it is one."""
    problems = []
    if action == "visit":
        return _asked(
            f"/sites/{site.id}",
            request_pages(store, web.settings, chosen or [], now=web.now()),
        )
    for url in store.read.urls(chosen or []):
        try:
            correct(store, url, action, now=web.now())
        except HubwatchError as error:
            problems.append(problem_of(request, error))
    if problems:
        return site_view(request, site.id, problem="\n".join(problems))
    return see(f"/sites/{site.id}")
