"""One visit: fetch a page, and parse it when there is something new to read.

A function of a task: no store, no clock, no global. The network is reached through the one fetcher it
is handed, so it runs in a thread, a process or on another machine unchanged, and a recorded page
replays it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from incremental.fetch.decoding import decode_body
from incremental.fetch.robots import follow_robots
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse import Page, parse

Fetch = Callable[[Request], Response]


class Purpose(StrEnum):
    """Why a page is fetched."""

    HUB = "hub"
    LOOK = "look"
    """For the page itself: its title, date, text, and whether it is there at all."""
    ROBOTS = "robots"


@dataclass(frozen=True, slots=True)
class VisitTask:
    """What to fetch, and what we hold of it."""

    purpose: Purpose
    url: str
    site_id: int
    page_id: int
    """Of the page; for robots.txt of the page that waits for it."""
    etag: str | None = None
    last_modified: str | None = None
    body_md5: str | None = None
    first: bool = False
    """A hub that was never read."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a visit."""

    task: VisitTask
    response: Response
    body_md5: str | None = None
    """Of the body, None when there was none."""
    page: Page | None = None
    """None when there was nothing (new) to read."""

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
        want_text=task.purpose is Purpose.LOOK,
    )
    return Outcome(task, response, body_md5=digest, page=page)
