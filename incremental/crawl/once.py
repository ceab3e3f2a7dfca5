"""A single fetch on behalf of a person, under the crawler's terms.

::

    host in back-off?      -> not fetched
    robots.txt unknown?    -> fetched first, and stored for the crawler
    robots.txt denies?     -> not fetched
    fetch                  -> what the host is owed is stored
"""

from __future__ import annotations

from dataclasses import dataclass

from classifier.topic.values import PageText
from incremental.crawl.host_gate import HostGate
from incremental.errors import InputError
from incremental.fetch.decoding import decode_body
from incremental.fetch.robots import follow_robots, robots_url
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse import parse
from incremental.settings import Settings
from incremental.topics.page_texts import cached_text
from incremental.urls import normalize
from incremental.visit import Fetch, topic_text
from store import Store


@dataclass(frozen=True, slots=True)
class ReadPage:
    """A page as topics see it."""

    url: str
    source: str
    """cache, fetched, or empty when it could not be had."""
    text: PageText | None
    problem: str = ""
    """Why there is nothing to read; for people."""


def read_page(store: Store, settings: Settings, url: str, fetch: Fetch, *, now: float) -> ReadPage:
    """Return a page's text from the cache, else fetch it. The page is not recorded.

    Raises:
        InputError: it is no web address.
    """
    address = normalize(url.strip())
    if address is None:
        raise InputError("url", url[:200], "not a web address (http or https)")
    text = cached_text(store, address)
    if text is not None:
        return ReadPage(address, "cache", text)
    response = fetch_once(store, settings, address, fetch, now=now)
    if response.status is not FetchStatus.FETCHED:
        return ReadPage(address, "", None, _problem(response))
    kind = response.headers.get("content-type", "")
    page = parse(response.body, response.url, content_type=kind, decode=decode_body, want_text=True)
    return ReadPage(response.url, "fetched", topic_text(page, response.body, kind), page.problem)


def _problem(response: Response) -> str:
    words = response.status.value.replace("_", " ")
    if response.location is not None:
        return f"{words}: it leads to {response.location}"
    return f"{words}: {response.detail}" if response.detail else words


def fetch_once(store: Store, settings: Settings, url: str, fetch: Fetch, *, now: float) -> Response:
    """Fetch one page if its host and robots.txt allow it; store what the host is owed."""
    gate = HostGate(store, settings)
    answer = gate.ask(url, now)
    # Back-off after failures is kept; for one fetch the pause between two requests is skipped.
    if answer.failures and answer.allowed_at > now:
        wait = f"its server has trouble; it is asked again in {answer.allowed_at - now:.0f} s"
        return Response(url, FetchStatus.RATE_LIMITED, detail=wait)
    if answer.robots_due:
        robots = follow_robots(fetch, fetch(Request(robots_url(url))))
        store.write.put_host(gate.release(url, robots, now, robots=True))
        answer = gate.ask(url, now)
    if answer.refusal is not None:
        return Response(url, answer.refusal, detail=answer.says)
    response = fetch(Request(url))
    store.write.put_host(gate.release(url, response, now))
    return gate.obey(response)
