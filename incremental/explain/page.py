"""Why: for any URL, what Hubwatch makes of it, from rules and from what is stored. Nothing is fetched."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from incremental.assembly import policy_maker
from incremental.crawl.sites import watch
from incremental.errors import InputError
from incremental.explain.backfill import backfill_of
from incremental.explain.hub import explain_hub
from incremental.explain.topic import stored_verdicts
from incremental.fetch.politeness import host_key
from incremental.fetch.robots import RobotsPolicy, robots_url
from incremental.fetch.status import FetchStatus
from incremental.judge.links import without_mirror
from incremental.revisit import advance, price_minutes
from incremental.scope import trap
from incremental.settings import Settings
from incremental.times import NEVER
from incremental.urls import identity, normalize
from store import Store
from store.enums import HubState, PageState
from store.values import ARTICLE, HubRow, SiteRow


def explain(
    store: Store, settings: Settings, url: str, *, now: float, models: Path | None = None
) -> dict[str, Any]:
    """Return what is known of *url* and how each rule judges it, ready for JSON.

    *models* is the folder of the classifier's versions; None = the shipped one is asked.

    Raises:
        InputError: it is no web address.
    """
    address = normalize(url)
    if address is None:
        raise InputError("url", url, "not a web address (http or https, at most 2,000 characters)")
    rows = store.read.sites()
    told = explain_hub(store, models, address)
    answer: dict[str, Any] = {
        "url": address,
        "identity": identity(address),
        "trap": trap(address),
        "hub_score": told["site_probability"],
        "hub_threshold": settings.hubs.threshold,
        "classifier": told,
        "labels": _labels(store, address),
        "topics": stored_verdicts(store, address),
        "robots": _robots(store, settings, address),
        "sites": [_in_site(store, settings, row, address, now) for row in rows],
    }
    answer["verdict"] = _verdict(answer)
    return answer


def _labels(store: Store, url: str) -> list[dict[str, Any]]:
    said = store.read.labels_of(identity(url))
    return [{"label": one.label, "origin": one.origin, "at": one.at} for one in said]


def _robots(store: Store, settings: Settings, url: str) -> str:
    host = store.read.host(host_key(url))
    stored = json.loads(host.robots or "{}").get(robots_url(url)) if host else None
    if stored is None:
        return "not asked yet"
    policy = RobotsPolicy.from_stored(**stored, user_agent=settings.fetch.product_token)
    if policy.status is FetchStatus.FORBIDDEN_ADDRESS:
        return "not public: name the address in [fetch] allowed_networks to allow it"
    if not policy.reachable:
        return f"robots.txt cannot be reached ({policy.status}): nothing is fetched until it can"
    return "allowed" if policy.allows(url) else "denied by robots.txt"


def _in_site(
    store: Store, settings: Settings, row: SiteRow, url: str, now: float
) -> dict[str, Any]:
    site = watch(row, settings, policy_maker(settings))
    address = without_mirror(url, site.mirrors)
    verdict = site.scope.verdict(address)
    answer: dict[str, Any] = {
        "site": row.name,
        "state": row.state,
        "in_scope": verdict.inside,
        "rule": verdict.rule,
    }
    pages = [p for p in store.read.find_page(address, identity(address)) if p["site"] == row.id]
    if not pages:
        return answer | {"seen": False}
    page = pages[0]
    answer |= {
        "seen": True,
        "first_seen_at": page["first_seen_at"],
        "announced_at": page["announced_at"],
        "page_state": page["state"],
        "kept_back": page["kept_back"],
        "backfill": backfill_of(store, page["id"]),
        "shown_by": [sighting["hub_url"] for sighting in store.read.sightings(page["id"])][:5],
    }
    hub = store.read.hub(page["id"])
    if hub is not None:
        why = site.policy.why(site.hub_state(hub), site.state, site.budget, now)
        answer |= {
            "hub": hub.state,
            "article": hub.role == ARTICLE,
            "hub_why": hub.why,
            "next_visit_at": min(hub.due_at, NEVER),
            "visit_reason": _reason(hub, why.reason),
            "last_status": hub.last_status,
        }
    return answer


def _verdict(answer: dict[str, Any]) -> str:
    """Sum the rules up in one sentence: the first that would keep a page from being told."""
    sites = answer["sites"]
    seen = [site for site in sites if site.get("seen")]
    backdated = any(site.get("page_state") == PageState.BACKDATED for site in seen)
    relaunched = any(site.get("page_state") == PageState.RELAUNCHED for site in seen)
    moved = bool(seen) and all(site.get("page_state") == PageState.MOVED for site in seen)
    gained = next((site["backfill"]["says"] for site in seen if site.get("backfill")), "")
    is_hub = any(
        site.get("hub") not in (None, HubState.DEAD) for site in seen if not site.get("article")
    )
    alias = bool(seen) and all(site.get("page_state") == PageState.ALIAS for site in seen)
    kept_back = next((site["kept_back"] for site in seen if site.get("kept_back")), "")
    waits = any(site.get("page_state") == PageState.BACKFILL for site in seen)
    denied = answer["robots"].startswith(("denied", "robots.txt", "not public"))
    tests: list[tuple[bool, str]] = [
        (any(site.get("announced_at") for site in seen), "announced as new"),
        (bool(kept_back), f"found, and not announced: {kept_back}"),
        (bool(gained), f"an older page that a list gained, announced with one event: {gained}"),
        (waits, "an older page that a list gained; announced when it was read"),
        (is_hub, "a hub: visited for its links, not announced itself"),
        (backdated, "found, but dated long before its site was added, and no list gained it"),
        (relaunched, "found when all of its site's addresses changed: one event, and no news"),
        (moved, "leads on to another address, under which the page is known"),
        (alias, "another address of a page that is known"),
        (bool(seen), "known: it was there when a hub that shows it was first read"),
        (not sites, "no site is watched yet"),
        (not any(site["in_scope"] for site in sites), "outside the scope of every watched site"),
        (bool(answer["trap"]), f"left out: {answer['trap']}"),
        (denied, f"{answer['robots']}; it is told all the same when a hub shows it"),
        (True, "in scope, but no hub that was read has shown it"),
    ]
    return next(sentence for holds, sentence in tests if holds)


def budget_of(settings: Settings, row: SiteRow, *, now: float) -> dict[str, Any]:
    """Return a site's budget, what was used of it, and the price it turns into, ready for JSON."""
    site = watch(row, settings, policy_maker(settings))
    per_day = site.terms.requests_per_day
    budget = advance(site.budget, per_day, now)
    return {
        "budget_per_day": per_day,
        "requests_last_day": budget.used_lately,
        "requests_today": budget.used_today,
        "price_minutes": _number(price_minutes(budget, per_day, site.state.weight_total)),
    }


def _number(value: float, digits: int = 2) -> float | None:
    """Round a number for JSON, which has no infinity."""
    return round(value, digits) if math.isfinite(value) else None


def _reason(hub: HubRow, reason: str) -> str:
    """Return why a hub is visited when it is, in one sentence."""
    if hub.state == HubState.DEAD:
        return f"given up: {hub.last_status}"
    if hub.role == ARTICLE:
        return "an article, read now and then for links that no list shows"
    if hub.visited_at is None and hub.last_status not in (None, "fetched"):
        return f"not read yet: {hub.last_status}"
    if hub.state == HubState.RESTING:
        return "rests: other hubs show what it shows"
    return reason


def hub_rows(
    store: Store, settings: Settings, rows: Sequence[SiteRow], *, now: float
) -> list[dict[str, Any]]:
    """Return the hubs of *rows* with the numbers behind their next visit, ready for JSON."""
    answer = []
    for row in rows:
        site = watch(row, settings, policy_maker(settings))
        for hub in store.read.hubs(row.id):
            why = site.policy.why(site.hub_state(hub), site.state, site.budget, now)
            answer.append(
                {
                    "id": hub.page_id,
                    "url": hub.url,
                    "site": row.name,
                    "site_id": row.id,
                    "kind": hub.kind,
                    "role": hub.role,
                    "state": hub.state,
                    "score": round(hub.score, 3),
                    "found_because": hub.why,
                    "visits": hub.visits,
                    "new_pages": hub.new_pages,
                    "failures": hub.failures,
                    "last_status": hub.last_status,
                    "visited_at": hub.visited_at,
                    "due_at": hub.due_at if hub.due_at < NEVER else None,
                    "rate_per_day": _number(why.rate_per_day, 4),
                    "waiting_links": _number(why.waiting_links, 3),
                    "price_minutes": _number(why.price_minutes),
                    "why": _reason(hub, why.reason),
                }
            )
    return answer
