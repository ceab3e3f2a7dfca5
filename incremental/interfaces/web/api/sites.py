"""Sites: list, add, change, visit now, remove; status; hubs, labels, and explanations of URLs."""

from typing import Annotated, Any

from fastapi import Query

from incremental.base.lookup import site_numbered
from incremental.base.tagging import checked_tags
from incremental.base.times import moment
from incremental.interfaces.explain.page import explain
from incremental.interfaces.results.schema import SiteVisit, result_of
from incremental.interfaces.results.sites import (
    AddedSite,
    Site,
    add_sites,
    listed_sites,
    site_results,
)
from incremental.interfaces.results.status import Hub, Status, hub_results
from incremental.interfaces.site_editing import (
    Visit,
    edit_site,
    request_page,
    request_site,
)
from incremental.interfaces.web.api.schemas import (
    NewLabels,
    NewSites,
    NewVisits,
    RowId,
    SiteChange,
    WebAddress,
    api_router,
)
from incremental.interfaces.web.context import Web
from incremental.settings.seeds import SeedTerms
from incremental.topics.training.corrections import Correction, correct_all
from store import Store
from store.values import SiteRow

router = api_router("sites")


@router.get("/sites")
def list_sites(
    store: Store,
    tag: Annotated[str | None, Query(max_length=40, description="Only sites with it.")] = None,
) -> list[Site]:
    """List the watched sites in the order they were added."""
    return listed_sites(store, tag)


@router.post("/sites")
def add(web: Web, store: Store, body: NewSites) -> list[AddedSite]:
    """Watch the sites of these URLs; a running daemon starts within seconds.

    Adding a site again sets its terms. Each URL has its own result, with the error if it was refused.
    """
    tags = checked_tags(body.tags)
    # Without any, a known site keeps its own.
    terms = None if body.model_fields_set <= {"urls", "tags"} else SeedTerms.of(body)
    return add_sites(store, web.settings, body.urls, terms=terms, tags=tags, now=web.now())


@router.get("/sites/{site_id}")
def get_site(store: Store, site: SiteRow) -> Site:
    """Return a site."""
    return _site(store, site)


@router.patch("/sites/{site_id}")
def change_site(web: Web, store: Store, site: SiteRow, body: SiteChange) -> Site:
    """Change a site: pause or resume it, rename it, or give it other terms."""
    given = {name: getattr(body, name) for name in body.model_fields_set}
    return _site(store, edit_site(store, site, given, web.settings, now=web.now()))


def _site(store: Store, row: SiteRow) -> Site:
    return site_results(store, [row])[0]


@router.delete("/sites/{site_id}", status_code=204)
def remove_site(store: Store, site: SiteRow) -> None:
    """Stop watching a site and delete everything found there."""
    store.write.remove_site(site.id)


@router.get("/visits")
def list_visits(
    web: Web,
    store: Store,
    since: Annotated[str, Query(max_length=40, description="Age (`3h`) or date.")] = "",
    site: Annotated[RowId | None, Query(description="Only this site.")] = None,
    after: Annotated[int, Query(ge=0, le=2**62, description="Id of the last one read.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 500,
) -> list[SiteVisit]:
    """List visits in the order in which they were made."""
    at = moment(since, web.now()) if since else 0.0
    sites = None if site is None else (site_numbered(store, site).id,)
    rows = store.read.visits_after(after, since=at, sites=sites, limit=limit)
    return [result_of(SiteVisit, row) for row in rows]


@router.post("/visits")
def visit_now(web: Web, store: Store, body: NewVisits) -> list[Visit]:
    """Visit pages, hubs or whole sites now, as soon as politeness allows.

    Of a site, every active hub is visited.
    """
    rows = [site_numbered(store, one) for one in dict.fromkeys(body.sites)]
    found = [
        one for url in body.urls for one in request_page(store, web.settings, url, now=web.now())
    ]
    for row in rows:
        found += request_site(store, web.settings, row, now=web.now())
    return found


@router.get("/status", tags=["status"])
def get_status(web: Web, store: Store) -> Status:
    """Return what is due, and each site's budget, price and visits of the last day."""
    return web.status(store)


@router.get("/hubs")
def list_hubs(
    web: Web,
    store: Store,
    site: Annotated[RowId | None, Query(description="Only this site.")] = None,
    limit: Annotated[int, Query(ge=1, le=5_000, description="Maximum number.")] = 200,
) -> list[Hub]:
    """List hubs, most productive first: their yield, and when and why each is visited next."""
    rows = [site_numbered(store, site)] if site is not None else store.read.sites()
    return hub_results(store, web.settings, rows, now=web.now())[:limit]


@router.post("/labels")
def label_pages(web: Web, store: Store, body: NewLabels) -> list[Correction]:
    """Label pages: applies at once, overrides everything else, and trains the classifier."""
    return correct_all(store, body.urls, body.label, now=web.now())


@router.get("/check")
def check(
    web: Web, store: Store, url: Annotated[WebAddress, Query(description="Any URL.")]
) -> dict[str, Any]:
    """Explain how a URL is classified and why it was (not) found. Fetches nothing."""
    return explain(store, web.settings, url, now=web.now(), models=web.models)
