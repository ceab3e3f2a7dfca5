"""The outbox: which pages are to be told on which channel, and which were.

A page stands in it once for each channel (a unique key), so whatever dies in between, nothing is queued
twice. A message is marked before it is handed over and after it was taken; one that was cut off in
between is handed over again under the same key, by which its receiver can tell.

::

    waiting ── begin(message) ──► sending ── sent ──► sent
       ▲                             │
       └── failed, or the process died ┘
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from peewee import chunked, fn

from store.database import storage_errors, writing
from store.models import Channel, OutboxEntry, Page
from store.reader import Reader
from store.texts import storable

MAX_WAITING = 5_000
"""Entries of one channel that are read at once."""


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An entry as it stands, with what a message says of its page."""

    id: int
    page_id: int
    queued_at: float
    state: str
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
    """The event that it tells of, older pages that a list gained; None = it tells of its page."""


_COLUMNS = (
    *(OutboxEntry.id, OutboxEntry.page, OutboxEntry.queued_at, OutboxEntry.state),
    *(OutboxEntry.message, OutboxEntry.attempts, OutboxEntry.next_at, OutboxEntry.sent_at),
    *(OutboxEntry.error, Page.url, Page.title, Page.anchor, Page.site),
    OutboxEntry.backfill_id,
)


class Outbox(Reader):
    """The questions and the writes, on one database."""

    def since(self, channel: str, *, now: float) -> float:
        """Return when a channel was first seen: now, for one that was not."""
        with writing(self._db, self._where):
            row = {"name": channel, "since": now}
            Channel.insert(row).on_conflict_ignore().execute(self._db)
            query = Channel.select(Channel.since).where(Channel.name == channel)
            return float(query.scalar(self._db))

    def queue(self, channel: str, page_ids: Iterable[int], *, now: float) -> int:
        """Queue pages that were never queued for this channel; return how many those are."""
        queued = 0
        with writing(self._db, self._where):
            for batch in chunked(page_ids, 200):
                ids = list(batch)
                known = OutboxEntry.select(OutboxEntry.page).where(
                    (OutboxEntry.channel == channel) & OutboxEntry.page.in_(ids)
                )
                there = {page for (page,) in known.tuples().execute(self._db)}
                fresh = [page for page in dict.fromkeys(ids) if page not in there]
                rows = [{"channel": channel, "page": page, "queued_at": now} for page in fresh]
                if rows:
                    OutboxEntry.insert_many(rows).on_conflict_ignore().execute(self._db)
                queued += len(rows)
        return queued

    def queue_backfills(
        self, channel: str, events: Iterable[tuple[int, int]], *, now: float
    ) -> int:
        """Queue events, each with its first page, that were never queued; return how many those are.

        A page is of one event at most and is never told by itself, so its entry is the event's. One whose
        first page has another address since is queued no second time.
        """
        queued = 0
        with writing(self._db, self._where):
            mine = OutboxEntry.channel == channel
            for batch in chunked(events, 200):
                pairs = dict(batch)
                same = OutboxEntry.page.in_(list(pairs.values()))
                same |= OutboxEntry.backfill_id.in_(list(pairs))
                known = OutboxEntry.select(OutboxEntry.page, OutboxEntry.backfill_id)
                there = list(known.where(mine & same).tuples().execute(self._db))
                pages, told = {page for page, _ in there}, {event for _, event in there}
                rows = [
                    {"channel": channel, "page": page, "queued_at": now, "backfill_id": event}
                    for event, page in pairs.items()
                    if event not in told and page not in pages
                ]
                if rows:
                    OutboxEntry.insert_many(rows).on_conflict_ignore().execute(self._db)
                queued += len(rows)
        return queued

    def open(self, channel: str) -> list[OutboxRow]:
        """Return what waits, or was cut off while it was sent, in the order in which it was queued."""
        return self._entries(channel, ("waiting", "sending"), MAX_WAITING)

    def _entries(self, channel: str, states: Sequence[str], limit: int) -> list[OutboxRow]:
        query = (
            OutboxEntry.select(*_COLUMNS)
            .join(Page, on=Page.id == OutboxEntry.page)
            .where((OutboxEntry.channel == channel) & OutboxEntry.state.in_(list(states)))
            .order_by(OutboxEntry.queued_at, OutboxEntry.id)
            .limit(limit)
        )
        return [OutboxRow(*row) for row in self._rows(query)]

    def begin(self, entry_ids: Sequence[int], message: str) -> None:
        """Mark entries as being sent with a message of this key."""
        with writing(self._db, self._where):
            OutboxEntry.update(
                state="sending", message=message, attempts=OutboxEntry.attempts + 1
            ).where(OutboxEntry.id.in_(list(entry_ids))).execute(self._db)

    def sent(self, message: str, *, now: float) -> None:
        """Mark the entries of a message as taken by its receiver."""
        with writing(self._db, self._where):
            OutboxEntry.update(state="sent", sent_at=now, error="", next_at=None).where(
                (OutboxEntry.message == message) & (OutboxEntry.state == "sending")
            ).execute(self._db)

    def failed(self, message: str, error: str, *, next_at: float | None) -> None:
        """Mark the entries of a message as not taken; *next_at* None = it is given up."""
        state = "failed" if next_at is None else "waiting"
        with writing(self._db, self._where):
            OutboxEntry.update(state=state, error=storable(error), next_at=next_at).where(
                (OutboxEntry.message == message) & (OutboxEntry.state == "sending")
            ).execute(self._db)

    def messages_since(self, channel: str, since: float) -> list[float]:
        """Return when messages were sent from *since* on, oldest first; a digest counts once."""
        query = (
            OutboxEntry.select(fn.MAX(OutboxEntry.sent_at))
            .where((OutboxEntry.channel == channel) & (OutboxEntry.sent_at >= since))
            .group_by(OutboxEntry.message)
        )
        return sorted(float(at) for (at,) in self._rows(query))

    def last_sent_at(self, channel: str) -> float | None:
        """Return when the last message of a channel was sent."""
        query = OutboxEntry.select(fn.MAX(OutboxEntry.sent_at))
        at = self._rows(query.where(OutboxEntry.channel == channel))[0][0]
        return None if at is None else float(at)

    def last_errors(self) -> dict[str, str]:
        """Return, by channel, what was last said against a message that was not taken to this day."""
        latest = OutboxEntry.select(fn.MAX(OutboxEntry.id)).where(OutboxEntry.error != "")
        query = OutboxEntry.select(OutboxEntry.channel, OutboxEntry.error).where(
            OutboxEntry.id.in_(latest.group_by(OutboxEntry.channel))
        )
        return dict(self._rows(query))

    def counts(self) -> dict[str, dict[str, int]]:
        """Count entries by channel and state."""
        query = OutboxEntry.select(
            OutboxEntry.channel, OutboxEntry.state, fn.COUNT(OutboxEntry.id)
        ).group_by(OutboxEntry.channel, OutboxEntry.state)
        counts: dict[str, dict[str, int]] = {}
        for channel, state, number in self._rows(query):
            counts.setdefault(channel, {})[state] = number
        return counts

    def recent(self, channel: str, *, limit: int = 20) -> list[OutboxRow]:
        """Return the latest entries of a channel, the latest first."""
        query = (
            OutboxEntry.select(*_COLUMNS)
            .join(Page, on=Page.id == OutboxEntry.page)
            .where(OutboxEntry.channel == channel)
            .order_by(OutboxEntry.id.desc())
            .limit(limit)
        )
        return [OutboxRow(*row) for row in self._rows(query)]

    def retry(self, channel: str) -> int:
        """Let what was given up wait again; return how many."""
        with storage_errors(self._where):
            query = OutboxEntry.update(state="waiting", attempts=0, next_at=None).where(
                (OutboxEntry.channel == channel) & (OutboxEntry.state == "failed")
            )
            return int(query.execute(self._db))

    def forget(self, *, before: float) -> int:
        """Drop entries that were sent, or given up, before a time; return how many.

        Their pages are told and old: they are not queued again.
        """
        over = OutboxEntry.state.in_(["sent", "failed"]) & (OutboxEntry.queued_at < before)
        with storage_errors(self._where):
            return int(OutboxEntry.delete().where(over).execute(self._db))
