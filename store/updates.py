"""Columns to set, by table; missing keys leave their columns unchanged. Times are unix seconds, UTC."""

from __future__ import annotations

from typing import TypedDict

from store.enums import HubKind, HubRole, HubStatus, PageState, SiteStatus


class SiteUpdate(TypedDict, total=False):
    """Columns of a site."""

    scope: str
    state: SiteStatus
    requests_per_day: float | None
    min_interval_minutes: float | None
    max_interval_hours: float | None
    hours: str | None
    changed_at: float | None
    probed_at: float | None
    migrated_at: float | None
    path_aliases: str
    not_news: str
    budget: str
    revisit: str
    origin: str


class HubUpdate(TypedDict, total=False):
    """Columns of a hub."""

    kind: HubKind
    role: HubRole
    state: HubStatus
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
    unproductive_visits: int
    shown_links: int
    etag: str | None
    last_modified: str | None
    body_md5: str | None
    links_md5: str | None
    last_status: str | None
    next_url: str | None
    revisit: str
    way: str


class PageUpdate(TypedDict, total=False):
    """Columns of a page."""

    url: str
    anchor: str
    title: str
    language: str | None
    published_at: float | None
    state: PageState
    moved_to: int | None
    verify_due_at: float | None
    verified_at: float | None
    rule: str | None
    body_md5: str | None
    verify_score: float | None
    link_context: str | None
