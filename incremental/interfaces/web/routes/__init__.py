"""Routes of the web pages and the feeds."""

from __future__ import annotations

from incremental.interfaces.web.routes import (
    adding,
    backfills,
    entry,
    feeds,
    models,
    news,
    page_html,
    site_editing,
    sites,
    status,
    topic_html,
)

ROUTERS = (
    entry.router,
    news.router,
    backfills.router,
    adding.router,
    sites.router,
    site_editing.router,
    page_html.router,
    topic_html.router,
    models.router,
    status.router,
    feeds.router,
)
