"""The messages job: queue new pages, send what is due, one message at a time per channel.

::

    step(now), for each channel
      queue    announced pages of its topic and search, never queued before   store.outbox
               changes of watched pages that it wants                          store.watched_changes
      plan     rhythm, quiet hours, cap                                       plan.py
      begin    mark the entries with the message's key, then send in a thread
      settle   mark them as sent, or when to retry

Which channels want a change of a watched page::

    the watch names channels     those, whatever they are narrowed to
    it names none                every channel without a topic and a search whose tag the site has
    words                        of the watch and of the channel: in the title or in a changed line

After a kill a message is unmarked (sent at the next start), marked but unconfirmed (sent again under the
same key), or confirmed (never sent again).
"""

import logging
import math
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from incremental.base.attempts import Bug, attempt
from incremental.base.clock import Clock, SystemClock
from incremental.base.errors import InputError
from incremental.base.texts import Text, stored
from incremental.base.times import DAY, HOUR
from incremental.daemon.at_work import AtWork, Trouble
from incremental.features.messages.channels import all_channels, check_channels, gone, plan_of
from incremental.features.messages.hooks import Delivered, call, deliver
from incremental.features.messages.message import (
    MAX_PAGES,
    SAMPLE,
    Item,
    best_topic,
    compose,
    for_programs,
    of_change,
    of_event,
    of_page,
)
from incremental.features.messages.plan import message_key, retry_at
from incremental.features.messages.settings import ChannelSettings, HookChannel, MessagesSettings
from incremental.fetch.libraries import LibraryGate
from incremental.fetch.options import FetchSettings
from incremental.interfaces.answer_links import AnswerLinks
from incremental.interfaces.filters import from_json
from incremental.settings import Settings
from store import Store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.crawl.quarantine import QuarantineKind
from store.database.texts import storable
from store.enums import OutboxState, TopicVerdict
from store.outbox import OutboxRow, alone
from store.page_watches import WatchRow
from store.search.words import folded, occurrences, read_word
from store.watched_changes import ChangeQuery, WatchedChangeRow

logger = logging.getLogger("hubwatch.messages")

POLL_SECONDS = 30.0
BUSY_SECONDS = 1.0
# A page may reach a channel this long after its announcement, because its topic may score it late.
LOOK_BACK_SECONDS = 3 * DAY
# A page with only a guessed score waits this long for its verdict.
JUDGED_WITHIN_SECONDS = 6 * HOUR
MOST = 1_000
MOST_CHANGES = 200
LIKELY = 0.5
# Hooks and plug-ins that run at once; each is called for one page at a time.
_HOOKS = 4
_MOST_IN_A_RUN = 1_000

# A message refused so often was tried for an hour, and is stuck.
STUCK_ATTEMPTS = 7
# A channel whose work met a bug is tried again after this long.
BUG_SECONDS = 600.0


def wants(
    channel: ChannelSettings, watch: WatchRow, change: WatchedChangeRow, tags: Collection[str]
) -> bool:
    """Whether a channel wants a change of a watch; *tags* are those of its site."""
    if watch.receivers:
        if channel.name not in watch.receivers:
            return False
    elif channel.topic or channel.search or (channel.tag and channel.tag not in tags):
        return False
    return all(
        (not one.include or any(says(change.text, word) for word in one.include))
        and not any(says(change.text, word) for word in one.exclude)
        for one in (watch, channel)
    )


def says(text: str, wanted: str) -> bool:
    """Whether a text has a word or phrase, as the search for announced pages reads it."""
    phrases, text = read_word(wanted), folded(text)
    return bool(phrases) and all(any(occurrences(text, [phrase])) for phrase in phrases)


@dataclass(slots=True)
class _Underway:
    """A message being sent."""

    key: str
    attempts: int
    future: Future[Delivered]


class Notifier:
    """Sends what the outbox holds. Called only by the store's writer thread."""

    def __init__(  # noqa: PLR0913 - what it needs of others
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        *,
        executor: Executor,
        hook_executor: Executor | None = None,
        folder: Path = Path(),
        trouble: Trouble = lambda *_: None,
    ) -> None:
        """Messages are sent in *executor*, hooks called in *hook_executor*, else in the same.

        *folder* has the key of the links in mails.
        """
        self._store = store
        self._settings = settings
        self._gate = LibraryGate(settings.fetch, clock)
        self._executor = executor
        self._hook_executor = hook_executor or executor
        # Without a feature that has changes to send nobody asks for them.
        self._has_changes = any(one.senders for one in settings.enabled.on)
        # The last change that was looked at, by channel; after a restart they are looked at again, and
        # the outbox knows which were queued.
        self._seen: dict[str, int] = {}
        self._trouble = trouble
        self._answer_links = AnswerLinks.of(settings, folder)
        self._underway: dict[str, _Underway] = {}
        # When a result is recorded again that met a bug, by channel.
        self._record_at: dict[str, float] = {}

    def step(self, now: float) -> float:
        """Do what is due; return when to call again (unix seconds)."""
        self._record(now)
        channels = all_channels(self._store, self._settings)
        check_at = [self._channel_at(channel, now) for channel in channels]
        self._report({channel.name for channel in channels}, now)
        pause = BUSY_SECONDS if self._underway else POLL_SECONDS
        return min([now + pause, *check_at])

    def _report(self, names: Collection[str], now: float) -> None:
        """Report the channels whose messages are stuck."""
        overdue = self._store.outbox.errors(STUCK_ATTEMPTS, given_up_since=now - DAY)
        stuck = {
            name: Text("messages.stuck", name=name, reason=storable(error))
            for name, error in overdue.items()
            if name in names
        }
        self._trouble("messages", stuck)

    def begin(self, now: float) -> None:
        """Start each new channel at *now*: earlier pages are not sent."""
        for channel in all_channels(self._store, self._settings):
            self._store.outbox.since(channel.name, now=now)

    def finish(self, clock: Callable[[], float]) -> None:
        """Send what is due and wait for it; for a single run."""
        for _ in range(_MOST_IN_A_RUN):
            self.step(clock())
            if not self._underway:
                return
            wait([one.future for one in self._underway.values()])

    def end(self, clock: Callable[[], float], seconds: float | None) -> bool:
        """Wait *seconds* for running sends; None = send all that is due."""
        if seconds is None:
            self.finish(clock)
        return self.settle(clock, seconds)

    def settle(self, clock: Callable[[], float], seconds: float | None = None) -> bool:
        """Wait for running sends, *seconds* at most, and record their results; whether all ended."""
        wait([one.future for one in self._underway.values()], timeout=seconds)
        # Otherwise the next start would repeat them.
        self._record(clock())
        return not self._underway

    def _channel_at(self, channel: ChannelSettings, now: float) -> float:
        """Do what is due on a channel, whatever bugs the others meet; return when to come again."""
        done = attempt(partial(self._channel, channel, now))
        if isinstance(done, Bug):
            self._note_bug(channel.name, done, now)
            return now + BUG_SECONDS
        return done

    def _channel(self, channel: ChannelSettings, now: float) -> float:
        if channel.name in self._underway:
            return now + BUSY_SECONDS
        self._queue(channel, now)
        entries = self._store.outbox.open(channel.name)
        if not entries:
            return math.inf
        planned = plan_of(self._store, channel, entries, now)
        if planned.entries:
            self._send(channel, [one for one in entries if one.id in planned.entries], now)
            return now + BUSY_SECONDS
        return max(planned.check_at, now + BUSY_SECONDS)

    def _record(self, now: float) -> None:
        """Record the results of the messages that were sent, also of channels removed meanwhile."""
        for name, one in list(self._underway.items()):
            if one.future.done() and now >= self._record_at.get(name, 0.0):
                bug = attempt(partial(self._record_one, name, one, now))
                if bug is not None:
                    # It holds up no other channel, and is neither lost nor sent again.
                    self._note_bug(name, bug, now)
                    self._record_at[name] = now + BUG_SECONDS

    def _record_one(self, name: str, one: _Underway, now: float) -> None:
        outcome = attempt(one.future.result)
        if isinstance(outcome, Bug):
            # The message is tried again like one that was refused.
            self._note_bug(name, outcome, now)
            outcome = Delivered(ok=False, error=f"internal error: {outcome.error}")
        if outcome.ok:
            self._store.outbox.sent(one.key, now=now)
            self._store.quarantine.remove(QuarantineKind.JOB, f"messages to {name}")
        else:
            again = retry_at(one.attempts, now)
            self._store.outbox.failed(one.key, stored(outcome.error), next_at=again)
            given_up = "" if again is not None else "; given up (hubwatch notify retry)"
            logger.warning("channel %s: %s%s", name, outcome.error, given_up)
        # Only now: while the store cannot be used it is neither lost nor sent again.
        del self._underway[name]

    def _note_bug(self, channel: str, bug: Bug, now: float) -> None:
        logger.error("a bug in sending to channel %s; please report it\n%s", channel, bug.trace)
        job = f"messages to {channel}"
        self._store.quarantine.put(
            QuarantineKind.JOB, job, error=bug.error, trace=bug.trace, now=now
        )

    def _queue(self, channel: ChannelSettings, now: float) -> None:
        """Queue the announced pages, backfill events and changes that a channel wants and never got."""
        since = self._store.outbox.since(channel.name, now=now)
        since = max(since, now - LOOK_BACK_SECONDS)
        query = self._query(channel, since, now)
        pages = self._store.answers.all_new(query) if query is not None else ()
        ripe = alone(row.page_id for row in pages if self._is_ripe(row, channel, now))
        self._store.outbox.queue(channel.name, ripe, now=now)
        # Pages of a backfill are not scored, so channels that are narrowed do not get them.
        if not (channel.topic or channel.search or channel.tag or channel.include):
            self._queue_backfills(channel, since, now)
        if self._has_changes:
            self._queue_changes(channel, since, now)

    def _queue_backfills(self, channel: ChannelSettings, since: float, now: float) -> None:
        """Queue backfill events, one entry each."""
        query = NewQuery(since=since, limit=MOST, order="oldest")
        while events := self._store.backfills.events(query):
            wanted = [(event.page_id, event.id, 0) for event in events]
            self._store.outbox.queue(channel.name, wanted, now=now)
            query = replace(query, after=events[-1].id)

    def _queue_changes(self, channel: ChannelSettings, since: float, now: float) -> None:
        """Queue the changes of watched pages that a channel wants."""
        after = self._seen.get(channel.name, 0)
        query = ChangeQuery(after=after, since=since, limit=MOST_CHANGES, oldest_first=True)
        while found := self._store.watched_changes.changes(query):
            watches = self._settings.enabled.by_id("senders", self._store)
            tags = self._store.tags.of_sites()
            wanted = [
                (change.page_id, None, change.id)
                for change in found
                if (watch := watches.get(change.watch_id or 0)) is not None
                and wants(channel, watch, change, tags.get(change.site_id, ()))
            ]
            self._store.outbox.queue(channel.name, wanted, now=now)
            self._seen[channel.name] = found[-1].id
            query = replace(query, after=found[-1].id)

    def _query(self, channel: ChannelSettings, since: float, now: float) -> NewQuery | None:
        """Return a channel's query; None if its topic or search is gone."""
        if gone(self._store, channel) is not None:
            return None
        search = self._store.answers.search(channel.search) if channel.search else None
        try:
            query = NewQuery() if search is None else from_json(search.query).query(now)
        except InputError:
            return None  # it was saved by another version
        topic = self._store.topics.topic(channel.topic) if channel.topic else None
        if topic is not None:
            hidden, least = TopicVerdict.IRRELEVANT, channel.min_score or None
            query = replace(query, topic=topic.id, hidden_verdict=hidden, min_score=least)
        return replace(
            query,
            tag=channel.tag or query.tag,
            include=channel.include,
            exclude=channel.exclude,
            since=max(since, query.since or 0.0),
            order="oldest",
            limit=MOST,
        )

    def _is_ripe(self, row: AnnouncedPage, channel: ChannelSettings, now: float) -> bool:
        """Whether a page may be sent: one with a guessed score waits for its verdict for a while."""
        mark = next((one for one in row.topics if one.topic == channel.topic), None)
        if mark is None or mark.fetched:
            return True
        return now - row.found_at > JUDGED_WITHIN_SECONDS and mark.score >= LIKELY

    def _send(self, channel: ChannelSettings, entries: Sequence[OutboxRow], now: float) -> None:
        """Begin to send a message, or to call a hook, for which there is one call for each page."""
        first = entries[0]
        is_cut_off = first.state == OutboxState.SENDING
        key = (
            first.message if is_cut_off else message_key(channel.name, [one.id for one in entries])
        )
        # Marked before it is sent: after a crash nothing is queued twice, and the message is sent again
        # under the same key.
        self._store.outbox.begin([one.id for one in entries], key)
        items = [self._item(one, channel, now) for one in entries]
        if isinstance(channel, HookChannel):
            given = for_programs(items[0], channel.name, key)
            future = self._hook_executor.submit(partial(call, self._gate, channel.hook, given, key))
        else:
            message = compose(items, language=self._settings.web.language or "en")
            future = self._executor.submit(partial(deliver, self._gate, channel.url, message, key))
        self._underway[channel.name] = _Underway(key, first.attempts + 1, future)

    def _item(self, entry: OutboxRow, channel: ChannelSettings, now: float) -> Item:
        """Return what is told of an entry: its change or backfill event if it is there, else its page."""
        change = self._store.watched_changes.change(entry.change_id) if entry.change_id else None
        if change is not None:
            return of_change(change)
        event = self._store.backfills.event(entry.backfill_id) if entry.backfill_id else None
        if event is not None:
            asked = NewQuery(limit=MAX_PAGES, order="oldest")
            return of_event(event, self._store.backfills.pages(asked, event=event.id))
        detail = self._store.answers.page(entry.page_id, most=1)
        page = detail.news if detail is not None else None
        if page is None:
            names = (entry.page_id, entry.url, entry.title, entry.anchor, "", entry.site_id)
            page = AnnouncedPage(0, *names, entry.queued_at, None, None, None, None, "known")
        return of_page(page, channel.topic, self._irrelevant_url(page, channel.topic, now))

    def _irrelevant_url(self, page: AnnouncedPage, topic: str, now: float) -> str:
        """Return the link that marks a page as not relevant to the channel's topic, else to its best one."""
        row = self._store.topics.topic(topic or best_topic(page))
        if self._answer_links is None or row is None or not page.cursor:
            return ""
        return self._answer_links.irrelevant(row, page, now)


# One test at a time per process, so that a hanging receiver blocks one thread, not all.
_trying = threading.Lock()


def send_test(channel: ChannelSettings, fetch: FetchSettings, clock: Clock) -> Delivered:
    """Send a test message now; it is not in the outbox."""
    if not _trying.acquire(blocking=False):
        return Delivered(ok=False, error="another test is running")
    try:
        gate, now = LibraryGate(fetch, clock), clock.now()
        item = of_page(replace(SAMPLE, found_at=now), channel.topic, kind="test")
        key = f"test-{now:.0f}"
        if isinstance(channel, HookChannel):
            return call(gate, channel.hook, for_programs(item, channel.name, key), key)
        return deliver(gate, channel.url, compose([item]), key)
    finally:
        _trying.release()


def messages(work: AtWork) -> Notifier:
    """Return the job, for the channels of the settings and those added meanwhile.

    Raises:
        SettingsError: a channel cannot be used, or the key of the links in mails.
    """
    check_channels(work.settings)
    return Notifier(
        work.store,
        work.settings,
        SystemClock(),
        executor=ThreadPoolExecutor(1, thread_name_prefix="messages"),
        # A hook may take a minute, and holds up no message.
        hook_executor=ThreadPoolExecutor(_HOOKS, thread_name_prefix="hooks"),
        folder=work.folder,
        trouble=work.trouble,
    )


def forget(store: Store, settings: Settings, now: float) -> Iterator[int]:
    """Forget old messages, those that wait on a removed channel included, a batch at a time."""
    before = now - settings.of(MessagesSettings).keep_days * DAY
    keep = [one.name for one in all_channels(store, settings)]
    while rows := store.outbox.forget(before=before, keep=keep):
        yield rows
