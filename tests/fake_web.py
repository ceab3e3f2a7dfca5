"""A website that never was, below requests; and a crawler that watches it while time jumps.

Pages are a table by URL; a page may have several versions by time. Everything else is real: fetcher,
parser, judge, store, policy.
"""

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

import msgspec
import requests
from empty_store import open_in
from lab.clocks import SimulatedClock
from requests.adapters import BaseAdapter
from stories import announced_pages
from urllib3 import HTTPResponse

from classifier.hub import LinkEvidence
from classifier.hub.content_features import CONTENT_FEATURE_NAMES
from incremental.base.threads import InlineExecutor
from incremental.crawl.part import Part
from incremental.daemon.assembly import make_crawler, make_fetcher
from incremental.decide.hubs import HubScorer
from incremental.sandbox import Read, read_body
from incremental.settings import RevisitSettings, Settings
from incremental.settings.seeds import SeedTerms, add_seed
from incremental.topics.embedding.page_embedder import PageEmbedder
from store import Store
from store.values import HubRow

START = 1_717_400_000.0
"""A Monday in June 2024."""
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
MANY_STEPS = 100_000

SPARING = msgspec.structs.replace(
    Settings(), revisit=RevisitSettings(requests_per_day=200, min_interval_minutes=180)
)
"""Enough requests to do all at once, and not so many visits that a story takes long to tell."""


@dataclass(frozen=True)
class Reply:
    """What a server answers."""

    body: bytes = b""
    code: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    error: type[requests.RequestException] | None = None


Content = str | bytes | Reply
Versions = Content | Sequence[tuple[float, Content]] | Callable[[float], Content]
"""One answer for ever; or answers by the time from which they hold; or a function of the time.

Tables of them are given as ``Any``: mypy finds no common type for what stands in one literal.
"""


def page(*links: str, title: str = "A page", head: str = "", text: str = "") -> str:
    """Write HTML with links (``URL`` or ``URL|anchor``) in a list."""
    rows = "".join(f'<li><a href="{u}">{a or u}</a></li>' for u, _, a in map(_split, links))
    return f"<html><head><title>{title}</title>{head}</head><body><p>{text}</p><ul>{rows}</ul></body></html>"


def _split(link: str) -> tuple[str, str, str]:
    return link.partition("|")


def feed(*items: tuple[str, str]) -> Reply:
    """Write RSS of (URL, RFC 2822 date; empty = none)."""
    rows = "".join(
        f"<item><title>{u}</title><link>{u}</link>{f'<pubDate>{d}</pubDate>' if d else ''}</item>"
        for u, d in items
    )
    text = (
        f'<?xml version="1.0"?><rss version="2.0"><channel><title>F</title>{rows}</channel></rss>'
    )
    return Reply(text.encode(), headers={"Content-Type": "application/rss+xml"})


def sitemap(*urls: str) -> Reply:
    """Write a sitemap."""
    rows = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
    text = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
    return Reply(text.encode(), headers={"Content-Type": "application/xml"})


def redirect(location: str, code: int = 301) -> Reply:
    return Reply(code=code, headers={"Location": location})


@dataclass(frozen=True)
class Asked:
    """One request as the site saw it."""

    at: float
    url: str
    headers: Mapping[str, str]


class FakeWeb(BaseAdapter):
    """Answers at the clock's time; an unknown host does not exist.

    What is not in the table is a story if it ends with ``.html`` or ``/read``, else 404.
    """

    def __init__(self, clock: SimulatedClock, pages: Mapping[str, Any]) -> None:
        super().__init__()
        self.clock = clock
        self.pages: dict[str, Versions] = dict(pages)
        self.asked: list[Asked] = []

    def send(  # type: ignore[override]  # the names of requests' own arguments are not needed here
        self, request: requests.PreparedRequest, **_: Any
    ) -> requests.Response:
        url = request.url or ""
        self.asked.append(Asked(self.clock.now(), url, dict(request.headers)))
        reply = self._reply(url)
        if reply.error is not None:
            raise reply.error(url, request=request)
        response = requests.Response()
        response.status_code = reply.code
        response.headers.update({"Content-Type": "text/html; charset=utf-8", **reply.headers})
        response.url = url
        response.request = request
        response.raw = HTTPResponse(
            io.BytesIO(reply.body), status=reply.code, preload_content=False
        )
        return response

    def _reply(self, url: str) -> Reply:
        found = self.pages.get(url)
        if found is None:
            hosts = {urlsplit(known).netloc for known in self.pages}
            known = urlsplit(url).netloc in hosts
            if known and url.endswith((".html", "/read")):
                return Reply(
                    page(title="A story", text="It is announced at length. " * 40).encode()
                )
            return (
                Reply(b"<title>none</title>", 404)
                if known
                else Reply(error=requests.ConnectionError)
            )
        now = self.clock.now()
        if callable(found):
            found = found(now)
        if not isinstance(found, str | bytes | Reply):
            found = [content for since, content in found if since <= now][-1]
        if isinstance(found, str):
            found = found.encode()
        return Reply(found) if isinstance(found, bytes) else found

    def close(self) -> None:
        """Nothing is held open."""

    def urls(self, *, since: float = 0.0) -> list[str]:
        """Return what was asked for, robots.txt apart."""
        return [a.url for a in self.asked if a.at >= since and not a.url.endswith("/robots.txt")]

    def times(self, host: str) -> list[float]:
        """Return when a host was asked for anything."""
        return [a.at for a in self.asked if urlsplit(a.url).netloc == host]


LINKS = CONTENT_FEATURE_NAMES.index("links")


class Scored(NamedTuple):
    """What a scorer says of a page that was fetched."""

    probability: float


class FolderScorer:
    """Takes folders for hubs: a classifier whose mind the stories know."""

    version = "folders"

    def score(self, links: Sequence[LinkEvidence]) -> list[float]:
        return [0.99 if urlsplit(link.url).path.endswith("/") else 0.1 for link in links]

    def score_page(self, link: LinkEvidence, features: Sequence[float], _bytes: int) -> Scored:
        """Keep to what the address says: a page without links is none, the rest is believed."""
        return Scored(self.score([link])[0] if features[LINKS] > 0 else 0.0)


class Watch:
    """A crawler that watches a fake web, with its store in *folder*. Made again there, it goes on."""

    def __init__(  # noqa: PLR0913 - each is what some story is about
        self,
        folder: Path,
        web: FakeWeb,
        *seeds: str,
        settings: Settings = SPARING,
        terms: SeedTerms | None = None,
        executor: Executor | None = None,
        scorer: HubScorer | None = None,
        read: Read = read_body,
        embedder: PageEmbedder | None = None,
        part: Part | None = None,
    ) -> None:
        self.web, self.clock = web, web.clock
        self.store: Store = open_in(folder, settings)
        for seed in seeds:
            add_seed(self.store, seed, now=self.clock.now(), terms=terms)
        self.crawler = make_crawler(
            self.store,
            settings,
            fetch=make_fetcher(settings, self.clock, adapter=web).fetch,
            executor=executor or InlineExecutor(),
            scorer=scorer or FolderScorer(),
            read=read,
            embedder=embedder,
            part=part,
        )
        self.crawler.load(self.clock.now())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.store.close()

    def run(self, seconds: float) -> Self:
        """Let so much time pass."""
        end = self.clock.now() + seconds
        for _ in range(MANY_STEPS):
            wake_at = self.crawler.step(self.clock.now())
            if self.clock.now() >= end:
                return self
            self.clock.advance_to(min(wake_at, end))
        raise AssertionError("the crawler asks to be called again and again at one moment")

    def new(self) -> list[str]:
        """Return the paths of what was announced as new, in the order of telling."""
        return [
            urlsplit(p.url).path for p in announced_pages(self.store, limit=10_000, order="oldest")
        ]

    def hub(self, url: str) -> HubRow | None:
        """Return the hub with this URL."""
        return next((hub for hub in self.store.read.hubs() if hub.url == url), None)

    def hubs(self, state: str = "active") -> set[str]:
        """Return the URLs of hubs in a state."""
        return {hub.url for hub in self.store.read.hubs() if hub.state == state}

    def statuses(self, url: str) -> list[str]:
        """Return how the visits of a page ended, the earliest first."""
        row = next(iter(self.store.read.find_page(url, "")), None)
        if row is None:
            return []
        return [visit["status"] for visit in self.store.read.visits(row["id"], limit=MANY_STEPS)][
            ::-1
        ]

    def events(self) -> list[str]:
        """Return the kinds of what happened to whole sites."""
        return [
            e["kind"]
            for site in self.store.read.sites()
            for e in self.store.read.site_changes(site.id)
        ]


def watch(folder: Path, pages: Mapping[str, Any], *seeds: str, **more: Any) -> Watch:
    """Begin to watch *seeds* (default: ``https://news.example/``) at START."""
    web = FakeWeb(SimulatedClock(START), pages)
    return Watch(folder, web, *(seeds or ("https://news.example/",)), **more)


def gaps(times: Iterable[float]) -> list[float]:
    """Return the pauses between moments."""
    ordered = sorted(times)
    return [after - before for before, after in pairwise(ordered)]
