"""A report of a missed page: what the store knows of it, else what is wired to fetch it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incremental.base.clock import Clock, SystemClock
from incremental.base.texts import Text
from incremental.base.threads import pause
from incremental.interfaces.explain.page import explain_rules
from incremental.interfaces.results.schema import when
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from store import Store


@dataclass(frozen=True, slots=True)
class Missed:
    """What became of a report of a missed page."""

    url: str
    cause: str
    """A key of the texts: ``announced``, ``decided``, ``outside``, ``too_late``, ``unread``, ``unwatched``,
    ``nowhere``."""
    hub_url: str
    """The hub that shows it; empty = none was found."""
    says: tuple[str, ...]
    """The whole answer in sentences."""


def known_page(answer: dict[str, Any]) -> Missed | None:
    """Return what became of a page that a site has shown, by the explanation of its URL; None = none has."""
    seen = [site for site in answer["sites"] if site["seen"]]
    if not seen:
        return None
    shown = next((one for one in seen if one["announced_at"]), None)
    url = answer["url"]
    first = (
        said("announced", at=when(shown["announced_at"]))
        if shown
        else said("decided", verdict=answer["verdict"])
    )
    refused = [
        said("off_topic", topic=one["topic"], score=f"{one['score']:.2f}")
        for one in answer["topics"]
        if one["verdict"] == "irrelevant"
    ]
    return Missed(url, "announced" if shown else "decided", "", (first, *refused))


def said(name: str, **values: object) -> Text:
    """Return a text of this feature."""
    return Text(f"corrections.{name}", **values)


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
