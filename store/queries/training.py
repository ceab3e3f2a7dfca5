"""What the hub model is trained on: labels by their origin, how pages were found, how large they were."""

from __future__ import annotations

from collections.abc import Sequence

from peewee import JOIN, fn

from store.enums import HubRole, LabelOrigin
from store.models import Hub, Label, Page, Visit
from store.repository import Repository, Shape, batches
from store.texts import storable
from store.values import LabelEntry

# Steps that are followed back; nothing that a crawler finds lies deeper.
MAX_DEPTH = 50
# Roles of hubs that somebody named: every way begins there.
_GIVEN = (HubRole.SEED, HubRole.USER)
_LABEL = Shape(LabelEntry, Label)
_READ = (Visit.body_bytes > 0) & (Visit.status == "fetched")


class TrainingQueries(Repository):
    """Labels, and what only a crawl knows of a page."""

    def labels(self, origin: LabelOrigin | None = None) -> list[LabelEntry]:
        """Return all labels, or those of one origin, in the order in which they were first said."""
        query = _LABEL.select().order_by(Label.at, Label.canonical_key)
        return self._all(_LABEL, query if origin is None else query.where(Label.origin == origin))

    def labels_of(self, canonical_key: str) -> list[LabelEntry]:
        """Return what was said of one page."""
        query = _LABEL.select().where(Label.canonical_key == storable(canonical_key, None))
        return self._all(_LABEL, query.order_by(Label.at))

    def site_labels(self, site_id: int, origin: LabelOrigin) -> list[LabelEntry]:
        """Return what one origin said of the pages of a site."""
        said = (Label.site == site_id) & (Label.origin == origin)
        return self._all(_LABEL, _LABEL.select().where(said).order_by(Label.at))

    def corrections(self, canonical_keys: Sequence[str]) -> dict[str, str]:
        """Return what users said of these pages, a :class:`~store.enums.PageLabel`, by canonical key."""
        found: dict[str, str] = {}
        for batch in batches(canonical_keys):
            said = Label.canonical_key.in_(batch) & (Label.origin == LabelOrigin.USER)
            found.update(self._rows(Label.select(Label.canonical_key, Label.label).where(said)))
        return found

    def crawl_depth(self, page_id: int) -> int | None:
        """Return by how many steps the crawler found a page: 0 = a seed, 1 = a link of a seed, and so on.

        Derived from who showed each page first, which never changes: the depth at which it was found, as
        in paper 003, not the shortest way to it today. What no page showed (a sitemap that robots.txt
        names, a feed at its usual place) is one step from the seed. None = there is no such page.
        """
        steps, seen = 0, set[int]()
        while page_id not in seen and steps < MAX_DEPTH:
            seen.add(page_id)
            query = Page.select(Page.first_hub_id, Hub.role).where(Page.id == page_id)
            rows = self._rows(query.join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id))
            if not rows:
                return steps or None
            first_hub_id, role = rows[0]
            if role in _GIVEN:
                return steps
            if first_hub_id is None:
                return steps + 1
            page_id, steps = int(first_hub_id), steps + 1
        return steps

    def page_sizes(self, site_id: int, *, limit: int = 2_000) -> list[tuple[str, int]]:
        """Return (URL, bytes of its last body) of pages of a site that were fetched, the latest first."""
        last = (
            Visit.select(Visit.page, fn.MAX(Visit.id).alias("visit"))
            .join(Page, on=Page.id == Visit.page)
            .where((Page.site == site_id) & _READ)
            .group_by(Visit.page)
            .alias("last")
        )
        query = (
            Page.select(Page.url, Visit.body_bytes)
            .join(Visit, on=Visit.page == Page.id)
            .join(last, on=last.c.visit == Visit.id)
            .order_by(Visit.id.desc())
        )
        return [(url, int(size)) for url, size in self._rows(query.limit(limit))]

    def page_size(self, page_id: int) -> int | None:
        """Return the bytes of a page's last body; None = it was never fetched."""
        query = Visit.select(Visit.body_bytes).where((Visit.page == page_id) & _READ)
        size = self._scalar(query.order_by(Visit.at.desc()).limit(1))
        return None if size is None else int(size)
