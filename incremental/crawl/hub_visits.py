"""What a visit of a hub leads to: look up what bears on it, have it judged, set the next visit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from classifier.hub import LinkEvidence
from classifier.hub.labels import HUB
from incremental.crawl.given_feeds import is_given_feed, is_planet, learn_site, with_site
from incremental.crawl.mirror_watch import MirrorWatch
from incremental.crawl.probes import probes
from incremental.crawl.rescheduling import Signs, reschedule
from incremental.crawl.sections import MAX_NEW_SECTION, Sections
from incremental.crawl.sites import WatchedSite
from incremental.crawl.topics import TopicWatch
from incremental.fetch.decoding import decode_body
from incremental.fetch.status import FetchStatus
from incremental.judge.arrivals import dated
from incremental.judge.editions import is_edition_front
from incremental.judge.feed_home import leading_hosts
from incremental.judge.hubs import HubCounts, HubLimits, HubScorer, score_targets
from incremental.judge.kept_back import KeptBack, furniture
from incremental.judge.links import Target, links_digest, targets
from incremental.judge.looks import MISSING
from incremental.judge.news import RELAUNCH_MIN_LINKS, Since
from incremental.judge.outcome import (
    HubView,
    Judgement,
    judge_failure,
    judge_hub,
    judge_same_links,
    judge_topic_page,
    judge_unchanged,
)
from incremental.judge.site_context import SiteContext
from incremental.parse import Page, PageKind
from incremental.scope import template
from incremental.settings import Settings
from incremental.times import DAY, HOUR, NEVER
from incremental.urls import identity, normalize
from incremental.visit import Outcome
from store import Store
from store.enums import HubKind, LabelOrigin, PageState
from store.naming import folder_of
from store.values import HubRow, KnownPage, NewHub, PageRow, SeenLink, VisitRecord

MAX_TTL_SECONDS = DAY
MAX_TRIES = 5
"""Visits of an old page that a list gained and that is not there."""
SURE_SCORE = 0.95
"""From here on an address alone makes a hub, even one that is still empty."""
LIST_WORDS = re.compile(
    r"/(?:tags?|categor(?:y|ies)|topics?|archives?|authors?|labels?)/", re.IGNORECASE
)
"""Folders whose pages nobody wants to be told of, however unsure the classifier is."""
QUOTA_MATTERS = 0.02
"""Share of the daily limit of new pages from which a visit's unknown links are counted against it."""
INDEX_SECONDS = 6 * HOUR
"""How long the index of a site's URLs, the context of its links, is used."""


class HubVisits:
    """Settles visits of hubs. Reads the store, writes nothing but the page cache and mirrors."""

    def __init__(
        self, store: Store, settings: Settings, scorer: HubScorer, topics: TopicWatch
    ) -> None:
        self._store = store
        self._settings = settings
        self._scorer = scorer
        self._topics = topics
        self._mirrors = MirrorWatch(store)
        self._signs = Signs(store)
        self.sections = Sections(store)

    def settle(self, outcome: Outcome, site: WatchedSite, now: float) -> VisitRecord | None:
        """Return the record of a visit, None when the hub was removed meanwhile."""
        hub = self._store.read.hub(outcome.task.page_id)
        if hub is None:
            return None
        judgement = _within(self._judgement(outcome, hub, site, now), site)
        judgement = self._capped(self._told_unread(judgement, outcome, hub, now), site)
        record = reschedule(judgement, outcome, hub, site, now)
        self._keep_body(outcome, hub, judgement)
        self._mirrors.learn(outcome, hub, judgement, site, now)
        self._signs.from_sitemap(outcome, site, now)
        return record

    def _judgement(self, outcome: Outcome, hub: HubRow, site: WatchedSite, now: float) -> Judgement:
        response, page = outcome.response, outcome.page
        if response.status is FetchStatus.REDIRECTED:
            return _redirected(outcome, hub, site, now)
        if response.status not in (FetchStatus.FETCHED, FetchStatus.NOT_MODIFIED):
            return judge_failure(outcome, hub, now)
        if outcome.unchanged and hub.baseline_at is not None:
            return judge_unchanged(outcome, hub, now)
        problem = _not_a_hub(page, hub)
        if page is None or problem:
            empty = replace(response, status=FetchStatus.GONE, detail=problem)
            return judge_failure(replace(outcome, response=empty), hub, now)
        return self._read(outcome, replace(hub, kind=HubKind(_kind(page.kind))), page, site, now)

    def _read(
        self, outcome: Outcome, hub: HubRow, page: Page, site: WatchedSite, now: float
    ) -> Judgement:
        """Judge a page that brought links."""
        probability = self._first_reading(outcome, hub, site, now)
        if probability < self._settings.hubs.threshold:
            return self._topic_page(outcome, hub, page, site, now)
        learned = learn_site(page, hub, site, now)
        beyond = site.scope.beyond(hub.identity)
        found = targets(
            page.links, site.scope, mirrors=site.mirrors, own=hub.identity, beyond=beyond
        )
        if hub.baseline_at is not None and links_digest(found) == hub.links_md5:
            return judge_same_links(outcome, hub, found, now)
        view = self._view(found, hub, site, now)
        if beyond is not None:
            view = replace(view, leading=leading_hosts(page.links, site.scope))
        view = replace(view, guesses=self._topics.guess(page, view))
        judgement = with_site(judge_hub(outcome, view), learned)
        judgement = _with_address(judgement, outcome, hub)
        if probability < SURE_SCORE or is_edition_front(hub.identity):
            judgement = self._told_as_well(judgement, hub)
        if judgement.record.rebaseline:
            site.row = replace(site.row, relaunched_at=now)
        near = learned.home.url if learned and learned.home else outcome.response.url
        if hub.role == "seed" and site.row.probed_at is None and not is_planet(hub, site):
            return _with_probes(judgement, probes(page, near, now), site, now)
        return judgement

    def _topic_page(
        self, outcome: Outcome, hub: HubRow, page: Page, site: WatchedSite, now: float
    ) -> Judgement:
        row = self._store.read.page(hub.page_id)
        news = row is not None and row.state == PageState.PENDING
        section = self.sections.section(page, hub.identity, site, now) if news else ()
        return judge_topic_page(
            outcome,
            row.first_hub_id if row else None,
            section,
            now,
            news=news,
            backfill=self._awaits_event(row),
        )

    def _awaits_event(self, row: PageRow | None) -> bool:
        """Tell whether a list gained this old page, and no event has announced it yet."""
        if row is None or row.state != PageState.BACKFILL:
            return False
        return self._store.backfills.event_of(row.id) is None

    def _first_reading(self, outcome: Outcome, hub: HubRow, site: WatchedSite, now: float) -> float:
        """Return the probability that a page which only its address made a hub is one; 1 for others.

        What a page has brought outranks what it looks like, so a hub with new pages stays one.
        """
        first_look = hub.baseline_at is None and hub.role == "list" and hub.kind == "html"
        if not first_look or hub.new_pages or outcome.page is None:
            return 1.0
        leaf = self._is_leaf(outcome.page, hub, site)
        probability = 0.0 if leaf else self._content_says(outcome, hub)
        is_hub = probability >= self._settings.hubs.threshold
        self._context(site, now).tell(hub.url, hub=is_hub)
        return probability

    def _is_leaf(self, page: Page, hub: HubRow, site: WatchedSite) -> bool:
        """Tell whether a page leads nowhere but where the seed leads: its links are the site's menu."""
        if hub.score >= SURE_SCORE:
            return False
        found = targets(page.links, site.scope, mirrors=site.mirrors, own=hub.identity)
        known = self._store.read.known(site.row.id, [t.identity for t in found])
        menu = self._store.read.shown_by_seed(site.row.id)
        menu |= {one for one, page in known.items() if page.is_hub}
        return {t.identity for t in found} <= menu

    def _content_says(self, outcome: Outcome, hub: HubRow) -> float:
        body, header = outcome.response.body, outcome.response.headers.get("content-type", "")
        text, _ = decode_body(body, header)
        depth = self._store.read.crawl_depth(hub.page_id)
        link = LinkEvidence(url=hub.url, page_bytes=len(body), crawl_depth=depth)
        return self._scorer.score_page(link, text).probability

    def _told_unread(
        self, judgement: Judgement, outcome: Outcome, hub: HubRow, now: float
    ) -> Judgement:
        """Announce a page that came up as news and that we are not allowed to read: it is there.

        One that is not there may be yet to come, so it is looked for again like any new page.
        """
        if not judgement.gone or not judgement.failed:
            return judgement
        status = outcome.response.status
        state = self._state(hub)
        if status is FetchStatus.GONE and state == "backfill" and hub.failures < MAX_TRIES:
            again = {"state": "candidate", "due_at": now + DAY, "failures": hub.failures + 1}
            record = replace(judgement.record, hub_fields=judgement.record.hub_fields | again)
            return replace(judgement, record=record, gone=False)
        if status is FetchStatus.GONE and state == "pending":
            fields: dict[str, object] = {
                "state": MISSING,
                "look_due_at": now + HOUR,
                "looked_at": now,
                "kept_back": KeptBack.NOT_YET_THERE.value,
            }
            record = replace(judgement.record, page_fields=fields, drop_hub=True)
            return replace(judgement, record=record)
        led_on = status is FetchStatus.REDIRECTED and judgement.record.page_change == "moved"
        if status is FetchStatus.GONE or led_on:
            return judgement
        return self._told_as_well(judgement, hub)

    def _state(self, hub: HubRow) -> str:
        row = self._store.read.page(hub.page_id)
        return row.state if row else ""

    def _capped(self, judgement: Judgement, site: WatchedSite) -> Judgement:
        """Leave out feeds and sitemaps beyond what a site may have: some name them without end."""
        record = judgement.record
        if not any(link.hub for link in record.more_pages):
            return judgement
        room = self._settings.hubs.max_per_site - self._store.read.other_hubs(site.row.id)
        kept = record.more_pages[: max(room, 0)]
        return replace(judgement, record=replace(record, more_pages=kept))

    def _told_as_well(self, judgement: Judgement, hub: HubRow) -> Judgement:
        """Tell a page of which it is not sure that it is a hub, if it came up as news, and watch it too."""
        row = self._store.read.page(hub.page_id)
        gained = self._awaits_event(row)
        pending = row is not None and row.state == PageState.PENDING
        if row is None or not (pending or gained) or LIST_WORDS.search(hub.url):
            return judgement
        kept = furniture(hub.url, row.title)
        if kept is not None:
            fields = judgement.record.page_fields | {"state": "known", "kept_back": kept.value}
            return replace(judgement, record=replace(judgement.record, page_fields=fields))
        record = replace(
            judgement.record,
            announce_page=pending,
            backfill_page=gained,
            backfill_folder=folder_of([hub.url]) if gained else "",
            first_hub_id=row.first_hub_id,
        )
        return replace(judgement, record=record)

    def _view(self, found: Sequence[Target], hub: HubRow, site: WatchedSite, now: float) -> HubView:
        """Look up what bears on the judgement."""
        read = self._store.read
        known = read.known(site.row.id, [t.identity for t in found])
        visible = read.visible(hub.page_id)
        unknown = [t for t in found if t.identity not in known]
        lost = visible - {k.id for k in known.values()}
        suspicious = min(len(unknown), len(lost)) >= RELAUNCH_MIN_LINKS
        headlines = [t.anchor for t in unknown if t.anchor]
        corrected = read.corrections([t.identity for t in unknown])
        return HubView(
            hub=hub,
            since=Since(
                now,
                site.row.added_at,
                self._settings.news.backdated_days,
                site.row.relaunched_at,
            ),
            found=found,
            known=known,
            visible=frozenset(visible),
            young=self._young(hub),
            scores=self._scores(unknown, hub, site, now) | _said(corrected),
            corrected=corrected,
            counts=self._hub_counts(site.row.id) if unknown else HubCounts(0, {}),
            limits=self._limits(),
            new_hub=self._is_new(hub, len(unknown)),
            new_folders=self.sections.new_folders(unknown, site, now),
            quota=self._quota(site.row.id, len(unknown), now),
            looks=site.looks_now(self._settings.news.look_share, now),
            lost_urls=read.urls(lost) if suspicious else (),
            anchors=read.known_anchors(site.row.id, headlines) if suspicious else {},
            overflow_at=site.state.overflow_at,
            overflow_since=site.state.overflow_since,
            resumed_at=site.resumed_at,
            sights=read.sights(hub.page_id) if _may_be_old(found, known, visible, hub) else (),
        )

    def _young(self, hub: HubRow) -> frozenset[int]:
        """Return what was new on the hub at its last visit, if it was known by then."""
        if hub.baseline_at is None or hub.visited_at is None or hub.baseline_at == hub.visited_at:
            return frozenset()
        return frozenset(self._store.read.first_shown(hub.page_id, hub.visited_at))

    def _is_new(self, hub: HubRow, unknown: int) -> bool:
        """Tell whether a hub that is read first came up as news, and its pages with it."""
        if hub.baseline_at is not None or not 0 < unknown <= MAX_NEW_SECTION:
            return False
        page = self._store.read.page(hub.page_id)
        return page is not None and page.state == PageState.PENDING

    def _quota(self, site_id: int, unknown: int, now: float) -> int:
        """Return how many new pages the site may still have today; counted when it may matter."""
        limit = self._settings.news.max_per_day
        if unknown < QUOTA_MATTERS * limit:
            return limit
        return limit - self._store.read.told_since(site_id, now - DAY)

    def _scores(
        self, unknown: Sequence[Target], hub: HubRow, site: WatchedSite, now: float
    ) -> dict[str, float]:
        if hub.kind == "feed" or not unknown:
            return {}
        depth = self._depth_below(hub, site)
        return score_targets(unknown, self._scorer, self._context(site, now), depth=depth)

    def _depth_below(self, hub: HubRow, site: WatchedSite) -> int | None:
        """Return how many steps a hub's links are from the seed; asked of the store once for each hub."""
        if hub.page_id not in site.depths:
            site.depths[hub.page_id] = self._store.read.crawl_depth(hub.page_id)
        above = site.depths[hub.page_id]
        return None if above is None else above + 1

    def _context(self, site: WatchedSite, now: float) -> SiteContext:
        """Return what the site's URLs and the verdicts on its pages say, not older than some hours."""
        if site.context is None or now - site.context.made_at > INDEX_SECONDS:
            read = self._store.read
            said = [
                (one.url, one.label == HUB)
                for one in read.site_labels(site.row.id, LabelOrigin.USER)
            ]
            judged = read.judged_urls(site.row.id) + said
            known, sizes = read.known_urls(site.row.id), read.page_sizes(site.row.id)
            site.context = SiteContext.build(known, judged, now, sizes)
        return site.context

    def _hub_counts(self, site_id: int) -> HubCounts:
        urls = self._store.read.hub_urls(site_id)
        by_template: dict[str, int] = {}
        for url in urls:
            form = template(url)
            by_template[form] = by_template.get(form, 0) + 1
        return HubCounts(len(urls), by_template)

    def _limits(self) -> HubLimits:
        hubs = self._settings.hubs
        return HubLimits(
            hubs.threshold, hubs.max_per_site, hubs.max_per_template, hubs.max_next_pages
        )

    def _keep_body(self, outcome: Outcome, hub: HubRow, judgement: Judgement) -> None:
        """Put a changed body into the cache: the latest two of a hub, because they explain a change."""
        if outcome.page is None or outcome.body_md5 is None or judgement.failed:
            return
        # A told page that became a hub keeps the versions that its history names.
        named = (version.body_md5 for version in self._store.answers.versions(hub.page_id))
        keep = frozenset({outcome.body_md5, hub.body_md5 or "", *named})
        self._store.cache.put(hub.url, outcome.response.body)
        self._store.cache.forget(hub.url, keep=keep)


def _may_be_old(
    found: Sequence[Target], known: Mapping[str, KnownPage], visible: set[int], hub: HubRow
) -> bool:
    """Tell whether a link that the hub did not show names a date: it may be old."""
    here = {one for one, page in known.items() if page.id in visible}
    return any(t.identity not in here and dated(t, hub) is not None for t in found)


def _said(corrected: Mapping[str, str]) -> dict[str, float]:
    """Return what users said as scores: their word outranks the classifier's."""
    return {identity: float(label == HUB) for identity, label in corrected.items()}


def _not_a_hub(page: Page | None, hub: HubRow) -> str:
    """Return why what was fetched leads nowhere, empty if it may lead to pages."""
    if page is None or page.kind is PageKind.OTHER:
        return (page.problem if page is not None else "") or "not a page of links"
    if page.kind is PageKind.HTML and hub.role in ("feed", "sitemap", "probe"):
        # Many sites answer whatever they do not know with their home page and code 200.
        return "a web page where a feed or a sitemap was looked for"
    return ""


def _within(judgement: Judgement, site: WatchedSite) -> Judgement:
    """Leave out what a page names outside the scope: feeds and refreshes may point anywhere.

    Where the user's own feed has moved to is followed.
    """
    scope = site.scope if "scope" not in judgement.record.site_fields else None
    more = judgement.record.more_pages
    inside = tuple(
        link
        for link in more
        if scope is None
        or scope.verdict(link.url).inside
        or (link.hub is not None and is_given_feed(link.hub))
    )
    return replace(judgement, record=replace(judgement.record, more_pages=inside))


def _redirected(outcome: Outcome, hub: HubRow, site: WatchedSite, now: float) -> Judgement:
    """Follow a hub that led to another host, if that is in scope or the first answer of a seed.

    A feed that the user gave may lie anywhere, and move there.
    """
    location = normalize(outcome.response.location or "")
    judgement = judge_failure(outcome, hub, now)
    first_seed = hub.role == "seed" and hub.baseline_at is None
    if location is None:
        return judgement
    fields: dict[str, object] = {}
    feed = is_given_feed(hub)
    if not feed and not site.scope.verdict(location).inside:
        if not first_seed:
            return judgement
        site.move(location)
        fields["scope"] = site.row.scope
    new = NewHub("feed" if feed else "html", hub.role, 1.0, f"{hub.url} leads to it", now)
    link = SeenLink(identity=identity(location), url=location, hub=new)
    record = replace(
        judgement.record,
        more_pages=(link,),
        site_fields=fields,
        hub_fields=judgement.record.hub_fields | {"state": "dead", "due_at": NEVER},
        page_change="moved",
        change_detail=location,
    )
    return replace(judgement, record=record, gone=True)


def _with_address(judgement: Judgement, outcome: Outcome, hub: HubRow) -> Judgement:
    """Ask for a page by the address to which it permanently redirects: one request, not two."""
    response = outcome.response
    url = normalize(response.url)
    if not response.permanent or url is None or identity(url) != hub.identity:
        return judgement
    fields = judgement.record.page_fields | {"url": url}
    return replace(judgement, record=replace(judgement.record, page_fields=fields))


def _with_probes(
    judgement: Judgement, more: tuple[SeenLink, ...], site: WatchedSite, now: float
) -> Judgement:
    """After a seed's first visit, plan to look for feeds and sitemaps at their usual places."""
    site.row = replace(site.row, probed_at=now)
    record = judgement.record
    record = replace(
        record,
        more_pages=record.more_pages + more,
        site_fields=record.site_fields | {"probed_at": now},
    )
    return replace(judgement, record=record)


def _kind(kind: PageKind) -> str:
    if kind is PageKind.FEED:
        return "feed"
    return "html" if kind is PageKind.HTML else "sitemap"
