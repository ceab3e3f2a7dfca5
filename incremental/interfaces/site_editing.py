"""Editing a watched site: its name, scope, budget, intervals, hours and state; asking for visits.

::

    fields ── checked like a [[site]] of the settings ── one write; a daemon follows within seconds

A field that is not given stays as it is; None means the default of the settings again.

Asking for visits now: of a page, a hub or a whole site, as soon as politeness allows.

::

    sites, URLs -> pages of the store -> store.editing.request_visits -> the daemon, within seconds

A requested visit goes before everything else and over the site's budget. It still waits for the host's
pause and for the hours in which the site may be fetched, and robots.txt is obeyed.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from incremental.base.errors import InputError, NotFoundError
from incremental.base.lookup import site_numbered, web_address
from incremental.base.scope import Reach
from incremental.base.tagging import checked_name, checked_tags
from incremental.base.texts import Text
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.sites import watch
from incremental.schedule.pacing import in_window
from incremental.settings import Settings, SiteSettings
from incremental.settings.checks import check_site, checked_entry
from incremental.topics.training.corrections import pages_at
from incremental.visit.host_gate import HostGate
from store import Store
from store.database.texts import to_json
from store.enums import HubRole, HubStatus, SiteStatus
from store.values import ARTICLE, SiteRow

# Fields that [[site]] sets again at every start of the daemon.
TERMS = (
    *("reach", "include", "exclude", "requests_per_day"),
    *("min_interval_minutes", "max_interval_hours", "hours"),
)
# Of one request; each takes at least the delay of its host.
MOST_PAGES = 500


def number_typed(field: str, text: str) -> float | None:
    """Read a number; None = the default, for nothing or the word ``default``.

    Raises:
        InputError: neither.
    """
    if text.strip() in ("", "default"):
        return None
    try:
        return float(text)
    except ValueError:
        raise InputError(field, text, Text("input.must_be_number")) from None


def hours_typed(spans: Sequence[str]) -> tuple[str, ...] | None:
    """Read spans of hours; none or ``default`` = the default, ``always`` = no limit."""
    if tuple(spans) in ((), ("default",)):
        return None
    return () if tuple(spans) in (("always",), ("不限",)) else tuple(spans)


def site_terms(row: SiteRow) -> dict[str, Any]:
    """Return a site's own terms as in ``[[site]]``; None = the default of the settings."""
    scope = json.loads(row.scope)
    return {
        "reach": scope.get("reach", Reach.HOST.value),
        "include": list(scope.get("include", ())),
        "exclude": list(scope.get("exclude", ())),
        "requests_per_day": row.requests_per_day,
        "min_interval_minutes": row.min_interval_minutes,
        "max_interval_hours": row.max_interval_hours,
        "hours": None if row.hours is None else json.loads(row.hours),
    }


def site_in_file(row: SiteRow, settings: Settings) -> SiteSettings | None:
    """Return the ``[[site]]`` of the settings file that sets the terms of a site."""
    seed = normalize(row.seed_url)
    return next((one for one in settings.site if normalize(one.url) == seed), None)


def edit_site(
    store: Store, row: SiteRow, given: Mapping[str, Any], settings: Settings, *, now: float
) -> SiteRow:
    """Change fields of a site: ``name``, ``state``, ``tags`` and :data:`TERMS`; return its row.

    Terms are as in ``[[site]]``; None = the default of the settings, for ``hours`` () = always.

    Raises:
        InputError: a field is unknown, a value is not usable, another site has the name, or the settings
            file sets the field. Nothing was changed.
    """
    for field in given.keys() - {"name", "state", "tags", *TERMS}:
        raise InputError(field, given[field], "is no field of a site that can be changed")
    changes: dict[str, Any] = {}
    tags = checked_tags(given["tags"]) if "tags" in given else None
    if "name" in given:
        changes["name"] = _checked_name(given["name"])
    if "state" in given:
        changes["state"] = SiteStatus(given["state"])
    if not given.keys().isdisjoint(TERMS):
        changes |= _columns(row, {k: v for k, v in given.items() if k in TERMS}, settings)
    if changes and not store.editing.edit_site(row.id, now=now, **changes):
        raise InputError("name", changes["name"], Text("input.name_taken"))
    if tags is not None:
        store.tags.set_site_tags(row.id, tags)
    return site_numbered(store, row.id)


def _checked_name(text: str) -> str:
    name = checked_name("name", text)
    if name.isdecimal():
        raise InputError("name", name, Text("input.name_is_number"))
    return name


def _columns(row: SiteRow, given: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the columns of new terms, checked as a whole."""
    if site_in_file(row, settings) is not None:
        field = next(iter(given))
        way_out = "is set by [[site]] in the settings file; change it there, or remove that entry"
        raise InputError(field, given[field] if given[field] is not None else "", way_out)
    terms = {**site_terms(row), **given}
    check = partial(check_site, defaults=settings.revisit, where="site")
    checked = checked_entry(SiteSettings, "site", {"url": row.seed_url, **terms}, check)
    scope = json.loads(row.scope)
    scope |= {
        "reach": checked.reach.value,
        "include": list(checked.include),
        "exclude": list(checked.exclude),
    }
    return {
        "scope": to_json(scope),
        "requests_per_day": checked.requests_per_day,
        "min_interval_minutes": checked.min_interval_minutes,
        "max_interval_hours": checked.max_interval_hours,
        "hours": None if checked.hours is None else to_json(list(checked.hours)),
    }


@dataclass(frozen=True, slots=True)
class Visit:
    """The answer to a request for a visit."""

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
    pages = [(site_numbered(store, row.site_id), row.page_id, row.url) for row in rows if row]
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
