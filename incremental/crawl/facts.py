"""Gathering the facts that bear on a visit: the one place where decisions read the store."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from classifier.hub import LinkEvidence
from incremental.base.path_aliases import without_path_alias
from incremental.base.scope import template, trap
from incremental.base.times import DAY, HOUR
from incremental.base.urls import canonical_key, normalize
from incremental.crawl.probes import probes
from incremental.crawl.site_evidence import read_context
from incremental.crawl.sites import WatchedSite
from incremental.crawl.topics import TopicWatch
from incremental.decide.cases import (
    OTHER_CASES,
    Facts,
    OfHub,
    Reading,
    as_read,
    case_of,
    why_not_a_hub,
)
from incremental.decide.feed_home import (
    changed_rules,
    is_given_feed,
    is_planet,
    leading_hosts,
    learn_site,
)
from incremental.decide.hub_facts import (
    ArticleFacts,
    FailedFacts,
    FirstReading,
    Guesses,
    HubView,
    ListFacts,
    NotAListFacts,
    RedirectedFacts,
    RobotsFacts,
    SameFacts,
    SameLinksFacts,
    Since,
)
from incremental.decide.hubs import NEVER_THERE, HubScorer, SiteContext, score_targets
from incremental.decide.links import (
    at_home,
    is_later_page,
    links_digest,
    targets,
    top_folder,
)
from incremental.decide.news import MIGRATION_MIN_LINKS, shown_later
from incremental.decide.not_news import Withheld, of_page, read_objections, withheld
from incremental.decide.refresh import Elsewhere, RefreshFacts
from incremental.decide.sections import (
    MAX_ORIGINALS,
    MAX_STRUCTURE,
    NEW_SECTION_SECONDS,
    SETTLED_SECONDS,
    SectionFacts,
    editions,
    folders_of,
    is_new_edition,
    originals,
    untranslated,
)
from incremental.decide.url_dates import date_in_url
from incremental.decide.verification import Onward, VerifiedFacts, files_differ
from incremental.decide.ways import continues, is_other_source
from incremental.fetch.status import FetchStatus
from incremental.parse import Page, PageKind
from incremental.parse.hub_way import read_way
from incremental.sandbox import Body, Read, Unread
from incremental.schedule.allocation import MissingPages
from incremental.schedule.refreshing import WatchTerms, bounds
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Outcome, Purpose, is_first_reading
from store import Store
from store.enums import HubKind, HubRole, PageState
from store.rules import Case, Rule
from store.values import ARTICLE, HubRow, RefreshRow, SeenLink, Sight, VerificationRow

# From this share of the daily limit of new pages on, a visit's unknown links are counted against it.
QUOTA_MATTERS = 0.02
# How long the index of a site's URLs is used.
INDEX_SECONDS = 6 * HOUR
MAX_FOLDERS = 10
# Known pages that such a sitemap must name.
MIN_AT_HOME = 5


class FactReader:
    """Asks the store what bears on a visit, and writes nothing; what follows from it is decided elsewhere."""

    def __init__(  # noqa: PLR0913 - what is asked, and what judges
        self,
        store: Store,
        settings: Settings,
        scorer: HubScorer,
        topics: TopicWatch,
        *,
        gate: HostGate,
        read: Read,
    ) -> None:
        self._store = store
        self._settings = settings
        self._scorer = scorer
        self._topics = topics
        self._read = read
        self._gate = gate
        self._refreshes = bool(settings.refresh.share)
        self._limits = settings.hubs

    def ask(self, outcome: Outcome, site: WatchedSite, now: float) -> Facts | RobotsFacts | None:
        """Return the facts for the case of a visit; None = the page was removed meanwhile."""
        if outcome.task.purpose is Purpose.HUB:
            return self._of_hub(outcome, site, now)
        case = OTHER_CASES[outcome.task.purpose]
        if case is Case.ROBOTS:
            has_hubs = bool(self._store.read.hubs(site.row.id))
            named = self._gate.sitemaps(outcome.task.url) if has_hubs else ()
            return RobotsFacts(now, site.scope, site.path_aliases, named)
        if case is Case.VERIFIED:
            return self._verified(outcome, site, now)
        return self._refreshed(outcome, site, now)

    # Hubs.

    def _of_hub(  # noqa: PLR0911 - a case each
        self, outcome: Outcome, site: WatchedSite, now: float
    ) -> OfHub | None:
        visited = self._store.read.visited_hub(outcome.task.page_id, outcome.body_md5)
        if visited is None:
            return None
        hub, row, page = visited.hub, visited.page, outcome.page
        read = hub if page is None else as_read(hub, page)
        reading = None if page is None else self._reading(outcome, page, read, site, now)
        case = case_of(outcome, hub, reading)
        known: dict[str, Any] = {
            "now": now,
            "hub": hub,
            "row": row,
            "of_event": visited.of_event,
            "not_news": self._not_news_like(row, site),
            "has_versions": visited.has_versions,
            "has_twin": visited.has_twin,
        }
        if case is Case.REDIRECTED:
            return self._redirected(known, outcome, site)
        if case is Case.SAME:
            return SameFacts(**known)
        if case is Case.NOT_A_LIST:
            return NotAListFacts(**known, problem=why_not_a_hub(page, hub))
        if reading is None:
            return FailedFacts(**known)
        known["hub"] = hub = reading.begun(read)
        if case is Case.ARTICLE:
            is_news = row.state == PageState.PENDING
            section = self._section(reading.page, hub.canonical_key, site, now, is_news=is_news)
            return ArticleFacts(
                **known, page=reading.page, section=section, refreshes=self._refreshes
            )
        known["room"] = self._room(site)
        for name in ("page", "feed", "scope", "found"):
            known[name] = getattr(reading, name)
        if case is Case.SAME_LINKS:
            return SameLinksFacts(**known)
        return ListFacts(
            **known,
            view=self._view(reading, hub, row, site, now),
            first=reading.first,
            probes=self._probes(reading, hub, outcome, site, now),
            later_pages=site.next_pages.get(hub.page_id, (0, 0))[0],
        )

    @staticmethod
    def _probes(
        reading: Reading, hub: HubRow, outcome: Outcome, site: WatchedSite, now: float
    ) -> Sequence[SeenLink] | None:
        """Return the usual places of feeds and sitemaps; None = they were tried, or there are none."""
        due = hub.role == HubRole.SEED and site.row.probed_at is None
        if not due or is_planet(hub, reading.scope):
            return None
        home = reading.feed.home if reading.feed else None
        return probes(reading.page, home.url if home else outcome.response.url, now)

    def _room(self, site: WatchedSite) -> int:
        if site.other_hubs is None:
            site.other_hubs = self._store.read.other_hubs(site.row.id)
        return self._limits.max_per_site - site.other_hubs

    def _redirected(
        self, known: dict[str, Any], outcome: Outcome, site: WatchedSite
    ) -> RedirectedFacts:
        url = normalize(outcome.response.location or "") or ""
        return RedirectedFacts(
            **known,
            url=url,
            inside=site.scope.holds(url),
            rules=changed_rules(site.row.scope, home=url),
            room=self._room(site),
        )

    def _reading(
        self, outcome: Outcome, page: Page, hub: HubRow, site: WatchedSite, now: float
    ) -> Reading:
        feed = learn_site(page, hub, site.row, now)
        scope = feed.scope if feed is not None else site.scope
        elsewhere = is_other_source(outcome.way, read_way(hub.way))
        shown = hash((scope, site.path_aliases, *((link.url, link.others) for link in page.links)))
        same = site.shown.get(hub.page_id) == (shown, hub.links_md5) and hub.links_md5
        # Known links of a known list are recognised together.
        if same and page.kind is PageKind.HTML and hub.baseline_at is not None and not elsewhere:
            return Reading(page, feed, scope, (), True, same, None)
        found = targets(
            page.links,
            scope,
            path_aliases=site.path_aliases,
            own=hub.canonical_key,
            beyond=scope.beyond(hub.canonical_key),
        )
        if page.kind is PageKind.SITEMAP and not found:
            found = self._at_home(page, hub, site)
        digest = links_digest(found)
        site.shown[hub.page_id] = (shown, digest)
        continued = True
        if elsewhere:
            known = self._store.read.known(site.row.id, [t.canonical_key for t in found])
            continued = continues(found, known)
        first = self._first_reading(outcome, found, hub, site)
        return Reading(page, feed, scope, found, continued, digest, first)

    def _at_home(self, page: Page, hub: HubRow, site: WatchedSite) -> list[SeenLink]:
        """Read a sitemap that names only another host as this site's, if enough of its pages are known."""
        home = at_home(page.links, hub.url)
        if any(without_path_alias(link.url, site.path_aliases) != link.url for link in home):
            return []  # another address of the site, and not a host that is made up
        found = targets(home, site.scope, own=hub.canonical_key)
        known = self._store.read.known(site.row.id, [t.canonical_key for t in found])
        return found if len(known) >= MIN_AT_HOME else []

    def _first_reading(
        self, outcome: Outcome, found: Sequence[SeenLink], hub: HubRow, site: WatchedSite
    ) -> FirstReading | None:
        # Without features another command made it a list during the visit; the next visit has them.
        if not is_first_reading(hub) or outcome.features is None:
            return None
        size = len(outcome.response.body)
        scored = self._scorer.score_page(LinkEvidence(hub.url), outcome.features, size)
        known = self._store.read.known(site.row.id, [t.canonical_key for t in found])
        menu = self._store.read.shown_by_seed(site.row.id)
        menu |= {one for one, row in known.items() if row.is_hub}
        only_menu = {t.canonical_key for t in found} <= menu
        return FirstReading(scored.probability, self._limits.threshold, only_menu)

    def _view(
        self, reading: Reading, hub: HubRow, row: VerificationRow, site: WatchedSite, now: float
    ) -> HubView:
        """Return the facts about the links of a hub."""
        read, page, scope, found = self._store.read, reading.page, reading.scope, reading.found
        known = read.known(site.row.id, [t.canonical_key for t in found])
        sights = read.sights(hub.page_id)
        visible = {one.page_id for one in sights if one.gone_at is None}
        unknown = [t for t in found if t.canonical_key not in known]
        lost = visible - {k.id for k in known.values()}
        suspicious = min(len(unknown), len(lost)) >= MIGRATION_MIN_LINKS
        headlines = [t.anchor for t in unknown if t.anchor]
        context = self.context(site, now)
        urls = read.hub_urls(site.row.id) if unknown else []
        beyond = scope.beyond(hub.canonical_key) is not None
        view = HubView(
            hub=hub,
            since=self._since(site, now),
            found=found,
            known=known,
            visible=frozenset(visible),
            young=_young(hub, sights),
            scores=self.scores([] if hub.kind == HubKind.FEED else unknown, site, now),
            labels=read.corrections([t.canonical_key for t in unknown]),
            counts=Counter(map(template, urls)),
            limits=self._limits,
            awaited=row.state == PageState.PENDING,
            by_article=self._is_led_to(row),
            new_folders=self._came_up(
                dict.fromkeys(filter(None, (top_folder(t.canonical_key) for t in unknown))),
                site,
                now,
            ),
            quota=self._quota(site.row.id, len(unknown), now),
            verifications=site.verifications_now(now),
            leading=leading_hosts(page.links, scope) if beyond else frozenset(),
            lost_urls=read.urls(lost) if suspicious else (),
            anchors=read.known_anchors(site.row.id, headlines) if suspicious else {},
            overflow_at=site.state.overflow_at,
            overflow_since=site.state.overflow_since,
            resumed_at=site.resumed_at,
            sights=sights,
            never_there=frozenset(
                t.canonical_key for t in unknown if context.missing_like(t.url) >= NEVER_THERE
            ),
            guesses=None,
        )
        return replace(view, guesses=self._guesses(page, view, now))

    def _guesses(self, page: Page, view: HubView, now: float) -> Guesses | None:
        """Return what topics expect of links that may be news, known from another hub or not."""
        if not self._topics.active:
            return None
        again = shown_later(view)
        known = {key: one for key, one in view.known.items() if key not in again}
        return self._topics.guess(page, replace(view, known=known), now)

    def _quota(self, site_id: int, unknown: int, now: float) -> int:
        """Return how many new pages the site may still announce today."""
        limit = self._settings.news.max_per_day
        # Counted only if it may matter: this is asked at every visit.
        if unknown < QUOTA_MATTERS * limit:
            return limit
        return limit - self._store.read.announced_since(site_id, now - DAY)

    def scores(self, links: Sequence[SeenLink], site: WatchedSite, now: float) -> dict[str, float]:
        """Return the probability of each link being a hub, by canonical key."""
        return score_targets(links, self._scorer, self.context(site, now))

    def context(self, site: WatchedSite, now: float) -> SiteContext:
        """Return the site's context, at most six hours old."""
        if site.context is None or now - site.context.made_at > INDEX_SECONDS:
            site.context = read_context(self._store, site.row.id, now)
        return site.context

    # Sections.

    def _came_up(self, folders: Iterable[str], site: WatchedSite, now: float) -> frozenset[str]:
        """Return those of *folders* below which nothing was known until lately."""
        if now - site.row.added_at < SETTLED_SECONDS:
            return frozenset()
        before, asked = now - NEW_SECTION_SECONDS, list(folders)[:MAX_FOLDERS]
        read, site_id = self._store.read, site.row.id
        return frozenset(f for f in asked if not read.known_below(site_id, f, before=before))

    def _section(  # noqa: PLR0913 - what led to the page, too
        self,
        page: Page | None,
        own: str,
        site: WatchedSite,
        now: float,
        *,
        by_article: bool = False,
        is_news: bool = False,
    ) -> SectionFacts:
        """Return what is known around a new page.

        *by_article*: an article, not a list, led to it. *is_news*: a list did.
        """
        read, context = self._store.read, self.context(site, now)
        links = page.links if page is not None else ()
        reach = targets(links, site.scope, path_aliases=site.path_aliases, own=own)
        found = [t for t in reach if context.missing_like(t.url) < NEVER_THERE]
        came_up = (
            self._came_up(folders_of(own, found), site, now) if page is not None else frozenset()
        )
        facts = SectionFacts(
            now,
            own,
            found,
            known={},
            came_up=came_up,
            settled=now - site.row.added_at > SETTLED_SECONDS,
            by_article=by_article,
            is_news=is_news,
        )
        # Of most pages nothing appears, and then nothing more bears on it.
        if not (by_article or is_news or came_up or editions(own, found)):
            return facts
        known = read.known(site.row.id, [own, *(t.canonical_key for t in found)])
        chosen = sum(one.chosen for one in read.monitored_articles(site.row.id))
        facts = replace(facts, known=known, room=MAX_STRUCTURE - chosen)
        return self._edition(facts, site) if is_new_edition(own, came_up) else facts

    def _edition(self, facts: SectionFacts, site: WatchedSite) -> SectionFacts:
        """Add what is known of the pages that a new edition translates."""
        pages = originals(facts.own, facts.found, facts.known)
        there = frozenset(self._store.read.known(site.row.id, list(pages)))
        missing = [p.id for name, p in pages.items() if name not in there and not p.is_hub]
        rows = [self._store.read.page(page_id) for page_id in missing[:MAX_ORIGINALS]]
        times = {row.page_id: row.verified_at or 0.0 for row in rows if row is not None}
        return replace(facts, translations=there, verified_at=times)

    def _since(self, site: WatchedSite, now: float) -> Since:
        return Since(
            now,
            site.row.added_at,
            self._settings.news.backdated_days,
            site.row.migrated_at,
            self.context(site, now).url_dates,
            _not_news(site),
        )

    # Pages.

    def _is_of_article(self, row: VerificationRow) -> bool:
        """Whether no list shows the page: an article, or a new page of its section, links to it."""
        if row.rule in (Rule.SECTION, Rule.SAME_FOLDER, Rule.GAINED_LINK):
            return True
        hub = self._store.read.hub(row.first_hub_id) if row.first_hub_id is not None else None
        return hub is not None and hub.role == ARTICLE

    def _is_led_to(self, row: VerificationRow) -> bool:
        """Whether no list shows the page but a doubtful one, which was announced as well."""
        if row.first_hub_id is None or self._is_of_article(row):
            return row.first_hub_id is not None
        first = self._store.read.page(row.first_hub_id)
        return first is not None and first.rule == Rule.PERHAPS_A_HUB

    def _verified(self, outcome: Outcome, site: WatchedSite, now: float) -> VerifiedFacts | None:
        row = self._store.read.page(outcome.task.page_id)
        if row is None:
            return None
        by_article, own = self._is_of_article(row), row.canonical_key
        of_event = self._store.backfills.has(row.page_id)
        waits = row.state in (PageState.PENDING, PageState.MISSING)
        is_news = not by_article and not of_event and (waits or row.announced_at is not None)
        like = self.context(site, now).missing_like(row.url) - (row.verified_at is not None)
        return VerifiedFacts(
            now,
            row,
            of_event=of_event,
            refreshes=self._refreshes,
            elsewhere=self._elsewhere(outcome, row, site),
            onward=self._onward(outcome, row, site),
            section=self._section(
                outcome.page, own, site, now, by_article=by_article, is_news=is_news
            ),
            missing_like=max(like, 0),
            missing=self._missing(row, site, now),
            by_article=by_article,
            since=replace(self._since(site, now), not_news=self._not_news_like(row, site)),
            is_labelled=self._store.read.corrections([own]).get(own) == ARTICLE,
            files_differ=row.rule == Rule.SAME_FOLDER
            and files_differ(self._store.read.hubs(site.row.id)),
        )

    def _not_news_like(self, row: VerificationRow, site: WatchedSite) -> Withheld:
        """Return what users said is not news, of a page that a list showed first."""
        said = _not_news(site)
        if not said or row.first_hub_id is None:
            return said
        return of_page(said, row.url, self._store.read.urls([row.first_hub_id])[0])

    def _missing(self, row: VerificationRow, site: WatchedSite, now: float) -> MissingPages:
        """Return what decides how soon the page is asked for again, should it not be there."""
        read, original = self._store.read, untranslated(row.canonical_key)
        # A language switch links to translations that are still to come: one of a recorded site came five
        # weeks later. It does not share its requests with links that are merely wrong.
        switch = original != row.canonical_key and date_in_url(row.url) is None
        known = read.known(site.row.id, [original]) if switch else {}
        comes = any(page.state == PageState.KNOWN for page in known.values())
        pages = 0 if comes else read.missing_pages(site.row.id)
        days = max(now - site.row.added_at, 0.0) / DAY
        return MissingPages(pages, days, site.terms.requests_per_day)

    def _elsewhere(
        self, outcome: Outcome, row: VerificationRow | RefreshRow, site: WatchedSite
    ) -> Elsewhere | None:
        """Return a page's other address, by its redirect or its canonical link."""
        # The same body under another address is not parsed, but has moved all the same.
        page = outcome.page
        replaced_by = page.refresh_url if page is not None and isinstance(row, RefreshRow) else None
        canonical = page.canonical_url if page is not None else None
        url = normalize(replaced_by or canonical or outcome.response.url)
        if url is None or canonical_key(url) == row.canonical_key:
            return None
        known = self._store.read.known(row.site_id, [canonical_key(url)]).get(canonical_key(url))
        return Elsewhere(url, known, in_reach=site.scope.holds(url) and not trap(url))

    def _onward(self, outcome: Outcome, row: VerificationRow, site: WatchedSite) -> Onward | None:
        """Return where an entry of a given feed redirects; None for any other page."""
        url = normalize(outcome.response.location or "")
        if url is None or outcome.response.status is not FetchStatus.REDIRECTED:
            return None
        hub = self._store.read.hub(row.first_hub_id) if row.first_hub_id is not None else None
        if hub is None or not is_given_feed(hub):
            return None
        name = canonical_key(url)
        return Onward(
            url,
            known=self._store.read.known(site.row.id, [name]).get(name),
            on_feed=row.page_id in self._store.read.visible(hub.page_id)
            and not self._store.read.was_led_to(site.row.id, row.page_id),
            inside=site.scope.holds(url),
        )

    def _refreshed(self, outcome: Outcome, site: WatchedSite, now: float) -> RefreshFacts | None:
        row = self._store.refreshes.row(outcome.task.page_id)
        if row is None:
            return None
        latest = self._store.answers.history(row.page_id, limit=1)
        watched, of_event = row.watch_id is not None, self._store.backfills.has(row.page_id)
        is_news = not watched or of_event or row.found_at is not None
        gained = self._gained(outcome, row, site, now) if is_news else ()
        return RefreshFacts(
            now,
            row,
            before=self._store.answers.text(row.page_id),
            of_event=of_event,
            is_news=is_news,
            changed_at=latest[0].at if latest else None,
            # Wherever the address leads, its text is what the user watches: it never counts as moved.
            elsewhere=None if watched else self._elsewhere(outcome, row, site),
            watch=self._watch_terms(row, site, now) if watched else None,
            gained=gained,
            known=self._store.read.known(row.site_id, [t.canonical_key for t in gained]),
        )

    @staticmethod
    def _watch_terms(row: RefreshRow, site: WatchedSite, now: float) -> WatchTerms:
        shortest, longest = site.terms.min_interval_seconds, site.terms.max_interval_seconds
        return WatchTerms(site.price(now), *bounds(row.every_seconds, shortest, longest))

    def _gained(
        self, outcome: Outcome, row: RefreshRow, site: WatchedSite, now: float
    ) -> Sequence[SeenLink]:
        """Return pages that an article links to and its cached body does not."""
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
        return [t for t in gained if context.missing_like(t.url) < NEVER_THERE]


def _young(hub: HubRow, sights: Iterable[Sight]) -> frozenset[int]:
    """Return the ids of pages new on the hub at its last visit, if that was not its first."""
    if hub.baseline_at is None or hub.baseline_at == hub.visited_at:
        return frozenset()
    return frozenset(
        one.page_id for one in sights if one.gone_at is None and one.first_seen_at == hub.visited_at
    )


def _not_news(site: WatchedSite) -> Withheld:
    return withheld(read_objections(site.row.not_news))
