"""A recorded website at any moment of its past: replay files, written, read and served.

docs/replays.md describes the format.
"""

import bisect
import contextlib
import hashlib
import io
import lzma
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import requests
from requests.adapters import BaseAdapter
from urllib3 import HTTPResponse

from incremental.base.clock import Clock

# Hosts whose server also answers below this folder, with the same pages.
PATH_ALIASES = {"genai-news.com": "/GenAI-news-site"}

MAX_CACHED_BYTES = 1_500_000_000

_TYPES = {".xml": "application/xml", ".txt": "text/plain", ".json": "application/json"}


Bodies = Sequence[tuple[float, float | None, bytes]]
"""From, to (None = to the end), and what was served then; oldest first."""
_TABLES = """
CREATE TABLE site(base_url TEXT, first_ts INTEGER, last_ts INTEGER);
CREATE TABLE page(id INTEGER PRIMARY KEY, url TEXT UNIQUE, path TEXT, bodies BLOB);
CREATE TABLE version(page_id INTEGER, valid_from INTEGER, valid_to INTEGER, start INTEGER, length INTEGER);
CREATE INDEX version_page ON version(page_id, valid_from);
"""


def write_replay(
    path: Path, site: tuple[str, float, float], pages: Iterable[tuple[str, str, Bodies]]
) -> None:
    """Write a replay file: *site* is its address, first and last moment, *pages* url, path and versions."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.executescript(_TABLES)
        db.execute("INSERT INTO site VALUES (?, ?, ?)", site)
        for number, (url, place, versions) in enumerate(pages, 1):
            starts: dict[bytes, int] = {}
            length = 0
            for since, until, body in versions:
                if body not in starts:
                    starts[body] = length
                    length += len(body)
                row = (number, since, until, starts[body], len(body))
                db.execute("INSERT INTO version VALUES (?, ?, ?, ?, ?)", row)
            packed = lzma.compress(b"".join(starts))
            db.execute("INSERT INTO page VALUES (?, ?, ?, ?)", (number, url, place, packed))


@dataclass(frozen=True, slots=True)
class Answer:
    """The site's answer to one request."""

    code: int
    body: bytes
    headers: dict[str, str]


class ReplaySite:
    """One replay file."""

    def __init__(self, path: Path) -> None:
        # One file is read by several threads when it is served; SQLite itself is thread-safe here.
        self._db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, check_same_thread=False)
        row = self._db.execute("SELECT base_url, first_ts, last_ts FROM site").fetchone()
        self.base_url, self.first_ts, self.last_ts = str(row[0]), float(row[1]), float(row[2])
        self._path_alias = PATH_ALIASES.get(urlsplit(self.base_url).netloc, "")
        pages = self._db.execute("SELECT id, url FROM page")
        self._pages = {_key(url): page for page, url in pages}
        self._versions: dict[int, list[tuple[float, float, int, int]]] = {}
        query = "SELECT page_id, valid_from, coalesce(valid_to, 9e18), start, length FROM version"
        for page, start, end, offset, length in self._db.execute(query):
            self._versions.setdefault(page, []).append((start, end, offset, length))
        for versions in self._versions.values():
            versions.sort()
        self._bodies: OrderedDict[int, bytes] = OrderedDict()

    def _body(self, page: int) -> bytes:
        """Return all bodies of a page in one piece; those last used are kept, up to a bound."""
        if page not in self._bodies:
            query = "SELECT bodies FROM page WHERE id = ?"
            (packed,) = self._db.execute(query, (page,)).fetchone()
            self._bodies[page] = lzma.decompress(packed)
            while sum(map(len, self._bodies.values())) > MAX_CACHED_BYTES:
                self._bodies.popitem(last=False)
        self._bodies.move_to_end(page)
        return self._bodies[page]

    def answer(self, url: str, moment: float, etag: str | None = None) -> Answer:
        """Return what the site answered to *url* at *moment* (unix seconds)."""
        found = self._find(url, moment)
        if found is None and self._find(url + "/", moment) is not None:
            return Answer(301, b"", {"Location": url + "/"})
        if found is None:
            return Answer(404, b"<html><title>404 Not Found</title></html>", _typed("x.html"))
        since, body = found
        tag = f'"{hashlib.md5(body).hexdigest()}"'
        headers = {**_typed(url), "ETag": tag, "Last-Modified": formatdate(since, usegmt=True)}
        return Answer(304, b"", headers) if etag == tag else Answer(200, body, headers)

    def changed(self, moment: float, name: str) -> set[str]:
        """Return the pages whose version of *moment* is new and holds *name*, unescaped."""
        return {
            url
            for url, page in self._pages.items()
            for since, _, start, length in self._versions.get(page, ())
            if since == moment
            and name in unquote(self._body(page)[start : start + length].decode(errors="replace"))
        }

    def _find(self, url: str, moment: float) -> tuple[float, bytes] | None:
        page = self._pages.get(_key(url))
        if page is None and self._path_alias:
            parts = urlsplit(url)
            if (parts.path + "/").startswith(self._path_alias + "/"):
                rest = parts._replace(path=parts.path[len(self._path_alias) :] or "/")
                page = self._pages.get(_key(rest.geturl()))
        if page is None:
            return None
        versions = self._versions[page]
        at = bisect.bisect_right(versions, moment, key=lambda version: version[0]) - 1
        if at < 0 or versions[at][1] <= moment:
            return None
        since, _, start, length = versions[at]
        return since, self._body(page)[start : start + length]


def _key(url: str) -> str:
    """Return the form in which addresses are compared: path only, unescaped, a folder's index its folder."""
    path = unquote(urlsplit(url).path) or "/"
    return path.removesuffix("index.html") if path.endswith("/index.html") else path


def _typed(url: str) -> dict[str, str]:
    suffix = Path(urlsplit(url).path).suffix
    return {"Content-Type": _TYPES.get(suffix, "text/html; charset=utf-8")}


class ReplayAdapter(BaseAdapter):
    """A transport below requests that answers from a recorded site at the clock's time."""

    def __init__(self, site: ReplaySite, clock: Clock) -> None:
        super().__init__()
        self._site = site
        self._clock = clock

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:  # noqa: ANN401 - requests' own signature
        """Answer one request."""
        url = request.url or ""
        same_site = urlsplit(url).netloc == urlsplit(self._site.base_url).netloc
        if not same_site:
            raise requests.ConnectionError(f"{url} is not in the replay", request=request)
        etag = request.headers.get("If-None-Match")
        answer = self._site.answer(url, self._clock.now(), etag)
        response = requests.Response()
        response.status_code = answer.code
        response.headers.update(answer.headers)
        response.url = url
        response.request = request
        response.raw = HTTPResponse(
            io.BytesIO(answer.body),
            headers=answer.headers,
            status=answer.code,
            preload_content=False,
        )
        return response

    def close(self) -> None:
        """Nothing is held open."""
