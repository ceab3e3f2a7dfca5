"""The outbox: pages to announce and announced, by channel.

A message is marked before delivery and after acceptance.

::

    waiting ── begin(message) ──► sending ── sent ──► sent
       ▲                             │
       └── failed, or the process died ┘
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from peewee import JOIN, fn

from store.database import writing
from store.database.repository import Repository, Shape, batches
from store.database.statements import upsert
from store.database.texts import storable
from store.enums import OutboxState
from store.models import Backfill, Channel, OutboxEntry, Page, Topic

# Entries read per channel at once.
MAX_WAITING = 5_000
_BATCH = 200
# Deleted in one transaction.
_FORGOTTEN = 500


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A stored entry, with the data of its page that a message needs."""

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


Wanted = tuple[int, int | None, int]
"""A page with its backfill event, None = announced alone, and its change, 0 = announced as new."""
_ENTRY = Shape(
    OutboxRow, OutboxEntry, url=Page.url, title=Page.title, anchor=Page.anchor, site_id=Page.site
)


def alone(page_ids: Iterable[int]) -> list[Wanted]:
    """Return pages that are announced as new, each alone."""
    return [(page, None, 0) for page in page_ids]


class Outbox(Repository):
    """Queries and writes, on one database."""

    def since(self, channel: str, *, now: float) -> float:
        """Return the time a channel was first seen; *now* if it is new."""
        with writing(self._db, self._where):
            row = {"name": channel, "since": now}
            Channel.insert(row).on_conflict_ignore().execute(self._db)
            query = Channel.select(Channel.since).where(Channel.name == channel)
            return float(query.scalar(self._db))

    def added_channels(self) -> list[tuple[str, str, str | None]]:
        """Return the channels that were added here, oldest first: name, JSON, present name of its topic."""
        query = Channel.select(Channel.name, Channel.settings, Topic.name)
        query = query.join(Topic, JOIN.LEFT_OUTER, on=Topic.id == Channel.topic)
        query = query.order_by(Channel.since, Channel.name)
        return self._rows(query.where(Channel.settings.is_null(is_null=False)))

    def put_channel(
        self, name: str, settings: str, *, now: float, topic_id: int | None = None
    ) -> None:
        """Add a channel, which announces pages from *now* on, or change it."""
        row = {"name": storable(name), "settings": storable(settings, None), "topic_id": topic_id}
        with writing(self._db, self._where):
            # One that stood in the settings file begins again.
            old = (Channel.name == row["name"]) & Channel.settings.is_null()
            Channel.delete().where(old).execute(self._db)
            insert = upsert(Channel, row | {"since": now}, ("name",), ("settings", "topic_id"))
            insert.execute(self._db)

    def remove_channel(self, name: str) -> bool:
        """Remove a channel that was added here; return whether there was one. Its outbox stays."""
        here = (Channel.name == storable(name)) & Channel.settings.is_null(is_null=False)
        return bool(self._write(Channel.delete().where(here)))

    def queue(self, channel: str, wanted: Iterable[Wanted], *, now: float) -> int:
        """Queue what was never queued for this channel; return how much it was.

        An event is not queued again if its first page changes its URL.
        """
        # A backfilled page has one event and is never announced alone, so its entry is the event's.
        names, queued = ("page", "backfill_id", "change_id"), 0
        entry = (OutboxEntry.page, OutboxEntry.backfill_id, OutboxEntry.change_id)
        for batch in batches(wanted, _BATCH):
            with writing(self._db, self._where):
                events = [event for _, event, _ in batch if event is not None]
                same = OutboxEntry.page.in_([page for page, _, _ in batch])
                same |= OutboxEntry.backfill_id.in_(events)
                known = OutboxEntry.select(*entry).where((OutboxEntry.channel == channel) & same)
                there = list(known.tuples().execute(self._db))
                pairs = {(page, change) for page, _, change in there}
                announced = {event for _, event, _ in there} - {None}
                new = [
                    one
                    for one in batch
                    if one[1] not in announced and (one[0], one[2]) not in pairs
                ]
                if new:
                    # A unique key of channel, page and change keeps a crash from queuing anything twice.
                    same_for_all = {"channel": channel, "queued_at": now}
                    rows = [same_for_all | dict(zip(names, one, strict=True)) for one in new]
                    OutboxEntry.insert_many(rows).on_conflict_ignore().execute(self._db)
                    carried = Backfill.id.in_([event for _, event, _ in new if event is not None])
                    Backfill.update(closed=True).where(carried).execute(self._db)
            queued += len(new)
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
        """Return the times of messages sent since *since*, oldest first; a digest counts once."""
        query = (
            OutboxEntry.select(fn.MAX(OutboxEntry.sent_at))
            .where((OutboxEntry.channel == channel) & (OutboxEntry.sent_at >= since))
            .group_by(OutboxEntry.message)
        )
        return sorted(map(float, self._column(query)))

    def last_sent_at(self, channel: str) -> float | None:
        """Return the time of a channel's last message."""
        query = OutboxEntry.select(fn.MAX(OutboxEntry.sent_at))
        at = self._scalar(query.where(OutboxEntry.channel == channel))
        return None if at is None else float(at)

    def errors(self, attempts: int = 0, *, given_up_since: float = 0.0) -> dict[str, str]:
        """Return by channel the latest error of a message not delivered since.

        Of messages that wait only if they were refused *attempts* times, and of those given up if they were
        queued since *given_up_since*.
        """
        tried = OutboxEntry.state.in_([OutboxState.WAITING, OutboxState.SENDING])
        tried &= (OutboxEntry.attempts >= attempts) & (OutboxEntry.error != "")
        failed = OutboxEntry.state == OutboxState.FAILED
        failed &= OutboxEntry.queued_at >= given_up_since
        latest = OutboxEntry.select(fn.MAX(OutboxEntry.id)).where(tried | failed)
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

    def forget(self, *, before: float, keep: Sequence[str]) -> int:
        """Forget a batch of what was queued before *before*; return how many, 0 = there is no more.

        Waiting entries of the channels *keep* stay; a removed channel sends nothing any more.
        """
        over = OutboxEntry.state.in_((OutboxState.SENT, OutboxState.FAILED))
        over |= OutboxEntry.channel.not_in(list(keep))
        old = OutboxEntry.select(OutboxEntry.id).where(over & (OutboxEntry.queued_at < before))
        ids = self._column(old.limit(_FORGOTTEN))
        return self._write(OutboxEntry.delete().where(OutboxEntry.id.in_(ids))) if ids else 0
