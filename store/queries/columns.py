"""Which columns fill the values that more than one reader gives out."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from store.models import Hub, Page, Site
from store.values import HubRow, LookRow, SiteRow

SITE_COLUMNS = [getattr(Site, f.name) for f in fields(SiteRow)]
_HUB_COLUMNS = [
    {"page_id": Hub.page, "url": Page.url, "identity": Page.identity}.get(f.name)
    or getattr(Hub, f.name)
    for f in fields(HubRow)
]
LOOK_COLUMNS = [
    {"page_id": Page.id, "site_id": Page.site}.get(f.name) or getattr(Page, f.name)
    for f in fields(LookRow)
]


def select_hubs() -> Any:  # noqa: ANN401 - a peewee query
    """Begin a query of hubs with their pages' addresses."""
    return Hub.select(*_HUB_COLUMNS).join(Page, on=Page.id == Hub.page)
