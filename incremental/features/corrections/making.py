"""Wires what a report of a missed page needs."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from incremental.base.clock import Clock, SystemClock
from incremental.base.threads import pause
from incremental.daemon.assembly import hub_scorer, make_fetcher, make_reader
from incremental.features.corrections.missed import Means, Missed, find_missed
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store


def missed_page(
    store: Store, settings: Settings, folder: Path, url: str, clock: Clock | None = None
) -> Missed:
    """Find out why a page was missed, on this machine's network."""
    clock = clock or SystemClock()
    scorer = hub_scorer(models_folder(settings, folder))
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_reader(settings, workers=1) as read,
    ):
        means = Means(fetcher.fetch, read, scorer, clock.now, pause)
        return find_missed(store, settings, url, means)
