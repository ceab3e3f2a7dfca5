"""Columns to set, by table: dictionaries that the type checker knows, so that no name is mistyped.

A key that is missing leaves its column as it is. Times are unix seconds, UTC.
"""

from __future__ import annotations

from typing import TypedDict


class HubUpdate(TypedDict, total=False):
    """Columns of a hub."""

    kind: str
    role: str
    state: str
    score: float
    why: str
    due_at: float
    interval_seconds: float | None
    baseline_at: float | None
    visited_at: float | None
    changed_at: float | None
    visits: int
    failures: int
    new_pages: int
    barren_visits: int
    shown_links: int
    etag: str | None
    last_modified: str | None
    body_md5: str | None
    links_md5: str | None
    last_status: str | None
    next_url: str | None
    revisit: str


class PageUpdate(TypedDict, total=False):
    """Columns of a page."""

    url: str
    title: str
    language: str | None
    published_at: float | None
    state: str
    moved_to: int | None
    look_due_at: float | None
    looked_at: float | None
    rule: str | None
    body_md5: str | None
    link_context: str | None


class SiteUpdate(TypedDict, total=False):
    """Columns of a site. What is JSON is given as text."""

    name: str
    scope: str
    state: str
    requests_per_day: float | None
    min_interval_seconds: float | None
    max_interval_seconds: float | None
    probed_at: float | None
    relaunched_at: float | None
    mirrors: str
    budget: str
    revisit: str
    origin: str
