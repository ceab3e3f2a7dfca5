"""The daemon's side of WebSub: subscribes, handles hubs' requests, schedules visits.

The web server's thread calls :meth:`Pushes.receive`, which only fills an inbox; the daemon's calls
:meth:`Pushes.step`, which does the rest.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue

from incremental.base.threads import InlineExecutor
from incremental.base.times import DAY, MINUTE
from incremental.daemon.at_work import AtWork, Note
from incremental.features.websub.callback import (
    CallbackAnswer,
    CallbackRequest,
    Confirmed,
    Event,
    Ping,
    answer,
)
from incremental.features.websub.settings import WebSubSettings
from incremental.features.websub.subscription import Keys, Subscription
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.schedule.price import pinged
from incremental.schedule.state import HubState
from incremental.visit.visit import Fetch
from store import Store, enums
from store.database.home import make_folder
from store.values import HubRow

logger = logging.getLogger("hubwatch.websub")

# How soon after a hub's message its page is due.
STEP_SECONDS = 2.0
# How often all hub pages are searched for offers and ending leases.
SURVEY_SECONDS = 10 * MINUTE
MAX_ASKED_AT_ONCE = 5
# Messages queued; more are dropped, because the pages are visited anyway.
MAX_INBOX = 10_000
MAX_HUB_REDIRECTS = 3
_POSTED_AGAIN = frozenset({301, 302, 307, 308})
_KEY_FILE = "websub.key"
_KEY_BYTES = 32


def pushes(work: AtWork) -> Pushes | None:
    """Return the job; None without a public callback URL."""
    settings = work.settings.of(WebSubSettings)
    if not settings.callback_url:
        return None
    executor = ThreadPoolExecutor(1, thread_name_prefix="websub")
    work.stack.callback(executor.shutdown, wait=False, cancel_futures=True)
    return Pushes(
        work.store,
        settings,
        load_keys(work.folder / work.settings.store.folder),
        fetch=work.fetch,
        note=work.note,
        executor=executor,
        serves=work.serves,
    )


class Pushes:
    """The subscriptions of all watched pages."""

    def __init__(  # noqa: PLR0913 - what it needs of others
        self,
        store: Store,
        settings: WebSubSettings,
        keys: Keys,
        *,
        fetch: Fetch,
        note: Note,
        executor: Executor | None = None,
        serves: Callable[[], bool] = lambda: True,
    ) -> None:
        """Post in *executor*, so that a hub that hangs holds up nobody; None = in the step."""
        self._executor = executor or InlineExecutor()
        self._posting: tuple[Subscription, Future[Response]] | None = None
        self._serves = serves
        self._store = store
        self._settings = settings
        self._keys = keys
        self._fetch = fetch
        self._note = note
        self._inbox: SimpleQueue[Event] = SimpleQueue()
        self._surveyed_at = 0.0
        self._waiting: list[Subscription] = []

    def receive(self, request: CallbackRequest, now: float) -> CallbackAnswer:
        """Answer a request at the callback address. Thread-safe."""
        page_id = self._keys.page_of(request.token)
        hub = self._store.read.hub(page_id) if page_id is not None else None
        subscription = None if hub is None else _subscription(hub)
        answered = answer(request, subscription, self._keys, now)
        if answered.event is not None and self._inbox.qsize() < MAX_INBOX:
            self._inbox.put(answered.event)
        return answered

    def step(self, now: float) -> float:
        """Process the inbox and send a few due subscriptions; return when to call again."""
        if not self._serves():
            return now + SURVEY_SECONDS  # nobody would answer the hubs
        for event in self._events():
            self._take(event, now)
        if now - self._surveyed_at >= SURVEY_SECONDS or now < self._surveyed_at:
            self._surveyed_at = now
            self._waiting = [one for one in self._subscriptions() if one.ask_at() <= now]
        for _ in range(MAX_ASKED_AT_ONCE):
            if not self._is_free() or not self._waiting:
                break
            self._ask(self._waiting.pop(), now)
        self._is_free()
        return now + STEP_SECONDS

    def _is_free(self) -> bool:
        """Whether no request is under way; logs the outcome of the last one."""
        if self._posting is None:
            return True
        subscription, future = self._posting
        if not future.done():
            return False
        self._posting = None
        response = future.result()
        if response.status is not FetchStatus.FETCHED:
            logger.warning(
                "%s: subscription to %s: %s %s",
                subscription.hub_url,
                subscription.topic_url,
                response.status.value,
                response.detail,
            )
        return True

    def _events(self) -> Iterator[Event]:
        while True:
            try:
                yield self._inbox.get_nowait()
            except Empty:
                return

    def _subscriptions(self) -> Iterator[Subscription]:
        active = {
            row.id for row in self._store.read.sites() if row.state == enums.SiteStatus.ACTIVE
        }
        for hub in self._store.read.hubs():
            subscription = _subscription(hub)
            if (
                subscription.hub_url
                and hub.site_id in active
                and hub.state != enums.HubStatus.DROPPED
            ):
                yield subscription

    def _take(self, event: Event, now: float) -> None:
        # A change hint, never content: the page is visited as usual, so nothing a stranger sends reaches
        # the store.
        if isinstance(event, Ping):
            self._note(event.page_id, lambda hub: pinged(hub, now), now)
        elif isinstance(event, Confirmed):
            until = event.until
            self._note(event.page_id, lambda hub: replace(hub, push_until=until, push_asked=0), now)
            logger.info(
                "WebSub subscription of page %d confirmed for %.1f days",
                event.page_id,
                (until - now) / DAY,
            )
        else:
            self._note(event.page_id, lambda hub: replace(hub, push_until=0.0), now)
            logger.warning("WebSub subscription of page %d denied: %s", event.page_id, event.reason)

    def _ask(self, subscription: Subscription, now: float) -> None:
        # Recorded before sending: the hub may verify before it responds.
        self._note(
            subscription.page_id,
            lambda hub: replace(hub, push_asked_at=now, push_asked=hub.push_asked + 1),
            now,
        )
        lease = self._settings.lease_days * DAY
        request = subscription.request(self._settings.callback_url, self._keys, lease)
        self._posting = subscription, self._executor.submit(self._posted, request)

    def _posted(self, request: Request) -> Response:
        """Post a request, again if the hub has moved (section 5.1 has 307 and 308)."""
        response = self._fetch(request)
        for _ in range(MAX_HUB_REDIRECTS):
            target = response.location
            # Hubs mean the same by 301 and 302.
            again = response.http_code in _POSTED_AGAIN and target is not None
            # The request holds the secret, so it does not go from https to http.
            loses_tls = request.url.startswith("https:") and not (target or "").startswith("https:")
            if target is None or not again or loses_tls:
                break
            request = replace(request, url=target)
            response = self._fetch(request)
        return response


def _subscription(hub: HubRow) -> Subscription:
    return Subscription.of(hub.page_id, hub.url, HubState.from_text(hub.revisit))


def load_keys(folder: Path) -> Keys:
    """Read the key beside the store; created at the first call, readable by its owner only."""
    path = folder / _KEY_FILE
    if not path.exists():
        make_folder(folder)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
    return Keys(path.read_bytes())
