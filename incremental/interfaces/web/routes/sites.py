"""Sites and hubs: health, hubs found so far; changing a site where it is seen, visits now, removing.

The status of all of them: throughput, budget, errors, host waits.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import site_numbered
from incremental.base.scope import Reach
from incremental.base.tagging import parted
from incremental.base.texts import stored
from incremental.base.times import DAY, HOUR
from incremental.fetch.status import HARMLESS
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.schema import by_name, when
from incremental.interfaces.results.status import SiteStatus, hub_results, site_statuses
from incremental.interfaces.site_editing import (
    edit_site,
    hours_typed,
    number_typed,
    request_pages,
    request_site,
    site_in_file,
)
from incremental.interfaces.web.context import StoreRoute, Web
from incremental.interfaces.web.explanation import explanation
from incremental.interfaces.web.views import Back, RowIds, page, problem_of, query, see, words_of
from incremental.schedule.profile import by_hour_of_day
from incremental.schedule.state import SiteState
from incremental.topics.training.corrections import correct
from store import Store
from store.enums import SiteStatus as StoredState
from store.values import SiteRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_MOST_HUBS = 500
_LEAST_VISITS = 3
LEAST_COUNTED = 24.0
"""New links from which on a site's day is shown: one an hour."""
_Text = Annotated[str, Field(max_length=2_000)]
_Number = Annotated[str, Field(max_length=20)]
_NUMBERS = ("requests_per_day", "min_interval_minutes", "max_interval_hours")
_DAYS = 7
# Hours per column.
_STEPS = 2
_LEAST_COLUMNS = 12


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
    """Return sites as they fare, with their last new page and their health."""
    words, last_new = words_of(request), store.monitor.last_announced()
    found = []
    for site in site_statuses(store, web.settings, rows, web.now()):
        tone, why, said = _health(site)
        if "status" in said:
            said["status"] = words.maybe("fetch", str(said["status"]))
        more = {
            "last_new_at": last_new.get(site.id),
            "health": tone,
            "health_why": words(f"sites.why_{why}", **said),
        }
        found.append(by_name(site) | more)
    return found


def _health(site: SiteStatus) -> tuple[str, str, dict[str, object]]:
    """Return the health of a site (good, warn, bad, or idle) and why: a text of ``sites.why_...``."""
    counts = site.visits_by_status
    visits = sum(counts.values())
    failed = {status: count for status, count in counts.items() if status not in HARMLESS}
    if site.state == StoredState.PAUSED:
        return "idle", "paused", {}
    if site.trouble:
        return "bad", "unread", {"status": site.trouble}
    if failed and 2 * sum(failed.values()) > visits:
        worst = max(failed, key=failed.__getitem__)
        share = round(100 * sum(failed.values()) / visits)
        return "bad", "failing", {"share": share, "status": worst}
    if site.problem:
        return "warn", "noted", {"note": site.problem}
    if not visits:
        return "idle", "quiet", {}
    return ("good", "fine", {"n": visits}) if visits >= _LEAST_VISITS else ("good", "begun", {})


def hour_rates(web: Web, row: SiteRow) -> list[float] | None:
    """Return the new links per day in each hour of the day, in the server's time zone.

    From links that were counted, unlike the schedule's expectation, which begins with an even day.
    None = too few were counted to show when the site publishes.
    """
    state = SiteState.from_text(row.revisit)
    counted = sum(state.hours)
    if counted < LEAST_COUNTED or not state.rate_total:
        return None
    hours = [len(state.hours) * links / counted for links in state.hours]
    zone = datetime.fromtimestamp(web.now(), UTC).astimezone().utcoffset()
    ahead = round(zone.total_seconds() / 3600) if zone is not None else 0
    return [state.rate_total * share for share in by_hour_of_day(hours, ahead)]


@router.get("/sites/{site_id}")
def site_page(
    request: Request,
    web: Web,
    store: Store,
    site: SiteRow,
    asked: Annotated[int, Query(ge=0, le=10_000)] = 0,
    refused: Annotated[str, Query(max_length=500)] = "",
) -> Response:
    """Show one site: health, terms, new links by hour, hubs."""
    # Only a sentence of ours is shown: the address may come from anywhere.
    known = words_of(request).known(refused)
    return _site_page(request, web, store, site, problem=known, asked=asked)


def _site_page(
    request: Request,
    web: Web,
    store: Store,
    row: SiteRow,
    *,
    problem: str,
    asked: int = 0,
    typed: Mapping[str, Any] | None = None,
) -> Response:
    """Show one site, with what was *typed* into its form and refused."""
    (site,) = _sites(web, store, request, [row])
    rates = hour_rates(web, row)
    values = {
        "site": site | {"events": store.read.site_changes(row.id, limit=10)},
        "hubs": hub_results(store, web.settings, [row], now=web.now())[:_MOST_HUBS],
        "lines": [*web.settings.enabled.asked("site_line", store, row, web.now())],
        "by_hour": [(f"{hour:02d}", rate) for hour, rate in enumerate(rates or ())],
        "problem": problem,
        "asked": asked,
        "form": {**site, **(typed or {})},
        "typed": typed is not None,
        "in_file": site_in_file(row, web.settings) is not None,
        "defaults": web.settings.revisit,
    }
    return page(request, "site.html", values)


@router.get("/sites/{site_id}/hubs")
def hubs_part(request: Request, web: Web, store: Store, site: SiteRow) -> Response:
    """Return the table of a site's hubs."""
    hubs = hub_results(store, web.settings, [site], now=web.now())[:_MOST_HUBS]
    return page(request, "_hubs.html", {"hubs": hubs})


@router.post("/sites/{site_id}/state")
def set_state(store: Store, site: SiteRow, state: Annotated[StoredState, Form()]) -> Response:
    """Pause or resume a site."""
    store.write.update_site(site.id, state=state)
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
    label: Annotated[Literal["hub", "article"], Form()],
    page: RowIds,
    back: Back = "/sites",
) -> Response:
    """Label pages as hubs or articles."""
    refused = None
    for url in store.read.urls(page):
        try:
            correct(store, url, label, now=web.now())
        except InputError as error:
            refused = stored(error.way_out)
        except NotFoundError as error:
            refused = stored(error.args[0])
    return see(query(back, refused=refused))


@router.post("/visits")
def visit(
    web: Web,
    store: Store,
    page: RowIds,
    site: Annotated[int | None, Form(ge=1, le=2**62)] = None,
    back: Back = "/sites",
) -> Response:
    """Visit pages or the hubs of a site now; where it leads to says what becomes of the request."""
    settings, now = web.settings, web.now()
    found = request_pages(store, settings, page, now=now)
    if site is not None:
        found += request_site(store, settings, site_numbered(store, site), now=now)
    asked = sum(not one.refused for one in found)
    why = next((stored(one.refused) for one in found if one.refused), None)
    return see(query(back, asked=asked or None, refused=None if asked else why))


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
    reach: Reach = Reach.HOST
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
    typed = form.model_dump() | {
        "include": form.include.split(),
        "exclude": form.exclude.split(),
        "tags": parted(form.tags),
    }
    given = dict(typed)
    try:
        if site_in_file(site, web.settings) is not None:
            given = {name: typed[name] for name in ("name", "tags")}
        else:
            given |= {name: number_typed(name, typed[name]) for name in _NUMBERS}
            given["hours"] = hours_typed(form.hours.replace(",", " ").replace("，", " ").split())
        edit_site(store, site, given, web.settings, now=web.now())
    except InputError as error:
        problem = problem_of(request, error)
        return _site_page(request, web, store, site, problem=problem, typed=typed)
    return see(f"/sites/{site.id}")


@router.get("/status")
def status_page(request: Request, web: Web, store: Store) -> Response:
    """Show visits, new pages, errors and host waits."""
    now = web.now()
    step = _STEPS * HOUR
    since = (now // step + 1) * step - _DAYS * DAY
    status = web.status(store)
    visits = Counter[int]()
    for (number, _), made in store.monitor.visits_by_time(since, step).items():
        visits[number] += made
    news = store.monitor.news_by_time(since, step)
    hosts = store.monitor.host_waits(now, limit=20)
    announced = sum(store.monitor.news_by_time(now - DAY, DAY).values())
    counts = sum((Counter(site.visits_by_status) for site in status.sites), Counter[str]())
    failed = {name: count for name, count in counts.items() if name not in HARMLESS}
    columns = int(_DAYS * DAY / step)
    # A new installation shows its first day, not six empty ones before it.
    first = max(0, min([*visits, *news, columns - _LEAST_COLUMNS]))
    hours = {number: when(since + number * step)[5:] for number in range(first, columns)}
    values = {
        "status": status,
        "visits_day": counts.total(),
        "new_day": announced,
        "failed_share": round(100 * sum(failed.values()) / max(counts.total(), 1)),
        "visits_chart": [(hour, visits.get(number, 0)) for number, hour in hours.items()],
        "new_chart": [(hour, news.get(number, 0)) for number, hour in hours.items()],
        "errors": sorted(failed.items(), key=lambda pair: -pair[1]),
        "hosts": hosts,
    }
    return page(request, "status.html", values)
