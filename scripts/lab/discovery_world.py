"""Graph files laid side by side as one small web, and a search server over it, for the discovery benchmark.

Labels are read by :meth:`World.is_on_topic` alone, which no operator and no ranker has. The server speaks
SearXNG's JSON over a full-text index, ranked by BM25. It stands in for the web's search engines where
pages are replayed: a real HTTP server, asked through the crawler's own egress. Ten results a page,
``pageno`` for more, like the real one.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from classifier.words.background import Background, tf_idf
from classifier.words.language import language_of
from classifier.words.segmentation import tokens
from classifier.words.text import language_of_page, weighted_terms
from classifier.words.values import LinkContext, PageText
from classifier.words.vectors import top
from incremental.features.discovery.operators import KnownPage, OutLink
from lab.harvest_graph import Fetched, Graph
from lab.local_server import Answered, LocalServer

RESULTS_PER_PAGE = 10
# Of one document that are indexed.
MAX_TOKENS = 3_000
# Of its text that are cut into tokens to get them.
MAX_CHARS = 10 * MAX_TOKENS
MAX_QUERY_TOKENS = 12
OPERATOR = "link:"
SNIPPET_CHARS = 200
_JSON = {"Content-Type": "application/json"}


@dataclass(frozen=True, slots=True)
class Document:
    """A page to find."""

    url: str
    title: str
    text: str
    links: tuple[str, ...] = ()
    """Addresses that it links to: what ``link:ADDRESS`` is answered from."""


class SearchIndex:
    """Words of documents in an in-memory SQLite FTS5 table."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        self._lock = threading.Lock()
        self._linkers: dict[str, list[dict[str, str]]] = {}
        self._database.execute("CREATE TABLE page(id INTEGER PRIMARY KEY, url, title, snippet)")
        self._database.execute("CREATE VIRTUAL TABLE words USING fts5(title, body, content='')")
        for number, document in enumerate(documents, 1):
            language = language_of(f"{document.title} {document.text[:2_000]}")
            body = " ".join(tokens(document.text[:MAX_CHARS], language)[:MAX_TOKENS])
            title = " ".join(tokens(document.title, language))
            row = (number, document.url, document.title, document.text[:SNIPPET_CHARS])
            self._database.execute("INSERT INTO page VALUES (?, ?, ?, ?)", row)
            found = {"url": document.url, "title": document.title, "content": ""}
            for target in document.links:
                self._linkers.setdefault(target, []).append(found)
            sql = "INSERT INTO words(rowid, title, body) VALUES (?, ?, ?)"
            self._database.execute(sql, (number, title, body))

    def search(self, query: str, page: int) -> list[dict[str, str]]:
        """Return the results of one page, best first; pages count from 1.

        Any word of the query may occur, as in a search engine: BM25 prefers where more do.
        ``link:ADDRESS`` finds pages that link there.
        """
        if query.startswith(OPERATOR):
            linkers = self._linkers.get(query.removeprefix(OPERATOR), [])
            return linkers[(page - 1) * RESULTS_PER_PAGE : page * RESULTS_PER_PAGE]
        words = tokens(query, language_of(query))[:MAX_QUERY_TOKENS]
        if not words:
            return []
        match = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
        sql = (
            "SELECT url, page.title, snippet FROM words JOIN page ON page.id = words.rowid "
            "WHERE words MATCH ? ORDER BY bm25(words, 2.0, 1.0), page.id LIMIT ? OFFSET ?"
        )
        place = (RESULTS_PER_PAGE, (page - 1) * RESULTS_PER_PAGE)
        with self._lock:
            rows = self._database.execute(sql, (match, *place)).fetchall()
        return [dict(zip(("url", "title", "content"), row, strict=True)) for row in rows]


class SearchServer(LocalServer):
    """Serves an index on a free port of loopback; a context manager."""

    def __init__(self, index: SearchIndex) -> None:
        super().__init__(lambda asked: Answered(*self.answer(asked.path), _JSON))
        self.requests = 0
        self._index = index

    def answer(self, path: str) -> tuple[int, bytes]:
        """Answer one request as SearXNG does: 403 unless JSON is asked for."""
        asked = parse_qs(urlsplit(path).query)
        if urlsplit(path).path != "/search" or asked.get("format") != ["json"]:
            return 403, b'{"error": "format"}'
        self.requests += 1
        query, page = asked.get("q", [""])[0], asked.get("pageno", ["1"])[0]
        found = self._index.search(query, int(page) if page.isdecimal() else 1)
        answer = {"query": query, "number_of_results": len(found), "results": found}
        return 200, json.dumps(answer, ensure_ascii=False).encode()


TERMS = 12


class World:
    """Several graphs as one; hosts are kept apart by their addresses."""

    def __init__(self, graphs: Sequence[Graph], background: Background) -> None:
        self._of = {url: graph for graph in graphs for url in graph.topics}
        self._background = background
        self._known: dict[str, KnownPage] = {}
        self._terms: dict[str, dict[str, float]] = {}

    def pool(self, topic: str) -> list[str]:
        """Return the pages that seeds are drawn from, by URL."""
        graphs = dict.fromkeys(self._of.values())
        return sorted(url for graph in graphs for url in graph.pool(topic))

    def is_on_topic(self, url: str, topic: str) -> bool | None:
        """Return the label; None = unlabelled."""
        return self._of[url].is_on_topic(url, topic)

    def hosts(self, topic: str) -> set[str]:
        """Return the hosts with at least one page on topic."""
        return {host_of(url) for url in self._of if self.is_on_topic(url, topic)}

    def documents(self) -> Iterable[Document]:
        """Yield every page for the search index."""
        for url in self._of:
            page = self.fetch(url)
            links = tuple(link.url for link in page.links)
            yield Document(url, page.text.title, page.text.body, links)

    def fetch(self, url: str) -> Fetched:
        """Return a page of one of the graphs."""
        return self._of[url].fetch(url)

    def holds(self, url: str) -> bool:
        """Return whether a page is there."""
        return url in self._of

    def terms(self, url: str) -> dict[str, float]:
        """Return the weighted terms of a page."""
        if url not in self._terms:
            self._terms[url] = weighted_terms(self.fetch(url).text)
        return self._terms[url]

    def known(self, url: str) -> KnownPage:
        """Return a page as operators begin from it."""
        found = self._known.get(url)
        if found is None:
            fetched = self.fetch(url)
            found = self._known[url] = KnownPage(
                url,
                title=fetched.text.title,
                keywords=_keywords(fetched.text),
                terms=self._top_terms(url),
                links=tuple(map(_out_link, fetched.links)),
            )
        return found

    def _top_terms(self, url: str) -> tuple[str, ...]:
        weights = tf_idf(self.terms(url), self._background)
        return tuple(term for term, _ in top(weights, TERMS))


def host_of(url: str) -> str:
    """Return the host, by which sites are counted."""
    return urlsplit(url).hostname or ""


def _keywords(text: PageText) -> tuple[str, ...]:
    """Return the terms of a page's description and key words, in order."""
    return tuple(dict.fromkeys(tokens(text.meta, language_of_page(text))))[:TERMS]


def _out_link(link: LinkContext) -> OutLink:
    return OutLink(link.url, link.anchor, link.around)
