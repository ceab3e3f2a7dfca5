"""Why a page was missed, and which hub should have shown it.

::

    stored evidence   announced, withheld by a rule, outside, excluded         interfaces/explain
    the page          fetched once, for its links
    likely hubs       nearest watched hubs, folders above the page, lists it links to: fetched until one
                      shows the page, at most MOST_ASKED
    the hub           not watched: watched from now on; watched: visited now
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from incremental.base.clock import Clock, SystemClock
from incremental.base.lookup import called_article
from incremental.base.path_aliases import rules
from incremental.base.scope import read_scope
from incremental.base.texts import Text, named, read_text
from incremental.base.threads import pause
from incremental.base.urls import canonical_key, normalize
from incremental.decide.hubs import HubScorer, score_targets
from incremental.decide.links import targets
from incremental.fetch.status import FetchStatus
from incremental.interfaces.explain.page import explain_rules, nearest
from incremental.interfaces.results.schema import when
from incremental.interfaces.site_editing import request_page
from incremental.parse import Page
from incremental.sandbox import Body, Read, Unread
from incremental.settings import Settings
from incremental.settings.storage import models_folder
from incremental.topics.training.corrections import correct, places
from incremental.visit.host_gate import HostGate
from incremental.visit.once import fetch_once, problem_of
from incremental.visit.visit import Fetch
from store import Store
from store.enums import HubStatus
from store.values import HubRow, SiteRow

MOST_ASKED = 5
"""Likely hubs that are fetched."""
LONGEST_WAIT_SECONDS = 30.0
_MOST_NEAR = 2


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
    # What fetches is loaded where that is done.
    from incremental.daemon.assembly import hub_scorer, make_fetcher, make_reader  # noqa: PLC0415

    scorer = hub_scorer(models_folder(settings, folder))
    with (
        closing(make_fetcher(settings, clock)) as fetcher,
        make_reader(settings, workers=1) as read,
    ):
        return find_missed(answer, Look(store, settings, fetcher.fetch, read, clock.now), scorer)


def known_page(answer: dict[str, Any]) -> Missed | None:
    """Return what became of a page that a site has shown, by the explanation of its URL; None = none has."""
    seen = [site for site in answer["sites"] if site["seen"]]
    if not seen:
        return None
    shown = next((one for one in seen if one["announced_at"]), None)
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
    return Missed(answer["url"], "announced" if shown else "decided", "", (first, *refused))


def said(name: str, **values: object) -> Text:
    """Return a text of this feature."""
    return Text(f"corrections.{name}", **values)


def find_missed(answer: dict[str, Any], look: Look, scorer: HubScorer) -> Missed:
    """Find out why no site has shown a page; watch or visit the hub that shows it.

    *answer* is the explanation of its URL.
    """
    url, store, settings = answer["url"], look.store, look.settings
    sites = places(store, url)
    page = None if answer["trap"] else look.at(url)
    trouble = (
        [] if page is not None or not look.problem else [said("page_trouble", why=look.problem)]
    )
    if answer["trap"] or not sites:
        add = [] if answer["trap"] or trouble else [said("add_site", home=urljoin(url, "/"))]
        says = (said("outside", verdict=answer["verdict"]), *trouble, *add)
        return Missed(url, "outside", "", says)
    row, address = sites[0]
    hubs = {hub.canonical_key: hub for hub in store.read.hubs(row.id)}
    likely = _likely(page, row, address, list(hubs.values()), scorer, settings.hubs.threshold)
    likely = (one for one in likely if not called_article(store, canonical_key(one)))
    shown_by = next((hub for hub in likely if look.shows(hub, row, address)), None)
    if shown_by is None:
        near = ", ".join(hub.url for hub in nearest(list(hubs.values()), address)[:_MOST_NEAR])
        failed = [said("hub_trouble", hub=hub, why=why) for hub, why in look.failed.items()]
        read = look.asked - len(look.failed)
        says = (*trouble, said("nowhere", n=read, near=near or row.seed_url), *failed)
        return Missed(url, "nowhere", "", says)
    cause, says = _of_hub(hubs.get(canonical_key(shown_by)), shown_by)
    if cause == "too_late":
        asked = request_page(store, settings, shown_by, now=look.now())
        refused = [one.refused for one in asked if one.refused]
        if len(refused) == len(asked):
            says = (says[0], said("hub_trouble", hub=shown_by, why=refused[0]))
    else:
        correct(store, shown_by, "hub", now=look.now())
    return Missed(url, cause, shown_by, (*says, *trouble))


def _of_hub(hub: HubRow | None, url: str) -> tuple[str, tuple[Text, ...]]:
    """Return why the hub that shows the page did not bring it, and what is done."""
    if hub is None or hub.state == HubStatus.DROPPED:
        return "unwatched", (said("unwatched", hub=url), said("watched_now", hub=url))
    if hub.visited_at is None:
        status = named("fetch", hub.last_status or "waiting")
        return "unread", (said("unread", hub=url, status=status), said("watched_now", hub=url))
    late = said("too_late", hub=url, at=when(hub.visited_at), why=read_text(hub.why))
    return "too_late", (late, said("visited_now", hub=url))


def _likely(  # noqa: PLR0913, PLR0917 - each bears on it
    page: Page | None,
    row: SiteRow,
    url: str,
    hubs: list[HubRow],
    scorer: HubScorer,
    threshold: float,
) -> Iterator[str]:
    """Yield likely hubs once each: the nearest, the folders above the page, lists that it links to."""
    scope, seen = read_scope(row), {canonical_key(url)}
    links = [] if page is None else targets(page.links, scope, own=canonical_key(url))
    scores = score_targets(links, scorer)
    lists = [link for link in links if scores[link.canonical_key] >= threshold]
    lists.sort(key=lambda link: -scores[link.canonical_key])
    near = [hub.url for hub in nearest(hubs, url)]
    for one in (*near[:_MOST_NEAR], *_above(url), *(link.url for link in lists), *near):
        if canonical_key(one) not in seen and scope.holds(one):
            seen.add(canonical_key(one))
            yield one


def _above(url: str) -> list[str]:
    """Return the folders above a page, the deepest first."""
    path = urlsplit(url).path.rstrip("/")
    folders = []
    while "/" in path:
        path = path.rpartition("/")[0]
        folders.append(normalize(urljoin(url, f"{path}/")) or url)
    return folders


@dataclass
class Look:
    """Fetches pages one after the other, each when its host allows it."""

    store: Store
    settings: Settings
    fetch: Fetch
    read: Read
    now: Callable[[], float]
    pause: Callable[[float], object] = pause
    asked: int = 0
    problem: str = ""
    """Why the last page could not be read."""
    failed: dict[str, str] = field(default_factory=dict)
    """Likely hubs that could not be read, and why."""

    def shows(self, hub: str, row: SiteRow, url: str) -> bool:
        """Whether a page links to *url*; False without asking once MOST_ASKED were fetched."""
        if self.asked >= MOST_ASKED:
            return False
        self.asked += 1
        page = self.at(hub)
        if page is None:
            self.failed[hub] = self.problem
            return False
        aliases = rules(json.loads(row.path_aliases))
        found = targets(page.links, read_scope(row), path_aliases=aliases)
        return canonical_key(url) in {link.canonical_key for link in found}

    def at(self, url: str) -> Page | None:
        """Return a page; None = :attr:`problem` says why there is none."""
        now = self.now()
        wait = HostGate(self.store, self.settings).allowed_at(url, now) - now
        if wait > LONGEST_WAIT_SECONDS:
            self.problem = Text("robots.trouble", seconds=f"{wait:.0f}")
            return None
        if wait > 0:
            self.pause(wait)
        response = fetch_once(self.store, self.settings, url, self.fetch, now=self.now())
        if response.status is not FetchStatus.FETCHED:
            self.problem = problem_of(response)
            return None
        kind = response.headers.get("content-type", "")
        reading = self.read(Body(response.url, response.body, content_type=kind, behind=True))
        if isinstance(reading, Unread):
            self.problem = reading.detail or named("fetch", reading.status)
            return None
        return reading.page
