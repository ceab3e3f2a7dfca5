"""Training data of the hub model: labels, crawl depth, page sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from peewee import JOIN, fn

from store.database.repository import Repository, Shape
from store.database.statements import Prepared, any_of
from store.database.texts import storable
from store.enums import HubRole, LabelOrigin
from store.models import Hub, Label, Page, Visit
from store.values import LabelEntry

# Steps followed back; no crawl goes deeper.
MAX_DEPTH = 50
# Roles that a user gave: every path starts there.
_GIVEN = (HubRole.SEED, HubRole.USER)
_LABEL = Shape(LabelEntry, Label)
_READ = (Visit.body_bytes > 0) & (Visit.status == "fetched")

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
_FIRST_HUB = Prepared(
    lambda page: (
        Page.select(Page.first_hub_id, Hub.role)
        .join(Hub, JOIN.LEFT_OUTER, on=Hub.page == Page.id)
        .where(Page.id == page)
    )
)


def _page_sizes(site: Any, limit: Any) -> Any:  # noqa: ANN401 - peewee expressions
    last = (
        Visit.select(Visit.page, fn.MAX(Visit.id).alias("visit"))
        .join(Page, on=Page.id == Visit.page)
        .where((Page.site == site) & _READ)
        .group_by(Visit.page)
        .alias("last")
    )
    return (
        Page.select(Page.url, Visit.body_bytes)
        .join(Visit, on=Visit.page == Page.id)
        .join(last, on=last.c.visit == Visit.id)
        .order_by(Visit.id.desc())
        .limit(limit)
    )


_PAGE_SIZES = Prepared(_page_sizes)


class TrainingQueries(Repository):
    """Labels, and facts of a page that only a crawl knows."""

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
        return [_LABEL(row) for row in self._asked(_SITE_LABELS, site=site_id, origin=origin)]

    def corrections(self, canonical_keys: Sequence[str]) -> dict[str, str]:
        """Return users' labels of these pages by canonical key."""
        keys = list(dict.fromkeys(canonical_keys))
        return dict(self._asked(_CORRECTIONS, keys=keys)) if keys else {}

    def crawl_depth(self, page_id: int) -> int | None:
        """Return the number of steps from a seed (0) to a page; None = no such page.

        Pages that none showed (a sitemap in robots.txt, a probed feed) are one step from the seed.
        """
        # From the hub that first showed each page: the depth at discovery as in paper 003, not the shortest
        # path now.
        steps, seen = 0, set[int]()
        while page_id not in seen and steps < MAX_DEPTH:
            seen.add(page_id)
            rows = self._asked(_FIRST_HUB, page=page_id)
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
        """Return (URL, bytes of the last body) of fetched pages, latest first."""
        rows = self._asked(_PAGE_SIZES, site=site_id, limit=limit)
        return [(url, int(size)) for url, size in rows]

    def page_size(self, page_id: int) -> int | None:
        """Return the bytes of a page's last body; None = never fetched."""
        query = Visit.select(Visit.body_bytes).where((Visit.page == page_id) & _READ)
        size = self._scalar(query.order_by(Visit.at.desc()).limit(1))
        return None if size is None else int(size)
