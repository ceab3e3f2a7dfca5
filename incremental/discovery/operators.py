"""Four ways to find pages from pages (paper 001, section 4.2), behind one small protocol.

::

    forward    seeds -> their links
    backward   seeds -> who links there (our own graph, a provider that offers it) -> their links
    keyword    topic's words + the seeds' key words -> short queries, none asked twice -> provider
    related    seeds -> the provider's related operator, or a query of the page's own top terms

An operator returns candidates, best first by its own evidence: pages to fetch, not pages found
relevant. What it needs of the world it is handed as :class:`Sources`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from incremental.discovery.search import (
    NoProvider,
    SearchAnswer,
    SearchProvider,
    SearchStatus,
)

MAX_LINKS = 500
"""Links read of one page."""
LINKERS_PER_SEED = 5
HUBS_PER_ROUND = 5
QUERIES_PER_ROUND = 5
RESULTS_PER_QUERY = 10
"""Short queries with few results find more relevant pages than long lists (paper 001, section 2.1)."""
QUERY_TERMS = 4
MAX_ASKED = 5_000
"""Queries remembered, so that none is asked twice."""


@dataclass(frozen=True, slots=True)
class OutLink:
    """A link of a page that was read."""

    url: str
    anchor: str = ""
    around: str = ""


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page that was read: where an operator begins."""

    url: str
    title: str = ""
    keywords: tuple[str, ...] = ()
    """Of its meta description and key words, the weightiest first (less noise than the text has)."""
    terms: tuple[str, ...] = ()
    """The weightiest terms of its text."""
    links: tuple[OutLink, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page to fetch, and why."""

    url: str
    operator: str
    via: str = ""
    """The page that links to it, or the query that found it."""
    evidence: float = 0.0
    """Larger is better; comparable within one answer only."""
    text: str = ""
    """Anchor, or title and snippet: all that is known of it before it is fetched."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What operators may ask of the world."""

    linkers: Callable[[str, int], Sequence[str]]
    """Addresses of pages of our own link graph that link to a URL."""
    read: Callable[[Sequence[str]], Sequence[KnownPage]]
    """Fetch pages, or take them from the cache; what cannot be read is missing."""
    provider: SearchProvider = field(default_factory=NoProvider)


@dataclass(slots=True)
class Asked:
    """Queries that were asked; it outlives a round and a restart."""

    queries: dict[str, None] = field(default_factory=dict)

    def first_time(self, query: str) -> bool:
        """Tell whether *query* was not asked before, and remember it."""
        key = " ".join(sorted(query.lower().split()))
        if key in self.queries:
            return False
        self.queries[key] = None
        while len(self.queries) > MAX_ASKED:
            del self.queries[next(iter(self.queries))]
        return True

    def take_back(self) -> None:
        """Forget the last query: it was not answered, so it may be asked again."""
        self.queries.popitem()


class Operator(Protocol):
    """One way to find pages."""

    name: str
    costly: bool
    """Whether it asks others: then what it found is read before it is asked again."""

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return up to *count* candidates, best first; none that is a seed or was *seen*."""
        ...


class Forward:
    """Follow the links of the seeds, those first that speak the topic's words."""

    name = "forward"
    costly = False

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(word.lower() for word in words)

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return the links of *seeds* by how many of them link there and whether words agree."""
        words = self._words | {word.lower() for seed in seeds for word in seed.keywords[:10]}
        return _best(_followed(seeds, words, self.name), seeds, count, seen)


class Backward:
    """Find who links to the seeds, and follow the links of those: they may be the topic's hubs."""

    name = "backward"
    costly = True

    def __init__(self, sources: Sources, words: Iterable[str]) -> None:
        self._sources = sources
        self._words = frozenset(word.lower() for word in words)

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return the hubs that link to *seeds*, and what else they link to."""
        hubs = _ranked_linkers(seeds, self._sources, HUBS_PER_ROUND)
        known = {seed.url for seed in seeds}
        read = self._sources.read([url for url in hubs if url not in known])
        words = self._words | {word.lower() for seed in seeds for word in seed.keywords[:10]}
        found = list(_followed(read, words, self.name))
        found += [
            Candidate(url, self.name, via=seed, evidence=float(shown))
            for url, (shown, seed) in hubs.items()
        ]
        return _best(found, seeds, count, seen)


class Keyword:
    """Ask a search provider short questions: the topic's words with one of the seeds' key words."""

    name = "keyword"
    costly = True

    def __init__(self, sources: Sources, description: str, asked: Asked) -> None:
        self._sources = sources
        self._description = description
        self._asked = asked

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return what the provider has for up to five questions that were never asked."""
        found: list[Candidate] = []
        for query in self._queries(seeds):
            answer = self._sources.provider.search(query, RESULTS_PER_QUERY)
            if answer.status is not SearchStatus.ANSWERED:
                self._asked.take_back()
                break
            found += _results(answer, self.name, query)
        return _best(found, seeds, count, seen)

    def _queries(self, seeds: Sequence[KnownPage]) -> Iterable[str]:
        """Yield questions, the most frequent key words of *seeds* first."""
        said = Counter(
            word for seed in seeds for word in dict.fromkeys(seed.keywords or seed.terms)
        )
        left = QUERIES_PER_ROUND
        for word in ["", *(word for word, _ in said.most_common())]:
            if not left:
                return
            new = "" if word.lower() in self._description.lower() else word
            query = f"{self._description} {new}".strip()
            if query and self._asked.first_time(query):
                left -= 1
                yield query


class Related:
    """Ask a search provider for pages like the seeds."""

    name = "related"
    costly = True

    def __init__(self, sources: Sources, asked: Asked) -> None:
        self._sources = sources
        self._asked = asked

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return what is related to up to five seeds that were not asked about before."""
        found: list[Candidate] = []
        left = QUERIES_PER_ROUND
        for seed in seeds:
            query = " ".join(seed.terms[:QUERY_TERMS]) or seed.title
            if not left or not query:
                continue
            if not self._asked.first_time(f"related:{seed.url}"):
                continue
            left -= 1
            answer = self._like(seed, query)
            if answer.status is not SearchStatus.ANSWERED:
                self._asked.take_back()
                break
            found += _results(answer, self.name, seed.url)
        return _best(found, seeds, count, seen)

    def _like(self, seed: KnownPage, query: str) -> SearchAnswer:
        """Ask by the provider's operator, and by words where it has none."""
        answer = self._sources.provider.related(seed.url, RESULTS_PER_QUERY)
        if answer.status is SearchStatus.OFF:
            return self._sources.provider.search(query, RESULTS_PER_QUERY)
        return answer


def operators(
    sources: Sources, words: Sequence[str], description: str, asked: Asked
) -> dict[str, Operator]:
    """Return all operators by name: those that search are there only with a provider."""
    found: list[Operator] = [Forward(words), Backward(sources, words)]
    if not isinstance(sources.provider, NoProvider):
        found += [Keyword(sources, description, asked), Related(sources, asked)]
    return {one.name: one for one in found}


def _results(answer: SearchAnswer, name: str, via: str) -> Iterable[Candidate]:
    for place, result in enumerate(answer.results):
        text = f"{result.title} {result.snippet}".strip()
        yield Candidate(result.url, name, via=via, evidence=1.0 / (place + 1), text=text)


def _followed(
    pages: Sequence[KnownPage], words: frozenset[str] | set[str], name: str
) -> Iterable[Candidate]:
    """Yield the links of *pages*: one point for the link, and one for each word that it speaks."""
    for page in pages:
        for link in dict.fromkeys(page.links[:MAX_LINKS]):
            spoken = f"{link.anchor} {link.around}".lower()
            agrees = sum(word in spoken for word in words)
            text = link.anchor or link.around
            yield Candidate(link.url, name, via=page.url, evidence=1.0 + agrees, text=text)


def _ranked_linkers(
    seeds: Sequence[KnownPage], sources: Sources, count: int
) -> dict[str, tuple[int, str]]:
    """Return pages that link to *seeds*, those that link to most first, with a seed they link to."""
    shown: Counter[str] = Counter()
    first: dict[str, str] = {}
    for seed in seeds:
        found = list(sources.linkers(seed.url, LINKERS_PER_SEED))
        if len(found) < LINKERS_PER_SEED:
            answer = sources.provider.linkers(seed.url, LINKERS_PER_SEED)
            found += [result.url for result in answer.results]
        for url in dict.fromkeys(found):
            shown[url] += 1
            first.setdefault(url, seed.url)
    return {url: (number, first[url]) for url, number in shown.most_common(count)}


def _best(
    found: Iterable[Candidate],
    seeds: Sequence[KnownPage],
    count: int,
    seen: Collection[str],
) -> list[Candidate]:
    """Return the best *count* addresses that are new; evidence of one address adds up.

    Of those that are equal, the one found first comes first.
    """
    known = {seed.url for seed in seeds}
    evidence: defaultdict[str, float] = defaultdict(float)
    first: dict[str, Candidate] = {}
    for one in found:
        if one.url not in known and one.url not in seen:
            evidence[one.url] += one.evidence
            first.setdefault(one.url, one)
    best = sorted(evidence, key=lambda url: -evidence[url])[:count]
    return [replace(first[url], evidence=evidence[url]) for url in best]
