"""A news site on loopback that publishes while it is watched, with the truth of what it published.

Home page, four sections, a feed and articles. Article *n* appears at its moment, drawn from the seed, so
what is there depends on the time alone. Lists are long and have further pages, as on real sites, so that
whoever was away for a while can still find everything.
"""

import bisect
import random
import re
import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from email.utils import formatdate
from typing import NamedTuple
from urllib.parse import urlsplit

from lab.local_server import Answered, Asked, LocalServer

SECTIONS = ("city", "harbour", "science", "sport")
_OLD = 40
_PER_PAGE = 60
_WHO = """The council, A dock worker, A young physicist, The rowing club, A baker, The night ferry, A student,
The harbour master, A painter, The library, A judge, The school choir"""
_DOES = "opens, repairs, measures, wins, paints, discovers, moves, celebrates, sells, guards, names, draws"
_WHAT = """the old bridge, a lost map, the east pier, its first cup, the tide clock, a new lighthouse,
the lantern, a bakery, the signal tower, the orchard, an engine, the market hall, a railway, the theatre"""
_WHERE = """by the river, in the valley, before winter, at night, for the village, after the flood,
on the island, in June, behind the museum, without tickets, for a debate, at the station"""
_BEGINS = """Work began before sunrise, The council votes next week, Residents had asked for it,
Forty people came,
A spokeswoman said nothing, Two schools closed early, Traffic was stopped for an hour, Nobody was hurt,
Photographs can be sent, The next meeting is open, It is the third time this year, Older people remember it"""
_ENDS = """and it went on until evening, because of the storm, so that children could see it,
whatever it costs,
and only one hat was lost, as everybody had hoped, although it rained, with ropes and cups of tea,
until Friday, for the first time since spring, without a word about money, and the band played"""
_TITLE = tuple(re.split(r",\s", part) for part in (_WHO, _DOES, _WHAT, _WHERE))
_SENTENCE = tuple(re.split(r",\s", part) for part in (_BEGINS, _ENDS))


class Article(NamedTuple):
    """One article."""

    number: int
    at: float
    """When it is published."""
    section: str
    title: str

    @property
    def path(self) -> str:
        """The article's address on the site."""
        return f"/{self.section}/{self.title.lower().replace(' ', '-')}-{self.number}.html"


class PublishingSite:
    """Old articles at first; from :meth:`begin` to :meth:`end` a new one every *seconds_between* or so."""

    def __init__(
        self,
        *,
        seconds_between: float,
        seed: int = 0,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.now = now
        self._dice = random.Random(seed)
        self._between = seconds_between
        self._lock = threading.Lock()
        self._ended = 0.0
        self._publishing = False
        self.make()

    def make(self) -> None:
        """Draw the old articles, by the time that it is now."""
        made = self.now()
        self._articles = [self._draw(n, made - (_OLD - n) * 3600) for n in range(_OLD)]

    def begin(self) -> None:
        """Begin to publish."""
        with self._lock:
            self._articles.append(self._draw(len(self._articles), self.now()))
            self._publishing = True

    def end(self) -> None:
        """Publish nothing more."""
        self._extend()
        with self._lock:
            self._publishing = False
            self._articles = [one for one in self._articles if one.at <= self.now()]

    def _draw(self, number: int, at: float) -> Article:
        title = " ".join(map(self._dice.choice, _TITLE))
        return Article(number, at, self._dice.choice(SECTIONS), title)

    def _extend(self) -> None:
        with self._lock:
            while self._publishing and self._articles[-1].at <= self.now():
                at = self._articles[-1].at + self._between * self._dice.uniform(0.5, 1.5)
                self._articles.append(self._draw(len(self._articles), at))

    def articles(self) -> list[Article]:
        """Return what is out, the oldest first."""
        self._extend()
        count = bisect.bisect_right(self._articles, self.now(), key=lambda one: one.at)
        return self._articles[:count]

    def published(self) -> dict[str, float]:
        """Return the paths published since :meth:`begin`, each with its time."""
        return {one.path: one.at for one in self.articles()[_OLD:]}

    def answer(self, path: str) -> tuple[str, str] | None:
        """Return content type and text of what stands at *path*, or None."""
        articles = self.articles()[::-1]
        parts = [part for part in path.split("/") if part]
        number = int(parts[-1]) if len(parts) > 1 and parts[-2] == "page" else 1
        head = parts[:-2] if number > 1 else parts
        shown = slice((number - 1) * _PER_PAGE, number * _PER_PAGE)
        if not head:
            return "text/html", _list("The Harbour Times", "/", articles[shown], number)
        if len(head) == 1 and head[0] in SECTIONS:
            own = [one for one in articles if one.section == head[0]]
            return "text/html", _list(head[0].capitalize(), f"/{head[0]}/", own[shown], number)
        if path == "/feed.xml":
            return "application/rss+xml", _feed(articles[:_PER_PAGE])
        tail = path.removesuffix(".html").rpartition("-")[2]
        index = int(tail) if tail.isdecimal() else -1
        if 0 <= index < len(articles) and articles[-1 - index].path == path:
            return "text/html", _page(articles[-1 - index])
        return None


def _shell(title: str, body: str) -> str:
    links = "".join(f'<li><a href="/{name}/">{name.capitalize()}</a></li>' for name in SECTIONS)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<link rel="alternate" type="application/rss+xml" href="/feed.xml"></head><body>'
        f'<nav><ul><li><a href="/">Home</a></li>{links}</ul></nav><main>{body}</main></body></html>'
    )


def _list(title: str, place: str, articles: list[Article], number: int) -> str:
    rows = "".join(f'<li><a href="{one.path}">{one.title}</a></li>' for one in articles)
    further = f'<a rel="next" href="{place}page/{number + 1}/">Older</a>' if articles else ""
    return _shell(title, f"<h1>{title}</h1><ul>{rows}</ul>{further}")


def _page(article: Article) -> str:
    dice = random.Random(article.number)
    text = " ".join(" ".join(map(dice.choice, _SENTENCE)) + "." for _ in range(14))
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(article.at))
    head = f'<h1>{article.title}</h1><time datetime="{moment}">{moment[:10]}</time>'
    return _shell(article.title, f"<article>{head}<p>{text}</p></article>")


def _feed(articles: list[Article]) -> str:
    items = "".join(
        f"<item><title>{one.title}</title><link>{one.path}</link>"
        f"<pubDate>{formatdate(one.at)}</pubDate></item>"
        for one in articles
    )
    return (
        '<?xml version="1.0"?><rss version="2.0"><channel><title>The Harbour Times</title>'
        f"{items}</channel></rss>"
    )


def _wait_unless_gone(connection: socket.socket, seconds: float) -> None:
    """Wait, but no longer than the other side is there; it sends nothing before it has its answer."""
    select.select([connection], [], [], seconds)


class ServedSite(LocalServer):
    """A site served at *host*; a context manager. *delay_seconds* makes each answer wait.

    *seen* is called with who asked, when the request came and when it was answered or whoever asked was gone.
    """

    def __init__(
        self,
        site: PublishingSite,
        *,
        host: str = "127.0.0.1",
        delay_seconds: float | Callable[[], float] = 0.0,
        seen: Callable[[str, float, float], object] = lambda *_: None,
    ) -> None:
        def answer(asked: Asked) -> Answered:
            path = urlsplit(asked.path).path
            self.asked[path] += 1
            self.asked_at = began = time.time()
            delay = delay_seconds() if callable(delay_seconds) else delay_seconds
            if delay:
                _wait_unless_gone(asked.connection, delay)
            found = site.answer(path)
            kind, text = found or ("text/html", "<title>Not Found</title>")
            seen(asked.headers.get("User-Agent", ""), began, time.time())
            headers = {"Content-Type": f"{kind}; charset=utf-8"}
            return Answered(200 if found else 404, text.encode(), headers)

        super().__init__(answer, host=host)
        self.url += "/"
        self.site = site
        self.asked = Counter[str]()
        self.asked_at = 0.0
        """Of the last request, on the machine's clock."""

    def published(self) -> dict[str, float]:
        """Return the addresses published since the beginning, each with its time."""
        base = self.url.rstrip("/")
        return {base + path: at for path, at in self.site.published().items()}
