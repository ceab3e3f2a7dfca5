"""One visit: fetch a page, and parse it when there is something new to read.

A function of a task: no store, no clock, no global. The network is reached through the one fetcher it
is handed, so it runs in a thread, a process or on another machine unchanged, and a recorded page
replays it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from classifier.topic.values import PageText
from incremental.fetch.decoding import decode_body
from incremental.fetch.headers import link_targets
from incremental.fetch.robots import follow_robots
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.history.reading import read_text
from incremental.parse import Page, PageKind, parse
from incremental.parse.languages import language_of_page
from incremental.parse.topic_text import page_text
from store.answers.values import RefreshRow
from store.values import ARTICLE, HubRow, ReadText, VerificationRow

Fetch = Callable[[Request], Response]


class Purpose(StrEnum):
    """Why a page is fetched."""

    HUB = "hub"
    VERIFY = "verify"
    """For the page itself: its title, date, text, and whether it is there at all."""
    REFRESH = "refresh"
    """For what changed on a page that was announced."""
    EXAMPLE = "example"
    """For a topic to learn from; it may be of no watched site."""
    EXTERNAL_CANDIDATE = "external_candidate"
    """To see whether a link out of every watched site leads to what a topic wants."""
    ROBOTS = "robots"


# Purposes for which a page's text is wanted.
_READ = (Purpose.VERIFY, Purpose.REFRESH)


@dataclass(frozen=True, slots=True)
class VisitTask:
    """What to fetch, and what we hold of it."""

    purpose: Purpose
    url: str
    site_id: int
    """0 = it is fetched for no site."""
    page_id: int
    """Of the page; for robots.txt of the page that waits for it; of the example or the external candidate."""
    etag: str | None = None
    last_modified: str | None = None
    body_md5: str | None = None
    extra: bool = False
    """Not one of the visits that known hubs need: a hub that was never read, a monitored article."""
    for_topics: bool = False
    """Topics judge the page: its text is wanted by position."""


def verification_task(row: VerificationRow) -> VisitTask:
    """Return the fetch of a page for its own sake."""
    return VisitTask(Purpose.VERIFY, row.url, row.site_id, row.page_id)


def refresh_task(row: RefreshRow) -> VisitTask:
    """Return the fetch of an announced page for what changed on it."""
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
    """Return the visit of a hub, with what spares us a body that we know."""
    # Without a baseline the page must be read, so nothing that would spare us the body is sent.
    known = hub.baseline_at is not None
    return VisitTask(
        purpose=Purpose.HUB,
        url=hub.url,
        site_id=hub.site_id,
        page_id=hub.page_id,
        etag=hub.etag if known else None,
        last_modified=hub.last_modified if known else None,
        body_md5=hub.body_md5 if known else None,
        extra=hub.visited_at is None or hub.role == ARTICLE,
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a visit."""

    task: VisitTask
    response: Response
    body_md5: str | None = None
    """Of the body, None when there was none."""
    page: Page | None = None
    """None when there was nothing (new) to read."""
    text: PageText | None = None
    """What topics judge; None when they do not, or there was nothing (new) to read."""
    read: ReadText | None = None
    """The page's text, which is kept; None when it was read as a hub, or there was nothing new."""

    @property
    def unchanged(self) -> bool:
        """Whether the page is byte for byte what it was at the last visit."""
        if self.response.status is FetchStatus.NOT_MODIFIED:
            return True
        return self.body_md5 is not None and self.body_md5 == self.task.body_md5


def visit(task: VisitTask, fetch: Fetch) -> Outcome:
    """Carry out *task*. Whatever goes wrong is in the outcome's status.

    A body with the MD5 of the last one is not parsed.
    """
    response = fetch(Request(task.url, etag=task.etag, last_modified=task.last_modified))
    if task.purpose is Purpose.ROBOTS:
        return Outcome(task, follow_robots(fetch, response))
    if response.status is not FetchStatus.FETCHED:
        return Outcome(task, response)
    digest = hashlib.md5(response.body).hexdigest()
    if digest == task.body_md5:
        return Outcome(task, response, body_md5=digest)
    page = parse(
        response.body,
        response.url,
        content_type=response.headers.get("content-type", ""),
        decode=decode_body,
        want_text=task.for_topics or task.purpose in _READ,
    )
    page = _with_header_links(page, response)
    page = replace(page, language=language_of_page(page))
    content_type = response.headers.get("content-type", "")
    if task.purpose in _READ:
        read = read_text(page, decode_body(response.body, content_type)[0], digest)
        text = page_text(page, read.text or None) if task.for_topics else None
        return Outcome(task, response, body_md5=digest, page=page, text=text, read=read)
    text = topic_text(page, response.body, content_type) if task.for_topics else None
    return Outcome(task, response, body_md5=digest, page=page, text=text)


def _with_header_links(page: Page, response: Response) -> Page:
    """Let the ``Link`` header say where the page's WebSub hub is, before the page itself (section 4)."""
    named = link_targets(response.url, response.headers.get("link"))
    return replace(
        page,
        websub_hub_url=named.get("hub") or page.websub_hub_url,
        websub_self_url=named.get("self") or page.websub_self_url,
    )


def topic_text(page: Page, body: bytes, content_type: str = "") -> PageText:
    """Return what topics judge of a page that was parsed from *body*, its text being asked for."""
    if page.kind is not PageKind.HTML:
        return page_text(page)
    # Only who has topics loads the extractor.
    from incremental.parse.main_text import main_text  # noqa: PLC0415

    html, _ = decode_body(body, content_type)
    return page_text(page, main_text(html, page.url))
