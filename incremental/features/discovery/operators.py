"""Four ways to find pages from pages (paper 001, section 4.2), behind one base.

::

    forward    seeds -> their links
    backward   seeds -> pages that link to them (our own graph, a provider) -> their links
    keyword    the topic's words, then pairs of each seed's words -> short, new queries -> provider
    related    seeds -> a query of a page's top terms

Operators return candidates to fetch, best first by their own evidence, not pages judged relevant. They
reach the world through :class:`Sources`.
"""

from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, repeat

from incremental.features.discovery.search_provider import Search
from incremental.topics.wording import Wording

# Links read per page.
MAX_LINKS = 500
# Known linkers of a page searched for one not followed yet.
MAX_LINKERS = 50
LINKERS_PER_SEED = 5
HUBS_PER_ROUND = 5
QUERIES_PER_ROUND = 5
# Short queries with few results find more relevant pages than long lists (paper 001, section 2.1).
RESULTS_PER_QUERY = 10
QUERY_TERMS = 4
# Heaviest words of a page, from which a query's pair is taken.
SEED_WORDS = 8
# Best share of keyword search's seeds, whose words are taken for the topic's.
HEAD_SHARE = 0.4
MIN_HEAD = 20
# Results of a query among the head from which on its next result page is worth a request.
PAYING_RESULTS = 2
MAX_RESULT_PAGES = 5


@dataclass(frozen=True, slots=True)
class OutLink:
    """A link of a fetched page."""

    url: str
    anchor: str = ""
    around: str = ""


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A fetched page that operators start from, or a topic's sentence."""

    url: str
    """Empty for a sentence."""
    title: str = ""
    keywords: tuple[str, ...] = ()
    """Heaviest words of its meta description and key words, which have less noise than its text."""
    terms: tuple[str, ...] = ()
    """Heaviest terms of its text."""
    text: str = ""
    """Its text, for the written forms of its terms, which are stems."""
    links: tuple[OutLink, ...] = ()
    via: str = ""
    """The page or query that led to it; empty for an example."""
    worth: float = 1.0
    """Its rank among all read pages: 1 = first, towards 0 = last."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page to fetch, and its evidence."""

    url: str
    via: str = ""
    """The page that links to it, or the query."""
    evidence: float = 0.0
    """Higher is better; comparable within one result only."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What operators can query."""

    linkers: Callable[[str, int], Sequence[str]]
    """Pages in our own link graph that link to a URL."""
    read: Callable[[Sequence[str]], Sequence[KnownPage]]
    """Fetches pages or takes them from the cache; unreadable ones are missing."""
    search: Search | None = None
    linkers_query: str = ""
    """A query with ``{url}`` for pages that link there, as few providers have; empty = none."""


@dataclass(slots=True)
class Asked:
    """Queries already sent."""

    queries: dict[str, None] = field(default_factory=dict)

    def knows(self, query: str, page: int = 1) -> bool:
        """Return whether this result page of *query* was requested; word order is ignored."""
        return _key(query, page) in self.queries

    def first_time(self, query: str, page: int = 1) -> bool:
        """Return whether *query* is new, and remember it."""
        if self.knows(query, page):
            return False
        self.queries[_key(query, page)] = None
        return True

    def take_back(self) -> None:
        """Forget the last query, which failed and may be repeated."""
        self.queries.popitem()


def _key(query: str, page: int) -> str:
    key = " ".join(sorted(query.lower().split()))
    return key if page == 1 else f"{key}\t{page}"


class Operator(ABC):
    """One way to find pages."""

    name = ""
    costly = True
    """Uses a provider: its candidates are read before it is called again."""
    seeds = 10
    """Pages to start from in a round, each once."""
    share = 0.0
    """If above 0, it remembers what it started from and each time gets this best share of all pages, at
    least *seeds*."""

    def pages(
        self, seeds: Sequence[KnownPage], count: int, seen: Collection[str] = ()
    ) -> list[Candidate]:
        """Return the best *count* new URLs with evidence summed; ties go to the first found."""
        known = {seed.url for seed in seeds}
        evidence: defaultdict[str, float] = defaultdict(float)
        first: dict[str, Candidate] = {}
        for one in self._found(seeds):
            if one.url not in known and one.url not in seen:
                evidence[one.url] += one.evidence
                first.setdefault(one.url, one)
        best = sorted(evidence, key=lambda url: -evidence[url])[:count]
        return [replace(first[url], evidence=evidence[url]) for url in best]

    @abstractmethod
    def _found(self, seeds: Sequence[KnownPage]) -> Iterable[Candidate]:
        """Return candidates, known ones too."""


class Forward(Operator):
    """Follow the links of seeds, those with the topic's words first."""

    name = "forward"
    costly = False

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words

    def _found(self, seeds: Sequence[KnownPage]) -> Iterable[Candidate]:
        return _followed(seeds, seeds, self._words)


class Backward(Operator):
    """Find pages that link to the seeds, possible hubs of the topic, and follow their links."""

    name = "backward"

    def __init__(self, sources: Sources, words: Sequence[str], asked: Asked) -> None:
        self._sources = sources
        self._words = words
        self._asked = asked

    def _found(self, seeds: Sequence[KnownPage]) -> Iterable[Candidate]:
        """Yield the hubs that link to *seeds*, and their other links; each hub is used once."""
        hubs = self._hubs(seeds)
        yield from _followed(self._sources.read(list(hubs)), seeds, self._words)
        for url, (shown, seed) in hubs.items():
            yield Candidate(url, via=seed, evidence=float(shown))

    def _hubs(self, seeds: Sequence[KnownPage]) -> dict[str, tuple[int, str]]:
        """Return the pages that link to most *seeds*, with how many and the first."""
        shown: Counter[str] = Counter()
        first: dict[str, str] = {}
        for seed in (one for one in seeds if one.url):
            found = self._unused(self._sources.linkers(seed.url, MAX_LINKERS))
            # Without further linkers the search would be over once those in our own graph are used.
            search, query = self._sources.search, self._sources.linkers_query
            if len(found) < LINKERS_PER_SEED and search is not None and query:
                answer = search(query.replace("{url}", seed.url), RESULTS_PER_QUERY, 1)
                found += self._unused(answer.urls)
            for url in list(dict.fromkeys(found))[:LINKERS_PER_SEED]:
                shown[url] += 1
                first.setdefault(url, seed.url)
        best = shown.most_common(HUBS_PER_ROUND)
        for url, _ in best:
            self._asked.first_time(f"hub:{url}")
        return {url: (number, first[url]) for url, number in best}

    def _unused(self, linkers: Iterable[str]) -> list[str]:
        return [url for url in linkers if not self._asked.knows(f"hub:{url}")]


# What led to it (a query, or the page it is about), the query, and which page of its results.
_Question = tuple[str, str, int]


class _Searching(Operator):
    """Sends a few queries per round to a search provider; failed ones may be repeated."""

    def __init__(self, search: Search, asked: Asked, wording: Wording) -> None:
        self._search = search
        self._asked = asked
        self._wording = wording

    @abstractmethod
    def _questions(self, seeds: Sequence[KnownPage]) -> Iterator[_Question]:
        """Yield new queries, most promising first."""

    def _found(self, seeds: Sequence[KnownPage]) -> Iterable[Candidate]:
        """Yield the provider's results for up to five queries."""
        for via, query, page in islice(self._questions(seeds), QUERIES_PER_ROUND):
            answer = self._search(query, RESULTS_PER_QUERY, page)
            if answer.problem:
                self._asked.take_back()
                break
            for place, url in enumerate(answer.urls):
                yield Candidate(url, via, 1.0 / (place + 1))


class Keyword(_Searching):
    """Send short queries with different words, and further result pages of those that paid off."""

    name = "keyword"
    seeds = MIN_HEAD
    share = 0.5

    def __init__(self, search: Search, description: str, asked: Asked, wording: Wording) -> None:
        super().__init__(search, asked, wording)
        self._description = description

    def _questions(self, seeds: Sequence[KnownPage]) -> Iterator[_Question]:
        head = seeds[: max(MIN_HEAD, int(HEAD_SHARE * len(seeds)))]
        _learn(self._wording, head[:MIN_HEAD])
        # Queries that share words get the same first results (keyword search alone had read 9 to 179
        # pages of 1,000), so only this one uses the topic's own words; each other is a pair of words of
        # one good page, those that most good pages have.
        topic = self._wording.question(self._description.split())
        new = (query for query in self._queries(seeds, head) if query)
        for query, page in chain([(topic, 1)], self._deeper(head), zip(new, repeat(1))):
            if query and self._asked.first_time(query, page):
                yield query, query, page

    def _deeper(self, head: Sequence[KnownPage]) -> Iterator[tuple[str, int]]:
        """Yield the next result page of queries that found several good pages."""
        paid = Counter(page.via for page in head if page.via and self._asked.knows(page.via))
        for query, good in paid.most_common():
            following = range(2, MAX_RESULT_PAGES + 1)
            page = next((one for one in following if not self._asked.knows(query, one)), None)
            if good >= PAYING_RESULTS and page is not None:
                yield query, page

    def _queries(self, seeds: Sequence[KnownPage], head: Sequence[KnownPage]) -> Iterator[str]:
        """Yield a pair of words per seed, then titles."""
        said = Counter(word for page in head for word in dict.fromkeys(_words(page)))
        for seed in seeds:
            _learn(self._wording, [seed])
            words = _words(seed)[:SEED_WORDS]
            yield self._wording.question(sorted(words, key=lambda word: -said[word])[:2])
        yield from (seed.title for seed in seeds)


class Related(_Searching):
    """Search for pages like the seeds, by a query of each one's top terms."""

    name = "related"
    seeds = QUERIES_PER_ROUND
    share = 1.0

    def _questions(self, seeds: Sequence[KnownPage]) -> Iterator[_Question]:
        for seed in seeds:
            terms = seed.terms[:QUERY_TERMS]
            if (terms or seed.title) and self._asked.first_time(f"related:{seed.url}"):
                _learn(self._wording, [seed])
                yield seed.url, self._wording.question(terms) or seed.title, 1


def operators(sources: Sources, words: Sequence[str], description: str) -> dict[str, Operator]:
    """Return all operators by name; searching ones only with a provider."""
    asked = Asked()
    found: list[Operator] = [Forward(words), Backward(sources, words, asked)]
    if (search := sources.search) is not None:
        wording = Wording()
        found += [Keyword(search, description, asked, wording), Related(search, asked, wording)]
    return {one.name: one for one in found}


def _words(page: KnownPage) -> tuple[str, ...]:
    """Return a page's key words, or its heaviest terms if it has none."""
    # Key words have less noise than the text.
    return page.keywords or page.terms


def _learn(wording: Wording, pages: Iterable[KnownPage]) -> None:
    """Learn word forms from titles, texts and anchors."""
    for page in pages:
        # Anchors are the text of a hub.
        anchors = (link.anchor for link in page.links[:MAX_LINKS])
        wording.learn(page.url, chain([page.title, page.text], anchors))


def _followed(
    pages: Sequence[KnownPage], seeds: Sequence[KnownPage], words: Sequence[str]
) -> Iterator[Candidate]:
    """Yield links: a point each, plus one per word of the topic or *seeds*, times the page's worth."""
    wanted = {word.lower() for word in words}
    wanted |= {word.lower() for seed in seeds for word in seed.keywords[:10]}
    for page in pages:
        for link in dict.fromkeys(page.links[:MAX_LINKS]):
            spoken = f"{link.anchor} {link.around}".lower()
            agrees = sum(word in spoken for word in wanted)
            yield Candidate(link.url, via=page.url, evidence=(1.0 + agrees) * page.worth)
