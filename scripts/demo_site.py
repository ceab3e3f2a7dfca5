"""A small news site that publishes while you watch, served on loopback.

Four sections, a home page, an archive, a feed, a sitemap and articles. What is there depends on the
time alone: article *n* appears at its hour, so the site needs no state and no thread of its own.
"""

from __future__ import annotations

import html
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, takewhile
from typing import Any, NamedTuple

from incremental.base.clock import FastClock

SECTIONS = {"city": "City", "harbour": "Harbour", "science": "Science", "sport": "Sport"}
PER_PAGE = 8
_WHO = (
    "The council,A dock worker,A young physicist,The rowing club,A baker,The night ferry,A student"
)
_WHAT = "opens,repairs,measures,wins,paints,discovers,moves,celebrates"
_WHERE = "the old bridge,a lost map,the east pier,its first cup,the tide clock,a new lighthouse,the library"

# Seven of them, in an order of its own, are the text of an article.
_SENTENCES = (
    "Work began before sunrise and went on until the tide turned.",
    "The council votes on the costs next week.",
    "Residents had asked for it since the storm of last winter.",
    "About forty people came to watch.",
    "A spokeswoman would not say who had paid.",
    "The harbour master called it a good day for the town.",
    "Two schools closed early so that children could see it.",
    "Traffic on the north quay was stopped for an hour.",
    "The next meeting is open to everybody.",
    "Photographs can be sent to the editors until Friday.",
    "Nobody was hurt, and only one hat was lost.",
    "It is the third time this year.",
    "Older people remember how it was done with ropes and lanterns.",
    "Tickets for the evening are sold at the library.",
    "The ferry company will publish its own report in spring.",
    "A second team is to take over on Monday.",
)


class Article(NamedTuple):
    """One article of the site."""

    number: int
    published_at: float
    section: str
    title: str

    @property
    def path(self) -> str:
        """The article's address."""
        day = datetime.fromtimestamp(self.published_at, UTC)
        slug = "-".join(self.title.lower().split())
        return f"/{self.section}/{day:%Y/%m/%d}/{slug}-{self.number}.html"


class DemoSite:
    """The site from *start* on; a new article comes every quarter of an hour or so of its time."""

    def __init__(
        self, start: float, *, old_articles: int = 30, minutes_between: float = 15
    ) -> None:
        self._start = start
        self._old = old_articles
        self._pace = minutes_between * 60

    def articles(self, now: float) -> list[Article]:
        """Return the articles that are out at *now*, the newest first."""
        out = takewhile(lambda a: a.published_at <= now, map(self._article, count()))
        return list(out)[::-1]

    def _article(self, number: int) -> Article:
        dice = random.Random(number)
        at = self._start + (number - self._old + dice.random()) * self._pace
        words = (dice.choice(text.split(",")) for text in (_WHO, _WHAT, _WHERE))
        return Article(number, at, dice.choice(list(SECTIONS)), " ".join(words))

    def page(self, path: str, now: float) -> tuple[str, str] | None:
        """Return content type and text of what stands at *path*, or None."""
        articles = self.articles(now)
        section = path.strip("/")
        if section in SECTIONS:
            own = [a for a in articles if a.section == section]
            return "text/html", _list(SECTIONS[section], own[:PER_PAGE])
        pages: dict[str, tuple[str, Callable[[], str]]] = {
            "/": ("text/html", lambda: _list("The Harbour Times", articles[:PER_PAGE])),
            "/archive/": ("text/html", lambda: _list("Archive", articles)),
            "/feed.xml": ("application/rss+xml", lambda: _feed(articles[:PER_PAGE])),
            "/sitemap.xml": ("application/xml", lambda: _sitemap(articles)),
            **{a.path: ("text/html", partial(_article_page, a)) for a in articles},
        }
        kind, make = pages.get(path, ("", str))
        return (kind, make()) if kind else None


def _shell(title: str, body: str) -> str:
    links = "".join(f'<li><a href="/{key}/">{name}</a></li>' for key, name in SECTIONS.items())
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        '<link rel="alternate" type="application/rss+xml" href="/feed.xml"></head><body>'
        f'<nav><ul><li><a href="/">Home</a></li>{links}<li><a href="/archive/">Archive</a></li></ul></nav>'
        f"<main>{body}</main></body></html>"
    )


def _list(title: str, articles: list[Article]) -> str:
    rows = "".join(f'<li><a href="{a.path}">{html.escape(a.title)}</a></li>' for a in articles)
    return _shell(title, f"<h1>{html.escape(title)}</h1><ul>{rows}</ul>")


def _article_page(article: Article) -> str:
    day = datetime.fromtimestamp(article.published_at, UTC)
    text = f"{article.title}. " + " ".join(random.Random(article.title).sample(_SENTENCES, 7))
    head = f'<h1>{html.escape(article.title)}</h1><time datetime="{day.isoformat()}">{day:%d %B %Y}</time>'
    return _shell(article.title, f"<article>{head}<p>{html.escape(text)}</p></article>")


def _feed(articles: list[Article]) -> str:
    items = "".join(
        f"<item><title>{html.escape(a.title)}</title><link>{a.path}</link>"
        f"<pubDate>{format_datetime(datetime.fromtimestamp(a.published_at, UTC))}</pubDate></item>"
        for a in articles
    )
    channel = f"<channel><title>The Harbour Times</title>{items}</channel>"
    return f'<?xml version="1.0"?><rss version="2.0">{channel}</rss>'


def _sitemap(articles: list[Article]) -> str:
    rows = "".join(f"<url><loc>{{origin}}{a.path}</loc></url>" for a in articles)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'


@contextmanager
def serve(site: DemoSite, clock: FastClock) -> Iterator[str]:
    """Serve *site* at the clock's time on a free port of loopback; give its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = site.page(self.path, clock.now())
            kind, text = found or ("text/html", "<title>Not Found</title>")
            origin = f"http://{self.headers.get('Host', '')}"
            body = text.replace("{origin}", origin).encode()
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:  # noqa: ANN401 - http.server's own signature
            """Say nothing: the crawler's own lines are what people came to see."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
