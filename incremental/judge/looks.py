"""From the verification of a new page to the record that the store writes. Pure.

::

    outcome + LookRow  ->  judge_look  ->  VisitRecord

A page that waited for it is announced, or the record carries the rule that kept it back.
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from incremental.fetch.status import UNREADABLE, FetchStatus
from incremental.judge.kept_back import KeptBack, furniture
from incremental.judge.news import is_soft_404
from incremental.judge.outcome import base_record
from incremental.times import DAY, HOUR, believable
from incremental.visit import Outcome
from store.values import LookRow, VisitRecord

MISSING = "missing"
"""State of a page that is linked and not there yet."""
GIVE_UP_SECONDS = 60 * DAY
MAX_WAIT_SECONDS = 2 * DAY


def _again_at(row: LookRow, now: float) -> float | None:
    """Return when to look again for a page that is linked and not there; None = it never will be.

    A page may be linked an hour before it is there (staged publishing, a cache on the way), or weeks:
    on the recording of flink two translations were linked four and thirty-seven days before. Each wait
    is a third of the time since the link was seen, from an hour to two days.
    """
    age = max(now - row.first_seen_at, 0.0)
    if age > GIVE_UP_SECONDS:
        return None
    return now + min(max(age / 3, HOUR), MAX_WAIT_SECONDS)


def leads_home(outcome: Outcome) -> bool:
    """Tell whether a page below the root was answered with the home page."""
    asked, answered = urlsplit(outcome.task.url), urlsplit(outcome.response.url)
    was_home = asked.path in ("", "/") and not asked.query
    return answered.path in ("", "/") and not answered.query and not was_home


def _missing(outcome: Outcome) -> tuple[KeptBack, str] | None:
    """Return by which rule a page is not there, with what is said of it; None = it may be there."""
    page = outcome.page
    if leads_home(outcome):
        return KeptBack.HOME_INSTEAD, "leads to the home page instead"
    if page is not None and is_soft_404(page.title, page.text):
        return KeptBack.SAYS_NOT_THERE, "answers 200 but says that it is not there"
    if outcome.response.status is FetchStatus.GONE:
        return KeptBack.NOT_THERE, outcome.response.detail
    return None


def judge_look(outcome: Outcome, row: LookRow, now: float) -> VisitRecord:
    """Judge the verification of a new page: its title, date and language, or why it is kept back.

    A page that waited for it is announced now, unless it is not there or is none to announce; a site
    that does not let us read it cannot hide that its hub shows it.
    """
    record = base_record(outcome, now)
    waited = row.state in ("pending", MISSING)
    record = replace(record, announce_page=waited, first_hub_id=row.first_hub_id)
    fields: dict[str, object] = {"look_due_at": None, "looked_at": now, "kept_back": None}
    page = outcome.page
    missing = _missing(outcome)
    if missing is not None:
        rule, detail = missing
        record = replace(record, announce_page=False, detail=detail)
        again_at = _again_at(row, now) if waited else None
        if again_at is not None:
            fields |= {"look_due_at": again_at, "kept_back": KeptBack.NOT_YET_THERE.value}
            if row.looked_at is not None:
                fields["state"] = MISSING
            return replace(record, page_fields=fields)
        fields |= {"state": "gone", "kept_back": rule.value}
        return replace(record, page_fields=fields, page_change=None if waited else "gone")
    if row.state == MISSING and outcome.page is None and outcome.response.status not in UNREADABLE:
        # The server fails, or leads elsewhere: that says nothing of a page that was not there before.
        fields |= {"look_due_at": _again_at(row, now) or now + MAX_WAIT_SECONDS}
        fields["kept_back"] = KeptBack.NOT_YET_THERE.value
        return replace(record, page_fields=fields, announce_page=False)
    title = outcome.page.title if outcome.page is not None else ""
    kept = furniture(row.url, title) if waited else None
    if kept is not None:
        record = replace(record, announce_page=False)
        fields |= {"state": "known", "kept_back": kept.value}
    if page is None:
        return replace(record, page_fields=fields)
    fields |= {"body_md5": outcome.body_md5, "language": page.language}
    if page.title:
        fields["title"] = page.title
    published_at = believable(page.published_at, now)
    if published_at is not None:
        fields["published_at"] = published_at
    return replace(record, page_fields=fields)
