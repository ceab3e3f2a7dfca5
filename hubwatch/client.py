"""A client of a running Hubwatch, over its HTTP API: :meth:`hubwatch.Hubwatch.connect`.

Its methods have the names, arguments and results of :class:`hubwatch.Hubwatch`, except those that crawl: the
daemon does that. Each is one request or a few, made in the caller's thread; nothing is cached.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Self, TypeVar

import msgspec
import requests

from hubwatch.errors import HubwatchError
from incremental.base.errors import NotFoundError
from incremental.interfaces.results.schema import NewPages, Page, PageChange, SiteVisit, TextChange
from incremental.interfaces.results.sites import AddedSite, Site
from incremental.interfaces.results.topics import Topic, TopicPreview

_TIMEOUT_SECONDS = 60.0
_BATCH = 500
_NOT_FOUND = 404
_NO_CONTENT = 204
Result = TypeVar("Result")


class ServerError(HubwatchError):
    """A running Hubwatch cannot be reached, or refuses a request; *status* 0 = it did not answer."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Client:
    """Asks the Hubwatch at *url*. Every method raises :class:`ServerError` if it is refused."""

    def __init__(
        self, url: str, token: str = "", *, session: requests.Session | None = None
    ) -> None:
        self._base = f"{url.rstrip('/')}/api/v1"
        self._session = session or requests.Session()
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def _ask(
        self,
        kind: type[Result],
        path: str,
        method: str = "GET",
        *,
        json: object = None,
        **params: Any,  # noqa: ANN401 - of the query
    ) -> Result:
        given = {name: value for name, value in params.items() if value not in (None, "")}
        try:
            answer = self._session.request(
                method,
                self._base + path,
                params=given,
                json=json,
                headers=self._headers,
                timeout=_TIMEOUT_SECONDS,
            )
        except requests.RequestException as error:
            raise ServerError(0, f"no Hubwatch answers at {self._base}: {error}") from error
        if answer.ok:
            body = b"null" if answer.status_code == _NO_CONTENT else answer.content
            return msgspec.json.decode(body, type=kind)
        try:
            why = str(answer.json()["detail"])
        except (ValueError, KeyError, TypeError):
            why = f"status {answer.status_code}"
        if answer.status_code == _NOT_FOUND:
            raise NotFoundError(why)
        raise ServerError(answer.status_code, why)

    # --- sites --------------------------------------------------------------------------------

    def add(self, *urls: str, **terms: Any) -> list[AddedSite]:  # noqa: ANN401 - of the API
        """Watch the sites of *urls*, with *terms* such as ``tags``; each has a result of its own."""
        return self._ask(list[AddedSite], "/sites", "POST", json={"urls": urls, **terms})

    def sites(self) -> list[Site]:
        """Return the watched sites, in the order in which they were added."""
        return self._ask(list[Site], "/sites")

    def edit_site(self, site: str, **changes: Any) -> Site:  # noqa: ANN401 - by field
        """Change a site given by name, seed or id."""
        return self._ask(Site, f"/sites/{self._site_id(site)}", "PATCH", json=changes)

    def pause(self, site: str) -> Site:
        """Fetch nothing more from a site."""
        return self.edit_site(site, state="paused")

    def resume(self, site: str) -> Site:
        """Visit a paused site again."""
        return self.edit_site(site, state="active")

    def remove(self, site: str) -> None:
        """Delete a site with its pages and history."""
        self._ask(type(None), f"/sites/{self._site_id(site)}", "DELETE")

    def hub_urls(self) -> Sequence[str]:
        """Return the URLs of active hubs, most new pages first."""
        hubs = self._ask(list[dict[str, Any]], "/hubs", limit=5_000)
        return [hub["url"] for hub in hubs if hub["state"] == "active"]

    def label(self, url: str, label: Literal["hub", "article"]) -> None:
        """Correct the hub classifier; it takes effect at once."""
        (done,) = self._ask(
            list[dict[str, Any]], "/labels", "POST", json={"urls": [url], "label": label}
        )
        if done.get("error"):
            raise ServerError(200, done["error"])

    # --- topics -------------------------------------------------------------------------------

    def add_topic(
        self,
        name: str,
        *,
        examples: Sequence[str] = (),
        keywords: Sequence[str] = (),
        describe: str = "",
    ) -> Topic:
        """Add a topic from example pages, key words or a sentence."""
        body = {"name": name, "examples": examples, "keywords": keywords, "description": describe}
        return self._ask(Topic, "/topics", "POST", json=body)

    def topics(self) -> list[Topic]:
        """Return the topics, by name."""
        return self._ask(list[Topic], "/topics")

    def edit_topic(self, name: str, /, **changes: Any) -> Topic:  # noqa: ANN401 - of the API
        """Change a topic: ``name``, ``keywords``, ``description``, ``include``, ``exclude`` or ``tags``."""
        return self._ask(Topic, f"/topics/{self._topic_id(name)}", "PATCH", json=changes)

    def preview_topic(self, name: str, /, **changes: Any) -> TopicPreview:  # noqa: ANN401 - of the API
        """Return what a change of a topic would do to its list; *changes* as for :meth:`edit_topic`."""
        return self._ask(
            TopicPreview, f"/topics/{self._topic_id(name)}/preview", "POST", json=changes
        )

    def judge(self, topic: str, *urls: str, relevant: bool) -> Topic:
        """Tell a topic that pages are relevant or not; it learns from them in the next round."""
        path = f"/topics/{self._topic_id(topic)}/examples"
        return self._ask(Topic, path, "POST", json={"urls": urls, "relevant": relevant})

    def pause_topic(self, name: str, *, paused: bool = True) -> Topic:
        """Pause or resume the judging of pages by a topic."""
        return self.edit_topic(name, state="paused" if paused else "active")

    def remove_topic(self, name: str) -> None:
        """Delete a topic with its verdicts."""
        self._ask(type(None), f"/topics/{self._topic_id(name)}", "DELETE")

    # --- reading ------------------------------------------------------------------------------

    def new_pages(  # noqa: PLR0913 - each narrows the list
        self,
        *,
        since: datetime | str = "",
        until: datetime | str = "",
        after: int | None = None,
        site: str | None = None,
        topic: str | None = None,
        show: str = "",
        **more: Any,  # noqa: ANN401 - fields of Filters
    ) -> Iterator[Page]:
        """Yield announced pages, oldest first; see :meth:`hubwatch.Hubwatch.new_pages`."""
        asked = {
            "since": str(since),
            "until": str(until),
            "site": site and self._site_id(site),
            "topic": topic and self._topic_id(topic),
            "show": show,
            **more,
        }
        while True:
            answer = self._ask(
                NewPages, "/pages", after=after, order="oldest", limit=_BATCH, **asked
            )
            yield from answer.pages
            if not answer.more:
                return
            after = answer.cursor

    def watch(
        self,
        *,
        after: int | None = None,
        poll_seconds: float = 15.0,
        **filters: Any,  # noqa: ANN401 - of new_pages
    ) -> Iterator[Page]:
        """Yield each page when it is announced, oldest first, without end.

        *after* is the cursor of the last page seen; None begins with what is announced from now on.
        """
        if after is None:
            after = self.newest_cursor()
        pause = threading.Event()
        while True:
            for page in self.new_pages(after=after, **filters):
                after = page.cursor
                yield page
            pause.wait(poll_seconds)

    def newest_cursor(self) -> int:
        """Return the cursor of the latest announced page; 0 = there is none."""
        newest = self._ask(NewPages, "/pages", limit=1)
        return newest.pages[0].cursor if newest.pages else 0

    def history(self, url: str) -> list[PageChange]:
        """Return what changed on a page, newest first."""
        return self._ask(list[PageChange], f"/pages/{self._page_id(url)}/history")

    def visits(
        self, *, since: datetime | str = "", site: str | None = None, after: int = 0
    ) -> Iterator[SiteVisit]:
        """Yield visits in the order in which they were made; *after* is the id of the last one read."""
        asked: dict[str, Any] = {"since": str(since), "site": site and self._site_id(site)}
        while rows := self._ask(list[SiteVisit], "/visits", after=after, limit=_BATCH, **asked):
            yield from rows
            after = rows[-1].id

    def changes(self, *, limit: int = 50) -> list[TextChange]:
        """Return the latest changes of watched pages, newest first."""
        found = self._ask(dict[str, Any], "/changes", limit=limit)["changes"]
        return msgspec.convert(found, list[TextChange])

    def explain(self, url: str) -> Mapping[str, Any]:
        """Return why a URL was or was not announced, and its next visit, as ``check --json`` does."""
        return self._ask(dict[str, Any], "/check", url=url)

    def mark(self, *urls: str, read: bool | None = None, starred: bool | None = None) -> int:
        """Mark announced pages; return how many were."""
        body = {
            "pages": [self._page_id(url) for url in urls],
            "read": read,
            "starred": starred,
        }
        return len(self._ask(dict[str, list[int]], "/pages/marks", "POST", json=body)["pages"])

    def _page_id(self, url: str) -> int:
        return int(self._ask(dict[str, Any], "/pages/lookup", url=url)["id"])

    def _site_id(self, site: str) -> int:
        return self._id([(one.id, {one.name, one.seed, str(one.id)}) for one in self.sites()], site)

    def _topic_id(self, name: str) -> int:
        return self._id([(one.id, {one.name}) for one in self.topics()], name)

    @staticmethod
    def _id(rows: Sequence[tuple[int, set[str]]], wanted: str) -> int:
        for number, names in rows:
            if wanted in names:
                return number
        raise NotFoundError(f"nothing is called {wanted!r}")
