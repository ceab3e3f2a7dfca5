"""Small builders, so that a test tells only what it is about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from incremental.base.scope import Scope
from incremental.base.urls import canonical_key
from incremental.decide.decision import Decision
from incremental.decide.hub_facts import HubFacts, HubView, Since
from incremental.decide.hub_visit import decide_hub
from incremental.decide.hubs import HubCounts, HubLimits
from incremental.fetch.status import FetchStatus, Response
from incremental.parse import Link, Page, PageKind
from incremental.schedule.state import Visit
from incremental.visit.visit import Outcome, Purpose, VisitTask
from store import Store, open_store
from store.announced import AnnouncedPage
from store.answers import NewQuery
from store.enums import HubKind, HubRole, HubStatus, PageState
from store.values import HubRow, KnownPage, NewHub, SeenLink, VisitRecord

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
        anchor="",
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
    changed_at=START,
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
    fresh = {"state": "candidate", "baseline_at": None, "visited_at": None, "changed_at": None}
    return replace(_HUB, **{**fresh, "visits": 0, "shown_links": 0, **fields})


def view(row: HubRow, *found: SeenLink, now: float = START + HOUR, **fields: Any) -> HubView:
    """What bears on a visit of *row*: by default nothing was known, and nothing looks like a hub."""
    base: dict[str, Any] = {
        "hub": row,
        "since": Since(now, START, 30.0),
        "found": found,
        "known": {},
        "visible": frozenset(),
        "young": frozenset(),
        "scores": {},
        "counts": HubCounts(0, {}),
        "limits": HubLimits(0.5, 200, 60, 5),
    }
    return HubView(**base | fields)


def read_hub(answer: Outcome, known: HubView) -> Decision:
    """Decide on a visit of a hub whose links have changed."""
    facts = HubFacts(known.since.now, known.hub, Scope(HOME), found=known.found, view=known)
    return decide_hub(answer, facts)


def visit_hub(answer: Outcome, row: HubRow, now: float = START + HOUR, **facts: Any) -> Decision:
    """Decide on a visit of a hub that failed, or whose links are as they were."""
    return decide_hub(answer, HubFacts(now, row, Scope(HOME), **facts))


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
    answer = Response(**{"url": url, "status": status, "requested_url": url, **response})
    task = VisitTask(purpose, url, site_id=1, page_id=1)
    return Outcome(task, answer, body_md5=body_md5, page=page)


def html(url: str = HOME, *links: str, **fields: Any) -> Page:
    """A parsed HTML page with links to these paths."""
    shown = tuple(Link(url=HOME + path.lstrip("/")) for path in links)
    return Page(url=url, kind=PageKind.HTML, links=shown, **fields)
