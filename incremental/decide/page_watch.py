"""Deciding on a page that a user watches for changes of its text. Pure.

::

    304, or the same body        the same
    404, 410, a soft 404         gone: noted, and visited as before
    the first text               from now on it can be compared
    another text                 changed, with both bodies and the shortened difference
    noise alone                  the same
    no answer, no text           nothing

What counts as noise, gone and back is decided as for announced pages (:mod:`incremental.decide.refresh`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from incremental.decide.decision import Decision, base_record
from incremental.decide.refresh import Before, compared, why_gone
from incremental.fetch.status import HAS_PAGE
from incremental.schedule.watching import (
    RETRY_SECONDS,
    Counted,
    WatchTerms,
    counted,
    interval_seconds,
)
from incremental.visit.visit import Outcome
from store.answers.values import StoredText
from store.enums import PageState
from store.values import VisitRecord
from store.watch_values import NextWatch, WatchedPageRow


@dataclass(frozen=True, slots=True)
class WatchFacts:
    """What was known before the visit."""

    now: float
    row: WatchedPageRow
    before: StoredText | None
    """The last text."""
    terms: WatchTerms


def decide_watch(outcome: Outcome, facts: WatchFacts) -> Decision:
    """Decide on a visit of a watched page."""
    row, now = facts.row, facts.now
    gone, was_gone = why_gone(outcome), row.gone_at is not None or row.state == PageState.GONE
    # Wherever the address leads, its text is what the user watches: it never counts as moved.
    before = Before(was_gone, of_event=False, body_md5=row.body_md5, text=facts.before)
    record = compared(base_record(outcome, now), outcome, before, gone)
    if row.announced_at is None:
        # The state of other pages is decided where they are found.
        fields = {name: value for name, value in record.page_fields.items() if name != "state"}
        record = replace(record, page_fields=fields)  # type: ignore[arg-type]  # the same keys
    record = replace(record, next_watch=_next_watch(outcome, facts, record, gone))
    return Decision(record, keep_body=record.text is not None)


def _next_watch(outcome: Outcome, facts: WatchFacts, record: VisitRecord, gone: str) -> NextWatch:
    row, now = facts.row, facts.now
    seen = Counted(row.counted_changes, row.counted_seconds)
    answered = not gone and outcome.response.status in HAS_PAGE
    if answered and row.checked_at is not None:
        changed = record.page_change is not None and bool(record.page_change.difference)
        seen = counted(seen, now - row.checked_at, changed=changed)
    wait = interval_seconds(seen, facts.terms)
    if not answered:
        wait = max(wait, RETRY_SECONDS)
    gone_at = (row.gone_at or now) if gone else None if answered else row.gone_at
    read, headers = outcome.body_md5 is not None, outcome.response.headers
    return NextWatch(
        due_at=now + wait,
        checked_at=now,
        status=outcome.response.status.value,
        checks=row.checks + 1,
        gone_at=gone_at,
        counted_changes=seen.changes,
        counted_seconds=seen.seconds,
        etag=headers.get("etag") if read else row.etag,
        last_modified=headers.get("last-modified") if read else row.last_modified,
    )
