"""Deciding on a page that was visited as a hub: a function for each case. Pure."""

from collections import Counter
from dataclasses import replace
from typing import Any

from incremental.base.path_aliases import without_path_alias
from incremental.base.texts import Text, hub_why
from incremental.base.times import DAY, HOUR, NEVER
from incremental.base.urls import canonical_key, normalize
from incremental.decide.arrivals import all_new, overflowed
from incremental.decide.decision import Decision, base_record, state_if_there, wait_seconds
from incremental.decide.feed_home import is_given_feed
from incremental.decide.hub_facts import (
    LINKED,
    ArticleFacts,
    Guesses,
    HubFacts,
    HubView,
    ListFacts,
    RedirectedFacts,
    RobotsFacts,
    SameLinksFacts,
)
from incremental.decide.links import links_digest, stated_date
from incremental.decide.news import LinkDecisions, PageNews, decide_links, page_news
from incremental.decide.refresh import first_refresh
from incremental.decide.sections import Section, is_edition_front, section_of
from incremental.decide.ways import cost_of, failed_way, next_way
from incremental.fetch.status import ENDED, HOPELESS, FetchStatus
from incremental.parse import Page, PageKind
from incremental.parse.hub_way import read_way
from incremental.schedule.state import Visit
from incremental.visit.visit import Outcome
from store.answers.naming import folder_of
from store.enums import ChangeKind, HubKind, HubRole, HubStatus, PageState, SiteEventKind
from store.rules import Fate, Rule, is_withheld
from store.values import (
    HubRow,
    HubUpdate,
    NewHub,
    PageChange,
    PageUpdate,
    SeenLink,
    SiteChange,
    SiteUpdate,
    VerifyAgain,
    VisitRecord,
)

FAILURES_UNTIL_GONE = 3
# Parts of a sitemap index that become hubs.
MAX_SITEMAPS = 50
# Visits of an old page that a list gained and that does not exist.
MAX_TRIES = 5


def sitemap_hubs(facts: RobotsFacts) -> tuple[SeenLink, ...]:
    """Return the sitemaps that robots.txt names, as hubs."""
    inside = (
        without_path_alias(url, facts.path_aliases)
        for address in facts.sitemaps
        if (url := normalize(address)) is not None and facts.scope.holds(url)
    )
    hub = NewHub(HubKind.SITEMAP, HubRole.SITEMAP, 1.0, hub_why("robots_named"), facts.now)
    return tuple(SeenLink(canonical_key(url), url, hub=hub) for url in inside)


def redirected(outcome: Outcome, facts: RedirectedFacts) -> Decision:
    """Follow a hub to another host if that is in scope, or if it is a seed's first answer."""
    hub, now = facts.hub, facts.now
    feed = is_given_feed(hub)
    # A feed given by the user may be on any host, and move to any.
    moves = not feed and not facts.inside
    if moves and not (hub.role == HubRole.SEED and hub.baseline_at is None):
        return failed(outcome, facts, FetchStatus.REDIRECTED, facts.url)
    new = NewHub(
        HubKind.FEED if feed else HubKind.HTML,
        hub.role,
        1.0,
        hub_why("redirects", page=hub.url),
        now,
    )
    link = SeenLink(canonical_key(facts.url), facts.url, hub=new)
    fields = HubUpdate(failures=hub.failures + 1, last_status=outcome.response.status.value)
    fields |= {"state": HubStatus.DROPPED, "due_at": NEVER}
    record = replace(
        base_record(outcome, now),
        hub_fields=fields,
        site_fields=SiteUpdate(scope=facts.rules) if moves else SiteUpdate(),
        more_pages=(link,) if facts.room > 0 else (),
        page_change=PageChange(ChangeKind.MOVED, facts.url),
    )
    return Decision(record, _visit(outcome, facts, failed=True), hub, gone=True)


def failed(
    outcome: Outcome, facts: HubFacts, status: FetchStatus, detail: str | None = None
) -> Decision:
    """Decide on a visit that yielded no links: dropped if it never existed, gone after three failures."""
    hub, now, failures = facts.hub, facts.now, facts.hub.failures + 1
    record = replace(base_record(outcome, now), status=status.value)
    if detail is not None:
        record = replace(record, detail=detail)
    visit = _visit(outcome, facts, failed=True)
    fields = HubUpdate(failures=failures, last_status=status.value)
    if outcome.way is not None:
        fields["way"] = failed_way(outcome.way, failures).to_text()
    if (
        hub.baseline_at is None
        and status in HOPELESS
        and hub.role not in (HubRole.SEED, HubRole.USER)
    ):
        return _never_there(record, visit, facts, status, fields)
    announced = hub.failures >= FAILURES_UNTIL_GONE and hub.last_status in ENDED
    if status in ENDED and failures >= FAILURES_UNTIL_GONE and not announced:
        fields["state"] = HubStatus.DORMANT
        record = replace(
            record, page_fields={"state": PageState.GONE}, page_change=PageChange(ChangeKind.GONE)
        )
    return Decision(replace(record, hub_fields=fields), visit, facts.hub)


def _never_there(
    record: VisitRecord, visit: Visit, facts: HubFacts, status: FetchStatus, fields: HubUpdate
) -> Decision:
    """Decide on a hub that was never read and cannot be; it may have been found as news."""
    row, now = facts.row, facts.now
    state = row.state
    if status in ENDED:
        if state == PageState.BACKFILL and facts.hub.failures < MAX_TRIES:
            fields |= {"state": HubStatus.CANDIDATE, "due_at": now + DAY}
            return Decision(replace(record, hub_fields=fields), visit, facts.hub)
        if state == PageState.PENDING:
            # It may not exist yet, so it is verified again like any new page.
            page = PageUpdate(
                state=PageState.MISSING,
                verify_due_at=now + HOUR,
                verified_at=now,
                rule=Rule.NOT_THERE_YET,
            )
            return Decision(
                replace(record, page_fields=page, drop_hub=True), visit, facts.hub, gone=True
            )
    fields |= {"state": HubStatus.DROPPED, "due_at": NEVER}
    record = replace(record, hub_fields=fields)
    if status in ENDED:
        missing = row.announced_at is None
        page = PageUpdate(rule=Rule.NOT_THERE) if missing else PageUpdate()
        if missing and facts.hub.role in LINKED:
            page["verified_at"] = now
        if missing and facts.hub.role == HubRole.ARTICLE:
            # Not chosen again to be monitored: a recorded weblog's 190 dead links of that kind took a
            # fifth of its requests.
            page["state"] = PageState.GONE
        return Decision(replace(record, page_fields=page), visit, facts.hub, gone=True)
    # A page that may not be read may be news all the same: its hub shows it.
    news = _perhaps_hub(facts, Rule.UNREADABLE)
    return Decision(_with_news(record, facts, news, PageUpdate()), visit, facts.hub, gone=True)


def _visit(outcome: Outcome, facts: HubFacts, **brought: Any) -> Visit:  # noqa: ANN401 - of Visit
    """Return the visit in numbers, with what it *brought*."""
    wait = wait_seconds(outcome, facts.hub)
    return Visit(facts.now, not_modified=outcome.unchanged, wait_seconds=wait, **brought)


def same_links(outcome: Outcome, facts: SameLinksFacts) -> Decision:
    """Decide on a hub whose links are the same; what it names besides them (a feed) may still be new."""
    record = replace(
        base_record(outcome, facts.now),
        page_fields=_page_fields(facts.page, facts),
        site_fields=_site_fields(facts),
        more_pages=_named(facts, facts.room),
    )
    return replace(same(outcome, facts, record), keep_body=True)


def same(outcome: Outcome, facts: HubFacts, record: VisitRecord | None = None) -> Decision:
    """Decide on a hub that shows the same as before; *record*: what else it says."""
    hub, now = facts.hub, facts.now
    record = record or base_record(outcome, now)
    fields = _read(outcome, facts, links=hub.shown_links, came=0)
    if _is_back(hub):
        fields["state"] = HubStatus.ACTIVE
        state = PageUpdate(state=state_if_there(of_event=facts.of_event))
        record = replace(
            record,
            page_fields=record.page_fields | state,
            page_change=PageChange(ChangeKind.BACK),
        )
    visit = _visit(outcome, facts, shown=hub.shown_links, cost=cost_of(outcome.way))
    return Decision(replace(record, hub_fields=fields), visit, hub)


def _is_back(hub: HubRow) -> bool:
    """Whether a hub that answers now was considered gone."""
    return hub.state == HubStatus.DORMANT and hub.failures >= FAILURES_UNTIL_GONE


def article(outcome: Outcome, facts: ArticleFacts) -> Decision:
    """Decide on a page that was taken for a hub by its URL and is an article.

    If it was found as news it is announced, and the unknown pages that it links to in its folder are
    verified. An old page that a list gained joins the backfill.
    """
    now, page, digest = facts.now, facts.page, outcome.body_md5
    news = page_news(
        facts.row,
        Rule.NOT_A_HUB,
        page.title,
        awaits_event=facts.awaits_event,
        not_news=facts.not_news,
    )
    fields = _page_fields(page, facts) | PageUpdate(
        body_md5=digest, verified_at=now, rule=news.rule or Rule.NOT_A_HUB
    )
    announced = news.fate is Fate.ANNOUNCE
    section = section_of(facts.section) if announced else Section()
    record = replace(
        _with_news(base_record(outcome, now), facts, news, fields),
        drop_hub=True,
        more_pages=section.unknown,
        verify_again=section.read_again,
        text=outcome.read,
        next_refresh=first_refresh(outcome, now) if announced and facts.refreshes else None,
    )
    visit = _visit(outcome, facts)
    return Decision(
        record, visit, facts.hub, gone=True, is_hub=False, keep_body=True, judge_topics=True
    )


def _perhaps_hub(facts: HubFacts, rule: Rule) -> PageNews:
    """Decide whether a page that may be a hub is announced, because it was found as news."""
    row = facts.row
    return page_news(
        row,
        rule,
        row.title,
        awaits_event=facts.awaits_event,
        perhaps_list=True,
        not_news=facts.not_news,
    )


def _with_news(
    record: VisitRecord, facts: HubFacts, news: PageNews, fields: PageUpdate
) -> VisitRecord:
    """Return *record* with the decision on the visited page itself."""
    row = facts.row
    if news.rule is not None:
        fields = fields | PageUpdate(rule=news.rule)
        if news.rule.withholds:
            fields["state"] = state_if_there(of_event=facts.of_event)
    record = replace(record, page_fields=fields, fate=news.fate)
    if news.fate is Fate.KNOWN:
        return record
    gained = news.fate is Fate.BACKFILL
    folder = folder_of([facts.hub.url]) if gained else record.backfill_folder
    return replace(record, backfill_folder=folder, first_hub_id=row.first_hub_id)


def changed(outcome: Outcome, facts: ListFacts) -> Decision:
    """Decide on a page of other links: what is new on it, and whether it is news itself."""
    hub, now, view, page = facts.hub, facts.now, facts.view, facts.page
    links = decide_links(view)
    event = links.event
    overflow = event is None and overflowed(view, links.rules)
    migrated = event is not None and event.kind == SiteEventKind.URL_MIGRATION
    unsure = facts.first is not None and facts.first.is_unsure
    # A doubtful hub that was found as news is announced and monitored. So is the front of a new language
    # edition, which is news although it is a hub, and a chapter whose manual makes it look like one.
    doubtful = unsure or is_edition_front(hub.canonical_key) or view.by_article
    news = _perhaps_hub(facts, Rule.PERHAPS_A_HUB) if doubtful else PageNews()
    guesses = view.guesses or Guesses()
    record = replace(
        base_record(outcome, now),
        links=links.seen,
        keep_missing=page.truncated,
        overflow=overflow,
        hub_fields=_hub_fields(outcome, facts, came=len(links.news)),
        site_fields=_site_fields(facts, migrated=migrated),
        site_change=_site_change(facts, links, overflow=overflow),
        backfill_folder=folder_of([link.url for link in links.gained]),
        page_change=PageChange(ChangeKind.BACK) if _is_back(hub) else None,
        rebaseline=migrated,
        more_pages=_named(facts, facts.room, *(facts.probes or ())),
        topic_scores=guesses.of_waiting(links.seen),
        verify_again=_come_up(view),
    )
    fields = _page_fields(page, facts) | _new_address(outcome, hub)
    return Decision(
        _with_news(record, facts, news, fields),
        _brought(outcome, facts, links, overflow=overflow),
        hub,
        is_hub=None if facts.first is None else True,
        keep_body=True,
        judge_topics=news.fate is Fate.ANNOUNCE,
    )


def _brought(outcome: Outcome, facts: ListFacts, links: LinkDecisions, *, overflow: bool) -> Visit:
    """Return the visit in numbers, for the schedule."""
    view = facts.view
    here = {known.id for known in view.known.values()}
    return _visit(
        outcome,
        facts,
        shown=len(links.seen),
        # All older pages that a list gained are one announcement, worth one new page.
        novel=len(links.news) + bool(links.gained),
        baseline=facts.hub.baseline_at is None,
        all_new=overflow and all_new(view, links.rules),
        published=_published(view, links),
        shared=_shared(view, links),
        # Came and went between two visits; of a truncated page nothing is known.
        vanished=0 if facts.page.truncated else len(view.young - here),
        relevant=view.guesses.expected_among(links.news) if view.guesses is not None else None,
        cost=cost_of(outcome.way),
    )


def _come_up(view: HubView) -> tuple[VerifyAgain, ...]:
    """Return missing or withheld pages that the hub has begun to show."""
    # A second article that makes the same mistake says nothing of the page.
    if view.hub.baseline_at is None or view.hub.role == HubRole.ARTICLE:
        return ()
    return tuple(
        VerifyAgain(known.id, PageState.MISSING)
        for known in view.known.values()
        if known.announced_at is None
        and known.id not in view.visible
        and (
            known.state == PageState.MISSING
            or (known.state == PageState.GONE and is_withheld(known.rule))
        )
    )


def _site_change(facts: ListFacts, links: LinkDecisions, *, overflow: bool) -> SiteChange | None:
    """Return what happened to the site: an event, or an overflow that is not followed further."""
    if links.event is not None:
        return SiteChange(links.event.kind, links.event.reason.stored())
    most, page = facts.view.limits.max_next_pages, facts.page
    if not overflow or not page.next_url or not most or facts.later_pages < most:
        return None
    reason = Text("site_event.overflow", n=most, url=page.next_url)
    return SiteChange(SiteEventKind.OVERFLOW, reason.stored())


def _site_fields(facts: SameLinksFacts, *, migrated: bool = False) -> SiteUpdate:
    fields = SiteUpdate()
    if facts.feed is not None and facts.feed.rules is not None:
        fields["scope"] = facts.feed.rules
    if migrated:
        fields["migrated_at"] = facts.now
    if isinstance(facts, ListFacts) and facts.probes is not None:
        fields["probed_at"] = facts.now
    return fields


def _hub_fields(outcome: Outcome, facts: ListFacts, *, came: int) -> HubUpdate:
    hub = facts.hub
    return _read(outcome, facts, links=len(facts.found), came=came) | HubUpdate(
        kind=hub.kind,
        state=HubStatus.ACTIVE,
        baseline_at=hub.baseline_at or facts.now,
        new_pages=hub.new_pages + came,
        shown_links=len(facts.found),
        links_md5=links_digest(facts.found),
        next_url=facts.page.next_url,
    )


def _read(outcome: Outcome, facts: HubFacts, *, links: int, came: int) -> HubUpdate:
    """Return what becomes of a hub that was read: it shows *links*, of which *came* are new."""
    hub, now = facts.hub, facts.now
    fields = HubUpdate(
        visited_at=now,
        visits=hub.visits + 1,
        unproductive_visits=0 if came else hub.unproductive_visits + 1,
        failures=0,
        last_status=outcome.response.status.value,
    )
    if outcome.way is not None:
        way = next_way(outcome.way, read_way(hub.way), links=links, came=came, now=now)
        fields["way"] = way.to_text()
    return fields | _validators(outcome)


def _validators(outcome: Outcome) -> HubUpdate:
    # A 304 may renew them; a body without them clears them, or every later visit would be a 304.
    headers, fields = outcome.response.headers, HubUpdate()
    if outcome.body_md5 is not None:
        fields["body_md5"] = outcome.body_md5
    if outcome.body_md5 is not None or "etag" in headers:
        fields["etag"] = headers.get("etag")
    if outcome.body_md5 is not None or "last-modified" in headers:
        fields["last_modified"] = headers.get("last-modified")
    return fields


def _page_fields(page: Page, facts: HubFacts) -> PageUpdate:
    """Return what the page says of itself and the store does not have yet."""
    fields = PageUpdate(state=state_if_there(of_event=facts.of_event))
    if page.title:  # what JSON holds has none
        fields["title"] = page.title
    hub, row = facts.hub, facts.row
    # What was announced or withheld before, or is a monitored article, keeps the rule that said so.
    undecided = row.announced_at is None and row.rule in (None, Rule.HUB)
    if hub.baseline_at is None and hub.role != HubRole.ARTICLE and undecided:
        fields["rule"] = Rule.HUB
    if page.language:
        fields["language"] = page.language
    return {name: value for name, value in fields.items() if getattr(row, name) != value}


def _new_address(outcome: Outcome, hub: HubRow) -> PageUpdate:
    """Adopt the URL to which the page permanently redirects."""
    url = normalize(outcome.response.url)
    if not outcome.response.permanent or url is None or canonical_key(url) != hub.canonical_key:
        return PageUpdate()
    # One request instead of two from now on.
    return PageUpdate(url=url)


def _shared(view: HubView, links: LinkDecisions) -> Counter[str]:
    """Count the links that another hub showed first, by that hub."""
    if view.hub.baseline_at is None:
        return Counter()
    return Counter(
        str(known.first_hub_id)
        for name, known in view.known.items()
        if known.id not in view.visible
        and known.first_hub_id not in (None, view.hub.page_id)
        and links.rules[name].fate is Fate.KNOWN
    )


def _published(view: HubView, links: LinkDecisions) -> tuple[float, ...]:
    baseline = view.hub.baseline_at is None
    dates = ((stated_date(t, view.hub), t) for t in view.found)
    return tuple(
        at
        for at, t in dates
        if at is not None
        and at <= view.since.now
        and (baseline or links.rules[t.canonical_key].fate is Fate.ANNOUNCE)
    )


def _named(facts: SameLinksFacts, room: int, *probes: SeenLink) -> tuple[SeenLink, ...]:
    """Return what the page names besides its links, in scope, as far as the site has room."""
    # A scope that has just moved rules nothing out; the new address of a given feed is kept anyway.
    moved = facts.feed is not None and facts.feed.rules is not None
    inside = [
        link
        for link in (*_neighbours(facts), *probes)
        if moved
        or facts.scope.holds(link.url)
        or (link.hub is not None and is_given_feed(link.hub))
    ]
    # Some pages name endless feeds.
    return tuple(inside[: max(room, 0)])


def _neighbours(facts: SameLinksFacts) -> list[SeenLink]:
    """Return feeds, sitemaps, a refresh target and the site of a feed."""
    hub, page = facts.hub, facts.page
    named = [(url, HubKind.FEED, HubRole.FEED, "named_by") for url in page.feed_urls]
    if page.refresh_url:
        role = hub.role if hub.role in (HubRole.SEED, HubRole.HOME) else HubRole.LIST
        named.append((page.refresh_url, HubKind.HTML, role, "refreshes"))
    if page.kind is PageKind.SITEMAP_INDEX:
        parts = facts.found[:MAX_SITEMAPS]
        named += [(t.url, HubKind.SITEMAP, HubRole.SITEMAP, "listed_in") for t in parts]
    links = [
        SeenLink(
            canonical_key(url),
            url,
            hub=NewHub(kind, role, 1.0, hub_why(reason, page=hub.url), facts.now),
        )
        for address, kind, role, reason in named
        if (url := normalize(address)) is not None
    ]
    if facts.feed is not None and facts.feed.home is not None:
        links.append(facts.feed.home)
    return links
