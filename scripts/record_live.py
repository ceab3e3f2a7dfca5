#!/usr/bin/env python3
"""Record a real site while Hubwatch watches it, so that others can replay what happened.

    scripts/record_live.py https://example.org/news/ --days 14 --out /tmp/replay/example.sqlite
    scripts/record_live.py example.org --days 14 --out example.sqlite --lists '(^|/)(tag|page)/'

The crawler and its politeness are those of the daemon; its budget is larger than that of a replay, because
nothing is known of the time between two requests. Ctrl-C ends it sooner. What was seen is kept in
OUT.watched as it is seen, so the same command goes on where it was stopped. The truth goes to
truth/NAME.tsv beside OUT; docs/replays.md says what such a recording cannot know.
"""

import argparse
import contextlib
import math
import re
import sqlite3
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec
from lab.cli import parser_of
from record_site import MAX_BYTES, TruthRow, links_of, scored_from, write_truth
from replay import DAY, page_key
from replay_site import write_replay

from hubwatch.errors import HubwatchError
from incremental.base.clock import Clock, SystemClock
from incremental.base.threads import InlineExecutor
from incremental.daemon.assembly import make_crawler, make_fetcher, make_reader
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.parse.decoding import decode_body
from incremental.parse.sniff import Form, sniff
from incremental.sandbox import Read, read_body
from incremental.settings import Settings
from incremental.settings.loading import load_settings
from incremental.settings.sections import StoreSettings
from incremental.settings.seeds import add_seed
from incremental.settings.storage import only_writer, open_configured_store
from store import Store

Fetch = Callable[[Request], Response]
_XML = frozenset({Form.XML_FEED, Form.SITEMAP})
Span = tuple[float, float | None, int]
"""From, to (None = to the end), and the number of the body."""
_NOTES = "seen.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS body(id INTEGER PRIMARY KEY, hash BLOB UNIQUE, content BLOB);
CREATE TABLE IF NOT EXISTS seen(at REAL, url TEXT, body INTEGER);
CREATE TABLE IF NOT EXISTS left_out(why TEXT, url TEXT, UNIQUE(why, url));
"""


class Seen(NamedTuple):
    """One answer of the site."""

    at: float
    """Unix seconds."""
    url: str
    body: int | None
    """None = the page was gone."""


class Notebook:
    """What a site answered, on disk as soon as it is known."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.executescript(_TABLES)

    def note(self, at: float, asked: str, response: Response) -> None:
        """Keep what the site itself said of a page; the rest says nothing of it."""
        url = response.url
        if response.status is FetchStatus.GONE:
            self._see(at, url, None)
        elif response.status is FetchStatus.FETCHED:
            why = _unfit(response, asked)
            if why:
                self._db.execute("INSERT OR IGNORE INTO left_out VALUES (?, ?)", (why, url))
            else:
                self._see(at, url, _readable(response))

    def _see(self, at: float, url: str, body: bytes | None) -> None:
        row = None
        if body is not None:
            key = sha256(body).digest()
            packed = zlib.compress(body)
            self._db.execute(
                "INSERT OR IGNORE INTO body(hash, content) VALUES (?, ?)", (key, packed)
            )
            (row,) = self._db.execute("SELECT id FROM body WHERE hash = ?", (key,)).fetchone()
        self._db.execute("INSERT INTO seen VALUES (?, ?, ?)", (at, url, row))

    def all(self) -> list[Seen]:
        """Return what was seen, oldest first."""
        rows = self._db.execute("SELECT at, url, body FROM seen ORDER BY at, rowid")
        return [Seen(*row) for row in rows]

    def body(self, number: int) -> bytes:
        """Return a body by its number."""
        query = "SELECT content FROM body WHERE id = ?"
        return zlib.decompress(self._db.execute(query, (number,)).fetchone()[0])

    def left_out(self) -> Counter[str]:
        """Return how many addresses could not be recorded, by reason."""
        query = "SELECT why, count(*) FROM left_out GROUP BY why"
        return Counter(dict(self._db.execute(query).fetchall()))

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _unfit(response: Response, asked: str) -> str:
    """Return why a replay file cannot hold an answer; empty = it can."""
    if urlsplit(response.url).netloc != urlsplit(asked).netloc:
        return "on another host"
    if urlsplit(response.url).query:
        return "with a query"
    if len(response.body) > MAX_BYTES:
        return "too large"
    form = sniff(response.body, response.content_type)
    return "no text" if form in {Form.BINARY, Form.EMPTY} else ""


def _readable(response: Response) -> bytes:
    """Return a body in UTF-8, which is what a replay says it is."""
    return decode_body(response.body, response.headers.get("content-type", ""))[0].encode()


def watch(  # noqa: PLR0913 - what is watched, with what, and until when
    store: Store,
    settings: Settings,
    clock: Clock,
    fetch: Fetch,
    notebook: Notebook,
    *,
    until: float,
    wait: Callable[[float], None],
    read: Read = read_body,
) -> None:
    """Let the crawler watch the sites of *store* until then; *wait* until a moment (unix seconds)."""

    def noted(request: Request) -> Response:
        response = fetch(request)
        notebook.note(clock.now(), request.url, response)
        return response

    crawler = make_crawler(store, settings, fetch=noted, executor=InlineExecutor(), read=read)
    crawler.load(clock.now())
    while clock.now() < until:
        wait(min(crawler.step(clock.now()), until))


@dataclass
class Known:
    """What was seen of one page."""

    url: str = ""
    """As it was read first; empty = it was not read."""
    linked: float | None = None
    """When a link to it was first seen."""
    new: bool = False
    """The page that shows it had been read before, and had not shown it."""
    bodies: list[tuple[float, int | None]] = field(default_factory=list)
    """When it was read or gone, and what it was."""


def known_pages(seen: Iterable[Seen], links: Callable[[str, int], set[str]]) -> dict[str, Known]:
    """Return what was seen of each page, by key; *links*: the keys that a page, with a body, leads to."""
    known: dict[str, Known] = {}
    for one in seen:
        page = known.setdefault(page_key(one.url), Known())
        page.bodies.append((one.at, one.body))
        if one.body is None:
            continue
        read_before = bool(page.url)
        page.url = page.url or one.url
        for target in links(page.url, one.body):
            other = known.setdefault(target, Known())
            if other.linked is None:
                # Nobody knows since when there is what was read without a link to it.
                other.linked, other.new = one.at, read_before and not other.url
    return known


def spans_of(bodies: Sequence[tuple[float, int | None]], since: float) -> list[Span]:
    """Return from when to when which body was there, given when it was read or gone.

    It was there from *since*, unless it was gone when it was first asked for.
    """
    spans = list[Span]()
    for at, body in bodies:
        lasting = bool(spans) and spans[-1][1] is None
        if lasting and spans[-1][2] == body:
            continue
        if lasting:
            spans[-1] = (spans[-1][0], at, spans[-1][2])
        if body is not None:
            spans.append((at, None, body))
    if spans and bodies[0][1] is not None:
        spans[0] = (min(since, spans[0][0]), *spans[0][1:])
    return spans


class Recording:
    """What is taken to have been at a site, and when, by what was seen of it."""

    def __init__(self, notebook: Notebook) -> None:
        self._body = notebook.body
        self._links: dict[tuple[str, int], set[str]] = {}
        seen = notebook.all()
        pages = [one for one in seen if one.body is not None and one.url and not _is_rules(one.url)]
        self.home = pages[0].url if pages else ""
        """Where it begins; empty = nothing was read."""
        here = [one for one in seen if urlsplit(one.url).netloc == urlsplit(self.home).netloc]
        self.span = (int(seen[0].at), math.ceil(seen[-1].at)) if pages else (0, 0)
        self._known = known_pages(here, self._links_of)
        self._read = {key: page for key, page in self._known.items() if page.url}
        self._spans = {
            key: spans_of(page.bodies, self._since(page)) for key, page in self._read.items()
        }

    def write(self, out: Path, lists: str) -> tuple[int, int]:
        """Write recording and truth; return how many pages it has, and how many were to be found."""
        pages = (
            (
                self._read[key].url,
                urlsplit(self._read[key].url).path.lstrip("/"),
                [(since, until, self._body(body)) for since, until, body in spans],
            )
            for key, spans in self._spans.items()
        )
        write_replay(out, (self.home, *self.span), pages)
        rows = list(self._truth(lists))
        write_truth(out, sorted(rows, key=lambda row: (row[3], row[0])))
        return len(self._spans), sum(row[1] == "article" for row in rows)

    def unread(self) -> int:
        """Return how many new pages were not read, and so are missing."""
        host = urlsplit(self.home).netloc
        return sum(
            page.new and not page.url and key.partition("/")[0] == host
            for key, page in self._known.items()
        )

    def _since(self, page: Known) -> float:
        if page.new and page.linked is not None:
            return page.linked
        # What it said when it was first read is no older than the newest page that it led to.
        number = next(body for _, body in page.bodies if body is not None)
        shown = (self._known[key] for key in self._links_of(page.url, number))
        return max([self.span[0], *(one.linked for one in shown if one.new and one.linked)])

    def _truth(self, lists: str) -> Iterator[TruthRow]:
        t0, end = scored_from(self.span), self.span[1]
        for key, page in self._read.items():
            if page.linked is None or page.linked <= t0:
                continue
            kind = "article" if page.new else "unknown"
            if lists and re.search(lists, urlsplit(page.url).path.lstrip("/")):
                kind = "list"
            spans = self._spans[key]
            linked = math.ceil(max(page.linked, spans[0][0]))
            gone = spans[-1][1]
            lasting = (end if gone is None else gone) - linked >= DAY
            row = (page.url, kind, math.ceil(spans[0][0]), linked)
            yield (
                *row,
                "" if gone is None else math.ceil(gone),
                int(kind == "article" and lasting),
            )

    def _links_of(self, url: str, number: int) -> set[str]:
        if (url, number) not in self._links:
            body = self._body(number)
            is_xml = sniff(body, "") in _XML
            self._links[url, number] = links_of(body, url, is_xml=is_xml)
        return self._links[url, number]


def _is_rules(url: str) -> bool:
    return urlsplit(url).path == "/robots.txt"


def _wait(until: float) -> None:
    time.sleep(max(until - time.time(), 0.0))


def record(arguments: argparse.Namespace, folder: Path) -> None:
    """Watch the site for as long as it was wished, or until Ctrl-C."""
    settings, _ = load_settings(arguments.config)
    per_day = arguments.requests_per_day
    settings = msgspec.structs.replace(
        settings,
        revisit=msgspec.structs.replace(settings.revisit, requests_per_day=per_day),
        store=StoreSettings(folder=str(folder)),
        site=(),
    )
    clock = SystemClock()
    with contextlib.ExitStack() as stack:
        stack.enter_context(only_writer(settings, folder))
        store = stack.enter_context(open_configured_store(settings, folder))
        notebook = stack.enter_context(contextlib.closing(Notebook(folder / _NOTES)))
        read = stack.enter_context(make_reader(settings, workers=1))
        fetcher = stack.enter_context(contextlib.closing(make_fetcher(settings, clock)))
        add_seed(store, arguments.site, now=clock.now(), fetch=settings.fetch)
        begun = next((one.at for one in notebook.all()), clock.now())
        until = begun + arguments.days * DAY
        with contextlib.suppress(KeyboardInterrupt):
            watch(
                store, settings, clock, fetcher.fetch, notebook, until=until, wait=_wait, read=read
            )


def main() -> int:
    """Run from the command line; exit 0, 1 when nothing was read, 2 for wrong usage."""
    parser = parser_of(__doc__, with_json=False)
    parser.add_argument("site", metavar="SITE", help="its address")
    parser.add_argument("--days", type=float, required=True, metavar="N", help="since it was begun")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.sqlite")
    parser.add_argument("--lists", default="", metavar="REGEX", help="paths that are lists")
    parser.add_argument("--requests-per-day", type=float, default=240.0, metavar="N")
    parser.add_argument("--config", type=Path, metavar="FILE.toml", help="settings of hubwatch")
    arguments = parser.parse_args()
    folder = arguments.out.with_suffix(".watched")
    if arguments.out.exists() and not folder.exists():
        parser.error(f"{arguments.out} is there already")
    folder.mkdir(parents=True, exist_ok=True)
    try:
        re.compile(arguments.lists)
        record(arguments, folder)
    except (HubwatchError, re.error) as error:
        parser.error(str(error))
    with contextlib.closing(Notebook(folder / _NOTES)) as notebook:
        recording = Recording(notebook)
        if not recording.home:
            print(f"nothing was read of {arguments.site}", file=sys.stderr)
            return 1
        arguments.out.unlink(missing_ok=True)
        pages, wanted = recording.write(arguments.out, arguments.lists)
        missing = notebook.left_out()
    print(f"{arguments.out}: {pages} pages, {wanted} of them new")
    missing["new, but not read"] = recording.unread()
    for why, number in sorted(missing.items()):
        if number:
            print(f"left out: {number} {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
