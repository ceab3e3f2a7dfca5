"""What can come of a visit, and which decision that asks for. Pure.

:data:`CASES` and :data:`OTHER_CASES` are the table. Each case has its own type of facts, which
:mod:`incremental.crawl.facts` asks the store for, and its own decision.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from incremental.base.scope import Scope
from incremental.base.urls import normalize
from incremental.decide import hub_visit
from incremental.decide.decision import Decision
from incremental.decide.feed_home import LearnedSite
from incremental.decide.hub_facts import (
    ArticleFacts,
    FailedFacts,
    FirstReading,
    ListFacts,
    NotAListFacts,
    RedirectedFacts,
    SameFacts,
    SameLinksFacts,
)
from incremental.decide.refresh import RefreshFacts, decide_refresh
from incremental.decide.verification import VerifiedFacts, decide_verification
from incremental.fetch.status import HAS_PAGE, FetchStatus
from incremental.parse import Page, PageKind
from incremental.visit.visit import Outcome, Purpose
from store.enums import HubKind, HubRole
from store.rules import Case
from store.values import HubRow, SeenLink

OfHub = (
    RedirectedFacts
    | FailedFacts
    | SameFacts
    | NotAListFacts
    | ArticleFacts
    | ListFacts
    | SameLinksFacts
)
Facts = OfHub | VerifiedFacts | RefreshFacts


@dataclass(frozen=True, slots=True)
class Reading:
    """What the body of a hub shows."""

    page: Page
    feed: LearnedSite | None
    scope: Scope
    found: Sequence[SeenLink]
    is_continued: bool
    """Its links come from the same source as at the last visit, or are mostly those that it showed."""
    links_md5: str
    """Of :attr:`found`, which is empty if a list shows what it showed at the last visit."""
    first: FirstReading | None
    """None = the hub was read before, or is not only one by its URL."""

    def begun(self, hub: HubRow) -> HubRow:
        """Return the hub without its baseline, if its body is another list than before."""
        return hub if self.is_continued else replace(hub, baseline_at=None)


_KINDS = {PageKind.FEED: HubKind.FEED, PageKind.HTML: HubKind.HTML}


def as_read(hub: HubRow, page: Page) -> HubRow:
    """Return the hub with the kind of its body."""
    return replace(hub, kind=_KINDS.get(page.kind, HubKind.SITEMAP))


def _is_redirected(outcome: Outcome, *_: object) -> bool:
    location = normalize(outcome.response.location or "")
    return outcome.response.status is FetchStatus.REDIRECTED and location is not None


def _reads_like_an_article(_: Outcome, hub: HubRow, reading: Reading | None) -> bool:
    first = reading.first if reading is not None else None
    return first is not None and first.is_article(hub)


def _has_same_links(_: Outcome, hub: HubRow, reading: Reading | None) -> bool:
    known = hub.baseline_at is not None and reading is not None and reading.is_continued
    return known and reading is not None and reading.links_md5 == hub.links_md5


def why_not_a_hub(page: Page | None, hub: HubRow) -> str:
    """Return why the body cannot be a hub, empty if it can."""
    if page is None or page.kind is PageKind.OTHER:
        return (page.problem if page is not None else "") or "not a page of links"
    if page.kind is PageKind.HTML and hub.role in (HubRole.FEED, HubRole.SITEMAP, HubRole.PROBE):
        # Many sites answer unknown URLs with their home page and 200.
        return "a web page where a feed or a sitemap was looked for"
    return ""


CASES: tuple[tuple[Case, Callable[[Outcome, HubRow, Reading | None], bool]], ...] = (
    (Case.REDIRECTED, _is_redirected),
    (Case.FAILED, lambda outcome, *_: outcome.response.status not in HAS_PAGE),
    (Case.SAME, lambda outcome, hub, _: outcome.unchanged and hub.baseline_at is not None),
    (Case.NOT_A_LIST, lambda outcome, hub, _: bool(why_not_a_hub(outcome.page, hub))),
    (Case.ARTICLE, _reads_like_an_article),
    # What it names besides its links may still be new.
    (Case.SAME_LINKS, _has_same_links),
    (Case.LIST, lambda *_: True),
)
"""What can come of the visit of a hub; the first row that holds wins."""
OTHER_CASES = {
    Purpose.ROBOTS: Case.ROBOTS,
    Purpose.VERIFY: Case.VERIFIED,
    Purpose.REFRESH: Case.COMPARED,
}
"""What comes of any other visit, by its purpose."""


def case_of(outcome: Outcome, hub: HubRow, reading: Reading | None) -> Case:
    """Return what came of the visit of a hub; *reading* is what its body shows, if there was one."""
    return next(case for case, holds in CASES if holds(outcome, hub, reading))


def decide(outcome: Outcome, facts: Facts) -> Decision:  # noqa: PLR0911 - a row a case
    """Decide on a visit by the facts of its case."""
    match facts:
        case VerifiedFacts():
            return decide_verification(outcome, facts)
        case RefreshFacts():
            return decide_refresh(outcome, facts)
        case RedirectedFacts():
            return hub_visit.redirected(outcome, facts)
        case FailedFacts():
            return hub_visit.failed(outcome, facts, outcome.response.status)
        case NotAListFacts():
            return hub_visit.failed(outcome, facts, FetchStatus.NO_LIST, facts.problem)
        case SameFacts():
            return hub_visit.same(outcome, facts)
        case ArticleFacts():
            return hub_visit.article(outcome, facts)
        case ListFacts():
            return hub_visit.changed(outcome, facts)
        case SameLinksFacts():
            return hub_visit.same_links(outcome, facts)
