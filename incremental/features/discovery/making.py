"""From settings to a discoverer: wires its parts together; and what is forgotten of old runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from incremental.base.clock import SystemClock
from incremental.base.threads import pause
from incremental.base.times import DAY
from incremental.daemon.assembly import hub_scorer, make_embedder, make_fetcher, make_reader
from incremental.features.discovery.search_provider import searxng
from incremental.features.discovery.settings import DiscoverySettings
from incremental.settings import Settings
from incremental.settings.storage import models_folder, only_one
from store import Store

if TYPE_CHECKING:
    from incremental.features.discovery.discoverer import Discoverer
    from store.topics.values import TopicRow

# Proposals without an answer, and the pages that found them.
_KEPT_DAYS = 365
_UNDER_WAY = "another search for sites of this topic is under way"


@contextlib.contextmanager
def make_discoverer(
    store: Store, settings: Settings, folder: Path, topic: TopicRow
) -> Iterator[Discoverer]:
    """Make the discoverer of further sites for *topic*, with the configured search provider.

    Raises:
        InputError: the topic has no page to start from.
        StoreLockedError: another run of the topic is under way.
    """
    # Models and rankers take seconds to load.
    from incremental.features.discovery.discoverer import Dependencies, Discoverer  # noqa: PLC0415
    from incremental.topics.model_store import TopicModelStore  # noqa: PLC0415

    clock = SystemClock()
    fetcher = make_fetcher(settings, clock)
    wanted = settings.of(DiscoverySettings)
    try:
        with (
            # Two runs would read the same pages.
            only_one(settings, folder, f"discovery-{topic.id}.lock", _UNDER_WAY),
            make_reader(settings, workers=1) as read,
            make_embedder(settings, clock) as embedder,
        ):
            model_store = TopicModelStore(store, settings.topics.tree, embedder=embedder)
            dependencies = Dependencies(
                fetch=fetcher.fetch,
                scorer=hub_scorer(models_folder(settings, folder)),
                search=partial(searxng, fetcher.fetch, wanted.url) if wanted.url else None,
                now=clock.now,
                pause=pause,
                read=embedder.reading(read) if embedder else read,
            )
            yield Discoverer(store, settings, topic, model_store, dependencies)
    finally:
        fetcher.close()


def forget(store: Store, _: Settings, now: float) -> Iterator[int]:
    """Forget old pages and open proposals, some pages at a time."""
    before = now - _KEPT_DAYS * DAY
    while rows := store.discovery.forget_older(before=before):
        yield rows
