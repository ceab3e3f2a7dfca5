"""Small builders, so that a test tells only what it is about."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from incremental.base.scope import Scope
from incremental.base.urls import canonical_key
from incremental.decide.cases import Reading, as_read, case_of, decide, why_not_a_hub
from incremental.decide.decision import Decision
from incremental.decide.hub_facts import (
    FailedFacts,
    HubView,
    ListFacts,
    NotAListFacts,
    SameFacts,
    SameLinksFacts,
    Since,
)
from incremental.decide.links import links_digest
from incremental.decide.sections import SectionFacts
from incremental.decide.verification import VerifiedFacts
from incremental.fetch.status import FetchStatus, Response
from incremental.parse import Link, Page, PageKind
from incremental.schedule.allocation import MissingPages
from incremental.schedule.state import Visit
from incremental.settings.sections import HubSettings
from incremental.visit.visit import Outcome, Purpose, VisitTask
from store import Store, open_store
from store.answers import NewQuery
from store.answers.announced import AnnouncedPage
from store.enums import HubKind, HubRole, HubStatus, PageState
from store.rules import Case
from store.values import HubRow, KnownPage, NewHub, SeenLink, VerificationRow, VisitRecord

DAY = 86_400.0
HOUR = 3_600.0
START = 1_700_000_000.0
"""When the site of a story was added: 14 November 2023, 22:13 UTC."""
HOME = "https://news.example/"


def new_hub(due_at: float = START, **fields: Any) -> NewHub:
    return NewHub(
        **{"kind": "html", "role": "list", "score": 0.9, "why": "", **fields}, due_at=due_at
    )


def seen(url: str, **fields: Any) -> SeenLink:
    """A link as a visit shows it to the store."""
    return SeenLink(canonical_key=canonical_key(url), url=url, **fields)


def news_site(store: Store, *, home: str = HOME, at: float = START) -> tuple[int, int]:
    """Add a site with its home page as a hub; return the ids of both."""
    site_id = store.write.add_site(home, "news.example", now=at)
    ids = store.write.add_pages(site_id, [seen(home, hub=new_hub(at, role="seed"))], now=at)
    return site_id, ids[canonical_key(home)]


def write_store(path: Path) -> None:
    """Make a database with a few hundred rows."""
    with open_store(str(path), cache_folder=path.parent) as store:
        site, home = news_site(store)
        links = [seen(f"{HOME}{number}", anchor="x" * 50) for number in range(300)]
        store.write.visit(visit_of(site, home, START, *links))


def announced_pages(store: Store, **query: Any) -> list[AnnouncedPage]:
    """What was announced, the newest first unless the query says otherwise."""
    return list(store.answers.new(NewQuery(**{"limit": 100_000, **query})).rows)


def visit_of(site_id: int, page_id: int, at: float, *links: SeenLink, **more: Any) -> VisitRecord:
    """A visit that brought these links."""
    more = {"status": "fetched", "links": links, **more}
    return VisitRecord(site_id=site_id, page_id=page_id, at=at, **more)


def target(path: str, anchor: str = "", **fields: Any) -> SeenLink:
    """A link of the news site, as the judge sees it."""
    url = path if "://" in path else HOME + path.lstrip("/")
    return SeenLink(canonical_key=canonical_key(url), url=url, anchor=anchor, **fields)


def known_page(page_id: int, path: str, **fields: Any) -> KnownPage:
    """A page of the news site that the store knows."""
    base = KnownPage(
        id=page_id,
        canonical_key=target(path).canonical_key,
        first_seen_at=START,
        announced_at=None,
        state=PageState.KNOWN,
        first_hub_id=1,
        is_hub=False,
    )
    return replace(base, **fields)


_HUB = HubRow(
    page_id=1,
    site_id=1,
    url=HOME,
    canonical_key=canonical_key(HOME),
    kind=HubKind.HTML,
    role=HubRole.LIST,
    state=HubStatus.ACTIVE,
    score=0.9,
    why="",
    due_at=START,
    interval_seconds=None,
    baseline_at=START,
    visited_at=START,
    visits=1,
    failures=0,
    new_pages=0,
    unproductive_visits=0,
    shown_links=5,
    etag=None,
    last_modified=None,
    body_md5=None,
    links_md5=None,
    last_status="fetched",
    next_url=None,
    revisit="{}",
)


def hub(**fields: Any) -> HubRow:
    """A hub that was read once, when the site was added."""
    return replace(_HUB, **fields)


def unread_hub(**fields: Any) -> HubRow:
    """A hub before its first visit."""
    fresh = {"state": "candidate", "baseline_at": None, "visited_at": None}
    return replace(_HUB, **{**fresh, "visits": 0, "shown_links": 0, **fields})


def view(row: HubRow, *found: SeenLink, now: float = START + HOUR, **fields: Any) -> HubView:
    """What bears on a visit of *row*: by default nothing was known, and nothing looks like a hub."""
    base: dict[str, Any] = {
        "hub": row,
        "since": Since(now, START, 30.0),
        "found": found,
        "limits": HubSettings(),
        "counts": {},
        "guesses": None,
        "awaited": False,
        "by_article": False,
        "quota": 1_000_000,
        "verifications": 0,
    }
    empty = ("visible", "young", "new_folders", "leading", "lost_urls", "sights", "never_there")
    base |= dict.fromkeys(empty, frozenset())
    base |= {name: {} for name in ("known", "scores", "labels", "anchors")}
    base |= dict.fromkeys(("overflow_at", "overflow_since", "resumed_at"), 0.0)
    return HubView(**base | fields)


def read_hub(answer: Outcome, known: HubView) -> Decision:
    """Decide on a visit of a hub whose links have changed."""
    return decide(
        answer, ListFacts(**_of_list(answer, known.hub, known.found), **_OF_LIST, view=known)
    )


_OF_LIST: dict[str, Any] = {"first": None, "probes": None, "later_pages": 0}


def of_hub(row: HubRow) -> dict[str, Any]:
    """What is known of any hub; its page is not waiting."""
    state = PageState.GONE if row.state == HubStatus.DORMANT and row.failures else PageState.KNOWN
    page = VerificationRow(
        *(row.page_id, row.site_id, row.url, row.canonical_key, START, None, "", None),
        *(state, None),
    )
    return {"now": START + HOUR, "hub": row, "row": page, "of_event": False}


def _of_list(answer: Outcome, row: HubRow, found: Sequence[SeenLink]) -> dict[str, Any]:
    site = {"feed": None, "scope": Scope(HOME), "room": 100}
    page = answer.page or html()
    return {**of_hub(as_read(row, page)), "page": answer.page, "found": found, **site}


def visit_hub(answer: Outcome, row: HubRow) -> Decision:
    """Decide on a visit of a hub that failed, or whose links are as they were."""
    found: list[SeenLink] = []
    row = replace(row, links_md5=links_digest(found))
    page = answer.page
    reading = (
        None
        if page is None
        else Reading(page, None, Scope(HOME), found, True, links_digest(found), None)
    )
    case = case_of(answer, row, reading)
    if case is Case.NOT_A_LIST:
        return decide(answer, NotAListFacts(**of_hub(row), problem=why_not_a_hub(page, row)))
    if case is Case.SAME_LINKS:
        return decide(answer, SameLinksFacts(**_of_list(answer, row, found)))
    return decide(
        answer, SameFacts(**of_hub(row)) if case is Case.SAME else FailedFacts(**of_hub(row))
    )


def page_facts(
    row: VerificationRow, section: SectionFacts, now: float, **fields: Any
) -> VerifiedFacts:
    """What is known of a page that is verified: by default a list shows it and nothing is missing."""
    base: dict[str, Any] = dict.fromkeys(("elsewhere", "onward"))
    base |= {"of_event": False, "by_article": False, "refreshes": False, "missing_like": 0}
    base |= {
        "missing": MissingPages(1, days=100, per_day=48),
        "is_labelled": False,
        "files_differ": True,
    }
    since = Since(now, START, 30.0)
    return VerifiedFacts(now, row, section=section, since=since, **base | fields)


def brought(decision: Decision) -> Visit:
    """What the visit of a hub brought, in numbers."""
    assert decision.visit is not None
    return decision.visit


def by_canonical_key(*pages: KnownPage) -> dict[str, KnownPage]:
    return {page.canonical_key: page for page in pages}


def outcome(
    status: FetchStatus = FetchStatus.FETCHED,
    page: Page | None = None,
    *,
    url: str = HOME,
    purpose: Purpose = Purpose.HUB,
    body_md5: str | None = None,
    **response: Any,
) -> Outcome:
    """What came of a fetch; an empty HTML page unless told otherwise."""
    if page is None and status is FetchStatus.FETCHED:
        page = Page(url=url, kind=PageKind.HTML)
    answer = Response(**{"url": url, "status": status, **response})
    task = VisitTask(purpose, url, site_id=1, page_id=1)
    return Outcome(task, answer, body_md5=body_md5, page=page)


def html(url: str = HOME, *links: str, **fields: Any) -> Page:
    """A parsed HTML page with links to these paths."""
    shown = tuple(Link(url=HOME + path.lstrip("/")) for path in links)
    return Page(url=url, kind=PageKind.HTML, links=shown, **fields)
