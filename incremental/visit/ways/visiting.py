"""A visit of a hub in the way that it is read, or in search of one.

A function of a task, like any visit: no store, no clock of its own; the network through the fetchers that
are passed in.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from incremental.fetch.robots import RobotsPolicy
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse import Page, PageKind
from incremental.parse.behind import Behind
from incremental.parse.hub_way import Way, WayKind, WayProblem
from incremental.sandbox import Body, BodyRole, Read, Unread
from incremental.visit.visit import Fetch, Outcome, Purpose, VisitTask, read_response, visit
from incremental.visit.ways.parts import PartFetcher, Parts, wants_pauses

# In search of JSON: robots.txt, the page's own scripts, and addresses that they name.
MOST_REQUESTS = 10
MOST_TRIES = 4
# The source failed for now; another way would hide that.
_LATER = frozenset(
    {
        *(FetchStatus.TIMED_OUT, FetchStatus.SERVER_ERROR, FetchStatus.RATE_LIMITED),
        *(FetchStatus.CONNECT_FAILED, FetchStatus.DNS_FAILED, FetchStatus.TLS_FAILED),
        *(FetchStatus.ROBOTS_UNREACHABLE, FetchStatus.BROKEN_RESPONSE),
    }
)
_ASKS_FOR_JSON = {"Accept": "application/json, text/plain, */*"}


@dataclass(frozen=True, slots=True)
class Rendered:
    """What a browser made of a page."""

    response: Response
    """With the document's HTML as body; or why there is none."""
    requests: int = 1
    seconds: float = 0.0
    wait_seconds: float = 0.0
    """The longest pause that a server asked for."""


class Renderer(Protocol):
    """Lets a browser draw pages."""

    def render(self, url: str, rules: RobotsPolicy | None) -> Rendered:
        """Draw the page at *url*, whose origin has these *rules*."""


Visit = Callable[[VisitTask, Fetch, Read], Outcome]


class HubVisitor:
    """Makes visits; hubs in the way that they are read. Thread-safe."""

    def __init__(self, parts: PartFetcher, renderer: Renderer | None = None) -> None:
        """Fetch *parts* of pages; *renderer* None = there is no browser."""
        self._parts = parts
        self._renderer = renderer

    def __call__(self, task: VisitTask, fetch: Fetch, read: Read) -> Outcome:
        """Carry out *task*; failures are in the outcome's status."""
        if task.purpose is not Purpose.HUB:
            return visit(task, fetch, read)
        way = task.way or Way()
        if way.kind == WayKind.JSON and not way.again:
            outcome = self._visit_json(task, way, read)
            if outcome is not None:
                return outcome
            # The validators were those of the JSON.
            task = replace(task, etag=None, last_modified=None, body_md5=None)
            way = replace(way, again=True)
            outcome = self._visit_plain(task, way, fetch, read)
            return replace(outcome, more_requests=outcome.more_requests + 1)
        if way.kind == WayKind.RENDERED and not way.again and self._renderer is not None:
            return self._visit_rendered(self._renderer, task, way, read)
        return self._visit_plain(task, way, fetch, read)

    def _visit_plain(self, task: VisitTask, way: Way, fetch: Fetch, read: Read) -> Outcome:
        """Fetch the page itself; if it is a shell, find what lies behind it."""
        outcome = visit(task, fetch, read)
        behind = outcome.behind
        if outcome.page is None:
            return replace(outcome, way=task.way)
        if behind is None or behind.sign is None:
            return replace(outcome, way=Way())
        way = replace(way, sign=behind.sign)
        if way.kind == WayKind.EMBEDDED and way.again and way.blank:
            behind = replace(behind, listing=None)  # what it lists is not of this site
        if behind.listing is not None and not behind.by_slug:
            return _from_state(outcome, way, behind)
        return self._visit_shell(task, way, outcome, behind, read)

    def _visit_shell(
        self, task: VisitTask, way: Way, outcome: Outcome, behind: Behind, read: Read
    ) -> Outcome:
        """Search for the links of a shell, else let the browser draw it."""
        url = outcome.response.url
        parts = self._parts.of_page(task.rules, url, MOST_REQUESTS, begun=True)
        listed = behind.listing is not None or way.kind == WayKind.EMBEDDED
        # Most pages that only their address makes a list are articles; searching for each would cost much.
        waits = task.first_reading and self._renderer is not None and not listed
        if not waits and (task.way is None or way.again or listed):
            found = self._search(task, way, outcome, behind, parts, read)
            if found is not None:
                return found
        elif way.kind == WayKind.PLAIN and task.way is not None:
            return replace(outcome, way=way)  # nothing helped; it is searched again later
        if wants_pauses(task.rules):
            waiting = replace(_fresh(way, WayKind.PLAIN), problem=WayProblem.PAUSES)
            return replace(outcome, way=waiting, more_requests=parts.requests)
        if self._renderer is not None:
            rendered = self._visit_rendered(self._renderer, task, way, read)
            drawn = replace(rendered.way or way, again=waits)
            sent = parts.requests + 1
            return replace(rendered, way=drawn, more_requests=rendered.more_requests + sent)
        missing = _fresh(way, WayKind.BROWSER_MISSING)
        return replace(outcome, way=missing, more_requests=parts.requests)

    def _search(  # noqa: PLR0913, PLR0917 - what is known of the page
        self,
        task: VisitTask,
        way: Way,
        outcome: Outcome,
        behind: Behind,
        parts: Parts,
        read: Read,
    ) -> Outcome | None:
        """Search the page's scripts for a source of its links; None = there is none."""
        url, folders = outcome.response.url, behind.folders
        tried = {way.url} if way.blank else set[str]()
        waiting, files = list(behind.addresses), list(behind.files)
        if behind.listing is not None:
            # The list is here; a script may say below which folder its pages are.
            folders += self._folders(parts, files, url, read)
            if folders:
                known = Body(url, b"", behind=True, folders=folders)
                behind = _behind(known, outcome.response, read) or behind
            found = _from_state(outcome, way, behind)
            return replace(found, more_requests=parts.requests)
        while waiting or files:
            if not waiting:
                code = Body(url, b"", role=BodyRole.SCRIPT)
                script = _behind(code, parts.fetch(Request(files.pop(0))), read)
                if script is not None:
                    folders += script.folders
                    waiting += [one for one in script.addresses if one not in tried]
                continue
            address = waiting.pop(0)
            if address in tried or len(tried) >= MOST_TRIES:
                continue
            tried.add(address)
            response = parts.fetch(Request(address, headers=_ASKS_FOR_JSON))
            answer = Body(url, b"", role=BodyRole.JSON, folders=folders)
            shown = _behind(answer, response, read)
            if shown is not None and shown.by_slug:
                folders += self._folders(parts, files, url, read)
                shown = _behind(replace(answer, folders=folders), response, read)
            if shown is None or shown.listing is None:
                continue
            chosen = replace(
                _fresh(way, WayKind.JSON),
                url=address,
                place=shown.listing.place,
                folder=shown.listing.folder,
            )
            found = _from_json(task, chosen, response, shown)
            if outcome.page is not None:
                # The page names its title and its feeds.
                page = replace(outcome.page, links=shown.links)
                found = replace(found, page=page)
            return replace(found, more_requests=parts.requests)
        return None

    def _folders(self, parts: Parts, files: list[str], url: str, read: Read) -> tuple[str, ...]:
        """Return the folders below which the script *files* look for slugs."""
        code = Body(url, b"", role=BodyRole.SCRIPT)
        scripts = (_behind(code, parts.fetch(Request(file)), read) for file in files)
        return tuple(one for script in scripts if script is not None for one in script.folders)

    def _visit_json(self, task: VisitTask, way: Way, read: Read) -> Outcome | None:
        """Fetch the JSON; None = it has no list any more."""
        parts = self._parts.of_page(task.rules, task.url, MOST_REQUESTS)
        request = Request(
            way.url,
            etag=task.etag,
            last_modified=task.last_modified,
            headers=_ASKS_FOR_JSON,
        )
        response = parts.fetch(request)
        more = max(parts.requests - 1, 0)
        way = replace(way, requests=parts.requests)
        if response.status in _LATER or response.status is FetchStatus.NOT_MODIFIED:
            own = _as_page(response, task.url)
            return Outcome(task, own, way=way, more_requests=more)
        digest = hashlib.md5(response.body).hexdigest()
        if response.status is FetchStatus.FETCHED and digest == task.body_md5:
            own = _as_page(response, task.url)
            return Outcome(task, own, body_md5=digest, way=way, more_requests=more)
        answer = Body(task.url, b"", role=BodyRole.JSON, listing=way.listing)
        shown = _behind(answer, response, read)
        if shown is None or shown.listing is None:
            return None
        return replace(_from_json(task, way, response, shown), more_requests=more)

    def _visit_rendered(self, renderer: Renderer, task: VisitTask, way: Way, read: Read) -> Outcome:
        """Let the browser draw the page, and read what it made."""
        rendered = renderer.render(task.url, task.rules)
        way = replace(
            _fresh(way, WayKind.RENDERED) if way.kind != WayKind.RENDERED else way,
            again=False,
            requests=rendered.requests,
            seconds=round(rendered.seconds, 1),
            problem="",
        )
        response = rendered.response
        if rendered.wait_seconds:
            response = replace(response, retry_after_seconds=rendered.wait_seconds)
        outcome = Outcome(task, response)
        if response.status is FetchStatus.FETCHED:
            outcome = read_response(task, response, read)
        more = max(rendered.requests - 1, 0)
        return replace(outcome, way=way, behind=None, more_requests=more)


def _fresh(way: Way, kind: WayKind) -> Way:
    """Return a new way of another kind for the same shell."""
    return Way(kind=kind, sign=way.sign, searched_at=way.searched_at)


def _from_state(outcome: Outcome, way: Way, behind: Behind) -> Outcome:
    """Return the visit with the links of the page's state."""
    listing, page = behind.listing, outcome.page
    if listing is None or page is None:
        return outcome
    found = replace(
        way if way.kind == WayKind.EMBEDDED else _fresh(way, WayKind.EMBEDDED),
        name=listing.name,
        place=listing.place,
        folder=listing.folder,
        again=False,
    )
    # What the content of a shell says of hubs is nothing.
    return replace(outcome, way=found, page=replace(page, links=behind.links), features=None)


def _behind(wanted: Body, response: Response, read: Read) -> Behind | None:
    """Return what lies behind a response, read as *wanted*; None = nothing that can be read."""
    if response.status is not FetchStatus.FETCHED:
        return None
    kind = response.headers.get("content-type", "")
    reading = read(replace(wanted, content=response.body, content_type=kind))
    return None if isinstance(reading, Unread) else reading.behind


def _from_json(task: VisitTask, way: Way, response: Response, shown: Behind) -> Outcome:
    """Return the visit with the links of a JSON answer."""
    digest = hashlib.md5(response.body).hexdigest()
    page = Page(task.url, PageKind.HTML, links=shown.links)
    own = _as_page(response, task.url)
    return Outcome(task, own, body_md5=digest, page=page, way=way)


def _as_page(response: Response, url: str) -> Response:
    """Return the answer to a part as that of the page it belongs to."""
    return replace(response, url=url, redirects=(), permanent=False)
