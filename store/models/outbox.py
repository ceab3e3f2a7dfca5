"""The tables of the outbox: what is to be told by message, and what was."""

from __future__ import annotations

from peewee import (
    BigAutoField,
    BigIntegerField,
    DoubleField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)

from store.models.sites import Page


class Channel(Model):
    """Where messages go, as the settings name it."""

    name = TextField(primary_key=True)
    since = DoubleField()
    """When it was first seen in the settings: what was told before is not sent."""

    class Meta:
        table_name = "channel"
        legacy_table_names = False


class OutboxEntry(Model):
    """A page that is to be told on a channel, or was."""

    id = BigAutoField()
    channel = TextField()
    page = ForeignKeyField(Page, on_delete="CASCADE", lazy_load=False, index=True)
    queued_at = DoubleField()
    state = TextField(default="waiting")
    """waiting, sending, sent, failed (given up)."""
    message = TextField(default="")
    """Idempotency key of the message that it went with; stays when that is repeated."""
    attempts = IntegerField(default=0)
    next_at = DoubleField(null=True)
    """Not before this; NULL = whenever its channel's rhythm allows."""
    sent_at = DoubleField(null=True)
    error = TextField(default="")
    backfill_id = BigIntegerField(null=True)
    """The event that it tells of: *page* is the first of its pages then. NULL = it tells of *page*."""

    class Meta:
        table_name = "outbox"
        legacy_table_names = False
        indexes = ((("channel", "page"), True), (("channel", "state", "queued_at"), False))
