"""From a visit's outcome and what was known before to the one record that the store writes. Pure.

::

    outcome + HubView  ->  judge_hub   ->  Judgement(record, numbers for the revisit policy)

Looks at pages themselves are judged in :mod:`incremental.judge.looks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from incremental.fetch.status import FetchStatus
from incremental.judge.arrivals import Shelf, gained_behind, gained_old, is_old_hub
from incremental.judge.hubs import HubCounts, HubLimits, choose_hubs
from incremental.judge.kept_back import furniture, may_be_furniture
from incremental.judge.links import Target, links_digest
from incremental.judge.news import (
    Relaunch,
    Since,
    Standing,
    relaunch,
    standing,
)
from incremental.judge.overflow import ListView, all_new, overflowed
from incremental.judge.topics import Guesses
from incremental.parse import PageKind
from incremental.scope import page_number
from incremental.times import HOUR, NEVER, believable
from incremental.urls import host_of, identity, normalize
from incremental.visit import Outcome
from store.naming import folder_of
from store.values import (
    HubRow,
    KnownPage,
    NewHub,
    SeenLink,
    Sight,
    SiteChange,
    VisitRecord,
)

FAILURES_UNTIL_GONE = 3
MAX_SITEMAPS = 50
"""Parts of a sitemap index that become hubs."""

_HUB_KINDS = {
    PageKind.HTML: "html",
    PageKind.FEED: "feed",
    PageKind.SITEMAP: "sitemap",
    PageKind.SITEMAP_INDEX: "sitemap",
}


@dataclass(frozen=True, slots=True)
class HubView:
    """What was known before the visit that bears on it."""

    hub: HubRow
    since: Since
    found: Sequence[Target]
    """The links of the page, canonical and in scope."""
    known: Mapping[str, KnownPage]
    """Those of them that were known, by identity."""
    visible: frozenset[int]
    """Page ids that the hub showed at its last visit."""
    young: frozenset[int]
    """Those of them that it showed there for the first time; none after its baseline."""
    scores: Mapping[str, float]
    """Hub probability of the unknown ones, by identity."""
    counts: HubCounts
    limits: HubLimits
    new_hub: bool = False
    """The hub came up after its site's baseline, and leads to few unknown pages."""
    new_folders: frozenset[str] = frozenset()
    """Top folders, as beginnings of identities, below which nothing was known until lately."""
    quota: int = 1_000_000
    """How many new pages the site may still have today."""
    looks: int = 0
    """How many new pages may be looked at before they are told."""
    leading: frozenset[str] = frozenset()
    """Hosts whose addresses may only lead on to the page that is meant: no such page is announced before
    it was fetched."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """What users said of the unknown ones, by identity: hub or topic. Their scores agree with it."""
    lost_urls: Sequence[str] = ()
    """What it showed and no longer shows; given when a relaunch is possible."""
    anchors: Mapping[str, int] = field(default_factory=dict)
    """Page ids by headline among the unknown links; given when a relaunch is possible."""
    guesses: Guesses | None = None
    """What topics expect of the unknown ones; None = there is no topic."""
    sights: Sequence[Sight] = ()
    """All that it ever showed; given when a link that it did not show names a date."""
    overflow_at: float = 0.0
    overflow_since: float = 0.0
    resumed_at: float = 0.0

    @property
    def lists(self) -> ListView:
        """What tells whether its lists overflowed."""
        before = (self.overflow_at, self.overflow_since, self.resumed_at)
        return ListView(self.hub, self.known, self.visible, *before)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The record to write, and what the visit brought in numbers."""

    record: VisitRecord
    novel: int = 0
    shown: int = 0
    all_new: bool = False
    failed: bool = False
    baseline: bool = False
    published: tuple[float, ...] = ()
    shared: Mapping[str, int] = field(default_factory=dict)
    """Links new to this hub that another hub had shown first, counted by that hub's page id."""
    vanished: int = 0
    """Links that this hub first showed at the visit before and shows no more."""
    gone: bool = False
    """The hub is no more, or never was one."""
    relevant: float | None = None
    """How many usual links the novel ones are worth to the topics; None = there is no topic."""


def base_record(outcome: Outcome, now: float) -> VisitRecord:
    """Return the part of a record that only says what was fetched."""
    response = outcome.response
    return VisitRecord(
        site_id=outcome.task.site_id,
        page_id=outcome.task.page_id,
        at=now,
        status=response.status.value,
        http_code=response.http_code,
        body_bytes=len(response.body),
        elapsed_seconds=response.elapsed_seconds,
        detail=response.detail,
    )


def judge_failure(outcome: Outcome, hub: HubRow, now: float) -> Judgement:
    """Judge a visit of a hub that brought no page."""
    status = outcome.response.status
    record = base_record(outcome, now)
    failures = hub.failures + 1
    fields: dict[str, object] = {"failures": failures, "last_status": status.value}
    given = hub.role in ("seed", "user")
    never_there = hub.baseline_at is None and status in _HOPELESS and not given
    told = hub.failures >= FAILURES_UNTIL_GONE and hub.last_status == FetchStatus.GONE.value
    lost = status is FetchStatus.GONE and failures >= FAILURES_UNTIL_GONE and not told
    if never_there:
        fields |= {"state": "dead", "due_at": NEVER}
    elif lost:
        fields |= {"state": "resting"}
        record = replace(record, page_change="gone", page_fields={"state": "gone"})
    record = replace(record, hub_fields=fields)
    return Judgement(record, failed=True, gone=never_there)


_HOPELESS = {
    FetchStatus.GONE,
    FetchStatus.BLOCKED,
    FetchStatus.INVALID_URL,
    FetchStatus.BAD_REDIRECT,
    FetchStatus.FORBIDDEN_ADDRESS,
    FetchStatus.ROBOTS_DENIED,
    FetchStatus.TOO_MANY_REDIRECTS,
    FetchStatus.REDIRECTED,
}


def judge_unchanged(outcome: Outcome, hub: HubRow, now: float) -> Judgement:
    """Judge a visit of a hub whose page is as it was."""
    response = outcome.response
    fields: dict[str, object] = {
        "visited_at": now,
        "visits": hub.visits + 1,
        "barren_visits": hub.barren_visits + 1,
        "failures": 0,
        "last_status": response.status.value,
    }
    fields |= _validators(outcome)
    record = replace(base_record(outcome, now), hub_fields=fields)
    if _is_back(hub):
        fields["state"] = "active"
        record = replace(record, page_fields={"state": "known"}, page_change="back")
    return Judgement(record, shown=hub.shown_links)


def _is_back(hub: HubRow) -> bool:
    """Tell whether a hub that answers now was given up for gone."""
    return hub.state == "resting" and hub.failures >= FAILURES_UNTIL_GONE


def judge_same_links(
    outcome: Outcome, hub: HubRow, found: Sequence[Target], now: float
) -> Judgement:
    """Judge a visit of a hub whose body moved but whose links are as they were: noise, by our lights.

    What it names besides them (a feed in its head) may be new all the same.
    """
    judgement = judge_unchanged(outcome, hub, now)
    more = _neighbours(outcome, hub, found, now)
    record = replace(judgement.record, page_fields=_page_fields(outcome), more_pages=more)
    return replace(judgement, record=record)


def judge_hub(outcome: Outcome, view: HubView) -> Judgement:
    """Judge a visit of a hub that brought a page to read: what is new on it, and what it is itself."""
    assert outcome.page is not None
    hub, now = view.hub, view.since.now
    standings = _standings(view)
    shelf = _shelf(view)
    standings |= dict.fromkeys(gained_behind(shelf, standings), Standing.BACKFILL)
    event = _event(view, standings)
    chosen = _new_hubs(view, standings)
    verified = _to_verify(view, standings) if event is None else frozenset()
    arrived = gained_old(shelf, standings) if event is None else frozenset()
    plan = _Plan(chosen, event, verified, arrived)
    seen = tuple(_seen(target, standings[target.identity], view, plan) for target in view.found)
    news = sum(link.announce for link in seen) + len(verified)
    gap = event is None and overflowed(view.lists, view.found, standings)
    fields = _hub_fields(outcome, view, news)
    novel = [link for link in seen if link.announce or link.identity in verified]
    guesses = view.guesses or Guesses()
    record = replace(
        base_record(outcome, now),
        links=seen,
        keep_missing=outcome.page.truncated,
        gap=gap,
        hub_fields=fields,
        page_fields=_page_fields(outcome),
        site_change=SiteChange(event.kind, event.reason) if event else None,
        backfill_folder=folder_of([link.url for link in seen if link.backfill]),
        site_fields={"relaunched_at": now} if event and event.kind == "relaunch" else {},
        page_change="back" if _is_back(hub) else None,
        rebaseline=event is not None and event.kind == "relaunch",
        more_pages=_neighbours(outcome, hub, view.found, now),
        topic_scores=guesses.of_waiting(seen),
        look_again=_come_up(view),
    )
    return Judgement(
        record,
        relevant=guesses.expected_among(novel) if view.guesses is not None else None,
        # What a list gained of older pages is one announcement, and as much worth a visit.
        novel=news + any(link.backfill for link in seen),
        shown=len(seen),
        all_new=gap and all_new(view.lists, view.found, standings),
        baseline=hub.baseline_at is None,
        published=_published(view, standings),
        shared=_shared(view, standings),
        vanished=_vanished(view, truncated=outcome.page.truncated),
    )


def _come_up(view: HubView) -> tuple[int, ...]:
    """Return the pages that were looked for in vain and that the hub has begun to show."""
    if view.hub.baseline_at is None:
        return ()
    return tuple(
        known.id
        for known in view.known.values()
        if known.announced_at is None
        and known.id not in view.visible
        and (known.state == "missing" or (known.state == "gone" and known.kept_back))
    )


def _vanished(view: HubView, *, truncated: bool) -> int:
    """Count what came and went between two visits; of a page that was cut short nothing is known."""
    here = {known.id for known in view.known.values()}
    return 0 if truncated else len(view.young - here)


def _standings(view: HubView) -> dict[str, Standing]:
    threshold = view.limits.threshold
    return {
        t.identity: standing(
            t,
            view.known.get(t.identity),
            view.hub,
            view.since,
            hub_like=view.hub.kind != "feed" and view.scores.get(t.identity, 0.0) >= threshold,
            new_hub=view.new_hub or top_folder(t.identity) in view.new_folders,
        )
        for t in view.found
    }


def _shelf(view: HubView) -> Shelf:
    newborn = {
        t.identity for t in view.found if view.new_hub or top_folder(t.identity) in view.new_folders
    }
    return Shelf(
        view.hub, view.since, view.found, view.known, view.visible, view.sights, frozenset(newborn)
    )


def _event(view: HubView, standings: Mapping[str, Standing]) -> Relaunch | None:
    """Return what happened to the whole site, so that its new links are no news: a relaunch, a flood."""
    if view.hub.baseline_at is None:
        return None
    news = [t for t in view.found if standings[t.identity] is Standing.NEW]
    kept = sum(k.id in view.visible for k in view.known.values())
    if len(news) > view.quota:
        return Relaunch(f"{len(news)} new addresses at once on {view.hub.url}", {}, kind="flood")
    came = [t for t in view.found if standings[t.identity] is Standing.BACKFILL]
    return relaunch([*news, *came], view.lost_urls, kept, view.anchors)


def _new_hubs(view: HubView, standings: Mapping[str, Standing]) -> dict[str, NewHub]:
    """Return the links that become hubs."""
    unknown = [t for t in view.found if standings[t.identity] is Standing.HUB]
    chosen = choose_hubs(unknown, view.scores, view.counts, view.limits)
    chosen |= {t.identity for t in unknown if view.corrected.get(t.identity) == "hub"}
    return {t.identity: _new_hub(view, t) for t in unknown if t.identity in chosen}


def _new_hub(view: HubView, target: Target) -> NewHub:
    """Return a hub to be visited: the likeliest first, later pages of a list after their first."""
    score, number = view.scores[target.identity], page_number(target.url)
    now = view.since.now
    if view.corrected.get(target.identity) == "hub":
        return NewHub("html", "user", score, "you said that it is a hub", now)
    if number is not None:
        return NewHub("html", "page", score, f"page {number} of a list", now + number * HOUR)
    return NewHub("html", "list", score, "looks like a list", now + (1.0 - score) * HOUR)


def _to_verify(view: HubView, standings: Mapping[str, Standing]) -> frozenset[str]:
    """Return the unknown pages that are looked at before they are told, as far as looks are granted.

    Those of which topics expect most come first, else as they stand on the page.
    """
    fresh = [
        target.identity
        for target in view.found
        if standings[target.identity] is Standing.NEW and target.identity not in view.known
    ]
    guesses = view.guesses
    if guesses is not None:
        fresh.sort(key=lambda identity: -(guesses.expected(identity) or 0.0))
    first = {
        t.identity
        for t in view.found
        if host_of(t.url) in view.leading or (view.hub.kind != "feed" and may_be_furniture(t.url))
    }
    return frozenset(fresh[: view.looks]) | first.intersection(fresh)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What was decided for the links of one visit together."""

    hubs: Mapping[str, NewHub]
    event: Relaunch | None
    verified: frozenset[str]
    arrived: frozenset[str] = frozenset()
    """Old pages that the hub gained."""


def _seen(target: Target, stand: Standing, view: HubView, plan: _Plan) -> SeenLink:
    new = stand is Standing.NEW and plan.event is None
    announce = new and target.identity not in plan.verified
    hub = plan.hubs.get(target.identity)
    # Found on a hub that was read before, this would be news if it were no hub: its first visit tells.
    # After a relaunch it is an old section under a new address.
    came_up = view.new_hub or top_folder(target.identity) in view.new_folders
    news = (view.hub.baseline_at is not None or came_up) and plan.event is None
    # An old page that only seems to be a hub is news of its kind, if the list gained it.
    old_hub = not came_up and is_old_hub(target, stand, view.hub, view.since)
    news = news and (target.identity in plan.arrived or not old_hub)
    # Over a limit of hubs it cannot be read as one; a look can tell whether it is there.
    over = stand is Standing.HUB and hub is None and page_number(target.url) is None and news
    backfill = target.identity in plan.arrived and (stand is not Standing.HUB or over)
    over = over and not backfill
    pending = (hub is not None and hub.role == "list" and news) or over
    pending = pending or target.identity in plan.verified
    state = "backdated" if stand is Standing.BACKDATED else "pending" if pending else "known"
    # With a hub it waits for its first reading: then it is one, or a page of the backfill.
    state = "backfill" if backfill or (pending and old_hub) else state
    if stand in (Standing.NEW, Standing.BACKFILL) and plan.event is not None:
        state = "relaunched"  # so that the next hub to show it does not tell it either
    waits = new or over
    guesses = view.guesses if waits else None
    return SeenLink(
        identity=target.identity,
        url=target.url,
        anchor=target.anchor,
        tag_path=target.tag_path,
        position=target.position,
        published_at=believable(target.published_at, view.since.now),
        announce=announce,
        backfill=backfill,
        state=state,
        hub=hub,
        look_due_at=view.since.now if waits else None,
        moved_from=plan.event.moved.get(target.identity) if plan.event else None,
        look_score=guesses.expected(target.identity) if guesses else None,
        link_context=guesses.contexts.get(target.identity) if guesses else None,
    )


def _hub_fields(outcome: Outcome, view: HubView, news: int) -> dict[str, object]:
    assert outcome.page is not None
    hub, now, page = view.hub, view.since.now, outcome.page
    fields: dict[str, object] = {
        "kind": _HUB_KINDS.get(page.kind, hub.kind),
        "state": "active",
        "visited_at": now,
        "changed_at": now,
        "baseline_at": hub.baseline_at or now,
        "visits": hub.visits + 1,
        "failures": 0,
        "new_pages": hub.new_pages + news,
        "barren_visits": 0 if news else hub.barren_visits + 1,
        "shown_links": len(view.found),
        "links_md5": links_digest(view.found),
        "last_status": outcome.response.status.value,
        "next_url": page.next_url,
    }
    return fields | _validators(outcome)


def _validators(outcome: Outcome) -> dict[str, object]:
    headers = outcome.response.headers
    fields: dict[str, object] = {}
    if outcome.body_md5 is not None:
        fields["body_md5"] = outcome.body_md5
    for column, header in (("etag", "etag"), ("last_modified", "last-modified")):
        if outcome.body_md5 is not None or header in headers:
            fields[column] = headers.get(header)
    return fields


def _page_fields(outcome: Outcome) -> dict[str, object]:
    assert outcome.page is not None
    fields: dict[str, object] = {"title": outcome.page.title, "state": "known", "kept_back": None}
    if outcome.page.language:
        fields["language"] = outcome.page.language
    return fields


def _shared(view: HubView, standings: Mapping[str, Standing]) -> Counter[str]:
    """Count the links that appeared here after another hub had shown them, by that hub."""
    if view.hub.baseline_at is None:
        return Counter()
    return Counter(
        str(known.first_hub_id)
        for identity, known in view.known.items()
        if known.id not in view.visible
        and known.first_hub_id not in (None, view.hub.page_id)
        and standings[identity] is Standing.KNOWN
    )


def _published(view: HubView, standings: Mapping[str, Standing]) -> tuple[float, ...]:
    if view.hub.kind != "feed":
        return ()
    baseline = view.hub.baseline_at is None
    return tuple(
        t.published_at
        for t in view.found
        if t.published_at is not None
        and t.published_at <= view.since.now
        and (baseline or standings[t.identity] is Standing.NEW)
    )


def _neighbours(
    outcome: Outcome, hub: HubRow, found: Sequence[Target], now: float
) -> tuple[SeenLink, ...]:
    """Return what the page names besides its links: feeds, sitemaps, a refresh's target."""
    assert outcome.page is not None
    page = outcome.page
    more = [
        _neighbour(url, NewHub("feed", "feed", 1.0, f"named by {hub.url}", now))
        for url in page.feed_urls
    ]
    if page.refresh_url:
        role = hub.role if hub.role in ("seed", "home") else "list"
        why = f"{hub.url} refreshes to it"
        more.append(_neighbour(page.refresh_url, NewHub("html", role, 1.0, why, now)))
    if page.kind is PageKind.SITEMAP_INDEX:
        why = f"listed in {hub.url}"
        parts = found[:MAX_SITEMAPS]
        more += [_neighbour(t.url, NewHub("sitemap", "sitemap", 1.0, why, now)) for t in parts]
    return tuple(link for link in more if link is not None)


def _neighbour(url: str, hub: NewHub) -> SeenLink | None:
    target = normalize(url)
    if target is None:
        return None
    return SeenLink(identity=identity(target), url=target, hub=hub)


def judge_topic_page(  # noqa: PLR0913 - each bears on it
    outcome: Outcome,
    first_hub_id: int | None,
    section: Sequence[Target],
    now: float,
    *,
    news: bool,
    backfill: bool = False,
) -> Judgement:
    """Judge a page that was taken for a hub by its address and is none.

    If it came up as *news* it is told, and *section*, the unknown pages below its folder that it leads
    to, are looked at: they came with it. An old page that a list gained is part of its *backfill*.
    """
    assert outcome.page is not None
    kept = furniture(outcome.task.url, outcome.page.title) if news else None
    news = news and kept is None
    fields = _page_fields(outcome) | {"body_md5": outcome.body_md5, "looked_at": now}
    fields["kept_back"] = kept.value if kept else None
    record = replace(
        base_record(outcome, now),
        page_fields=fields,
        drop_hub=True,
        announce_page=news,
        backfill_page=backfill,
        backfill_folder=folder_of([outcome.task.url]) if backfill else "",
        first_hub_id=first_hub_id,
        more_pages=section_links(section, now) if news else (),
    )
    return Judgement(record, gone=True)


def top_folder(identity: str) -> str:
    """Return the beginning that the identities in a page's first folder share; empty at the root.

    ``//host/news/2024/x`` -> ``//host/news/``; ``//host/x`` -> an empty text.
    """
    parts = identity.split("/", 4)
    return "/".join(parts[:4]) + "/" if len(parts) == 5 else ""  # noqa: PLR2004 - //host/folder/rest


def section_links(section: Sequence[Target], now: float) -> tuple[SeenLink, ...]:
    """Return the pages of a new section as pages that are told when a look finds them."""
    return tuple(
        SeenLink(t.identity, t.url, t.anchor, state="pending", look_due_at=now) for t in section
    )
