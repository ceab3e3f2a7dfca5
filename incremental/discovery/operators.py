"""Four ways to find pages from pages (paper 001, section 4.2), behind one small protocol.

::

    forward    seeds -> their links
    backward   seeds -> who links there (our own graph, a provider that offers it) -> their links
    keyword    topic's words, then pairs of each seed's words -> short queries, none asked twice -> provider
    related    seeds -> the provider's related operator, or a query of the page's own top terms

An operator returns candidates, best first by its own evidence: pages to fetch, not pages found
relevant. What it needs of the world it is handed as :class:`Sources`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice, repeat
from typing import Protocol

from incremental.discovery.search_provider import (
    NoProvider,
    SearchAnswer,
    SearchProvider,
    SearchStatus,
)
from incremental.discovery.wording import Wording

# Operators that are there only with a search provider.
SEARCHING = ("keyword", "related")
# Links read of one page.
MAX_LINKS = 500
# Known of one page that are looked through for one that was not followed yet.
MAX_LINKERS = 50
LINKERS_PER_SEED = 5
HUBS_PER_ROUND = 5
QUERIES_PER_ROUND = 5
# Short queries with few results find more relevant pages than long lists (paper 001, section 2.1).
RESULTS_PER_QUERY = 10
QUERY_TERMS = 4
# Of a page, the weightiest, from which a question's pair is taken.
SEED_WORDS = 8
# Of the seeds that keyword search is given: those whose words say what the topic's words are.
HEAD_SHARE = 0.4
MIN_HEAD = 20
# Results of one question among the head, from which on its next page of results is asked for.
PAYING_RESULTS = 2
MAX_RESULT_PAGES = 5
# Queries remembered, so that none is asked twice.
MAX_ASKED = 5_000


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
    text: str = ""
    """What it says: how its terms, which are stems, are written."""
    links: tuple[OutLink, ...] = ()
    via: str = ""
    """What led to it: a page, or the query that found it; empty for an example."""
    worth: float = 1.0
    """How far up it stands among all that was read: 1 = first, towards 0 = last."""


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

    def knows(self, query: str, page: int = 1) -> bool:
        """Return whether that page of the results of *query* was asked for; words have no order."""
        return _key(query, page) in self.queries

    def first_time(self, query: str, page: int = 1) -> bool:
        """Return whether *query* was not asked before, and remember it."""
        if self.knows(query, page):
            return False
        self.queries[_key(query, page)] = None
        while len(self.queries) > MAX_ASKED:
            del self.queries[next(iter(self.queries))]
        return True

    def take_back(self) -> None:
        """Forget the last query: it was not answered, so it may be asked again."""
        self.queries.popitem()


def _key(query: str, page: int) -> str:
    key = " ".join(sorted(query.lower().split()))
    return key if page == 1 else f"{key}\t{page}"


class Operator(Protocol):
    """One way to find pages."""

    name: str
    costly: bool
    """Whether it asks others: then what it found is read before it is asked again."""
    seeds: int
    """Pages that it begins from in a round, each once."""
    share: float
    """Above 0: it remembers what it began from, and is given this share of all pages each time, the
    best, yet at least *seeds*."""

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return up to *count* candidates, best first; none that is a seed or was *seen*."""
        ...


class Forward:
    """Follow the links of the seeds, those first that speak the topic's words."""

    name = "forward"
    costly = False
    seeds = 10
    share = 0.0

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
    seeds = 10
    share = 0.0

    def __init__(self, sources: Sources, words: Iterable[str], asked: Asked) -> None:
        self._sources = sources
        self._words = frozenset(word.lower() for word in words)
        self._asked = asked

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return the hubs that link to *seeds*, and what else they link to; each hub serves once."""
        hubs = self._hubs(seeds)
        read = self._sources.read(list(hubs))
        words = self._words | {word.lower() for seed in seeds for word in seed.keywords[:10]}
        found = list(_followed(read, words, self.name))
        found += [
            Candidate(url, self.name, via=seed, evidence=float(shown))
            for url, (shown, seed) in hubs.items()
        ]
        return _best(found, seeds, count, seen)

    def _hubs(self, seeds: Sequence[KnownPage]) -> dict[str, tuple[int, str]]:
        """Return pages that link to most *seeds*: to how many, and to which first."""
        shown: Counter[str] = Counter()
        first: dict[str, str] = {}
        for seed in seeds:
            found = self._unused(self._sources.linkers(seed.url, MAX_LINKERS))
            if len(found) < LINKERS_PER_SEED:
                answer = self._sources.provider.linkers(seed.url, RESULTS_PER_QUERY)
                found += self._unused(result.url for result in answer.results)
            for url in list(dict.fromkeys(found))[:LINKERS_PER_SEED]:
                shown[url] += 1
                first.setdefault(url, seed.url)
        best = shown.most_common(HUBS_PER_ROUND)
        for url, _ in best:
            self._asked.first_time(f"hub:{url}")
        return {url: (number, first[url]) for url, number in best}

    def _unused(self, linkers: Iterable[str]) -> list[str]:
        return [url for url in linkers if not self._asked.knows(f"hub:{url}")]


class _Searching(ABC):
    """Asks a search provider a few questions a round; one that was not answered may be asked again."""

    name = ""

    def __init__(self, sources: Sources, asked: Asked, wording: Wording) -> None:
        self._provider = sources.provider
        self._asked = asked
        self._wording = wording

    @abstractmethod
    def _questions(self, seeds: Sequence[KnownPage]) -> Iterator[_Question]:
        """Yield questions that were never asked, the most promising first."""

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return what the provider has for up to five questions."""
        found: list[Candidate] = []
        for via, ask in islice(self._questions(seeds), QUERIES_PER_ROUND):
            answer = ask()
            if answer.status is not SearchStatus.ANSWERED:
                self._asked.take_back()
                break
            for place, result in enumerate(answer.results):
                text = f"{result.title} {result.snippet}".strip()
                found.append(Candidate(result.url, self.name, via, 1.0 / (place + 1), text))
        return _best(found, seeds, count, seen)


_Question = tuple[str, Callable[[], SearchAnswer]]
"""What led to it (a query, or the page that it is about), and the question."""


class Keyword(_Searching):
    """Ask short questions, each of other words, and more of those that paid.

    Questions that share words get the same first results, so only the first is of the topic's own; the
    others are a pair of words of one good page: those that most good pages have.
    """

    name = "keyword"
    costly = True
    seeds = MIN_HEAD
    share = 0.5

    def __init__(self, sources: Sources, description: str, asked: Asked, wording: Wording) -> None:
        super().__init__(sources, asked, wording)
        self._description = description

    def _questions(self, seeds: Sequence[KnownPage]) -> Iterator[_Question]:
        head = seeds[: max(MIN_HEAD, int(HEAD_SHARE * len(seeds)))]
        _learn(self._wording, head[:MIN_HEAD])
        topic = self._wording.question(self._description.split())
        new = (query for query in self._queries(seeds, head) if query)
        for query, page in chain([(topic, 1)], self._deeper(head), zip(new, repeat(1))):
            if query and self._asked.first_time(query, page):
                yield query, partial(self._provider.search, query, RESULTS_PER_QUERY, page)

    def _deeper(self, head: Sequence[KnownPage]) -> Iterator[tuple[str, int]]:
        """Yield the next page of results of questions that found several good pages."""
        paid = Counter(page.via for page in head if page.via and self._asked.knows(page.via))
        for query, good in paid.most_common():
            following = range(2, MAX_RESULT_PAGES + 1)
            page = next((one for one in following if not self._asked.knows(query, one)), None)
            if good >= PAYING_RESULTS and page is not None:
                yield query, page

    def _queries(self, seeds: Sequence[KnownPage], head: Sequence[KnownPage]) -> Iterator[str]:
        """Yield a pair of words of each seed, then the titles."""
        said = Counter(word for page in head for word in dict.fromkeys(_words(page)))
        for seed in seeds:
            _learn(self._wording, [seed])
            words = _words(seed)[:SEED_WORDS]
            yield self._wording.question(sorted(words, key=lambda word: -said[word])[:2])
        yield from (seed.title for seed in seeds)


class Related(_Searching):
    """Ask for pages like the seeds: by the provider's operator, and by words where it has none."""

    name = "related"
    costly = True
    seeds = QUERIES_PER_ROUND
    share = 1.0

    def _questions(self, seeds: Sequence[KnownPage]) -> Iterator[_Question]:
        for seed in seeds:
            terms = seed.terms[:QUERY_TERMS]
            if (terms or seed.title) and self._asked.first_time(f"related:{seed.url}"):
                _learn(self._wording, [seed])
                query = self._wording.question(terms) or seed.title
                yield seed.url, partial(self._like, seed.url, query)

    def _like(self, url: str, query: str) -> SearchAnswer:
        answer = self._provider.related(url, RESULTS_PER_QUERY)
        if answer.status is SearchStatus.OFF:
            return self._provider.search(query, RESULTS_PER_QUERY)
        return answer


def operators(
    sources: Sources, words: Sequence[str], description: str, asked: Asked
) -> dict[str, Operator]:
    """Return all operators by name: those that search are there only with a provider."""
    found: list[Operator] = [Forward(words), Backward(sources, words, asked)]
    if not isinstance(sources.provider, NoProvider):
        wording = Wording()
        found += [
            Keyword(sources, description, asked, wording),
            Related(sources, asked, wording),
        ]
    return {one.name: one for one in found}


def _words(page: KnownPage) -> tuple[str, ...]:
    """Return the key words of a page; of one that names none, its weightiest terms."""
    return page.keywords or page.terms


def _learn(wording: Wording, pages: Iterable[KnownPage]) -> None:
    """Learn the words of pages: titles, texts, and anchors, which are the text of a hub."""
    for page in pages:
        anchors = (link.anchor for link in page.links[:MAX_LINKS])
        wording.learn(page.url, chain([page.title, page.text], anchors))


def _followed(
    pages: Sequence[KnownPage], words: frozenset[str] | set[str], name: str
) -> Iterable[Candidate]:
    """Yield links: a point for each, and one for each word that it speaks, times what the page is worth."""
    for page in pages:
        for link in dict.fromkeys(page.links[:MAX_LINKS]):
            spoken = f"{link.anchor} {link.around}".lower()
            agrees = sum(word in spoken for word in words)
            text = link.anchor or link.around
            evidence = (1.0 + agrees) * page.worth
            yield Candidate(link.url, name, via=page.url, evidence=evidence, text=text)


def _best(
    found: Iterable[Candidate],
    seeds: Sequence[KnownPage],
    count: int,
    seen: Collection[str],
) -> list[Candidate]:
    """Return the best *count* new addresses, evidence added up; of equals the one found first."""
    known = {seed.url for seed in seeds}
    evidence: defaultdict[str, float] = defaultdict(float)
    first: dict[str, Candidate] = {}
    for one in found:
        if one.url not in known and one.url not in seen:
            evidence[one.url] += one.evidence
            first.setdefault(one.url, one)
    best = sorted(evidence, key=lambda url: -evidence[url])[:count]
    return [replace(first[url], evidence=evidence[url]) for url in best]
