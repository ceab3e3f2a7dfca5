"""Wires what a report of a missed page needs."""

from contextlib import closing
from pathlib import Path

from incremental.base.clock import Clock, SystemClock
from incremental.base.threads import pause
from incremental.features.corrections.known import Missed, known_page
from incremental.interfaces.explain.page import explain_rules
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store


def missed_page(
    store: Store, settings: Settings, folder: Path, url: str, clock: Clock | None = None
) -> Missed:
    """Find out why a page was missed, on this machine's network.

    Raises:
        InputError: not a web address.
    """
    clock = clock or SystemClock()
    answer = explain_rules(store, settings, url, now=clock.now())
    if (known := known_page(answer)) is not None:
        return known
    # What fetches and reads is loaded where that is done.
    from incremental.daemon.assembly import hub_scorer, make_fetcher, make_reader  # noqa: PLC0415
    from incremental.features.corrections.missed import Means, find_missed  # noqa: PLC0415

    scorer = hub_scorer(models_folder(settings, folder))
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_reader(settings, workers=1) as read,
    ):
        means = Means(fetcher.fetch, read, scorer, clock.now, pause)
        return find_missed(store, settings, answer, means)
