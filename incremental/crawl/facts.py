"""Gathering the facts that bear on a visit: the one place where decisions read the store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from classifier.hub.labels import HUB
from incremental.base.scope import template, trap
from incremental.base.times import DAY, HOUR
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.probes import probes
from incremental.crawl.site_evidence import fetched_evidence, read_context
from incremental.crawl.sites import WatchedSite
from incremental.crawl.topics import TopicWatch
from incremental.decide.arrivals import dated
from incremental.decide.decision import missing_by
from incremental.decide.editions import editions, is_edition_front
from incremental.decide.feed_home import (
    changed_rules,
    is_given_feed,
    is_planet,
    leading_hosts,
    learn_site,
)
from incremental.decide.hub_facts import HubFacts, HubView, RedirectTarget, Since
from incremental.decide.hub_visit import DOUBTFUL_SCORE, SURE_SCORE, why_not_a_hub
from incremental.decide.hubs import HubCounts, HubLimits, HubScorer, score_targets
from incremental.decide.links import (
    is_later_page,
    links_digest,
    targets,
    top_folder,
)
from incremental.decide.migration import MIGRATION_MIN_LINKS
from incremental.decide.news import shown_later
from incremental.decide.page_watch import WatchFacts
from incremental.decide.refresh import RefreshFacts, why_gone
from incremental.decide.rules import Rule
from incremental.decide.sections import (
    MAX_NEW_SECTION,
    MAX_ORIGINALS,
    MAX_STRUCTURE,
    NEW_SECTION_SECONDS,
    SETTLED_SECONDS,
    Section,
    SectionFacts,
    folders_of,
    is_new_edition,
    originals,
    section_of,
)
from incremental.decide.site_context import NEVER_THERE, SiteContext
from incremental.decide.topics import Guesses
from incremental.decide.verification import Elsewhere, Onward, PageFacts
from incremental.decide.ways import is_other_source
from incremental.fetch.status import FetchStatus
from incremental.parse import Page, PageKind
from incremental.parse.history.plan import RefreshTerms
from incremental.parse.hub_way import read_way
from incremental.sandbox import Body, Read, Unread, read_body
from incremental.schedule.watching import WatchTerms, bounds
from incremental.settings import Settings
from incremental.visit.visit import Outcome, is_first_reading
from store import Store
from store.answers.values import RefreshRow
from store.enums import HubKind, HubRole, PageState
from store.values import ARTICLE, HubRow, KnownPage, SeenLink, VerificationRow

# From this share of the daily limit of new pages on, a visit's unknown links are counted against it.
QUOTA_MATTERS = 0.02
# How long the index of a site's URLs is used.
INDEX_SECONDS = 6 * HOUR
MAX_FOLDERS = 10
# A page that another hub showed at most this long before its feed is as new as its entry.
OVERLOOKED_SECONDS = DAY


class FactReader:
    """Reads what bears on a visit, and writes nothing. Pure rules of ``decide`` say what to ask for."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        scorer: HubScorer,
        topics: TopicWatch,
        read: Read = read_body,
    ) -> None:
        self._store = store
        self._settings = settings
        self._scorer = scorer
        self._topics = topics
        self._read = read
        history = settings.refresh
        self._terms = RefreshTerms(history.first_days * DAY, history.max_days * DAY)
        self._limits = HubLimits(
            settings.hubs.threshold,
            settings.hubs.max_per_site,
            settings.hubs.max_per_template,
            settings.hubs.max_next_pages,
        )

    @property
    def _announced_terms(self) -> RefreshTerms | None:
        return self._terms if self._settings.refresh.share else None

    # Hubs.

    def of_hub(self, outcome: Outcome, site: WatchedSite, now: float) -> HubFacts | None:
        """Return the facts for a hub; None = it was removed meanwhile."""
        hub = self._store.read.hub(outcome.task.page_id)
        if hub is None:
            return None
        facts = HubFacts(now, hub, site.scope, threshold=self._limits.threshold)
        page = outcome.page
        if hub.baseline_at is None or (page is not None and is_edition_front(hub.canonical_key)):
            row = self._store.read.verification(hub.page_id)
            facts = replace(facts, page=row, awaits_event=self._awaits_event(row))
        if outcome.response.status is FetchStatus.REDIRECTED:
            return replace(
                facts,
                redirect=_redirect_target(outcome, site),
                room=self._room(site),
            )
        if page is None or (outcome.unchanged and hub.baseline_at is not None):
            return facts
        if why_not_a_hub(page, hub):
            return facts
        return self._of_read_hub(outcome, replace(facts, hub=_as_read(hub, page)), page, site)

    def _awaits_event(self, row: VerificationRow | None) -> bool:
        """Whether a list gained this old page, and no event has announced it yet."""
        if row is None or row.state != PageState.BACKFILL:
            return False
        return self._store.backfills.event_of(row.page_id) is None

    def _of_read_hub(
        self, outcome: Outcome, facts: HubFacts, page: Page, site: WatchedSite
    ) -> HubFacts:
        hub, now = facts.hub, facts.now
        probability = self._first_reading(outcome, page, hub, site)
        facts = replace(facts, probability=probability, terms=self._announced_terms)
        if probability is not None and probability < facts.threshold:
            is_news = facts.page is not None and facts.page.state == PageState.PENDING
            section = self._section(page, hub.canonical_key, site, now) if is_news else None
            return replace(facts, section=section)
        feed = learn_site(page, hub, site.row, now)
        scope = feed.scope if feed is not None else site.scope
        beyond = scope.beyond(hub.canonical_key)
        found = targets(
            page.links, scope, path_aliases=site.path_aliases, own=hub.canonical_key, beyond=beyond
        )
        if is_other_source(outcome.way, read_way(hub.way)):
            # What another source shows for the first time is no news, unless it continues the same list.
            known = self._store.read.known(site.row.id, [t.canonical_key for t in found])
            if len(known) <= len(found) // 2:
                hub = replace(hub, baseline_at=None)
                facts = replace(facts, hub=hub)
        facts = replace(facts, feed=feed, scope=scope, found=found)
        if hub.baseline_at is None or links_digest(found) != hub.links_md5:
            view = self._view(facts, page, site, leading=beyond is not None)
            facts = replace(facts, view=view, later_pages=site.next_pages.get(hub.page_id, 0))
            if (
                hub.role == HubRole.SEED
                and site.row.probed_at is None
                and not is_planet(hub, scope)
            ):
                near = feed.home.url if feed and feed.home else outcome.response.url
                facts = replace(facts, probes=probes(page, near, now))
        named = page.feed_urls or page.refresh_url or page.kind is PageKind.SITEMAP_INDEX
        if named or facts.probes or (feed is not None and feed.home is not None):
            facts = replace(facts, room=self._room(site))
        return facts

    def _room(self, site: WatchedSite) -> int:
        return self._limits.max_per_site - self._store.read.other_hubs(site.row.id)

    def _first_reading(
        self, outcome: Outcome, page: Page, hub: HubRow, site: WatchedSite
    ) -> float | None:
        """Return the probability that a page which only its URL made a hub is one; None for others."""
        # Without features another command made it a list during the visit; the next visit has them.
        if not is_first_reading(hub) or outcome.features is None:
            return None
        leaf = self._is_leaf(page, hub, site)
        if leaf and hub.score < SURE_SCORE:
            return 0.0
        link = fetched_evidence(self._store, hub.page_id, hub.url, outcome.response.body)
        probability = self._scorer.score_page(link, outcome.features).probability
        # A list may show just what the home page shows. A page that came late into the menu of every page
        # does so as well: it is announced, and monitored as a list.
        return min(probability, DOUBTFUL_SCORE) if leaf else probability

    def _is_leaf(self, page: Page, hub: HubRow, site: WatchedSite) -> bool:
        """Whether a page links only to what the seed links to: the site's menu."""
        found = targets(
            page.links, site.scope, path_aliases=site.path_aliases, own=hub.canonical_key
        )
        known = self._store.read.known(site.row.id, [t.canonical_key for t in found])
        menu = self._store.read.shown_by_seed(site.row.id)
        menu |= {one for one, row in known.items() if row.is_hub}
        return {t.canonical_key for t in found} <= menu

    def _view(self, facts: HubFacts, page: Page, site: WatchedSite, *, leading: bool) -> HubView:
        """Return the facts about the links of a hub."""
        read, hub, found, now = self._store.read, facts.hub, facts.found, facts.now
        known = read.known(site.row.id, [t.canonical_key for t in found])
        visible = read.visible(hub.page_id)
        unknown = [t for t in found if t.canonical_key not in known]
        lost = visible - {k.id for k in known.values()}
        suspicious = min(len(unknown), len(lost)) >= MIGRATION_MIN_LINKS
        headlines = [t.anchor for t in unknown if t.anchor]
        corrected = read.corrections([t.canonical_key for t in unknown])
        said = {name: float(label == HUB) for name, label in corrected.items()}
        awaited = facts.page is not None and facts.page.state == PageState.PENDING
        context, since = self.context(site, now), self._since(site, now)
        view = HubView(
            hub=hub,
            since=since,
            found=found,
            known=known,
            visible=frozenset(visible),
            young=self._young(hub),
            # Users' labels outrank the classifier.
            scores=self._scores(unknown, hub, site, now) | said,
            corrected=corrected,
            counts=self._hub_counts(site.row.id) if unknown else HubCounts(0, {}),
            limits=self._limits,
            # An old archive has more unknown links than a section that appeared with its pages.
            new_hub=hub.baseline_at is None and 0 < len(unknown) <= MAX_NEW_SECTION and awaited,
            new_folders=self._came_up(
                dict.fromkeys(filter(None, (top_folder(t.canonical_key) for t in unknown))),
                site,
                now,
            ),
            quota=self._quota(site.row.id, len(unknown), now),
            verifications=site.verifications_now(now),
            leading=leading_hosts(page.links, facts.scope) if leading else frozenset(),
            lost_urls=read.urls(lost) if suspicious else (),
            anchors=read.known_anchors(site.row.id, headlines) if suspicious else {},
            overflow_at=site.state.overflow_at,
            overflow_since=site.state.overflow_since,
            resumed_at=site.resumed_at,
            sights=read.sights(hub.page_id)
            if _may_be_old(found, known, visible, hub, since)
            else (),
            never_there=frozenset(
                t.canonical_key for t in unknown if context.missing_like(t.url) >= NEVER_THERE
            )
            if unknown
            else frozenset(),
        )
        return replace(view, guesses=self._guesses(page, view, now))

    def _guesses(self, page: Page, view: HubView, now: float) -> Guesses | None:
        """Return what topics expect of links that may be news, known from another hub or not."""
        if not self._topics.active:
            return None
        again = shown_later(view)
        known = {key: one for key, one in view.known.items() if key not in again}
        return self._topics.guess(page, replace(view, known=known), now)

    def _young(self, hub: HubRow) -> frozenset[int]:
        """Return the ids of pages new on the hub at its last visit, if that was not its first."""
        if hub.baseline_at is None or hub.visited_at is None or hub.baseline_at == hub.visited_at:
            return frozenset()
        return frozenset(self._store.read.first_shown(hub.page_id, hub.visited_at))

    def _quota(self, site_id: int, unknown: int, now: float) -> int:
        """Return how many new pages the site may still announce today."""
        limit = self._settings.news.max_per_day
        # Counted only if it may matter: this is asked at every visit.
        if unknown < QUOTA_MATTERS * limit:
            return limit
        return limit - self._store.read.announced_since(site_id, now - DAY)

    def _scores(
        self, unknown: Sequence[SeenLink], hub: HubRow, site: WatchedSite, now: float
    ) -> dict[str, float]:
        if hub.kind == HubKind.FEED or not unknown:
            return {}
        if hub.page_id not in site.depths:
            site.depths[hub.page_id] = self._store.read.crawl_depth(hub.page_id)
        above = site.depths[hub.page_id]
        return self.scores(unknown, site, now, depth=None if above is None else above + 1)

    def scores(
        self, links: Sequence[SeenLink], site: WatchedSite, now: float, *, depth: int | None = None
    ) -> dict[str, float]:
        """Return the probability of each link being a hub, by canonical key."""
        return score_targets(links, self._scorer, self.context(site, now), depth=depth)

    def context(self, site: WatchedSite, now: float) -> SiteContext:
        """Return the site's context, at most six hours old."""
        if site.context is None or now - site.context.made_at > INDEX_SECONDS:
            site.context = read_context(self._store, site.row.id, now)
        return site.context

    def _hub_counts(self, site_id: int) -> HubCounts:
        urls = self._store.read.hub_urls(site_id)
        by_template: dict[str, int] = {}
        for url in urls:
            form = template(url)
            by_template[form] = by_template.get(form, 0) + 1
        return HubCounts(len(urls), by_template)

    # Sections.

    def _came_up(self, folders: Iterable[str], site: WatchedSite, now: float) -> frozenset[str]:
        """Return those of *folders* below which nothing was known until lately."""
        if now - site.row.added_at < SETTLED_SECONDS:
            return frozenset()
        before, asked = now - NEW_SECTION_SECONDS, list(folders)[:MAX_FOLDERS]
        read, site_id = self._store.read, site.row.id
        return frozenset(f for f in asked if not read.known_below(site_id, f, before=before))

    def _section(
        self, page: Page, own: str, site: WatchedSite, now: float, *, by_article: bool = False
    ) -> Section | None:
        """Return what appeared with a new page; *by_article*: an article, not a list, led to it."""
        read = self._store.read
        context = self.context(site, now)
        links = targets(page.links, site.scope, path_aliases=site.path_aliases, own=own)
        found = [t for t in links if context.missing_like(t.url) < NEVER_THERE]
        came_up = self._came_up(folders_of(own, found), site, now)
        if not (by_article or came_up or editions(own, found)):
            return None
        known = read.known(site.row.id, [own, *(t.canonical_key for t in found)])
        chosen = sum(one.chosen for one in read.monitored_articles(site.row.id))
        facts = SectionFacts(
            now,
            own,
            found,
            known,
            came_up,
            settled=now - site.row.added_at > SETTLED_SECONDS,
            by_article=by_article,
            room=MAX_STRUCTURE - chosen,
        )
        if is_new_edition(own, came_up):
            pages = originals(own, found, known)
            there = frozenset(read.known(site.row.id, list(pages)))
            missing = [p.id for name, p in pages.items() if name not in there and not p.is_hub]
            rows = [read.verification(page_id) for page_id in missing[:MAX_ORIGINALS]]
            times = {row.page_id: row.verified_at or 0.0 for row in rows if row is not None}
            facts = replace(facts, translations=there, verified_at=times)
        return section_of(facts)

    def _since(self, site: WatchedSite, now: float) -> Since:
        return Since(
            now,
            site.row.added_at,
            self._settings.news.backdated_days,
            site.row.migrated_at,
            self.context(site, now).url_dates,
        )

    # Pages.

    def _is_of_article(self, row: VerificationRow) -> bool:
        """Whether no list shows the page: an article, or a new page of its section, links to it."""
        if row.rule in (Rule.SECTION, Rule.GAINED_LINK):
            return True
        hub = self._store.read.hub(row.first_hub_id) if row.first_hub_id is not None else None
        return hub is not None and hub.role == ARTICLE

    def of_page(self, outcome: Outcome, site: WatchedSite | None, now: float) -> PageFacts | None:
        """Return the facts for a verification fetch; None = the page was removed."""
        row = self._store.read.verification(outcome.task.page_id)
        if row is None:
            return None
        facts = PageFacts(now, row, self._announced_terms)
        if site is None:
            return facts
        context = self.context(site, now)
        facts = replace(
            facts,
            missing_like=max(context.missing_like(row.url) - (row.verified_at is not None), 0),
            missing=self._store.read.missing_pages(site.row.id) if missing_by(outcome) else 1,
            by_article=self._is_of_article(row),
            since=self._since(site, now),
        )
        onward = self._onward(outcome, row, site)
        if onward is not None:
            return replace(facts, onward=onward)
        section = None
        if outcome.page is not None:
            section = self._section(
                outcome.page, row.canonical_key, site, now, by_article=facts.by_article
            )
        return replace(facts, elsewhere=self._elsewhere(outcome, row, site), section=section)

    def _elsewhere(
        self, outcome: Outcome, row: VerificationRow | RefreshRow, site: WatchedSite
    ) -> Elsewhere | None:
        """Return a page's other address, by its redirect or its canonical link."""
        # The same body under another address is not parsed, but has moved all the same.
        canonical = outcome.page.canonical_url if outcome.page is not None else None
        url = normalize(canonical or outcome.response.url)
        if url is None or canonical_key(url) == row.canonical_key:
            return None
        known = self._store.read.known(row.site_id, [canonical_key(url)]).get(canonical_key(url))
        return Elsewhere(url, known, in_reach=site.scope.verdict(url).inside and not trap(url))

    def _onward(self, outcome: Outcome, row: VerificationRow, site: WatchedSite) -> Onward | None:
        """Return where an entry of a given feed redirects; None for any other page."""
        location = normalize(outcome.response.location or "")
        redirected = outcome.response.status is FetchStatus.REDIRECTED
        if location is None or not redirected or row.state != PageState.PENDING or trap(location):
            return None
        hub = self._store.read.hub(row.first_hub_id) if row.first_hub_id is not None else None
        if hub is None or not is_given_feed(hub):
            return None
        # A chain of redirects between foreign hosts ends after the first, which the feed does not show.
        on_feed = row.page_id in self._store.read.visible(hub.page_id)
        if not on_feed and not site.scope.verdict(location).inside:
            return None
        known = self._store.read.known(site.row.id, [canonical_key(location)]).get(
            canonical_key(location)
        )
        return Onward(location, known, known is not None and _was_overlooked(known, row))

    def of_refresh(self, outcome: Outcome, site: WatchedSite, now: float) -> RefreshFacts | None:
        """Return the facts for a refresh; None = the page was removed."""
        row = self._store.answers.check(outcome.task.page_id)
        if row is None:
            return None
        other, gone = self._elsewhere(outcome, row, site), why_gone(outcome)
        moved_to = None
        if other is not None and other.known is None and other.in_reach:
            moved_to = SeenLink(canonical_key(other.url), other.url)
        latest = self._store.answers.history(row.page_id, limit=1)
        announced_at = row.found_at or 0.0
        return RefreshFacts(
            now,
            row,
            before=self._store.answers.text(row.page_id),
            same_since=max(announced_at, latest[0].at) if latest else announced_at,
            moved_to=moved_to,
            terms=self._terms,
            gone=gone,
            gained=() if gone or moved_to else self._gained(outcome, row, site, now),
        )

    def of_watch(self, outcome: Outcome, site: WatchedSite, now: float) -> WatchFacts | None:
        """Return the facts for a visit of a watched page; None = it is not watched any more."""
        row = self._store.page_watches.page(outcome.task.page_id)
        if row is None:
            return None
        least, most = bounds(
            row.min_interval_seconds,
            row.max_interval_seconds,
            site.terms.min_interval_seconds,
            site.terms.max_interval_seconds,
        )
        return WatchFacts(
            now,
            row,
            before=self._store.answers.text(row.page_id),
            gone=why_gone(outcome),
            terms=WatchTerms(site.price(now), least, most),
        )

    def _gained(
        self, outcome: Outcome, row: RefreshRow, site: WatchedSite, now: float
    ) -> Sequence[SeenLink]:
        """Return unknown pages that an article links to and its cached body does not."""
        page = outcome.page
        if page is None or page.kind is not PageKind.HTML or not row.body_md5:
            return ()
        body = self._store.cache.get(row.url, row.body_md5)
        if not body:
            return ()
        before = self._read(Body(row.url, body, content_type="text/html"))
        if isinstance(before, Unread):
            return ()

        def led_to(one: Page) -> list[SeenLink]:
            return targets(
                one.links, site.scope, path_aliases=site.path_aliases, own=row.canonical_key
            )

        old = {target.canonical_key for target in led_to(before.page)}
        gained = [t for t in led_to(page) if t.canonical_key not in old and not is_later_page(t)]
        context = self.context(site, now)
        gained = [t for t in gained if context.missing_like(t.url) < NEVER_THERE]
        known = self._store.read.known(row.site_id, [t.canonical_key for t in gained])
        return [t for t in gained if t.canonical_key not in known]


def _as_read(hub: HubRow, page: Page) -> HubRow:
    """Return the hub with the kind of its body."""
    if page.kind is PageKind.FEED:
        return replace(hub, kind=HubKind.FEED)
    return replace(hub, kind=HubKind.HTML if page.kind is PageKind.HTML else HubKind.SITEMAP)


def _redirect_target(outcome: Outcome, site: WatchedSite) -> RedirectTarget | None:
    """Return where a redirect to another host leads."""
    url = normalize(outcome.response.location or "")
    if url is None:
        return None
    return RedirectTarget(
        url, site.scope.verdict(url).inside, changed_rules(site.row.scope, home=url)
    )


def _may_be_old(
    found: Sequence[SeenLink],
    known: Mapping[str, KnownPage],
    visible: set[int],
    hub: HubRow,
    since: Since,
) -> bool:
    """Whether a link that the hub did not show before is dated, so that it may be old."""
    here = {one for one, page in known.items() if page.id in visible}
    return any(
        t.canonical_key not in here and dated(t, hub, since.url_dates) is not None for t in found
    )


def _was_overlooked(known: KnownPage, entry: VerificationRow) -> bool:
    """Whether a known page was first seen only about when the feed showed its entry."""
    silent = known.state == PageState.KNOWN and known.announced_at is None and not known.is_hub
    return silent and known.first_seen_at > entry.first_seen_at - OVERLOOKED_SECONDS
