"""Asking for visits now: of a page, a hub or a whole site, as soon as politeness allows.

::

    sites, URLs -> pages of the store -> store.editing.request_visits -> the daemon, within seconds

A requested visit goes before everything else and over the site's budget. It still waits for the host's
pause and for the hours in which the site may be fetched, and robots.txt is obeyed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from incremental.base.errors import NotFoundError
from incremental.base.lookup import site_numbered, web_address
from incremental.base.texts import Text
from incremental.base.urls import canonical_key
from incremental.crawl.sites import watch
from incremental.schedule.pacing import in_window
from incremental.settings import Settings
from incremental.topics.training.corrections import pages_at
from incremental.visit.host_gate import HostGate
from store import Store
from store.enums import HubRole, HubStatus, SiteStatus
from store.values import ARTICLE, SiteRow

# Of one request; each takes at least the delay of its host.
MOST_PAGES = 500


@dataclass(frozen=True, slots=True)
class Visit:
    """What becomes of a requested visit."""

    url: str
    site: str
    at: datetime
    """The earliest time at which it is fetched."""
    refused: str
    """Why it will not be fetched; empty = it will."""


def request_page(store: Store, settings: Settings, text: str, *, now: float) -> list[Visit]:
    """Ask for a visit of the page at a URL, on each site that knows it.

    Raises:
        InputError: not a web address.
        NotFoundError: no watched site knows the page.
    """
    url = web_address(text)
    rows = store.read.sites()
    known = {page["site"] for page in store.read.find_page(url, canonical_key(url))}
    found = [(row, page) for row in rows if row.id in known for page in pages_at(store, row, url)]
    if not found:
        raise NotFoundError(Text("missing.page", url=text[:200]))
    pages = [(row, page["id"], page["url"]) for row, page in found]
    return _ask(store, settings, pages, now=now)


def request_site(store: Store, settings: Settings, row: SiteRow, *, now: float) -> list[Visit]:
    """Ask for a visit of every active hub of a site but monitored articles, and of seeds never read."""
    # Not of candidates: of hundreds, a few are hubs, and each visit goes over the budget.
    hubs = [
        hub
        for hub in store.read.hubs(row.id)
        if hub.role != ARTICLE
        and (
            hub.state == HubStatus.ACTIVE
            or (hub.state == HubStatus.CANDIDATE and hub.role == HubRole.SEED)
        )
    ]
    pages = [(row, hub.page_id, hub.url) for hub in hubs[:MOST_PAGES]]
    return _ask(store, settings, pages, now=now)


def request_pages(
    store: Store, settings: Settings, page_ids: Sequence[int], *, now: float
) -> list[Visit]:
    """Ask for visits of pages by their ids; unknown ids are left out."""
    rows = [store.read.page(page_id) for page_id in dict.fromkeys(page_ids)]
    pages = [
        (site_numbered(store, row.site_id), row.id, row.url) for row in rows if row is not None
    ]
    return _ask(store, settings, pages[:MOST_PAGES], now=now)


def _ask(
    store: Store, settings: Settings, pages: Sequence[tuple[SiteRow, int, str]], *, now: float
) -> list[Visit]:
    gate = HostGate(store, settings)
    terms = {row.id: watch(row, settings).terms for row, _, _ in pages}
    found, granted = [], []
    for row, page_id, url in pages:
        answer = gate.ask(url, now)
        refused = answer.says if answer.refusal is not None else ""
        if row.state == SiteStatus.PAUSED:
            refused = Text("input.site_paused", site=row.name)
        at = in_window(max(now, answer.allowed_at), terms[row.id])
        found.append(Visit(url, row.name, datetime.fromtimestamp(at, UTC), refused))
        granted += [] if refused else [page_id]
    store.editing.request_visits(granted, now=now)
    return found
