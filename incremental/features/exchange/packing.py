"""From the store to a pack, and back: new sites begin with what the pack learned; known ones gain hubs."""

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from msgspec import to_builtins

from incremental.base.errors import InputError
from incremental.base.scope import read_scope
from incremental.base.texts import hub_why
from incremental.base.urls import canonical_key, host_of
from incremental.features.exchange.packs import (
    MAX_HUBS,
    Pack,
    PackHub,
    PackSite,
    PackTopic,
    PackWay,
    may_hold_secret,
)
from incremental.fetch.options import FetchSettings
from incremental.parse.hub_way import Way, WayKind, read_way
from incremental.schedule.state import HubState, SiteState
from incremental.settings.seeds import SeedTerms, add_seed, check_address
from incremental.topics.editing import METHODS, begin, edit_topic
from store import Store
from store.enums import ExampleOrigin, HubKind, HubRole, HubStatus, SiteStatus
from store.values import HubRow, NewHub, SeenLink, SiteRow

_ROLES = {HubKind.FEED: HubRole.FEED, HubKind.SITEMAP: HubRole.SITEMAP, HubKind.HTML: HubRole.LIST}
# Names that only one network knows: RFC 2606, 6761, 6762 and 8375, and those that no registry gives out.
_OWN_NETWORK = (".local", ".localhost", ".internal", ".lan", ".arpa", ".test", ".corp", ".home")
# More new links than any list brings.
_MOST_AN_HOUR = 60.0
# Pages of articles and of overflowed lists say nothing for long.
_LEFT_OUT = (HubRole.ARTICLE, HubRole.PAGE)
_LONGEST_EVIDENCE_HOURS = 28 * 24.0
"""However long somebody watched a hub: what is seen here soon weighs more."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a pack."""

    sites: int
    """New ones."""
    known: int
    """Sites that were watched already."""
    hubs: int
    """Added to either."""
    topics: int
    """New ones."""
    problems: list[str]
    """What was refused here, with the reason."""
    dry_run: bool


def pack_of(store: Store, now: float, *, private: Collection[str] = ()) -> Pack:
    """Return what was learned; sites of these seeds and addresses that are not public are left out."""
    sites = [
        _site(store, row)
        for row in store.read.sites()
        if row.state == SiteStatus.ACTIVE and row.seed_url not in private
        if _is_public(row.seed_url)
    ]
    return Pack(now, tuple(sites), tuple(_topics(store)))


def _is_public(url: str) -> bool:
    """Whether an address may be told to everybody."""
    try:
        check_address(url, FetchSettings())
    except InputError:
        return False
    host = host_of(url)
    return "." in host and not host.endswith(_OWN_NETWORK) and not may_hold_secret(url)


def _site(store: Store, row: SiteRow) -> PackSite:
    scope, state = read_scope(row), SiteState.from_text(row.revisit)
    watched = [
        hub
        for hub in store.read.hubs(row.id)
        if hub.state == HubStatus.ACTIVE and hub.role not in _LEFT_OUT and hub.visited_at
    ]
    hubs = [
        _hub(one)
        for one in sorted(watched, key=lambda one: -one.new_pages)[:MAX_HUBS]
        if scope.holds(one.url) and _is_public(one.url)
    ]
    return PackSite(
        row.seed_url,
        feed=any(hub.role == HubRole.SEED and hub.kind == HubKind.FEED for hub in watched),
        reach=scope.reach,
        include=scope.include,
        exclude=scope.exclude,
        hubs=tuple(hubs),
        hours=state.hours,
        minutes=state.minutes,
    )


def _hub(row: HubRow) -> PackHub:
    state, way, kept = HubState.from_text(row.revisit), read_way(row.way), None
    if way is not None and way.kind not in (WayKind.PLAIN, WayKind.BROWSER_MISSING):
        kept = PackWay(WayKind(way.kind), way.sign, way.url, way.name, way.place, way.folder)
        if not all(map(_is_public, filter(None, (way.url, way.folder)))):
            kept = None
    return PackHub(
        row.url,
        HubKind(row.kind),
        kept,
        novel=round(state.novel, 3),
        exposure_hours=round(state.exposure_hours, 3),
        open_hours=round(state.open_hours, 3),
        hours=state.hours,
        minutes=state.minutes,
    )


def _topics(store: Store) -> Iterator[PackTopic]:
    for row in store.topics.topics():
        given = store.topics.examples(row.id)
        urls = [one.url for one in given if one.origin == ExampleOrigin.EXAMPLE]
        yield PackTopic(
            row.name,
            tuple(filter(_is_public, urls)),
            tuple(json.loads(row.keywords)),
            tuple(json.loads(row.include)),
            tuple(json.loads(row.exclude)),
            row.description,
            row.method,
        )


def take_pack(
    store: Store, pack: Pack, fetch: FetchSettings, *, now: float, dry_run: bool
) -> Taken:
    """Watch a pack's sites with what it learned, and add its topics; what is known here outranks it."""
    problems, new, known, hubs, topics = list[str](), 0, 0, 0, 0
    with store.write.together(undo=dry_run):
        for site in pack.sites:
            with _whole(store, problems):
                _check_all(site.addresses, fetch)
                was_known = store.read.site_by_seed(site.seed) is not None
                hubs += _take_site(store, site, was_known=was_known, now=now)
                known, new = known + was_known, new + (not was_known)
        for topic in pack.topics:
            with _whole(store, problems):
                _check_all(topic.examples, fetch)
                topics += _take_topic(store, topic, now)
    return Taken(new, known, hubs, topics, problems, dry_run)


@contextmanager
def _whole(store: Store, problems: list[str]) -> Iterator[None]:
    """Let something be taken as a whole or, if it is refused, not at all; note why."""
    try:
        with store.write.together():
            yield
    except InputError as error:
        problems.append(str(error))


def _check_all(urls: Iterable[str], fetch: FetchSettings) -> None:
    for url in urls:
        check_address(url, fetch)


def _take_site(store: Store, site: PackSite, *, was_known: bool, now: float) -> int:
    terms = None if was_known else SeedTerms(site.reach, site.include, site.exclude)
    site_id = add_seed(store, site.seed, now=now, terms=terms, feed=site.feed)
    there = {hub.canonical_key: hub.page_id for hub in store.read.hubs(site_id)}
    keys = {canonical_key(hub.url): hub for hub in site.hubs}
    why = hub_why("pack")
    added = [
        SeenLink(key, hub.url, hub=NewHub(hub.kind, _ROLES[hub.kind], 1.0, why, now))
        for key, hub in keys.items()
        if key not in there
    ]
    if was_known:
        keys = {key: hub for key, hub in keys.items() if key not in there}
    else:
        state = SiteState(hours=site.hours, minutes=site.minutes, counted_at=now)
        store.write.update_site(site_id, revisit=state.to_text())
    ids = there | store.write.add_pages(site_id, added, now=now)
    for key, hub in keys.items():
        way = "" if hub.way is None else Way(**to_builtins(hub.way)).to_text()
        store.write.update_hub(ids[key], way=way, revisit=_evidence(hub, now).to_text())
    return len(added)


def _evidence(hub: PackHub, now: float) -> HubState:
    part = min(1.0, _LONGEST_EVIDENCE_HOURS / max(hub.exposure_hours, 1.0))
    return HubState(
        novel=min(hub.novel, _MOST_AN_HOUR * hub.exposure_hours) * part,
        exposure_hours=hub.exposure_hours * part,
        open_hours=min(hub.open_hours, hub.exposure_hours) * part,
        hours=hub.hours,
        minutes=hub.minutes,
        counted_at=now,
    )


def _take_topic(store: Store, topic: PackTopic, now: float) -> bool:
    if store.topics.topic(topic.name) is not None:
        return False
    row, _ = begin(
        store,
        topic.name,
        examples=topic.examples,
        keywords=topic.keywords,
        description=topic.description,
        method=topic.method or METHODS[0],
        now=now,
    )
    edit_topic(store, row, include=topic.include, exclude=topic.exclude, now=now)
    return True
