"""One visit: fetch a page, and parse it if the body is new.

A function of a task: no store, no clock, no global; the network only through the fetcher passed in. So
it runs unchanged in a thread, a process or on another machine, and a recorded page replays it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from incremental.base.attempts import Bug
from incremental.fetch.robots import RobotsPolicy, follow_robots
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse.hub_way import Way, WayKind, read_way
from store.enums import HubKind, HubRole, HubStatus
from store.values import ARTICLE

if TYPE_CHECKING:  # commands that fetch nothing load no parser
    from classifier.words.values import PageText
    from incremental.parse import Page
    from incremental.parse.behind import Behind
    from incremental.sandbox import Read
    from store.values import HubRow, ReadText, RefreshRow, VerificationRow

Fetch = Callable[[Request], Response]

# A hub that was read before ways were kept and showed no more may be a shell.
FEW_LINKS = 5


class Purpose(StrEnum):
    """Why a page is fetched."""

    HUB = "hub"
    VERIFY = "verify"
    """For title, date and text, and whether the page exists."""
    REFRESH = "refresh"
    """For changes of a page that was announced, or that a user watches."""
    EXAMPLE = "example"
    """For a topic to learn from; may belong to no watched site."""
    ROBOTS = "robots"


# Purposes that need the page's text.
_READ = (Purpose.VERIFY, Purpose.REFRESH)


@dataclass(frozen=True, slots=True)
class VisitTask:
    """What to fetch, and what we know of it."""

    purpose: Purpose
    url: str
    site_id: int
    """0 = fetched for no site."""
    page_id: int
    """Id of the page (for robots.txt: that waits for it), or the example."""
    etag: str | None = None
    last_modified: str | None = None
    body_md5: str | None = None
    extra: bool = False
    """A visit that no price called for: to a hub never read, a covered one, or a monitored article."""
    unread: bool = False
    """Of a hub that was never read."""
    first_reading: bool = False
    """The page became a hub by its URL alone, and may turn out to be an article."""
    for_topics: bool = False
    """Topics judge the page, so its text is needed."""
    way: Way | None = None
    """How the hub is read; None = not decided yet."""
    rules: RobotsPolicy | None = None
    """The rules for the page's origin, for what belongs to the page; None = unknown."""


def verification_task(row: VerificationRow) -> VisitTask:
    """Return a verification fetch."""
    return VisitTask(Purpose.VERIFY, row.url, row.site_id, row.page_id)


def refresh_task(row: RefreshRow) -> VisitTask:
    """Return a refresh."""
    return VisitTask(
        purpose=Purpose.REFRESH,
        url=row.url,
        site_id=row.site_id,
        page_id=row.page_id,
        etag=row.etag,
        last_modified=row.last_modified,
        body_md5=row.body_md5,
    )


def hub_task(hub: HubRow) -> VisitTask:
    """Return the visit of a hub, conditional if it has a baseline."""
    # Without a baseline the page must be read, so the request is unconditional.
    way = read_way(hub.way)
    known = hub.baseline_at is not None and not _must_be_read(hub, way)
    return VisitTask(
        purpose=Purpose.HUB,
        url=hub.url,
        site_id=hub.site_id,
        page_id=hub.page_id,
        etag=hub.etag if known else None,
        last_modified=hub.last_modified if known else None,
        body_md5=hub.body_md5 if known else None,
        first_reading=is_first_reading(hub),
        unread=hub.visited_at is None,
        extra=hub.visited_at is None or hub.role == ARTICLE or hub.state == HubStatus.DORMANT,
        way=way,
    )


def _must_be_read(hub: HubRow, way: Way | None) -> bool:
    """Return whether the page is read even if it is the same.

    To see what lies behind a shell; and a sitemap of which nothing counted may name pages known since.
    """
    if hub.kind == HubKind.SITEMAP:
        return not hub.shown_links
    if way is None:
        return hub.kind == HubKind.HTML and hub.shown_links <= FEW_LINKS
    return way.again or way.kind == WayKind.BROWSER_MISSING


def is_first_reading(hub: HubRow) -> bool:
    """Return whether *hub* was never read and only its URL made it one."""
    by_url = hub.role == HubRole.LIST and hub.kind == HubKind.HTML
    # New pages outrank looks: a hub that has brought some stays one.
    return hub.baseline_at is None and by_url and not hub.new_pages


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a visit."""

    task: VisitTask
    response: Response
    body_md5: str | None = None
    """None when there was no body."""
    page: Page | None = None
    """None when there was nothing (new) to read."""
    text: PageText | None = None
    """What topics judge; None = they do not, or there was nothing new."""
    read: ReadText | None = None
    """The page's text, to be stored; None = read as a hub, or nothing new."""
    bug: Bug | None = None
    """What the visit raised; its response is an internal error then."""
    lost: bool = False
    """Nobody can ask what came of it: it is due again."""
    features: tuple[float, ...] | None = None
    """``CONTENT_FEATURE_NAMES`` of a page that may be an article; None = any other."""
    behind: Behind | None = None
    """What lies behind the page; None = it is no shell, or was not read."""
    way: Way | None = None
    """How the hub was read; None = the page is no hub, or that was not asked."""
    more_requests: int = 0
    """Sent for the page besides its own."""

    @property
    def unchanged(self) -> bool:
        """Whether the body is the same as at the last visit."""
        if self.response.status is FetchStatus.NOT_MODIFIED:
            return True
        return self.body_md5 is not None and self.body_md5 == self.task.body_md5


def visit(task: VisitTask, fetch: Fetch, read: Read | None = None) -> Outcome:
    """Carry out *task*; failures are in the outcome's status. A body with the last MD5 is not read.

    *read* reads bodies, in this process if it is not given.
    """
    response = fetch(Request(task.url, etag=task.etag, last_modified=task.last_modified))
    if task.purpose is Purpose.ROBOTS:
        return Outcome(task, follow_robots(fetch, response))
    if response.status is not FetchStatus.FETCHED:
        return Outcome(task, response)
    return read_response(task, response, read)


def read_response(task: VisitTask, response: Response, read: Read | None = None) -> Outcome:
    """Read what was fetched for *task*."""
    digest = hashlib.md5(response.body).hexdigest()
    if digest == task.body_md5:
        return Outcome(task, response, body_md5=digest)
    from incremental.sandbox import Body, Unread, read_body  # noqa: PLC0415 - as above

    reads = task.purpose in _READ
    reading = (read or read_body)(
        Body(
            response.url,
            response.body,
            content_type=response.headers.get("content-type", ""),
            md5=digest,
            want_text=reads or (task.for_topics and not task.first_reading),
            keep_text=reads or task.first_reading,
            for_topics=task.for_topics,
            describe=task.first_reading,
            behind=reads or task.purpose is Purpose.HUB,
            listing=task.way.listing if task.way is not None else None,
        )
    )
    if isinstance(reading, Unread):
        failed = replace(response, status=reading.status, detail=reading.detail, body=b"")
        return Outcome(task, failed)
    return Outcome(
        task,
        response,
        body_md5=digest,
        page=reading.page,
        text=reading.text,
        read=reading.read,
        features=reading.features,
        behind=reading.behind,
    )
