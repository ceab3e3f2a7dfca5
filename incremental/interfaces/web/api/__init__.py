"""HTTP API, version 1: the command line for programs. OpenAPI: ``/api/v1/openapi.json``."""

from __future__ import annotations

from incremental.interfaces.web.api import (
    backfills,
    hubs,
    models,
    page_api,
    sites,
    status,
    topic_api,
)

ROUTERS = (
    page_api.router,
    backfills.router,
    sites.router,
    hubs.router,
    topic_api.router,
    models.router,
    status.router,
)
