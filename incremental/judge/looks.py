"""From a look at a new page itself to the record that the store writes. Pure.

::

    outcome + LookRow  ->  judge_look  ->  VisitRecord
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from incremental.fetch.status import FetchStatus
from incremental.judge.news import is_soft_404
from incremental.judge.outcome import base_record
from incremental.times import HOUR, believable
from incremental.visit import Outcome
from store.values import LookRow, VisitRecord


def leads_home(outcome: Outcome) -> bool:
    """Tell whether a page below the root was answered with the home page."""
    asked, answered = urlsplit(outcome.task.url), urlsplit(outcome.response.url)
    was_home = asked.path in ("", "/") and not asked.query
    return answered.path in ("", "/") and not answered.query and not was_home


def judge_look(outcome: Outcome, row: LookRow, now: float) -> VisitRecord:
    """Judge a look at a new page itself: its title, date and language, or that it is not there.

    A page that waited for this look is told now, unless it is not there; a site that does not let us
    look cannot hide that its hub shows the page.
    """
    record = base_record(outcome, now)
    waited = row.state == "pending"
    record = replace(record, announce_page=waited, first_hub_id=row.first_hub_id)
    fields: dict[str, object] = {"look_due_at": None, "looked_at": now}
    status, page = outcome.response.status, outcome.page
    gone = status is FetchStatus.GONE
    if leads_home(outcome):
        gone, record = True, replace(record, detail="leads to the home page instead")
    if page is not None and is_soft_404(page.title, page.text):
        gone, record = True, replace(record, detail="answers 200 but says that it is not there")
    if gone and waited and row.looked_at is None:
        # Linked a moment before it is there: staged publishing, a cache on the way.
        fields["look_due_at"] = now + HOUR
        return replace(record, page_fields=fields, announce_page=False)
    if gone:
        change = None if waited else "gone"
        fields["state"] = "gone"
        return replace(record, page_fields=fields, page_change=change, announce_page=False)
    if page is None:
        return replace(record, page_fields=fields)
    fields |= {"body_md5": outcome.body_md5, "language": page.language}
    if page.title:
        fields["title"] = page.title
    published_at = believable(page.published_at, now)
    if published_at is not None:
        fields["published_at"] = published_at
    return replace(record, page_fields=fields)
