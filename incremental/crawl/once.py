"""One page for one question: fetched by hand, on the terms of the crawler.

::

    host backed off from?  -> not asked
    robots.txt unknown?    -> asked first, and remembered for the crawler
    robots.txt denies?     -> not asked
    fetch                  -> what the host is owed now is remembered

A person who asks once does not wait for the pause between two requests; what a server asked for, or
its failures, are waited for all the same.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

from classifier.topic.values import PageText
from incremental.errors import InputError
from incremental.fetch.decoding import decode_body
from incremental.fetch.politeness import HostState, after_visit, host_key
from incremental.fetch.robots import RobotsPolicy, follow_robots, robots_url
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse import parse
from incremental.settings import Settings
from incremental.topics.page_texts import cached_text
from incremental.urls import normalize
from incremental.visit import Fetch, topic_text
from store import Store
from store.values import HostRow


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
    """Return a page's text from the cache, else fetch it. Nothing of the page is recorded.

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
    """Fetch one page, unless its host or its robots.txt says no; remember what the host is owed."""
    row = store.read.host(host_key(url))
    state = HostState(host_key(url))
    if row is not None:
        state = HostState(row.name, row.next_allowed_at, row.failures, row.crawl_delay_seconds)
    if state.failures and state.next_allowed_at > now:
        wait = f"its server has trouble; it is asked again in {state.next_allowed_at - now:.0f} s"
        return Response(url, FetchStatus.RATE_LIMITED, detail=wait)
    policy = _stored_policy(row, settings, url)
    robots: dict[str, object] = {}
    if policy is None or policy.expires_at <= now:
        answer = follow_robots(fetch, fetch(Request(robots_url(url))))
        agent = settings.fetch.product_token
        policy = RobotsPolicy.from_response(answer, agent, now, policy)
        fields = asdict(policy)
        robots[robots_url(url)] = {key: fields[key] for key in fields if key != "user_agent"}
        state = replace(state, crawl_delay_seconds=policy.crawl_delay_seconds)
        state = after_visit(state, answer.status, None, now, settings.politeness)
    response = _permitted(policy, url)
    if response is None:
        response = fetch(Request(url))
        wait_seconds = response.retry_after_seconds
        state = after_visit(state, response.status, wait_seconds, now, settings.politeness)
    store.write.put_host(_host_row(row, state, robots))
    return response


def _stored_policy(row: HostRow | None, settings: Settings, url: str) -> RobotsPolicy | None:
    stored = json.loads(row.robots or "{}").get(robots_url(url)) if row else None
    if stored is None:
        return None
    return RobotsPolicy.from_stored(**stored, user_agent=settings.fetch.product_token)


def _permitted(policy: RobotsPolicy, url: str) -> Response | None:
    """Return why a page may not be asked for, None when it may."""
    if policy.allows(url):
        return None
    if policy.reachable:
        return Response(url, FetchStatus.ROBOTS_DENIED)
    if policy.status is FetchStatus.FORBIDDEN_ADDRESS:
        return Response(url, FetchStatus.FORBIDDEN_ADDRESS, detail="its address is not public")
    return Response(
        url, FetchStatus.ROBOTS_UNREACHABLE, detail=f"robots.txt: {policy.status.value}"
    )


def _host_row(before: HostRow | None, state: HostState, robots: dict[str, object]) -> HostRow:
    known = json.loads(before.robots or "{}") if before is not None else {}
    return HostRow(
        name=state.name,
        next_allowed_at=state.next_allowed_at,
        failures=state.failures,
        crawl_delay_seconds=state.crawl_delay_seconds,
        robots=json.dumps({**known, **robots}, ensure_ascii=False) if robots else None,
    )
