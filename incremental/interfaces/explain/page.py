"""How Hubwatch treats any URL, from its rules and the store. Nothing is fetched."""

import math
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from incremental.base.lookup import web_address
from incremental.base.path_aliases import without_path_alias
from incremental.base.scope import trap
from incremental.base.texts import Text, named, read_text
from incremental.base.times import HOUR, NEVER
from incremental.base.urls import canonical_key
from incremental.crawl.sites import DAILY_COVERED_SECONDS, WatchedSite, watch
from incremental.decide.url_dates import date_in_url
from incremental.fetch.status import FetchStatus
from incremental.interfaces.explain.backfill import headline
from incremental.interfaces.explain.topic import stored_verdicts
from incremental.interfaces.results.schema import dated
from incremental.parse.hub_way import WayKind, read_way
from incremental.schedule.budget import advance, open_at, price_minutes
from incremental.schedule.state import VisitExplanation
from incremental.settings import Settings
from incremental.topics.training.corrections import pages_at
from incremental.visit.host_gate import HostGate
from incremental.visit.rendering.browser import find_browser
from store import Store
from store.enums import HubRole, HubStatus, PageState
from store.rules import Rule, is_withheld
from store.values import ARTICLE, HubRow, SiteRow

_NEAREST = 3


def explain(
    store: Store, settings: Settings, url: str, *, now: float, models: Path | None = None
) -> dict[str, Any]:
    """Return :func:`explain_rules` with the verdict of the hub classifier, for JSON.

    *models* is the folder of classifier versions; None = the shipped one.

    Raises:
        InputError: *url* is not a web address.
    """
    answer = explain_rules(store, settings, url, now=now)
    # The model's libraries take half a second to load, and status asks for budgets alone.
    from incremental.interfaces.explain.hub import explain_hub  # noqa: PLC0415

    explained = explain_hub(store, models, answer["url"])
    return answer | {
        "hub_score": explained["site_probability"],
        "hub_threshold": settings.hubs.threshold,
        "classifier": explained,
    }


def explain_rules(store: Store, settings: Settings, url: str, *, now: float) -> dict[str, Any]:
    """Return what is known of *url* and what each rule says about it, for JSON.

    Raises:
        InputError: *url* is not a web address.
    """
    address = web_address(url)
    rows, asked = store.read.sites(), HostGate(store, settings).ask(address, now)
    answer: dict[str, Any] = {
        "url": address,
        "canonical_key": canonical_key(address),
        "trap": trap(address),
        "labels": list(map(dated, store.read.labels_of(canonical_key(address)))),
        "topics": list(map(dated, stored_verdicts(store, address))),
        "robots": asked.says,
        "robots_refuse": asked.refusal is not None,
        "sites": [dated(_in_site(store, settings, row, address, now)) for row in rows],
    }
    answer["verdict"] = _verdict(answer)
    return answer


def _in_site(
    store: Store, settings: Settings, row: SiteRow, url: str, now: float
) -> dict[str, Any]:
    site = watch(row, settings)
    address = without_path_alias(url, site.path_aliases)
    inside = site.scope.holds(address)
    answer: dict[str, Any] = {
        "site": row.name,
        "state": row.state,
        "in_scope": inside,
        "rule": site.scope.rule(address),
    }
    pages = pages_at(store, row, address)
    if not pages:
        near = nearest(store.read.hubs(row.id), address) if inside else []
        return answer | {"seen": False, "nearest": [hub.url for hub in near[:_NEAREST]]}
    page = pages[0]
    event = store.backfills.event_of(page["id"])
    first_hub = store.read.urls([page["first_hub_id"]] if page["first_hub_id"] else [])
    answer |= {
        "seen": True,
        "first_seen_at": page["first_seen_at"],
        "announced_at": page["announced_at"],
        "published_at": page["published_at"],
        # The end of the day or month that it names.
        "address_ends_at": date_in_url(address),
        "unread": _unread(store, page) if page["announced_at"] else None,
        "page_state": page["state"],
        "decided_by": page["rule"],
        "backfill": event and dated(event, says=headline(event)),
        "first_shown_by": first_hub[0] if first_hub else None,
        # Where a link ended is forgotten after a while; that the page is known never is.
        "links_forgotten_days": settings.store.sighting_days,
        "shown_by": [sighting["hub_url"] for sighting in store.read.sightings(page["id"])][:5],
    }
    hub = store.read.hub(page["id"])
    if hub is not None:
        why = site.policy.why(site.hub_state(hub), site.state, site.budget, now)
        visit_at, reason = next_visit(site, hub, why, now=now)
        answer |= {
            "hub": hub.state,
            "article": hub.role == ARTICLE,
            "hub_why": read_text(hub.why),
            "next_visit_at": visit_at,
            "visit_reason": reason,
            "last_status": hub.last_status,
            "reading": explain_way(hub, settings),
        }
    return answer


def nearest(hubs: Sequence[HubRow], url: str) -> list[HubRow]:
    """Return the hubs that may list a URL, those first whose address has most in common with it."""
    lists = [hub for hub in hubs if hub.state != HubStatus.DROPPED and hub.role != ARTICLE]
    asked = urlsplit(url)

    def apart(hub: HubRow) -> tuple[int, int, int]:
        there = urlsplit(hub.url)
        pairs = zip(asked.path.split("/")[1:-1], there.path.split("/")[1:], strict=False)
        common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        return -(common if there.netloc == asked.netloc else -1), -hub.new_pages, len(there.path)

    return sorted(lists, key=apart)


def _unread(store: Store, page: dict[str, Any]) -> str | None:
    """Return why an announced page was not read, and so not judged; None if it was read."""
    if page["body_md5"] or page["title"]:
        return None
    if page["verify_due_at"] is not None:
        return Text("verdict.unread_waits")
    if page["verified_at"] is None:
        return Text("verdict.unread_never")
    visits = store.read.visits(page["id"], limit=1)
    forgotten = Text("verdict.unread_forgotten")
    status = named("fetch", visits[0]["status"]) if visits else forgotten
    return Text("verdict.unread_ended", status=status)


def _verdict(answer: dict[str, Any]) -> str:
    """Return the verdict: the first rule that kept the page from being announced."""
    sites, trapped, robots = answer["sites"], answer["trap"], answer["robots"]
    seen = [_decided(site) for site in sites if site["seen"]]
    if seen:
        return min(seen)[1]
    if not sites:
        return Text("verdict.no_site")
    if not any(site["in_scope"] for site in sites):
        return Text("verdict.outside")
    if trapped:
        return Text("verdict.left_out", why=trapped)
    if answer["robots_refuse"]:
        return Text("verdict.denied_anyway", robots=robots)
    return Text("verdict.not_shown")


def _decided(site: dict[str, Any]) -> tuple[int, str]:
    """Return the decision on a page of one site with its rank; across sites the lowest rank wins."""
    rule, gained = site["decided_by"], site["backfill"]
    if site["announced_at"]:
        announced = Text("verdict.announced", rule=rule_text(rule))
        return 0, announced if rule else Text("verdict.plainly_announced")
    if is_withheld(rule):
        return 1, rule_text(rule)
    if gained:
        return 2, Text("verdict.gained", event=gained["says"])
    if site["page_state"] == PageState.PENDING:
        return 3, Text("verdict.waits", rule=rule_text(rule))
    if site.get("hub") == HubStatus.DROPPED and not rule:
        return 4, _with_status("given_up", site["last_status"])
    is_hub = site.get("hub") not in (None, HubStatus.DROPPED) and not site.get("article")
    unread = site.get("hub") == HubStatus.CANDIDATE
    says = Text("verdict.unvisited") if unread else rule_text(Rule.HUB)
    return (4, says) if is_hub else (5, rule_text(rule))


def rule_text(rule: str | None) -> Text:
    """Return a stored rule in words; None = decided before rules were stored."""
    return Text(f"rule.{rule}") if rule else Text("verdict.no_rule")


def _with_status(reason: str, status: str | None) -> Text:
    return Text(f"reason.{reason}", status=named("fetch", status or "waiting"))


def budget_and_visit(
    settings: Settings, row: SiteRow, due_at: float | None, *, now: float
) -> dict[str, Any]:
    """Return a site's budget, its use, the price, and when it has room for the visit due at *due_at*."""
    site = watch(row, settings)
    per_day = site.terms.requests_per_day
    budget = advance(site.budget, per_day, now)
    opens_at = now if site.has_grant(now) else open_at(site.budget, per_day, now)
    return {
        "budget_per_day": per_day,
        "requests_last_day": budget.made_lately,
        "requests_today": budget.made_today,
        "price_minutes": rounded(price_minutes(budget, per_day, site.state.weight_total)),
        "next_due": planned(due_at, opens_at, now),
    }


def planned(due_at: float | None, opens_at: float, now: float) -> float | None:
    """Return when a visit that is due at *due_at* can be made; None = not planned, or never."""
    if due_at is None or not math.isfinite(opens_at):
        return None
    return due_at if opens_at <= max(due_at, now) else opens_at


def rounded(value: float, digits: int = 2) -> float | None:
    """Round for JSON; None for infinity."""
    return round(value, digits) if math.isfinite(value) else None


def next_visit(
    site: WatchedSite, hub: HubRow, why: VisitExplanation, *, now: float
) -> tuple[float | None, str]:
    """Return when a hub is visited next, None = not planned, and why not before.

    *why* is what the policy says of it at *now*.
    """
    due_at = hub.due_at if hub.due_at < NEVER else None
    opens_at = open_at(site.budget, site.terms.requests_per_day, now)
    if not hub.visits:
        opens_at = now if site.has_grant(now) else max(opens_at, site.unread_at(now))
    at = planned(due_at, opens_at, now)
    reason = why.reason if at in (None, due_at) else Text("reason.waits_for_budget")
    return at, _visit_reason(hub, reason, why)


def _visit_reason(hub: HubRow, reason: str, why: VisitExplanation) -> str:
    if hub.state == HubStatus.DROPPED:
        return _with_status("given_up", hub.last_status)
    if hub.role == ARTICLE:
        return Text("reason.an_article")
    if hub.visited_at is None and hub.last_status not in (None, FetchStatus.FETCHED):
        return _with_status("not_read", hub.last_status)
    if hub.visited_at is None:
        return reason
    if hub.role == HubRole.PAGE and hub.due_at >= NEVER:
        return Text("reason.later_page")
    # What is covered from now on is put off before its state is changed.
    put_off = hub.due_at > why.due_at + HOUR
    covered = put_off and hub.due_at >= hub.visited_at + DAILY_COVERED_SECONDS
    return Text("reason.rests") if hub.state == HubStatus.DORMANT or covered else reason


def explain_way(hub: HubRow, settings: Settings) -> dict[str, Any]:
    """Return how *hub* is read, for JSON.

    ``kind`` is empty before the first visit. ``problem`` says why no browser draws a page that needs one; a
    browser that was found since draws it at the next visit.
    """
    way = read_way(hub.way)
    if way is None:
        return {"kind": "", "source": "", "requests": 1, "seconds": 0.0, "problem": ""}
    problem = way.problem
    if way.kind == WayKind.BROWSER_MISSING:
        problem = find_browser(settings.browser).problem or ""
    source = way.url if way.kind == WayKind.JSON else ": ".join(filter(None, (way.name, way.place)))
    return {
        "kind": str(way.kind),
        "source": source,
        "requests": way.requests,
        "seconds": way.seconds,
        "problem": str(problem),
    }
