"""The outbox: which pages are to be announced on which channel, and which were.

A message is marked before delivery and after acceptance.

::

    waiting ── begin(message) ──► sending ── sent ──► sent
       ▲                             │
       └── failed, or the process died ┘
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import fn

from store.database import writing
from store.database.repository import Repository, Shape, batches
from store.database.texts import storable
from store.enums import OutboxState
from store.models import Channel, OutboxEntry, Page

# Entries read per channel at once.
MAX_WAITING = 5_000
_BATCH = 200


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A stored entry, with what a message needs of its page."""

    id: int
    page_id: int
    queued_at: float
    state: OutboxState
    message: str
    attempts: int
    next_at: float | None
    sent_at: float | None
    error: str
    url: str
    title: str
    anchor: str
    site_id: int
    backfill_id: int | None = None
    """The backfill event to announce; None = its page alone."""
    change_id: int = 0
    """The change of its page to report; 0 = announce it as new."""


_ENTRY = Shape(
    OutboxRow, OutboxEntry, url=Page.url, title=Page.title, anchor=Page.anchor, site_id=Page.site
)


class Outbox(Repository):
    """Queries and writes, on one database."""

    def since(self, channel: str, *, now: float) -> float:
        """Return when a channel was first seen; *now* if it is new."""
        with writing(self._db, self._where):
            row = {"name": channel, "since": now}
            Channel.insert(row).on_conflict_ignore().execute(self._db)
            query = Channel.select(Channel.since).where(Channel.name == channel)
            return float(query.scalar(self._db))

    def queue(self, channel: str, page_ids: Iterable[int], *, now: float) -> int:
        """Queue pages never queued for this channel; return their number."""
        return self._queue(channel, [(None, page) for page in page_ids], now)

    def queue_backfills(
        self, channel: str, events: Iterable[tuple[int, int]], *, now: float
    ) -> int:
        """Queue events, each given with its first page, that were never queued; return their number.

        An event whose first page changed address is not queued again.
        """
        # A backfilled page has one event and is never announced alone, so its entry is the event's.
        return self._queue(channel, events, now)

    def queue_changes(self, channel: str, changes: Iterable[tuple[int, int]], *, now: float) -> int:
        """Queue changes, each given with its page, never queued for this channel; return their number."""
        queued = 0
        with writing(self._db, self._where):
            for batch in batches(changes, _BATCH):
                same = (OutboxEntry.channel == channel) & OutboxEntry.page.in_(
                    [page for _, page in batch]
                )
                known = OutboxEntry.select(OutboxEntry.change_id).where(same)
                there = {change for (change,) in known.tuples().execute(self._db)}
                rows = [
                    {"channel": channel, "page": page, "queued_at": now, "change_id": change}
                    for change, page in batch
                    if change not in there
                ]
                if rows:
                    OutboxEntry.insert_many(rows).on_conflict_ignore().execute(self._db)
                queued += len(rows)
        return queued

    def _queue(self, channel: str, events: Iterable[tuple[int | None, int]], now: float) -> int:
        queued = 0
        with writing(self._db, self._where):
            mine = (OutboxEntry.channel == channel) & (OutboxEntry.change_id == 0)
            for batch in batches(events, _BATCH):
                same = OutboxEntry.page.in_([page for _, page in batch])
                same |= OutboxEntry.backfill_id.in_([one for one, _ in batch if one is not None])
                known = OutboxEntry.select(OutboxEntry.page, OutboxEntry.backfill_id)
                there = list(known.where(mine & same).tuples().execute(self._db))
                pages, announced = (
                    {page for page, _ in there},
                    {event for _, event in there} - {None},
                )
                rows = [
                    {"channel": channel, "page": page, "queued_at": now, "backfill_id": event}
                    for event, page in batch
                    if event not in announced and page not in pages
                ]
                if rows:
                    # A unique key of channel, page and change keeps a crash from queuing anything twice.
                    OutboxEntry.insert_many(rows).on_conflict_ignore().execute(self._db)
                queued += len(rows)
        return queued

    def open(self, channel: str) -> list[OutboxRow]:
        """Return waiting entries and those interrupted while sending, in queue order."""
        # A message interrupted while sending goes again under the same key, so that its receiver can
        # recognise it.
        states = [OutboxState.WAITING, OutboxState.SENDING]
        query = self._entries(channel).where(OutboxEntry.state.in_(states)).limit(MAX_WAITING)
        return self._all(_ENTRY, query.order_by(OutboxEntry.queued_at, OutboxEntry.id))

    def recent(self, channel: str, *, limit: int = 20) -> list[OutboxRow]:
        """Return the latest entries of a channel, newest first."""
        query = self._entries(channel).order_by(OutboxEntry.id.desc())
        return self._all(_ENTRY, query.limit(limit))

    def _entries(self, channel: str) -> Any:  # noqa: ANN401 - a peewee query
        query = _ENTRY.select().join(Page, on=Page.id == OutboxEntry.page)
        return query.where(OutboxEntry.channel == channel)

    def begin(self, entry_ids: Sequence[int], message: str) -> None:
        """Mark entries as being sent in the message with this key."""
        fields = {"state": OutboxState.SENDING, "message": message}
        query = OutboxEntry.update({**fields, "attempts": OutboxEntry.attempts + 1})
        self._write(query.where(OutboxEntry.id.in_(list(entry_ids))))

    def sent(self, message: str, *, now: float) -> None:
        """Mark a message's entries as accepted."""
        self._settle(message, state=OutboxState.SENT, sent_at=now, error="", next_at=None)

    def failed(self, message: str, error: str, *, next_at: float | None) -> None:
        """Mark a message's entries as refused; *next_at* None = give up."""
        state = OutboxState.FAILED if next_at is None else OutboxState.WAITING
        self._settle(message, state=state, error=storable(error), next_at=next_at)

    def _settle(self, message: str, **fields: object) -> None:
        handed = (OutboxEntry.message == message) & (OutboxEntry.state == OutboxState.SENDING)
        self._write(OutboxEntry.update(fields).where(handed))

    def messages_since(self, channel: str, since: float) -> list[float]:
        """Return when messages were sent since *since*, oldest first; a digest counts once."""
        query = (
            OutboxEntry.select(fn.MAX(OutboxEntry.sent_at))
            .where((OutboxEntry.channel == channel) & (OutboxEntry.sent_at >= since))
            .group_by(OutboxEntry.message)
        )
        return sorted(map(float, self._column(query)))

    def last_sent_at(self, channel: str) -> float | None:
        """Return when a channel's last message was sent."""
        query = OutboxEntry.select(fn.MAX(OutboxEntry.sent_at))
        at = self._scalar(query.where(OutboxEntry.channel == channel))
        return None if at is None else float(at)

    def last_errors(self) -> dict[str, str]:
        """Return by channel the latest error of a message not delivered since."""
        latest = OutboxEntry.select(fn.MAX(OutboxEntry.id)).where(OutboxEntry.error != "")
        query = OutboxEntry.select(OutboxEntry.channel, OutboxEntry.error).where(
            OutboxEntry.id.in_(latest.group_by(OutboxEntry.channel))
        )
        return dict(self._rows(query))

    def overdue(self, attempts: int, *, given_up_since: float) -> dict[str, str]:
        """Return, by channel, the last error of messages that are stuck.

        These were refused at least *attempts* times, or given up and queued since *given_up_since*.
        """
        tried = OutboxEntry.state.in_([OutboxState.WAITING, OutboxState.SENDING])
        tried &= (OutboxEntry.attempts >= attempts) & (OutboxEntry.error != "")
        failed = OutboxEntry.state == OutboxState.FAILED
        stuck = tried | (failed & (OutboxEntry.queued_at >= given_up_since))
        latest = OutboxEntry.select(fn.MAX(OutboxEntry.id)).where(stuck)
        query = OutboxEntry.select(OutboxEntry.channel, OutboxEntry.error)
        rows = self._rows(query.where(OutboxEntry.id.in_(latest.group_by(OutboxEntry.channel))))
        return dict(rows)

    def counts(self) -> dict[str, dict[str, int]]:
        """Count entries by channel and state."""
        key = (OutboxEntry.channel, OutboxEntry.state)
        return self._counts(OutboxEntry.select(*key, fn.COUNT(OutboxEntry.id)).group_by(*key))

    def retry(self, channel: str) -> int:
        """Requeue failed entries; return how many."""
        failed = (OutboxEntry.channel == channel) & (OutboxEntry.state == OutboxState.FAILED)
        query = OutboxEntry.update(state=OutboxState.WAITING, attempts=0, next_at=None)
        return self._write(query.where(failed))
