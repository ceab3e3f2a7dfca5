"""Tables of messages: channels and the outbox."""

from __future__ import annotations

from typing import ClassVar

from peewee import (
    BigAutoField,
    BigIntegerField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    TextField,
)

from store.enums import OutboxState
from store.models.crawl_tables import Page, Table
from store.models.joins import Merge, Row, better, joined, least
from store.models.topic_tables import Topic


class Channel(Table):
    """A message channel."""

    name = TextField(primary_key=True)
    since = DoubleField()
    """When it was first seen; pages announced earlier are not sent."""
    settings = TextField(null=True)
    """JSON of a channel that was added without the settings file; NULL = it is in the file."""
    topic = ForeignKeyField(Topic, null=True, on_delete="SET NULL", lazy_load=False, index=True)
    """The topic of its settings, by id, so it may be renamed."""

    outgoing: ClassVar = {"channel": "1 = 1"}


class OutboxEntry(Table):
    """A page to announce on a channel, or announced there."""

    id = BigAutoField()
    channel = TextField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)
    queued_at = DoubleField()
    state = TextField(default="waiting")
    """:class:`~store.enums.OutboxState`."""
    message = TextField(default="")
    """Idempotency key of its message; unchanged when it is sent again."""
    attempts = IntegerField(default=0)
    next_at = DoubleField(null=True)
    """Not before this; NULL = as the channel's rhythm allows."""
    sent_at = DoubleField(null=True)
    error = TextField(default="")
    backfill_id = BigIntegerField(null=True)
    """The backfill to announce, whose first page is *page*; NULL = announce *page*."""
    change_id = BigIntegerField(default=0)
    """The change of *page* to report; 0 = announce it as new."""

    lasting_ids = True
    # The original sends them. A channel that is new in the settings file sends nothing announced earlier.
    outgoing: ClassVar = {
        "waiting message": f"state IN ('{OutboxState.WAITING}', '{OutboxState.SENDING}')"
    }

    @classmethod
    def merges(cls) -> tuple[Merge, ...]:
        """Return how its entries are merged."""
        return (Merge(cls.page, ("channel", "change_id"), _one_message),)

    class Meta:
        table_name = "outbox"
        indexes = (
            (("channel", "page", "change_id"), True),
            (("channel", "state", "queued_at"), False),
        )


# Of two messages about a page that which went further.
_SENT = (OutboxState.FAILED, OutboxState.WAITING, OutboxState.SENDING, OutboxState.SENT)
_join = joined(lambda row: _SENT.index(row["state"]), queued_at=least, next_at=better, error=better)


def _one_message(stays: Row, goes: Row) -> Row | None:
    """Join two messages about the page; one about a backfill is about other pages as well, and stays."""
    return _join(stays, goes) if stays["backfill_id"] == goes["backfill_id"] else None
