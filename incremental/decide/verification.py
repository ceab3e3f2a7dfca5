"""Deciding on a page that was fetched for verification: announced, withheld, moved, or not there. Pure.

::

    it only redirects to another host             the page there is verified in its place
    it does not exist                             verified again if it waited; else gone
    the server fails, and it was missing before   verified again
    it is another address of a known page         moved
    it exists, or may not be read                 announced if it waited, unless it is furniture
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from incremental.base.scope import trap
from incremental.base.texts import hub_why
from incremental.base.times import DAY, HOUR, MINUTE, believable
from incremental.base.urls import canonical_key
from incremental.decide.address_forms import is_mistyped
from incremental.decide.decision import Decision, base_record, missing_by, state_if_there
from incremental.decide.hub_facts import Since
from incremental.decide.hubs import NEVER_THERE
from incremental.decide.news import PageNews, page_news
from incremental.decide.refresh import Elsewhere, first_refresh
from incremental.decide.sections import Section, SectionFacts, section_of
from incremental.fetch.status import UNREADABLE
from incremental.parse.dates import parse_date
from incremental.schedule.allocation import MissingPages
from incremental.visit.visit import Outcome
from store.enums import ChangeKind, HubKind, PageState
from store.rules import Fate, Rule, is_withheld
from store.values import (
    ARTICLE,
    HubRow,
    KnownPage,
    NewHub,
    PageChange,
    PageUpdate,
    SeenLink,
    VerificationRow,
    VerifyAgain,
    VisitRecord,
)

# A page may be linked weeks before it exists: on the recording of flink two translations were linked four
# and thirty-seven days before.
GIVE_UP_SECONDS = 60 * DAY
# When a page of a new section is read again for the pages that follow it.
FIRST_READ_AGAIN = 3 * HOUR
# A page that another hub showed at most this long before its feed is as new as its entry.
OVERLOOKED_SECONDS = DAY
# A page that was written this long before a new page linked to it is as new.
AS_NEW_SECONDS = 7 * DAY
MIN_OLDER_FILES = 3


@dataclass(frozen=True, slots=True)
class Onward:
    """The page on another host to which an entry of a given feed redirects."""

    url: str
    known: KnownPage | None
    on_feed: bool
    """The feed shows the entry now."""
    inside: bool
    """In scope."""

    @property
    def may_be_news(self) -> bool:
        """Whether the page may be what the feed shows."""
        # A chain of redirects between foreign hosts ends after the first, which the feed does not show.
        return (self.on_feed or self.inside) and not trap(self.url)

    def was_overlooked(self, entry: VerificationRow) -> bool:
        """Whether it was first seen only about when the feed showed its entry, and never announced."""
        known = self.known
        if known is None or known.announced_at is not None or known.is_hub:
            return False
        lately = known.first_seen_at > entry.first_seen_at - OVERLOOKED_SECONDS
        return known.state == PageState.KNOWN and lately


@dataclass(frozen=True, slots=True)
class VerifiedFacts:
    """What was known before the fetch."""

    now: float
    row: VerificationRow
    of_event: bool
    """It was announced with a backfill event."""
    refreshes: bool
    """Announced pages are refreshed."""
    elsewhere: Elsewhere | None
    """None = it names no other address."""
    onward: Onward | None
    """None = no entry of a given feed that redirects."""
    section: SectionFacts
    missing_like: int
    """How many other pages of its place in a row were not there."""
    missing: MissingPages
    """How soon it is asked for again, should it not be there."""
    by_article: bool
    """No list shows it: an article, or a new page of its section, links to it."""
    since: Since
    is_labelled: bool
    """The user called it an article, whatever its address says."""
    files_differ: bool
    """The server's Last-Modified are those of files (:func:`files_differ`)."""

    def was_there(self, outcome: Outcome) -> bool | None:
        """Return whether the page is there, where that says something of its place; None = it does not."""
        if missing_by(outcome) is None:
            return True if outcome.page is not None else None
        # Each missing page counts once, however often it is asked for.
        return False if self.row.verified_at is None else None


def decide_verification(outcome: Outcome, facts: VerifiedFacts) -> Decision:
    """Decide on a page that was fetched for verification."""
    row, now, page = facts.row, facts.now, outcome.page
    base = replace(base_record(outcome, now), first_hub_id=row.first_hub_id)
    waits = row.state == PageState.PENDING
    if waits and facts.onward is not None and facts.onward.may_be_news:
        return Decision(_led_on(base, row, facts.onward))
    waited = row.state in (PageState.PENDING, PageState.MISSING)
    missing = missing_by(outcome)
    if missing is not None:
        return Decision(_not_there(base, facts, *missing, waited=waited))
    if (
        row.state == PageState.MISSING
        and page is None
        and outcome.response.status not in UNREADABLE
    ):
        # A failing server or a redirect elsewhere says nothing about a page that was missing before.
        again_at = _again_at(facts)
        fields = PageUpdate(verify_due_at=again_at or now + facts.missing.longest)
        fields |= {"verified_at": now, "rule": Rule.NOT_THERE_YET}
        return Decision(replace(base, page_fields=fields))
    return _there(base, outcome, facts)


def _led_on(base: VisitRecord, row: VerificationRow, to: Onward) -> VisitRecord:
    """Verify the page to which an entry redirects next; it is announced in its place."""
    link = SeenLink(
        canonical_key(to.url),
        to.url,
        row.anchor,
        published_at=row.published_at,
        fate=Fate.VERIFY,
        verify_score=row.verify_score,
        link_context=row.link_context,
        rule=row.rule,
    )
    known = to.known if to.was_overlooked(row) else None
    return replace(
        base,
        page_fields={
            "state": PageState.MOVED,
            "verify_due_at": None,
            "verified_at": base.at,
            "rule": Rule.LED_ON,
        },
        page_change=PageChange(ChangeKind.MOVED, to.url),
        moved_to=link,
        verify_again=(VerifyAgain(known.id, PageState.PENDING, Rule.SHOWN_LATER),)
        if known is not None
        else (),
    )


def _again_at(facts: VerifiedFacts) -> float | None:
    """Return when to verify again a linked page that does not exist; None = give up.

    The more pages of its place in a row were not there, and the more of its site are missing, the longer.
    """
    row, now = facts.row, facts.now
    age = max(now - row.first_seen_at, 0.0)
    if age > GIVE_UP_SECONDS or facts.missing_like >= NEVER_THERE - 1:
        return None
    if row.verified_at is not None and is_mistyped(row.url):
        return None
    # From an hour: staged publishing, a cache.
    wait = facts.missing.wait(age, listed=not facts.by_article)
    return now + (1 + facts.missing_like) * max(wait, HOUR)


def _not_there(
    base: VisitRecord, facts: VerifiedFacts, rule: Rule, detail: str, *, waited: bool
) -> VisitRecord:
    row, again_at = facts.row, _again_at(facts) if waited else None
    fields = PageUpdate(verify_due_at=None, verified_at=base.at)
    # That an announced page went away later is a change; why it was announced stays.
    if row.announced_at is None:
        fields["rule"] = rule
    if again_at is not None:
        fields |= {"verify_due_at": again_at, "rule": Rule.NOT_THERE_YET}
        # The first time may be a cache; from the second on it is missing.
        if row.verified_at is not None:
            fields["state"] = PageState.MISSING
        return replace(base, detail=detail, page_fields=fields)
    fields["state"] = PageState.GONE
    change = None if waited else PageChange(ChangeKind.GONE)
    return replace(base, detail=detail, page_fields=fields, page_change=change)


def _there(base: VisitRecord, outcome: Outcome, facts: VerifiedFacts) -> Decision:
    """Decide on a page that exists, or that only its hub shows because it may not be read."""
    row, now, page = facts.row, facts.now, outcome.page
    # A site that does not let us read the page cannot hide that its hub shows it.
    rule = Rule.UNREADABLE if page is None else None
    if row.state == PageState.MISSING or is_withheld(row.rule):
        rule = rule or Rule.CONFIRMED
    title = _own_title(outcome, row)
    news = _news(outcome, facts, rule, title)
    fields = PageUpdate(verify_due_at=None, verified_at=now)
    decided = news.rule or (rule if is_withheld(row.rule) else None)
    if decided is not None:
        fields["rule"] = decided
    if news.rule is not None and news.fate is Fate.KNOWN:
        fields["state"] = state_if_there(of_event=facts.of_event)
    if page is not None:
        read = {
            "language": page.language,
            "title": title,
            "published_at": believable(page.published_at, now),
        }
        # What a page does not say stays as it was.
        fields |= {name: value for name, value in read.items() if value not in ("", None)}
        fields["body_md5"] = outcome.body_md5
    keep = page is not None and outcome.body_md5 is not None
    same = _same_page(facts.elsewhere, row)
    if same is not None and facts.elsewhere is not None:
        twice = same.announced_at is not None
        fields |= {"state": PageState.MOVED, "moved_to": same.id}
        if twice and row.announced_at is None:
            fields["rule"] = Rule.SAME_PAGE
        record = replace(
            base,
            page_fields=fields,
            fate=Fate.KNOWN if twice else news.fate,
            page_change=PageChange(ChangeKind.MOVED, facts.elsewhere.url),
        )
        return Decision(record, keep_body=keep)
    announced = row.announced_at is not None or news.fate is Fate.ANNOUNCE
    refreshes = announced and facts.refreshes
    # An announced page that is fetched once more and is empty by now keeps its text.
    is_kept = row.announced_at is not None and not (outcome.read and outcome.read.text)
    alias = facts.elsewhere.alias(row.anchor) if facts.elsewhere is not None else None
    # What an older page links to is as old.
    section = Section() if news.rule is Rule.OLDER else section_of(facts.section)
    record = replace(
        base,
        page_fields=fields,
        fate=news.fate,
        # Unless its other address is recorded, a link to that would be announced as another page.
        more_pages=(*((alias,) if alias else ()), *section.unknown, *_monitored(section, row, now)),
        verify_again=section.read_again,
        text=None if is_kept else outcome.read,
        next_refresh=first_refresh(outcome, now) if refreshes else None,
    )
    return Decision(record, keep_body=keep, judge_topics=page is not None)


def _news(outcome: Outcome, facts: VerifiedFacts, rule: Rule | None, title: str) -> PageNews:
    labelled, said = facts.is_labelled, facts.since.not_news
    news = page_news(facts.row, rule, title, is_labelled=labelled, not_news=said)
    if news.fate is not Fate.ANNOUNCE or not facts.by_article:
        return news
    if _is_older(outcome, facts):
        return PageNews(rule=Rule.OLDER)
    if facts.row.rule == Rule.SAME_FOLDER and not _is_as_new(outcome, facts):
        return PageNews(rule=Rule.SAME_FOLDER)
    return news


def _is_as_new(outcome: Outcome, facts: VerifiedFacts) -> bool:
    """Whether the page is as new as the link to it, by its own date or that of its file."""
    if outcome.page is None:
        return False
    modified_at = parse_date(outcome.response.headers.get("last-modified", ""))
    dates = (outcome.page.published_at, modified_at if facts.files_differ else None)
    return any(one is not None and one > facts.row.first_seen_at - AS_NEW_SECONDS for one in dates)


def files_differ(hubs: Sequence[HubRow]) -> bool:
    """Whether a server's Last-Modified are those of files, rather than of its last deployment.

    Then pages that were read after another had changed have older ones.
    """
    read = [(hub.visited_at, parse_date(hub.last_modified or "")) for hub in hubs]
    files = [(visited, changed) for visited, changed in read if visited and changed]
    # What a program writes is of the moment at which it was asked for.
    changes = [changed for visited, changed in files if changed < visited - MINUTE]
    older = (
        any(changed + AS_NEW_SECONDS < other <= visited for other in changes)
        for visited, changed in files
    )
    return sum(older) >= MIN_OLDER_FILES


def _is_older(outcome: Outcome, facts: VerifiedFacts) -> bool:
    """Whether the page is older than its site has been watched, by all that it and its server say.

    On a recorded site fourteen pages of a manual were announced when an article began to link to them; all
    had been there, unchanged, for a year and a half.
    """
    if outcome.page is None:
        return False
    published_at = outcome.page.published_at or facts.since.url_dates.of(facts.row.url)
    if published_at is not None and published_at >= facts.since.oldest_news:
        return False
    # A file that was not touched since is no new page, whatever date it gives.
    changed_at = parse_date(outcome.response.headers.get("last-modified", ""))
    untouched = changed_at is not None and changed_at <= facts.since.site_added_at
    return untouched or published_at is not None


def _own_title(outcome: Outcome, row: VerificationRow) -> str:
    """Return the page's title; that of the link where the page is a shell."""
    if outcome.page is None:
        return ""
    # Before its scripts ran, a shell has the title of its site.
    return (outcome.behind is not None and row.anchor) or outcome.page.title


def _same_page(elsewhere: Elsewhere | None, row: VerificationRow) -> KnownPage | None:
    """Return the known page that this one duplicates, by redirect or canonical link."""
    known = elsewhere.known if elsewhere is not None else None
    # A canonical link to a hub (mostly the home page) is a mistake in the site's template.
    return None if known is None or known.is_hub or known.id == row.page_id else known


def _monitored(section: Section, row: VerificationRow, now: float) -> Sequence[SeenLink]:
    if not section.monitor:
        return ()
    hub = NewHub(HubKind.HTML, ARTICLE, 0.5, hub_why("folder"), now + FIRST_READ_AGAIN)
    return (SeenLink(row.canonical_key, row.url, hub=hub),)
