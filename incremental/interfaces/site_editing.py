"""Editing a watched site: its name, scope, budget, intervals, hours and state.

::

    SiteEdit ── checked like a [[site]] of the settings ── one write; a daemon follows within seconds

A field that is not given stays as it is; None means the default of the settings again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType

from incremental.base.errors import InputError
from incremental.base.lookup import site_numbered
from incremental.base.scope import Reach
from incremental.base.tagging import checked_name, checked_tags
from incremental.base.texts import Text
from incremental.base.urls import normalize
from incremental.settings import Settings, SiteSettings
from incremental.settings.checks import check_site, checked_entry
from store import Store
from store.database.texts import to_json
from store.enums import SiteStatus
from store.values import SiteRow

# Fields that [[site]] sets again at every start of the daemon.
TERMS = (
    *("reach", "include", "exclude", "requests_per_day"),
    *("min_interval_minutes", "max_interval_hours", "hours"),
)


@dataclass(frozen=True, slots=True)
class SiteEdit:
    """New values of a site's fields, as in ``[[site]]``."""

    name: str | UnsetType = UNSET
    state: SiteStatus | UnsetType = UNSET
    reach: Reach | UnsetType = UNSET
    include: tuple[str, ...] | UnsetType = UNSET
    exclude: tuple[str, ...] | UnsetType = UNSET
    requests_per_day: float | UnsetType | None = UNSET
    min_interval_minutes: float | UnsetType | None = UNSET
    max_interval_hours: float | UnsetType | None = UNSET
    hours: tuple[str, ...] | UnsetType | None = UNSET
    """UTC; an empty tuple = always."""
    tags: tuple[str, ...] | UnsetType = UNSET

    def given(self) -> dict[str, Any]:
        """Return the fields that are given."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not UNSET}


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
    store: Store, row: SiteRow, edit: SiteEdit, settings: Settings, *, now: float
) -> SiteRow:
    """Change a site; return its row.

    Raises:
        InputError: a value is not usable, another site has the name, or the settings file sets the
            field. Nothing was changed.
    """
    given = edit.given()
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
