"""Single pages and sites, for interfaces: facts, changes, sightings, visits, totals.

Lists of announced pages are in :mod:`store.answers`.
"""

from collections.abc import Sequence
from typing import Any

from peewee import JOIN, fn

from store.database.repository import Repository, Shape
from store.database.statements import Prepared, any_of
from store.database.texts import storable
from store.enums import HubStatus, LabelOrigin
from store.models import Change, Hub, Label, News, Page, Sighting, Site, Visit
from store.values import NEVER_DUE, LabelEntry

_LABEL = Shape(LabelEntry, Label)

_CORRECTIONS = Prepared(
    lambda keys: Label.select(Label.canonical_key, Label.label).where(
        any_of(Label.canonical_key, keys) & (Label.origin == LabelOrigin.USER)
    )
)
_SITE_LABELS = Prepared(
    lambda site, origin: (
        _LABEL.select().where((Label.site == site) & (Label.origin == origin)).order_by(Label.at)
    )
)


class PeopleQueries(Repository):
    """Queries of interfaces, and labels."""

    def labels(self, origin: LabelOrigin | None = None) -> list[LabelEntry]:
        """Return labels, of one origin or all, in the order first given."""
        query = _LABEL.select().order_by(Label.at, Label.canonical_key)
        return self._all(_LABEL, query if origin is None else query.where(Label.origin == origin))

    def labels_of(self, canonical_key: str) -> list[LabelEntry]:
        """Return the labels of one page."""
        query = _LABEL.select().where(Label.canonical_key == storable(canonical_key, None))
        return self._all(_LABEL, query.order_by(Label.at))

    def site_labels(self, site_id: int, origin: LabelOrigin) -> list[LabelEntry]:
        """Return the labels that one origin gave to pages of a site."""
        return self._asked_all(_LABEL, _SITE_LABELS, site=site_id, origin=origin)

    def corrections(self, canonical_keys: Sequence[str]) -> dict[str, str]:
        """Return users' labels of these pages by canonical key."""
        keys = list(dict.fromkeys(canonical_keys))
        return dict(self._asked(_CORRECTIONS, keys=keys)) if keys else {}

    def find_page(self, url: str, canonical_key: str) -> list[dict[str, Any]]:
        """Return all columns of pages with this URL or canonical key, and of their hubs."""
        # Sites are listed because the index of canonical keys begins with them.
        same = Page.site.in_(Site.select(Site.id)) & (
            Page.canonical_key == storable(canonical_key, None)
        )
        query = (
            Page.select(Page, Site.name.alias("site_name"))
            .join(Site)
            .where(same | (Page.url == storable(url, None)))
            .order_by(Page.id)
        )
        return self._dicts(query)

    def site_changes(self, site_id: int, *, limit: int = 20) -> list[dict[str, Any]]:
        """Return the changes of a whole site, newest first."""
        whole = (Change.site == site_id) & Change.page.is_null()
        return self._dicts(Change.select().where(whole).order_by(Change.id.desc()).limit(limit))

    def sightings(self, page_id: int) -> list[dict[str, Any]]:
        """Return the hubs that showed a page, with URLs, earliest first."""
        query = (
            Sighting.select(Sighting, Page.url.alias("hub_url"))
            .join(Page, on=Page.id == Sighting.hub)
            .where(Sighting.page == page_id)
            .order_by(Sighting.first_seen_at)
        )
        return self._dicts(query)

    def visits(self, page_id: int, *, limit: int = 20) -> list[dict[str, Any]]:
        """Return a page's latest visits, newest first."""
        query = Visit.select().where(Visit.page == page_id).order_by(Visit.at.desc()).limit(limit)
        return self._dicts(query)

    def visits_after(
        self, after: int, *, since: float, sites: Sequence[int] | None = None, limit: int = 500
    ) -> list[dict[str, Any]]:
        """Return visits since *since*, with URL and site, in the order in which they were recorded.

        *after* is the id of the last one read; 0 = from the beginning.
        """
        query = Visit.select(Visit, Page.url, Site.name.alias("site")).join(Page).join(Site)
        query = query.where((Visit.id > after) & (Visit.at >= since))
        if sites is not None:
            query = query.where(Page.site.in_(sites))
        return self._dicts(query.order_by(Visit.id).limit(limit))

    def visit_counts(self, since: float) -> dict[int, dict[str, int]]:
        """Count visits since *since* by site id and status."""
        query = (
            Visit.select(Page.site, Visit.status, fn.COUNT(Visit.id))
            .join(Page)
            .where(Visit.at >= since)
            .group_by(Page.site, Visit.status)
        )
        return self._counts(query)

    def came_from(
        self, site_id: int, since: float
    ) -> list[tuple[str, str | None, str | None, bool]]:
        """Return the pages that a site announced since *since*, latest first.

        Of each its URL, the URL of the first hub, the rule, and whether a user has read or starred it.
        """
        hub = Page.alias()
        seen = News.read_at.is_null(is_null=False) | News.starred_at.is_null(is_null=False)
        query = (
            News.select(Page.url, hub.url.alias("hub_url"), Page.rule, seen)
            .join(Page, on=Page.id == News.page)
            .join(hub, JOIN.LEFT_OUTER, on=hub.id == Page.first_hub_id)
            .where((News.site == site_id) & (Page.announced_at >= since))
            .order_by(News.id.desc())
        )
        return self._rows(query)

    def site_totals(self) -> dict[int, dict[str, int]]:
        """Count pages, announced pages, hubs that were read and not given up, and candidates, by site id."""
        # Each from an index alone: counting the announced in their own rows would read every page.
        counted = {
            "pages": Page.select(Page.site, fn.COUNT(Page.id)).group_by(Page.site),
            "new_pages": News.select(News.site, fn.COUNT(News.id)).group_by(News.site),
            "hubs": Hub.select(Hub.site_id, fn.COUNT(Hub.page))
            .where(Hub.state != HubStatus.DROPPED, Hub.visits > 0)
            .group_by(Hub.site_id),
            "candidates": Hub.select(Hub.site_id, fn.COUNT(Hub.page))
            .where(Hub.due_at < NEVER_DUE, Hub.visits == 0)
            .group_by(Hub.site_id),
        }
        totals: dict[int, dict[str, int]] = {}
        for name, query in counted.items():
            for site, count in self._rows(query):
                totals.setdefault(site, dict.fromkeys(counted, 0))[name] = count
        return totals
