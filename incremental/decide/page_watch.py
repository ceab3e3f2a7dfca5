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
from incremental.decide.refresh import RefreshFacts, compared
from incremental.fetch.status import HAS_PAGE
from incremental.parse.history.plan import RefreshTerms
from incremental.schedule.watching import (
    RETRY_SECONDS,
    Counted,
    WatchTerms,
    counted,
    interval_seconds,
)
from incremental.visit.visit import Outcome
from store.answers.values import RefreshRow, StoredText
from store.enums import PageState
from store.values import VisitRecord
from store.watch_values import NextWatch, WatchedPageRow

_NEVER = RefreshTerms(0.0, 0.0)


@dataclass(frozen=True, slots=True)
class WatchFacts:
    """What was known before the visit."""

    now: float
    row: WatchedPageRow
    before: StoredText | None
    """The last text."""
    gone: str
    """Why the page no longer exists; empty = it does, or that is unknown."""
    terms: WatchTerms


def decide_watch(outcome: Outcome, facts: WatchFacts) -> Decision:
    """Decide on a visit of a watched page."""
    row, now = facts.row, facts.now
    record = compared(base_record(outcome, now), outcome, _as_refresh(facts))
    if row.announced_at is None:
        # The state of other pages is decided where they are found.
        fields = {name: value for name, value in record.page_fields.items() if name != "state"}
        record = replace(record, page_fields=fields)  # type: ignore[arg-type]  # the same keys
    record = replace(record, next_watch=_next_watch(outcome, facts, record))
    return Decision(record, keep_body=record.text is not None)


def _as_refresh(facts: WatchFacts) -> RefreshFacts:
    row = facts.row
    known = RefreshRow(
        page_id=row.page_id,
        site_id=row.site_id,
        url=row.url,
        canonical_key=row.canonical_key,
        due_at=row.due_at,
        checks=row.checks,
        etag=row.etag,
        last_modified=row.last_modified,
        body_md5=row.body_md5,
        state=PageState.GONE if row.gone_at is not None else row.state,
        found_at=row.announced_at,
    )
    # Wherever the address leads, its text is what the user watches: it never counts as moved.
    return RefreshFacts(
        facts.now, known, facts.before, facts.now, moved_to=None, terms=_NEVER, gone=facts.gone
    )


def _next_watch(outcome: Outcome, facts: WatchFacts, record: VisitRecord) -> NextWatch:
    row, now = facts.row, facts.now
    seen = Counted(row.counted_changes, row.counted_seconds)
    answered = not facts.gone and outcome.response.status in HAS_PAGE
    if answered and row.checked_at is not None:
        changed = record.page_change is not None and bool(record.page_change.difference)
        seen = counted(seen, now - row.checked_at, changed=changed)
    wait = interval_seconds(seen, facts.terms)
    if not answered:
        wait = max(wait, RETRY_SECONDS)
    gone_at = (row.gone_at or now) if facts.gone else None if answered else row.gone_at
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
