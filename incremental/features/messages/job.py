"""The daemon's jobs for messages: sending, and deleting old ones once a day."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from incremental.base.clock import SystemClock
from incremental.base.errors import InputError
from incremental.base.times import DAY
from incremental.daemon.at_work import AtWork
from incremental.features.messages.channels import (
    added_channels,
    all_channels,
    check_channels,
    given_channels,
)
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import MessagesSettings
from incremental.fetch.libraries import LibraryGate
from incremental.interfaces.answer_links import AnswerLinks
from incremental.interfaces.filters import from_json
from incremental.settings import Settings
from store import Store
from store.answers import NewQuery

# Hooks and plug-ins that run at once; each is called for one page at a time.
_HOOKS = 4


def messages(work: AtWork) -> Notifier:
    """Return the job, for the channels of the settings and those added meanwhile.

    Raises:
        SettingsError: a channel cannot be used, or the key of the links in mails.
    """
    store, settings, clock = work.store, work.settings, SystemClock()
    check_channels(settings)
    sends = any(one.senders for one in settings.enabled.on)
    return Notifier(
        store,
        given_channels(settings),
        gate=LibraryGate(settings.fetch, clock),
        executor=ThreadPoolExecutor(1, thread_name_prefix="messages"),
        saved_query=lambda name: _saved_query(store, name, clock.now()),
        trouble=work.trouble,
        # A hook may take a minute, and holds up no message.
        hook_executor=ThreadPoolExecutor(_HOOKS, thread_name_prefix="hooks"),
        added=partial(added_channels, store, settings),
        senders=partial(settings.enabled.by_id, "senders", store) if sends else None,
        answer_links=AnswerLinks.of(settings, work.folder),
        language=settings.web.language or "en",
    )


def _saved_query(store: Store, name: str, now: float) -> NewQuery | None:
    """Return the query of a saved search; None if it is missing or damaged."""
    row = store.answers.search(name)
    try:
        return None if row is None else from_json(row.query).query(now)
    except InputError:
        return None  # the channel reports it; crawling goes on


def forget(store: Store, settings: Settings, now: float) -> Iterator[int]:
    """Forget old messages, those that wait on a removed channel included, a batch at a time."""
    before = now - settings.of(MessagesSettings).keep_days * DAY
    keep = [one.name for one in all_channels(store, settings)]
    while rows := store.outbox.forget(before=before, keep=keep):
        yield rows
