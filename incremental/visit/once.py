"""A single fetch on behalf of a person, let through by the host gate and stored there for the crawler."""

from dataclasses import replace
from urllib.parse import urlsplit

from incremental.base.texts import Text, named
from incremental.fetch.robots import robots_url
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.sandbox import Body
from incremental.settings import Settings
from incremental.visit.host_gate import HostGate
from incremental.visit.visit import Fetch
from store import Store

# Whose detail says all of it.
_SAID_IN_FULL = frozenset(
    {
        FetchStatus.ROBOTS_UNREACHABLE,
        FetchStatus.ROBOTS_DENIED,
        FetchStatus.FORBIDDEN_ADDRESS,
    }
)


def fetched_body(response: Response) -> Body:
    """Return what topics read of a fetched page."""
    kind = response.headers.get("content-type", "")
    return Body(response.url, response.body, content_type=kind, want_text=True, for_topics=True)


def problem_of(response: Response) -> str:
    """Return in words why a response has no page."""
    words = named("fetch", response.status)
    if response.status in _SAID_IN_FULL:
        return response.detail or words
    if response.location is not None:
        return Text("verdict.leads_to", status=words, url=response.location)
    detail = response.detail
    return Text("verdict.ended", status=words, detail=detail) if detail else words


def fetch_once(store: Store, settings: Settings, url: str, fetch: Fetch, *, now: float) -> Response:
    """Fetch one page if its host and robots.txt allow it; store what the host is owed."""
    gate = HostGate(store, settings)
    answer = gate.admit(url, fetch, now, put=store.write.put_host)
    if answer.refusal is not None:
        return Response(url, answer.refusal, detail=answer.says)
    response = fetch(Request(url))
    store.write.put_host(gate.release(url, response, now))
    return gate.obey(response)


def answers(store: Store, settings: Settings, url: str, fetch: Fetch, *, now: float) -> bool:
    """Ask for the robots.txt of an origin; return whether the origin itself answers.

    For an origin whose host failed with the other scheme: it has not refused a request that it got.
    """
    gate = HostGate(store, settings)
    response = fetch(Request(robots_url(url)))
    host = gate.release(url, response, now, robots=True)
    there = response.status in {FetchStatus.FETCHED, FetchStatus.GONE}
    there = there and urlsplit(response.url).scheme == urlsplit(url).scheme
    if there:
        # The other scheme's failure holds nothing up any more.
        rest = max(settings.politeness.min_delay_seconds, host.crawl_delay_seconds or 0.0)
        host = replace(host, next_allowed_at=min(host.next_allowed_at, now + rest))
    store.write.put_host(host)
    return there
