"""Adding sites: the form, and what is there, at once and while the daemon finds hubs."""

from collections.abc import Sequence
from functools import partial
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from incremental.base.errors import InputError
from incremental.base.lookup import site_numbered
from incremental.base.scope import Reach, read_scope
from incremental.base.tagging import checked_tags, parted
from incremental.base.texts import Text
from incremental.interfaces.results.sites import AddedSite, add_sites
from incremental.interfaces.site_editing import edit_site, number_typed
from incremental.interfaces.web.context import StoreRoute, Web, web_of
from incremental.interfaces.web.views import base_of, page, problem_of, see, words_of
from incremental.settings.seeds import SeedTerms, everything_below, folder_of
from store import Store
from store.enums import HubRole, HubStatus
from store.values import SiteRow

router = APIRouter(include_in_schema=False, route_class=StoreRoute)
_MOST_SEEDS = 500
# Who adds a long list waits for the daemon.
_MOST_LOOKS = 5
_Text = Annotated[str, Form(max_length=500)]


@router.get("/add")
def add_page(request: Request, urls: Annotated[str, Query(max_length=2_000)] = "") -> Response:
    """Show the form for new sites, with addresses that a bookmarklet gives."""
    return show_forms(request, again=urls)


@router.post("/add")
def add(
    request: Request,
    web: Web,
    store: Store,
    urls: Annotated[str, Form(max_length=200_000)],
    reach: Annotated[Reach, Form()] = Reach.HOST,
    requests_per_day: Annotated[str, Form(max_length=20)] = "",
    include: _Text = "",
    exclude: _Text = "",
    tags: _Text = "",
) -> Response:
    """Watch the sites of the URLs in a text and show the result of each."""
    typed, say = list(dict.fromkeys(urls.split())), partial(problem_of, request)
    try:
        budget = _budget(requests_per_day)
        terms = SeedTerms(reach, tuple(include.split()), tuple(exclude.split()), budget)
        chosen = checked_tags(parted(tags))
    except InputError as error:
        return show_forms(request, [], [say(error)], urls)
    # Without any, a known site keeps its own.
    given = None if terms == SeedTerms() else terms
    seeds, now = typed[:_MOST_SEEDS], web.now()
    found = add_sites(store, web.settings, seeds, terms=given, tags=chosen, now=now, say=say)
    added = {one.site_id: one.url for one in found if one.site_id and not one.hub_of}
    rows = [site_numbered(store, site_id) for site_id in added]
    problems = [one.error for one in found if one.error]
    refused = [one.url for one in found if one.error] + typed[_MOST_SEEDS:]
    if len(typed) > _MOST_SEEDS:
        problems.append(words_of(request)("add.too_many", n=_MOST_SEEDS))
    for site_id, text in islice(added.items(), _MOST_LOOKS):
        web.background.begin(f"look {site_id}", partial(_look, web, site_id, text))
    joined = [one for one in found if one.hub_of]
    return show_forms(request, rows, problems, "\n".join(refused), joined)


def _budget(text: str) -> float | None:
    """Read the requests a day of a form; None = the default. Raises :class:`InputError`."""
    budget = number_typed("requests_per_day", text)
    if budget is not None and not 0 <= budget <= 1e9:  # noqa: PLR2004 - as settings allow
        raise InputError("requests_per_day", text, Text("input.number_from_0"))
    return budget


def _look(web: Web, site_id: int, text: str) -> object:
    """Look at the seed of a site, as typed."""
    # It loads the classifier.
    from incremental.daemon.assembly import first_looks  # noqa: PLC0415

    with web.store() as store:
        looks = first_looks(store, web.settings, web.models, {site_id: text}, web.clock)
        return dict(looks).get(site_id)


def show_forms(
    request: Request,
    added: Sequence[SiteRow] = (),
    problems: Sequence[str] = (),
    again: str = "",
    joined: Sequence[AddedSite] = (),
    **further: object,
) -> Response:
    """Return the page for adding sites; *further* values are for the forms of features."""
    values = {
        "added": added,
        "problems": problems,
        "again": again,
        "joined": joined,
        "bookmarklet": f"{base_of(request)}/add?urls=",
        "default_requests": web_of(request).settings.revisit.requests_per_day,
    }
    return page(request, "add.html", values | further)


@router.get("/sites/{site_id}/found")
def found_part(request: Request, web: Web, store: Store, site: SiteRow) -> Response:
    """Return what the first look at a new site showed, and the hubs found so far."""
    known = store.read.hubs(site.id)
    hubs = [hub for hub in known if hub.state != HubStatus.DROPPED]
    # A seed that waits for robots.txt or its address was never fetched: not a failure.
    seeds = [hub for hub in known if hub.role == HubRole.SEED and hub.baseline_at is None]
    hubs.sort(key=lambda hub: (hub.baseline_at is None, -hub.score))
    work, scope = web.background.last(f"look {site.id}"), read_scope(site)
    values = {
        "site": site,
        "look": work.result if work is not None else None,
        "looking": work is not None and work.running,
        # The folder that may be all that is meant.
        "below": folder_of(site.seed_url)
        if scope.reach is Reach.HOST and not scope.include
        else "",
        "hubs": hubs,
        "read": any(hub.baseline_at for hub in hubs),
        "trouble": next((hub.last_status for hub in seeds if hub.last_status), None),
    }
    return page(request, "_found.html", values)


@router.post("/sites/{site_id}/below")
def only_below(web: Web, store: Store, site: SiteRow) -> Response:
    """Watch only what is below the folder of the seed."""
    folder = folder_of(site.seed_url)
    if folder:
        edit = {"include": (everything_below(folder),)}
        edit_site(store, site, edit, web.settings, now=web.now())
    return see(f"/sites/{site.id}")
