"""What was decided about one visit: what is written, and what the schedule learns from it."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from incremental.base.times import DAY
from incremental.decide.furniture import is_soft_404
from incremental.fetch.headers import fresh_seconds
from incremental.fetch.status import HAS_PAGE, FetchStatus
from incremental.parse import PageKind
from incremental.schedule.state import Visit
from incremental.visit.visit import Outcome
from store.enums import HubKind, PageState
from store.rules import Rule
from store.values import HubRow, VisitRecord

MAX_TTL_SECONDS = DAY


@dataclass(frozen=True, slots=True)
class Decision:
    """Made once; carrying it out changes nothing in it."""

    record: VisitRecord
    """What is written, in one transaction."""
    visit: Visit | None = None
    """The visit in numbers; None = the page was not visited as a hub."""
    hub: HubRow | None = None
    """The hub as it stood before."""
    gone: bool = False
    """The hub is gone, or never was one."""
    is_hub: bool | None = None
    """The verdict of the first reading on a page that only its URL made a hub; None = not asked."""
    keep_body: bool = False
    judge_topics: bool = False
    """Topics judge the visited page."""


def base_record(outcome: Outcome, now: float) -> VisitRecord:
    """Return a record with only what was fetched."""
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


def state_if_there(*, of_event: bool) -> PageState:
    """Return the state of a page that is there; one that came with an event stays part of it."""
    # Or it would be announced again.
    return PageState.BACKFILL if of_event else PageState.KNOWN


def wait_seconds(outcome: Outcome, hub: HubRow) -> float:
    """Return how long the server or the feed asks us to wait.

    What the headers say of freshness counts for feeds alone, which are made for programs: on web pages it
    is said for browsers.
    """
    page, response = outcome.page, outcome.response
    ttl = page.ttl_seconds if page is not None else None
    feed = page.kind is PageKind.FEED if page is not None else hub.kind == HubKind.FEED
    fresh = fresh_seconds(response.headers) if feed and response.status in HAS_PAGE else 0.0
    return max(response.retry_after_seconds or 0.0, min(max(ttl or 0.0, fresh), MAX_TTL_SECONDS))


def _is_home_instead(outcome: Outcome) -> bool:
    """Whether a page below the root was answered with the home page."""
    asked, answered = urlsplit(outcome.task.url), urlsplit(outcome.response.url)
    was_home = asked.path in ("", "/") and not asked.query
    return answered.path in ("", "/") and not answered.query and not was_home


def missing_by(outcome: Outcome) -> tuple[Rule, str] | None:
    """Return the rule by which a page does not exist, with a detail; None = it may exist."""
    page = outcome.page
    if _is_home_instead(outcome):
        return Rule.HOME_INSTEAD, "leads to the home page instead"
    if page is not None and is_soft_404(page.title, page.text):
        return Rule.SAYS_NOT_THERE, "answers 200 but says that it is not there"
    if outcome.response.status is FetchStatus.GONE:
        return Rule.NOT_THERE, outcome.response.detail
    return None
