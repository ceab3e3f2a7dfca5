"""The web of the soak run: sites that publish all year, as functions of the time, and what fails when.

Nothing is stored but the publication times, drawn once from a seed, so that the process that serves
the sites (:mod:`soak_server`) and the one that counts what was found know the same year::

    World(seed, days) -- answer(host, path, at) -> Answer     in the server's process
                      -- story(url) -> (site, number)         in the crawler's
                      -- fault(host, at)                      in both

No two sites are alike: with and without a feed or a sitemap, English and Chinese, one that renames its
sections in the middle of the year, one that removes pages, one that edits them, one whose addresses
never end.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import formatdate
from enum import StrEnum
from urllib.parse import urlsplit

import numpy as np

START = 1_704_067_200.0
"""1 January 2024, 00:00 UTC: a leap year, with daylight saving time in half of the zones."""
HOUR, DAY = 3_600.0, 86_400.0

_BACKLOG = 60
_LISTED = 20
_IN_SITEMAP = 400
_NUMBER = re.compile(r"-(\d+)(?:\.html|/)?$")
# Of headlines and texts, drawn by the story's number.
_NOUNS = """
    harbour council budget bridge school energy river transport hospital museum library forest
    election report market housing tender research climate railway airport border treaty court
    minister festival orchestra football championship vaccine satellite telescope battery reactor
    software network security privacy licence teacher student university pension tax inflation
    bank loan export harvest drought flood storm wind solar cable tunnel road cycle park garden
    theatre film novel painter sculpture concert record athlete stadium coach village county
    region island coast fishery farmer dairy cheese wheat grain factory worker union strike wage
"""
_DOES = "opens plans reviews delays approves rejects funds studies expands closes repairs honours"
_SAID = """
    港口 预算 桥梁 学校 能源 河流 交通 医院 博物馆 图书馆 森林 选举 报告 市场 住房
    招标 研究 气候 铁路 机场 条约 法院 部长 音乐节 足球 疫苗 卫星 电池 软件 网络
    安全 隐私 教师 学生 大学 税收 银行 贷款 出口 农业 干旱 洪水 风力 太阳能 公园
    剧院 电影 小说 画家 音乐会 运动员 村庄 地区 岛屿 渔业 工厂 工人 工资 计划 批准
"""
_WORDS, _VERBS, _HAN = _NOUNS.split(), _DOES.split(), _SAID.split()


class Fault(StrEnum):
    """What a site, or the way to it, suffers from for a while."""

    SERVER_ERROR = "server error"
    TIMEOUT = "time-out"
    DROPPED = "connection dropped"
    DENIED = "denied by robots.txt"
    ROBOTS_ERROR = "robots.txt fails"
    RATE_LIMITED = "rate limited"
    NOT_FOUND = "everything not found"
    MAINTENANCE = "maintenance page"
    NO_NAME = "name does not resolve"


_FAULT_DAYS = {
    Fault.SERVER_ERROR: 7.0,
    Fault.TIMEOUT: 1.0,
    Fault.DROPPED: 3.0,
    Fault.DENIED: 4.0,
    Fault.ROBOTS_ERROR: 2.0,
    Fault.RATE_LIMITED: 1.0,
    Fault.NOT_FOUND: 0.5,
    Fault.MAINTENANCE: 0.5,
    Fault.NO_NAME: 2.0,
}
_FAULT_EVERY_DAYS = 40.0


@dataclass(frozen=True)
class Site:
    """What one site is like. *per_day*: stories on a mean day."""

    host: str
    per_day: float
    sections: tuple[str, ...]
    feed: bool = True
    sitemap: bool = False
    han: bool = False
    renamed: tuple[str, ...] = ()
    """Its sections, and the form of its addresses, from the middle of the year on."""
    lives_days: float = float("inf")
    """After so long a story is gone."""
    edited: float = 0.0
    """Share of stories whose text changes in the days after."""
    endless: bool = False
    """Session ids in addresses, rotating boxes, a calendar without end."""
    local_hour: float = 0.0
    """Hours ahead of UTC; stories come by day, and fewer at the weekend."""


SITES = (
    Site("news.example", 4.0, ("world", "local", "sport", "culture", "science"), local_hour=1),
    Site("ministry.example", 0.7, ("press", "speeches"), feed=False, sitemap=True, edited=0.5),
    Site("journal.example", 0.3, ("posts",)),
    Site("gov.example", 1.5, ("yaowen", "zhengce", "gonggao"), han=True, feed=False, local_hour=8),
    Site(
        "daily.example",
        2.0,
        ("news", "opinion", "business"),
        renamed=("stories", "comment", "economy"),
        sitemap=True,
        local_hour=-5,
    ),
    Site("tenders.example", 1.5, ("open", "works", "services"), feed=False, lives_days=30.0),
    Site("market.example", 1.0, ("offers", "guides"), endless=True, edited=0.2, local_hour=1),
    Site("club.example", 0.2, ("reports", "dates"), feed=False),
)


@dataclass(frozen=True)
class Answer:
    """What a server says. *code* 0 = it says nothing and hangs; -1 = it drops the connection."""

    code: int
    body: str = ""
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class World:
    """A year of sites. *sites*: the first so many of them."""

    def __init__(self, seed: int, days: float, sites: int = len(SITES)) -> None:
        rng = np.random.default_rng(seed)
        self.sites = {site.host: site for site in SITES[:sites]}
        self.end = START + days * DAY
        self.times = {site.host: _times(rng, site, days) for site in self.sites.values()}
        self.faults = {host: list(_faults(rng, days)) for host in self.sites}
        self._renamed_at = START + days / 2 * DAY

    # What is true.

    def story(self, url: str) -> tuple[str, int] | None:
        """Return site and number of the story at *url*, under whichever of its addresses."""
        parts = urlsplit(url)
        found = _NUMBER.search(parts.path)
        host = parts.hostname or ""
        if found is None or host not in self.sites or int(found[1]) >= len(self.times[host]):
            return None
        return host, int(found[1])

    def fault(self, host: str, at: float) -> Fault | None:
        """Return what is wrong with a site at *at* (unix seconds)."""
        here = self.faults.get(host, ())
        return next((kind for since, until, kind in here if since <= at < until), None)

    # What is served.

    def answer(self, host: str, path: str, at: float) -> Answer:
        """Return what *host* answers to *path* (with its query) at *at* (unix seconds)."""
        site = self.sites.get(host)
        if site is None:
            return Answer(404, "<title>Unknown host</title>")
        place = path.partition("?")[0]
        failed = _failed(self.fault(host, at), place)
        if failed is not None:
            return failed
        if place == "/robots.txt":
            name = f"Sitemap: http://{host}/sitemap.xml\n" if site.sitemap else ""
            return Answer(200, f"User-agent: *\nDisallow: /admin/\n{name}", "text/plain")
        return self._page(site, path, at)

    def _page(self, site: Site, path: str, at: float) -> Answer:
        place = path.partition("?")[0]
        known = int(np.searchsorted(self.times[site.host], at, side="right"))
        if place == "/feed.xml" and site.feed:
            return self._feed(site, known, at)
        if place == "/sitemap.xml" and site.sitemap:
            return self._sitemap(site, known, at)
        if site.endless and place.startswith("/calendar/"):
            return _calendar(site, place, at)
        number = _NUMBER.search(place)
        if number is not None:
            return self._story(site, int(number[1]), path, known, at)
        return self._list(site, path, known, at)

    def _list(self, site: Site, path: str, known: int, at: float) -> Answer:
        """Return the home page, a section, or a page that never changes."""
        place, _, query = path.partition("?")
        head, names = place.strip("/"), self._sections(site, at)
        if not head:
            return _html(site, "Home", self._links(site, range(known - 1, -1, -1), at, 15), at)
        if head in {"about.html", "contact.html"}:
            return _html(site, head[:-5].title(), [], at)
        if head in site.sections and head not in names:
            now = names[site.sections.index(head)]
            return Answer(301, headers={"Location": f"http://{site.host}/{now}/"})
        if head not in names:
            return Answer(404, "<title>Not found</title><p>There is no such page.</p>")
        later = int(query[5:]) if query.startswith("page=") and query[5:].isdecimal() else 1
        section = names.index(head)
        chosen = [n for n in range(known - 1, -1, -1) if n % len(names) == section]
        shown = chosen[(later - 1) * _LISTED : later * _LISTED]
        links = self._links(site, shown, at, _LISTED)
        if len(chosen) > later * _LISTED:
            links.append((f"/{head}/?page={later + 1}", "更多" if site.han else "Older"))
        return _html(site, head.title(), links, at)

    def _sections(self, site: Site, at: float) -> tuple[str, ...]:
        return site.renamed if site.renamed and at >= self._renamed_at else site.sections

    def _address(self, site: Site, number: int, at: float) -> str:
        names = self._sections(site, at)
        section = names[number % len(names)]
        day = datetime.fromtimestamp(self.times[site.host][number], UTC)
        slug = "-".join(_pick(_WORDS, site.host, number, 3))
        if site.renamed and names is site.renamed:
            return f"/{section}/{slug}-{number}/"
        return f"/{section}/{day:%Y/%m}/{slug}-{number}.html"

    def _alive(self, site: Site, number: int, at: float) -> bool:
        published = self.times[site.host][number]
        return bool(published <= at < published + site.lives_days * DAY)

    def _links(
        self, site: Site, numbers: Sequence[int], at: float, most: int
    ) -> list[tuple[str, str]]:
        """Return (address, title) of the first stories of *numbers* that are still there."""
        found: list[tuple[str, str]] = []
        for number in numbers:
            if len(found) == most:
                break
            if self._alive(site, number, at):
                address = self._address(site, number, at)
                if site.endless:
                    address += f"?sid={_digest(site.host, int(at // HOUR))}"
                found.append((address, _title(site, number)))
        return found

    def _story(self, site: Site, number: int, path: str, known: int, at: float) -> Answer:
        if number >= known:
            return Answer(404, "<title>Not found</title><p>There is no such page.</p>")
        if not self._alive(site, number, at):
            return Answer(410, "<title>Gone</title><p>This page was removed.</p>")
        here = self._address(site, number, at)
        if path.partition("?")[0] != here:
            return Answer(301, headers={"Location": f"http://{site.host}{here}"})
        published = self.times[site.host][number]
        text = _text(site, number, edits=self._edits(site, number, at))
        when = datetime.fromtimestamp(published, UTC).isoformat()
        head = f'<meta property="article:published_time" content="{when}">'
        nearby = [n for n in range(number - 1, max(number - 6, -1), -1) if n >= 0]
        links = self._links(site, nearby, at, 5)
        return _html(site, _title(site, number), links, at, head=head, text=text, article=True)

    def _edits(self, site: Site, number: int, at: float) -> int:
        """Return how often a story was edited by *at*: up to three times, over ten days."""
        draw = int(_digest(site.host, number, "edits")[:8], 16) / 2**32
        if draw >= site.edited:
            return 0
        age = (at - self.times[site.host][number]) / DAY
        return sum(age > day for day in (0.5, 3.0, 10.0))

    def _feed(self, site: Site, known: int, at: float) -> Answer:
        newest = range(known - 1, max(known - 31, -1), -1)
        rows = "".join(
            f"<item><title>{_title(site, n)}</title>"
            f"<link>http://{site.host}{self._address(site, n, at)}</link>"
            f"<pubDate>{formatdate(self.times[site.host][n])}</pubDate></item>"
            for n in newest
            if self._alive(site, n, at)
        )
        text = (
            f'<?xml version="1.0"?><rss version="2.0"><channel><title>{site.host}</title>'
            f"<link>http://{site.host}/</link><description>News</description>{rows}</channel></rss>"
        )
        return Answer(200, text, "application/rss+xml; charset=utf-8")

    def _sitemap(self, site: Site, known: int, at: float) -> Answer:
        newest = range(known - 1, max(known - 1 - _IN_SITEMAP, -1), -1)
        rows = "".join(
            f"<url><loc>http://{site.host}{self._address(site, n, at)}</loc>"
            f"<lastmod>{datetime.fromtimestamp(self.times[site.host][n], UTC):%Y-%m-%d}</lastmod></url>"
            for n in newest
            if self._alive(site, n, at)
        )
        text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'
        return Answer(200, text, "application/xml")


def _times(rng: np.random.Generator, site: Site, days: float) -> np.ndarray:
    """Draw when the stories come: by day, half as many at the weekend; sixty are there at the start."""
    hours = np.arange(int(days * 24))
    local = START / HOUR + hours + site.local_hour
    by_day = np.maximum(0.05, np.sin((local % 24 - 6) / 14 * np.pi) * (local % 24 > 6))  # noqa: PLR2004 - o'clock
    weekend = (local // 24 + 3) % 7 >= 5  # noqa: PLR2004 - day 0 was a Thursday; Saturday, Sunday
    rate = by_day * np.where(weekend, 0.5, 1.0)
    counts = rng.poisson(rate * site.per_day * days / rate.sum())
    came = START + HOUR * (np.repeat(hours, counts) + rng.random(counts.sum()))
    gap = DAY / site.per_day
    before = START - gap * np.arange(_BACKLOG, 0, -1)
    return np.concatenate([before, np.sort(came)])


def _faults(rng: np.random.Generator, days: float) -> Iterator[tuple[float, float, Fault]]:
    """Draw a site's bad times: one of some kind every forty days or so, never in the first ten."""
    kinds = list(Fault)
    at = 10.0 + rng.uniform(0, _FAULT_EVERY_DAYS)
    while at < days:
        kind = kinds[rng.integers(len(kinds))]
        until = at + _FAULT_DAYS[kind]
        yield START + at * DAY, START + until * DAY, kind
        at = until + rng.uniform(0.5, 1.5) * _FAULT_EVERY_DAYS


def _failed(fault: Fault | None, place: str) -> Answer | None:
    """Return what a site in trouble answers; None = what it always answers."""
    robots = place == "/robots.txt"
    if fault is None or fault is Fault.NO_NAME:
        return None
    if fault is Fault.DENIED:
        return Answer(200, "User-agent: *\nDisallow: /\n", "text/plain") if robots else None
    if fault is Fault.ROBOTS_ERROR:
        return Answer(503, "busy") if robots else None
    return {
        Fault.SERVER_ERROR: Answer(503, "<title>Service unavailable</title>"),
        Fault.TIMEOUT: Answer(0),
        Fault.DROPPED: Answer(-1),
        Fault.RATE_LIMITED: Answer(429, "slow down", headers={"Retry-After": "3600"}),
        Fault.NOT_FOUND: Answer(404, "<title>Not found</title>"),
        Fault.MAINTENANCE: Answer(200, "<title>Maintenance</title><p>We are back soon.</p>"),
    }[fault]


def _digest(*of: object) -> str:
    return hashlib.md5(repr(of).encode()).hexdigest()


def _pick(words: Sequence[str], host: str, number: int, count: int) -> list[str]:
    """Return the same *count* words for the same story."""
    drawn = hashlib.shake_128(f"{host} {number} {count}".encode()).digest(2 * count)
    return [words[int.from_bytes(drawn[i : i + 2]) % len(words)] for i in range(0, 2 * count, 2)]


def _title(site: Site, number: int) -> str:
    if site.han:
        return "".join(_pick(_HAN, site.host, number, 5)) + str(number)
    one, verb, two, three = _pick(_WORDS, site.host, number, 4)
    return f"{one.title()} {_VERBS[len(verb + two) % len(_VERBS)]} {two} and {three}, no. {number}"


def _text(site: Site, number: int, *, edits: int) -> str:
    """Return the paragraphs of a story; each edit rewrites one and adds another."""
    paragraphs = []
    for part in range(4 + edits):
        version = edits if part == 1 else 0
        seed = number * 1_000 + part * 10 + version
        if site.han:
            paragraphs.append("".join(_pick(_HAN, site.host, seed, 80)) + "。")
        else:
            paragraphs.append(" ".join(_pick(_WORDS, site.host, seed, 60)).capitalize() + ".")
    return "".join(f"<p>{one}</p>" for one in paragraphs)


def _calendar(site: Site, place: str, at: float) -> Answer:
    """Return a month that leads to the next one, for ever."""
    month = place.removeprefix("/calendar/").strip("/")
    number = int(month) if month.isdecimal() and len(month) < 6 else 0  # noqa: PLR2004 - far enough
    return _html(site, f"Month {number}", [(f"/calendar/{number + 1}/", "Next month")], at)


def _html(  # noqa: PLR0913, PLR0917 - what a page is made of
    site: Site,
    title: str,
    links: list[tuple[str, str]],
    at: float,
    head: str = "",
    text: str = "",
    *,
    article: bool = False,
) -> Answer:
    menu = [(f"/{name}/", name.title()) for name in site.sections]
    menu += [("/about.html", "About"), ("/contact.html", "Contact")]
    if site.endless:
        menu.append((f"/calendar/{int((at - START) // (30 * DAY))}/", "Calendar"))
    if site.feed:
        head += '<link rel="alternate" type="application/rss+xml" href="/feed.xml">'
    rows = "".join(f'<li><a href="{where}">{name}</a></li>' for where, name in links)
    nav = "".join(f'<a href="{where}">{name}</a> ' for where, name in menu)
    clock = f"<footer>{formatdate(at)}</footer>" if site.endless else "<footer>Imprint</footer>"
    body = f"<article><h1>{title}</h1>{text}</article>" if article else f"<h1>{title}</h1>"
    page = (
        f'<html lang="{"zh" if site.han else "en"}"><head><title>{title} - {site.host}</title>{head}</head>'
        f"<body><nav>{nav}</nav><main>{body}<ul>{rows}</ul></main>{clock}</body></html>"
    )
    etag = f'"{hashlib.md5(page.encode()).hexdigest()}"'
    return Answer(200, page, headers={"ETag": etag})
