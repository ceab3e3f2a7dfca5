"""Judging another look at a told page: the same, changed, gone, back or moved. Pure.

::

    304, or the same body           the same
    404, 410, a soft 404, the home page instead     gone, once
    anything else after gone        back
    another address                 moved, once: the address is known from then on
    another text                    changed, with both bodies; noise alone is logged and changes nothing
    no answer, no text              nothing is said; looked at again like any other
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from incremental.fetch.status import HAS_PAGE, FetchStatus
from incremental.history.plan import CheckTerms, next_check_at
from incremental.history.reading import whole
from incremental.history.textdiff import TextDiff, diff
from incremental.judge.looks import leads_home
from incremental.judge.news import is_soft_404
from incremental.judge.outcome import base_record
from incremental.visit import Outcome
from store.answers.values import CheckRow, StoredText
from store.values import NextCheck, ReadText, SeenLink, VisitRecord


@dataclass(frozen=True, slots=True)
class CheckView:
    """What was known before the look that bears on it."""

    row: CheckRow
    before: StoredText | None
    """The text as it was read last."""
    same_since: float
    """When the page was told or last changed."""
    moved_to: SeenLink | None
    """The address that it has now, when that is another one which nobody knew."""
    terms: CheckTerms


def judge_check(outcome: Outcome, view: CheckView, now: float) -> VisitRecord:
    """Return the record of another look at a told page."""
    record = _judged(outcome, view, now)
    changed = record.page_change in ("changed", "back", "moved")
    due_at = next_check_at(now if changed else view.same_since, now, view.terms)
    return replace(record, next_check=_next_check(outcome, view.row, due_at))


def _judged(outcome: Outcome, view: CheckView, now: float) -> VisitRecord:
    record, gone = base_record(outcome, now), _gone(outcome)
    if gone:
        if view.row.state == "gone":
            return record
        return replace(
            record, page_fields={"state": "gone"}, page_change="gone", change_detail=gone
        )
    if outcome.response.status not in HAS_PAGE:
        return record
    if view.row.state == "gone":
        record = replace(record, page_fields={"state": "known"}, page_change="back")
    elif view.moved_to is not None:
        return _moved(record, view.moved_to)
    if outcome.unchanged or outcome.read is None or not outcome.read.text:
        return record
    return _compared(record, outcome.read, view)


def _gone(outcome: Outcome) -> str:
    """Return why the page is not there any more; empty = it is, or nobody knows."""
    if outcome.response.status is FetchStatus.GONE:
        return outcome.response.detail or f"answered {outcome.response.http_code}"
    if leads_home(outcome):
        return "leads to the home page instead"
    if outcome.page is not None and is_soft_404(outcome.page.title, outcome.page.text):
        return "answers 200 but says that it is not there"
    return ""


def _moved(record: VisitRecord, to: SeenLink) -> VisitRecord:
    alias = replace(to, state="alias")
    return replace(record, page_change="moved", change_detail=to.url, more_pages=(alias,))


def _compared(record: VisitRecord, read: ReadText, view: CheckView) -> VisitRecord:
    fields = {**record.page_fields, "body_md5": read.md5}
    if view.before is None or not view.before.text:
        # Its text was never had; from now on it can be compared.
        return replace(record, text=read, page_fields=fields)
    found = difference(view.before, read)
    if not found.is_change:
        return replace(record, detail=record.detail or found.summary)
    if read.title:
        fields["title"] = read.title
    if record.page_change == "back":
        return replace(record, text=read, page_fields=fields, change_detail=found.summary)
    return replace(
        record,
        text=read,
        page_fields=fields,
        page_change="changed",
        change_detail=found.summary,
        body_before=view.row.body_md5,
        body_after=read.md5,
    )


def difference(before: StoredText, after: ReadText) -> TextDiff:
    """Compare two readings of a page, titles included."""
    return diff(whole(before.title, before.text), whole(after.title, after.text))


def _next_check(outcome: Outcome, row: CheckRow, due_at: float | None) -> NextCheck:
    headers = outcome.response.headers
    read = outcome.body_md5 is not None
    return NextCheck(
        due_at=due_at,
        checks=row.checks + 1,
        etag=headers.get("etag") if read else row.etag,
        last_modified=headers.get("last-modified") if read else row.last_modified,
    )


def first_check(outcome: Outcome, now: float, terms: CheckTerms) -> NextCheck:
    """Return the plan for a page that has just been told and read."""
    headers = outcome.response.headers
    return NextCheck(
        due_at=next_check_at(now, now, terms),
        etag=headers.get("etag"),
        last_modified=headers.get("last-modified"),
    )
