"""Tasks from rows of the store: a visit of a hub, a verification fetch or a refresh of a page. Pure."""

from __future__ import annotations

from incremental.visit import Purpose, VisitTask
from store.answers.values import CheckRow
from store.values import ARTICLE, HubRow, LookRow


def look_task(row: LookRow) -> VisitTask:
    """Return the fetch of a page for its own sake."""
    return VisitTask(Purpose.LOOK, row.url, row.site_id, row.page_id)


def refresh_task(row: CheckRow) -> VisitTask:
    """Return the fetch of an announced page for what changed on it."""
    return VisitTask(
        purpose=Purpose.RECHECK,
        url=row.url,
        site_id=row.site_id,
        page_id=row.page_id,
        etag=row.etag,
        last_modified=row.last_modified,
        body_md5=row.body_md5,
    )


def hub_task(hub: HubRow) -> VisitTask:
    """Return the visit of a hub, with what spares us a body that we know."""
    # Without a baseline the page must be read, so nothing that would spare us the body is sent.
    known = hub.baseline_at is not None
    return VisitTask(
        purpose=Purpose.HUB,
        url=hub.url,
        site_id=hub.site_id,
        page_id=hub.page_id,
        etag=hub.etag if known else None,
        last_modified=hub.last_modified if known else None,
        body_md5=hub.body_md5 if known else None,
        extra=hub.visited_at is None or hub.role == ARTICLE,
    )
