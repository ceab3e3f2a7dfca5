"""Who reads along in a replay: a channel of messages, and a feed reader.

The channel is the product's own, with a service that takes every message. Once a simulated day the list of
new pages is compared with that of the day before: a page that became another is compared with what it was.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Any

from lab.new_pages import listed
from msgspec import structs

from incremental.base.clock import SystemClock
from incremental.features.messages.hooks import Delivered
from incremental.features.messages.notifier import Notifier
from incremental.features.messages.settings import ChannelSettings, MessagesSettings
from incremental.interfaces.web.routes.feeds import feed_entry
from incremental.settings import Settings
from store import Store
from store.answers.announced import AnnouncedPage
from store.models import OutboxEntry, Page

_DAY = 86_400.0
# Simulated; a page is queued up to three days after it was announced.
_STEP_SECONDS = 1_800.0


class _Taking(Executor):
    """The way to a service that takes every message at once."""

    def submit(self, _: Any, /, *__: Any, **___: Any) -> Future[Any]:  # noqa: ANN401 - as of any executor
        taken: Future[Any] = Future()
        taken.set_result(Delivered(ok=True))
        return taken


class Readers:
    """A channel and a feed reader of one store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        channel = ChannelSettings("replay", "json://127.0.0.1/", max_per_hour=1_000)
        own = structs.replace(settings, further=(MessagesSettings(channel=(channel,)),))
        self._notifier = Notifier(store, own, SystemClock(), executor=_Taking())
        self._step_at = self._compare_at = 0.0
        self._before: dict[int, AnnouncedPage] = {}
        self._lost: Counter[str] = Counter()

    def step(self, now: float) -> None:
        """Send what is due, and compare once a day."""
        if now >= self._step_at:
            self._notifier.step(now)
            self._step_at = now + _STEP_SECONDS
        if now >= self._compare_at:
            self._compare()
            self._compare_at = now + _DAY

    def figures(self, clock: Callable[[], float]) -> dict[str, int]:
        """Return, after the last step, how often readers were told twice or lost something; 0 is right."""
        self._notifier.finish(clock)
        self._compare()
        living = self._living()
        entries = OutboxEntry.select(OutboxEntry.page).where(OutboxEntry.backfill_id.is_null())
        queued = Counter(
            living.get(page, page) for (page,) in entries.tuples().execute(self._store.database)
        )
        return {
            "messages_twice": sum(queued.values()) - len(queued),
            "messages_missing": len(self._before.keys() - queued.keys()),
            "feed_ids_changed": self._lost["id"],
            "metadata_lost": sum(self._lost.values()) - self._lost["id"],
        }

    def _living(self) -> dict[int, int]:
        """Return, by the id of each page that became another, that page's."""
        moved = Page.select(Page.id, Page.moved_to).where(Page.moved_to.is_null(is_null=False))
        return dict(moved.tuples().execute(self._store.database))

    def _compare(self) -> None:
        living, now = self._living(), {row.page_id: row for row in listed(self._store)}
        before: dict[int, list[AnnouncedPage]] = defaultdict(list)
        for page, row in self._before.items():
            before[living.get(page, page)].append(row)
        for page, rows in before.items():
            self._lost.update(_lost(rows, now.get(page)))
        self._before = now


def _lost(before: Iterable[AnnouncedPage], now: AnnouncedPage | None) -> Iterable[str]:
    """Yield what was known of a listed page and is not any more."""
    ids = {feed_entry(row).id for row in before}
    if now is None or feed_entry(now).id not in ids:
        yield "id"
    for name in ("title", "language", "published_at", "excerpt", "topics", "cluster", "read_at"):
        if any(getattr(row, name) for row in before) and not getattr(now, name, None):
            yield name
