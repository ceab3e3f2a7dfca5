"""What is looked after besides visits; :mod:`incremental.decide.upkeep` says what changes.

::

    aliases      after a list was read: two addresses with one body (incremental.base.path_aliases)
    given feeds  after their first reading, or a new scope (incremental.decide.feed_home)
    owed hubs    after an overflow (incremental.crawl.overflows)
    candidates   after a first reading: lists not read yet, of the form of address that was read
    coverage     twice a day, after enough first visits, or an overflow (incremental.schedule.coverage)
    plan         after the price has fallen (incremental.schedule.replanning)
    articles     twice a day: which are monitored (incremental.decide.articles); due sooner after a gain

Of each form of address a few are read first (:func:`incremental.decide.news.decide_links`).
"""

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from urllib.parse import urlsplit

from incremental.base.path_aliases import (
    ALIKE_SHARE,
    MIN_BODY_BYTES,
    AliasFacts,
    learned,
    path_alias_prefix,
    rules,
    without_path_alias,
)
from incremental.base.readable_urls import site_name
from incremental.base.scope import Reach, read_scope
from incremental.base.tagging import add_tags, is_named
from incremental.base.texts import hub_why
from incremental.base.times import DAY, HOUR, MINUTE
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.facts import FactReader
from incremental.crawl.sites import SOON_ARTICLE_SECONDS, WatchedSite
from incremental.decide import upkeep
from incremental.decide.address_forms import form_of, place_of
from incremental.decide.articles import chosen_articles
from incremental.decide.decision import Decision
from incremental.decide.feed_home import is_given_feed, may_hand_over
from incremental.decide.hubs import NEVER_THERE
from incremental.decide.news import TRIED_FIRST
from incremental.schedule import replanning
from incremental.schedule.allocation import AFTER_GAIN_SECONDS, article_share
from incremental.schedule.coverage import MIN_ANNOUNCED, ShownPages, coverage
from incremental.schedule.state import HubState
from incremental.visit.visit import Outcome
from store import Store
from store.enums import HubKind, HubRole, HubStatus, SiteStatus
from store.rules import Rule
from store.values import (
    ARTICLE,
    HubRow,
    MonitoredArticle,
    NewHub,
    SeenLink,
    SiteChanges,
    SiteRow,
    SiteUpdate,
    VisitRecord,
)

logger = logging.getLogger("hubwatch.upkeep")

REFRESH_SECONDS = 0.5 * DAY
REFRESH_BASELINES = 10
# How long hubs must have shown an article; what leaves a list sooner was news.
SETTLED_SECONDS = 14 * DAY
# A hub shows a page in time if it does so this soon after the announcement, or at its next visit.
IN_TIME_SECONDS = 6 * HOUR
# How long gained older pages count as evidence: a feed that never shows them does not cover the list.
GAINED_SECONDS = 30 * DAY
# A hub read this recently has nothing more to show, if it is not to be read more often.
READ_SECONDS = 15 * MINUTE
_PREFERENCE = {HubKind.FEED: 3.0, HubKind.HTML: 1.0, HubKind.SITEMAP: 2.0}


class Upkeep:
    """Used by the crawler's thread only."""

    def __init__(self, store: Store, facts: FactReader, threshold: float) -> None:
        self._store = store
        self._facts = facts
        self._threshold = threshold

    def after(self, url: str, site: WatchedSite, now: float, *, is_hub: bool | None) -> None:
        """Do what is due for a site after a visit; *is_hub*: the verdict of the first reading of *url*."""
        if is_hub is not None:
            self._review(url, site, now, is_hub=is_hub)
        elif self._facts.context(site, now).missing_like(url) >= NEVER_THERE:
            links, place = self._store.read.candidates(site.row.id), place_of(url)
            absent = (page_id for page_id, link in links.items() if place_of(link.url) == place)
            withdrawn = dict.fromkeys(absent, Rule.NEVER_THERE)
            self._change(site, SiteChanges(withdrawn=withdrawn), now)
        self.cover(site, now)
        self.replan(site, now)
        self._monitor(site, now)
        if site.articles_gained_at == now:
            hubs = self._store.read.hubs(site.row.id)
            self._change(site, upkeep.hastened_articles(hubs, now + SOON_ARTICLE_SECONDS), now)

    def _change(self, site: WatchedSite, changes: SiteChanges, now: float) -> dict[str, int]:
        site.other_hubs = None
        return self._store.write.change_site(site.row.id, changes, now)

    def owe(self, page_ids: Iterable[int], site: WatchedSite, now: float) -> None:
        """Make hubs due, note in their rows that they are owed a visit, and queue them."""
        hubs = self._hubs(page_ids)
        self._owe(upkeep.owed(hubs, site.hub_state, now, _recent_seconds(site)), site, now)

    def _owe(self, changes: SiteChanges, site: WatchedSite, now: float) -> dict[str, int]:
        """Write what is owed a visit, and queue it; return the ids of added pages by canonical key."""
        ids = self._change(site, changes, now) if changes != SiteChanges() else {}
        for page_id, fields in changes.updated.items():
            site.hub_states.pop(page_id, None)  # that of the row
            if "due_at" in fields:
                site.urgent.push(page_id)
        site.urgent.push(*(ids[link.canonical_key] for link in changes.added))
        return ids

    def _hubs(self, page_ids: Iterable[int]) -> list[HubRow]:
        return [hub for page in page_ids if (hub := self._store.read.hub(page)) is not None]

    def follow(self, site: WatchedSite, most: int, now: float) -> None:
        """Schedule visits that may recover links lost from lists: next pages, at most *most* per list."""
        lost = self._hubs(site.state.overflowed)
        lists = [hub for hub in lost if hub.role != HubRole.PAGE]
        if lists:
            self.cover(site, now, overflowed_at=min(hub.visited_at or now for hub in lists))
        site.state = replace(site.state, overflowed=())
        places = [site.next_pages.pop(hub.page_id, (0, hub.page_id)) for hub in lost]
        overflows = [
            self._overflow(hub, site, now, first=first, reads_on=number < most)
            for hub, (number, first) in zip(lost, places, strict=True)
        ]
        changes = upkeep.followed(overflows, site.hub_state, now, _recent_seconds(site))
        revisit = SiteUpdate(revisit=site.state.to_text())
        ids = self._owe(replace(changes, fields=revisit), site, now)
        for one, (number, first) in zip(overflows, places, strict=True):
            if one.next_page is not None:
                known = one.next_hub.page_id if one.next_hub is not None else 0
                page_id = known or ids[one.next_page.canonical_key]
                site.next_pages[page_id] = number + 1, first
                # Before waiting hubs: the next page is the likeliest place of what scrolled off.
                if page_id in site.urgent.hubs:
                    site.urgent.push_first(page_id)

    def _overflow(
        self, hub: HubRow, site: WatchedSite, now: float, *, first: int, reads_on: bool
    ) -> upkeep.Overflow:
        """Return the facts of a list that overflowed."""
        url = normalize(hub.next_url or "") if reads_on else None
        if url is None or not site.scope.holds(url):
            return upkeep.Overflow(None, None, self._hubs(site.coverage.covered_by(first)))
        url = without_path_alias(url, site.path_aliases)
        key, why = canonical_key(url), hub_why("next_page", page=hub.url)
        owed = HubState(owed_at=now).to_text()
        # Its first visit announces.
        new = NewHub(HubKind.HTML, HubRole.LIST, 0.9, why, now, site.row.added_at, owed)
        known = self._store.read.known(site.row.id, [key])
        there = self._hubs([known[key].id]) if key in known else []
        return upkeep.Overflow(SeenLink(key, url, hub=new), there[0] if there else None, ())

    def learn_aliases(
        self,
        outcome: Outcome,
        decision: Decision,
        site: WatchedSite,
        now: float,
        *,
        has_twin: bool,
    ) -> None:
        """Count two URLs with one body as evidence for a path alias; fold what has enough of it.

        *has_twin*: another hub of the site had the same body.
        """
        hub, visit = decision.hub, decision.visit
        if hub is None or outcome.page is None or outcome.body_md5 is None:
            return
        if len(outcome.response.body) < MIN_BODY_BYTES:
            return
        if visit is not None and visit.baseline:
            self._suspect(hub, decision.record, site, now)
        facts = self._alias_facts(hub.url, outcome.body_md5, site) if has_twin else None
        found = learned(facts, now) if facts is not None else None
        if found is None:
            return
        ids = self._change(site, found.changes, now)
        site.row = replace(site.row, path_aliases=found.changes.fields["path_aliases"])
        site.path_aliases = rules(found.evidence)
        for page_id, key in found.pairs:
            site.urgent.push(page_id, ids[key])
        if found.changes.folded:
            logger.info("%s shows pages under two paths: %s", site.row.name, site.path_aliases)

    def _alias_facts(self, url: str, digest: str, site: WatchedSite) -> AliasFacts | None:
        """Return what bears on two addresses with one body; None = there are none."""
        same = self._store.read.hubs_with_body(site.row.id, digest)
        prefixes = {path_alias_prefix(url, other) or "" for other in same} - {
            "",
            *site.path_aliases,
        }
        if not prefixes:
            return None
        read, host, site_id = self._store.read, f"//{urlsplit(url).netloc}", site.row.id
        below = {one: read.pages_below(site_id, host + one) for one in prefixes}
        return AliasFacts(
            url,
            same,
            evidence=json.loads(site.row.path_aliases),
            below={one: [page[:2] for page in pages] for one, pages in below.items()},
            hubs={hub for pages in below.values() for *_, hub in pages if hub is not None},
        )

    def _suspect(self, hub: HubRow, record: VisitRecord, site: WatchedSite, now: float) -> None:
        """Queue two hubs together whose URLs differ by a prefix and whose links are much alike."""
        here = {link.canonical_key for link in record.links or ()}
        # What was read just now has been compared. Every section of a new site shares its menu with the home
        # page, which was read again after each of them.
        lately = now - _recent_seconds(site)
        for other in self._store.read.hubs(site.row.id):
            if other.kind != hub.kind or path_alias_prefix(hub.url, other.url) is None:
                continue
            if (other.visited_at or 0.0) > lately:
                continue
            there = self._store.read.shown_by(other.page_id)
            if here and len(here & there) >= ALIKE_SHARE * len(here | there):
                # At once, one after the other: sites change between two visits.
                site.urgent.push(other.page_id, hub.page_id)

    def hand_over(self, page_id: int, site: WatchedSite, now: float) -> bool:
        """Move a given feed to the site that it belongs to, if that is watched already; return whether."""
        hub = self._store.read.hub(page_id)
        if hub is None or not may_hand_over(hub, site.row, site.scope, now):
            return False
        other, tags = self._watching(site), self._store.tags.of_sites().get(site.row.id, ())
        # The feed's own site would announce everything twice, so it is withdrawn, unless it has terms of
        # its own, announced pages or labels.
        if other is None or not self._store.write.withdraw_site(site.row.id):
            return False
        new = NewHub(HubKind.FEED, HubRole.USER, 1.0, hub_why("given"), now)
        feed = SeenLink(hub.canonical_key, hub.url, hub=new)
        self._store.write.change_site(other.id, SiteChanges(added=(feed,)), now)
        add_tags(self._store, other.id, tags)
        logger.info("%s is a feed of %s, which is watched already", hub.url, other.name)
        return True

    def _watching(self, site: WatchedSite) -> SiteRow | None:
        """Return another active site whose scope includes the home of this one."""
        home = site.scope.seed_url
        for row in self._store.read.sites():
            scope = read_scope(row)
            near = row.id != site.row.id and scope.holds(home)
            if near and row.state == SiteStatus.ACTIVE and scope.reach is not Reach.ANYWHERE:
                return row
        return None

    def rename(self, page_id: int, site: WatchedSite) -> None:
        """Name a site that was given as a feed after the host of its articles, once known."""
        hub = self._store.read.hub(page_id)
        home = site.scope.seed_url
        if hub is None or not is_given_feed(hub) or hub.role != HubRole.SEED or home == hub.url:
            return
        if not is_named(site.row):
            self._store.write.rename_site(site.row.id, site_name(home), home)

    def _review(self, url: str, site: WatchedSite, now: float, *, is_hub: bool) -> None:
        """Judge the candidates of the form of *url* again."""
        form = form_of(url)
        if sum(self._facts.context(site, now).verdicts.get(form, ())) < TRIED_FIRST:
            return
        links = self._store.read.candidates(site.row.id)
        waiting = {page_id: link for page_id, link in links.items() if form_of(link.url) == form}
        if not waiting:
            return
        scores, hubs = None, list[HubRow]()
        if is_hub:
            hubs = [hub for hub in self._store.read.hubs(site.row.id) if hub.page_id in waiting]
        else:
            by_key = self._facts.scores(list(waiting.values()), site, now)
            scores = {page_id: by_key[link.canonical_key] for page_id, link in waiting.items()}
        self._change(site, upkeep.candidates(hubs, scores, self._threshold, now), now)

    def cover(self, site: WatchedSite, now: float, *, overflowed_at: float | None = None) -> None:
        """Compute coverage again after half a day, after enough first visits of hubs, or an overflow."""
        fresh = now - site.coverage_at < REFRESH_SECONDS and site.baselines < REFRESH_BASELINES
        if fresh and overflowed_at is None:
            return
        site.coverage_at, site.baselines = now, 0
        before = site.coverage.covered
        hubs = [
            h
            for h in self._store.read.hubs(site.row.id)
            if h.state in (HubStatus.ACTIVE, HubStatus.DORMANT)
            and h.role not in (HubRole.PAGE, ARTICLE)
        ]
        site.coverage = coverage(self._shown(site.row.id, hubs, now, overflowed_at))
        after = site.coverage.covered
        site.covered_daily = sum(
            hub.kind == HubKind.SITEMAP
            or hub.role in (HubRole.SEED, HubRole.HOME)
            or site.coverage.follows(hub.page_id)
            for hub in hubs
            if hub.page_id in after
        )
        changes = upkeep.covered(hubs, before, after, lambda hub: site.hub_due_at(hub, now))
        self._change(site, changes, now)
        logger.debug("%s: %d of %d hubs are covered", site.row.name, len(after), len(hubs))

    def replan(self, site: WatchedSite, now: float) -> None:
        """Bring visits forward after the price has fallen."""
        if not replanning.is_due(site.planned_at, site.planned_price, site.price, now):
            return
        site.planned_at, site.planned_price = now, site.price(now)
        changes = upkeep.replanned(
            self._store.read.hubs(site.row.id),
            lambda hub: site.is_covered(hub.page_id, hub.role),
            lambda hub: site.hub_due_at(hub, now),
        )
        self._change(site, changes, now)

    def _shown(
        self, site_id: int, hubs: list[HubRow], now: float, overflowed_at: float | None
    ) -> dict[int, ShownPages]:
        pages = defaultdict[int, set[int]](set)
        announced = defaultdict[int, dict[int, float]](dict)
        patience = {
            hub.page_id: max(IN_TIME_SECONDS, 1.5 * (hub.interval_seconds or 0.0)) for hub in hubs
        }
        # A list that overflowed covers what shows the same as it did before: by now it may show only new
        # pages, which the others do not.
        for hub, page in self._store.read.articles_shown(site_id, overflowed_at):
            pages[hub].add(page)
        evidence = self._store.read.announced_shown(site_id)
        if len({page for _, page, _, _ in evidence}) >= MIN_ANNOUNCED:
            # Never as the only evidence: where a site imports its past, its news need not appear.
            evidence += self._store.read.gained_shown(site_id, now - GAINED_SECONDS)
        for hub, page, seen_at, announced_at in evidence:
            if hub in patience and seen_at <= announced_at + patience[hub]:
                announced[hub][page] = announced_at
        return {
            hub.page_id: ShownPages(
                pages=pages[hub.page_id],
                announced=announced[hub.page_id].keys(),
                news=tuple(announced[hub.page_id].values()),
                chosen=hub.role == HubRole.USER,
                anchor=hub.role in (HubRole.SEED, HubRole.HOME)
                or hub.kind in (HubKind.FEED, HubKind.SITEMAP),
                late=hub.kind == HubKind.SITEMAP,
                preference=_PREFERENCE.get(hub.kind, 0.0)
                + (hub.role in (HubRole.SEED, HubRole.HOME)),
            )
            for hub in hubs
        }

    def _monitor(self, site: WatchedSite, now: float) -> None:
        """Choose the monitored articles again every half day, after a site's first two weeks."""
        read = self._store.read
        if site.articles_gained_at == -inf:
            since = now - AFTER_GAIN_SECONDS
            site.articles_gained_at = read.article_gained_at(site.row.id, since)
        settled = now - site.row.added_at >= SETTLED_SECONDS
        if not settled or 0 <= now - site.articles_at < REFRESH_SECONDS:
            return
        site.articles_at = now
        monitored = read.monitored_articles(site.row.id)
        candidates = read.article_candidates(site.row.id, before=now - SETTLED_SECONDS)
        most = int(site.terms.requests_per_day)
        changes = chosen_articles(candidates, monitored, most, now)
        self._change(site, changes, now)
        more = len(changes.begun) - len(changes.ended)
        site.allocation.articles = _share(site, monitored, more)


def _recent_seconds(site: WatchedSite) -> float:
    """Return how long a hub needs no further visit after one."""
    # Half, because the next overflow of the list may be seen an interval after the last, and these
    # were read a little later than it.
    return min(READ_SECONDS, site.terms.min_interval_seconds) / 2


def _share(site: WatchedSite, monitored: Sequence[MonitoredArticle], more: int) -> float:
    return article_share(
        len(monitored) + more,
        sum(one.productive_visits for one in monitored),
        sum(one.watched_seconds for one in monitored) / DAY,
        site.state.weight_total,
    )
