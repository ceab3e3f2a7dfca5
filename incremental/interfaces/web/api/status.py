"""Status."""

from __future__ import annotations

from incremental.interfaces.results.status import Status
from incremental.interfaces.web.api.schemas import api_router
from incremental.interfaces.web.context import Web
from store import Store

router = api_router("status")


@router.get("/status")
def get_status(web: Web, store: Store) -> Status:
    """Return what is due, and each site's budget, price and visits of the last day."""
    return web.status(store)
