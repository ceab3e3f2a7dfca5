"""A bounded search for further sites of a topic (paper 001).

::

    topic's examples ─► Exploration ── candidates ─► read: cache, else robots, politeness, the one egress
                          ▲   │                        │
                   rank ──┘   └── after each round: one transaction, then proposals
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from classifier.hub import LinkEvidence
from classifier.papers.page_ranking import PageRanking
from classifier.topic.model import TopicModel
from classifier.words.language import language_of
from classifier.words.segmentation import tokens, written_words
from classifier.words.text import language_of_page, weighted_terms
from classifier.words.values import PageText
from classifier.words.vectors import top
from incremental.base.errors import InputError
from incremental.base.lookup import cached_bodies
from incremental.base.scope import trap
from incremental.base.texts import Text
from incremental.base.urls import canonical_key, host_of, normalize, registered_domain
from incremental.decide.hubs import HubScorer
from incremental.features.discovery.exploration import Exploration
from incremental.features.discovery.operators import (
    KnownPage,
    OutLink,
    Sources,
    operators,
)
from incremental.features.discovery.search_provider import PatientSearch, Search
from incremental.features.discovery.settings import DiscoverySettings
from incremental.fetch.status import FetchStatus
from incremental.parse import PageKind
from incremental.sandbox import Body, Read, Reading, Unread, read_body
from incremental.settings import Settings
from incremental.topics.judging import from_text, to_text
from incremental.topics.model_store import TopicModelStore
from incremental.visit.host_gate import HostGate
from incremental.visit.once import fetch_once, fetched_body
from incremental.visit.visit import Fetch
from store import Store
from store.discovery.values import NewProposal, ProposedHub, ProposedPage, ReadPage, RunRow
from store.topics.values import TopicRow

# For a host or a provider; longer waits skip it.
LONGEST_WAIT_SECONDS = 120.0
TERMS = 12
# Of a topic's sentence, in its first query.
SENTENCE_WORDS = 4
# Characters of a page's text used to learn written word forms.
WORDED_CHARS = 20_000
# Operator name of a run's seeds.
SEED = "example"
LINKERS_PER_PAGE = 50

Progress = Callable[[int, str, int], None]
"""Called after each round with its number, its operator, and the number of pages read."""


# Their scores are summed: one lucky page counts less than three good ones, and large sites have no
# advantage.
BEST_PAGES = 5
BEST_HUBS = 5
MIN_HUB = 0.5
MAX_LINKS = 200
LIKELY = 0.5


def site_of(url: str) -> str:
    """Return the registered domain of a URL."""
    return registered_domain(host_of(url))


def propose(
    pages: Iterable[ReadPage],
    *,
    links: Callable[[str], Sequence[OutLink]],
    watched: Collection[str],
    hub_scores: Callable[[Mapping[str, str]], Mapping[str, float]],
) -> list[NewProposal]:
    """Return the sites of relevant pages that are not *watched*, best first.

    *links* gives those of a page, as far as they are known; *hub_scores* gives hub probabilities for URLs
    with their anchors.
    """
    by_site: dict[str, list[ReadPage]] = {}
    for page in pages:
        site = site_of(page.url)
        if site and site not in watched:
            by_site.setdefault(site, []).append(page)
    found = [
        _proposal(site, read, links, hub_scores)
        for site, read in by_site.items()
        if any(page.score >= LIKELY for page in read)
    ]
    return sorted(found, key=lambda one: (-one.score, one.host))


def _proposal(
    site: str,
    read: list[ReadPage],
    links: Callable[[str], Sequence[OutLink]],
    hub_scores: Callable[[Mapping[str, str]], Mapping[str, float]],
) -> NewProposal:
    best = sorted(read, key=lambda page: -page.score)[:BEST_PAGES]
    inside = {page.url: "" for page in read}
    for page in read:
        own = (link for link in links(page.url)[:MAX_LINKS] if site_of(link.url) == site)
        inside |= {link.url: link.anchor for link in own if link.url not in inside}
    scores = hub_scores(inside)
    hubs = sorted(scores.items(), key=lambda one: (-one[1], len(one[0])))
    relevant = [page for page in read if page.score >= LIKELY]
    ways = dict.fromkeys(page.operator for page in relevant)
    named_ways = tuple(Text(f"discovery.operator_{way}") for way in ways)
    return NewProposal(
        host=site,
        score=round(sum(page.score for page in best), 4),
        pages=tuple(ProposedPage(one.url, one.title, round(one.score, 4)) for one in best),
        hubs=tuple(ProposedHub(url, round(p, 4)) for url, p in hubs[:BEST_HUBS] if p >= MIN_HUB),
        why=Text(
            "discovery.proposed_why", relevant=len(relevant), read=len(read), ways=named_ways
        ).stored(),
    )


@dataclass(frozen=True, slots=True)
class Dependencies:
    """What a run works with."""

    fetch: Fetch
    scorer: HubScorer
    search: Search | None
    now: Callable[[], float]
    pause: Callable[[float], None]
    """Waits this many seconds; tests advance their clock."""
    read: Read = read_body


@dataclass(frozen=True, slots=True)
class _Read:
    """A page as a run keeps it."""

    text: PageText
    known: KnownPage


class Discoverer:
    """Runs discovery for one topic; fetches through the one egress and writes the store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        topic: TopicRow,
        model_store: TopicModelStore,
        dependencies: Dependencies,
    ) -> None:
        model = model_store.model(topic)
        examples = model_store.positives(topic)
        if model is None or not examples:
            way_out = "needs at least one example page with text, or a sentence; see topic show"
            raise InputError("topic", topic.name, way_out)
        if not any(one.url for one in examples) and dependencies.search is None:
            way_out = (
                "has only a sentence: set [discovery] url to search for its words, "
                "or give an example page"
            )
            raise InputError("topic", topic.name, way_out)
        self._store = store
        self._settings = settings
        self._wanted = settings.of(DiscoverySettings)
        self._topic = topic
        self._model: TopicModel = model
        self._model_store = model_store
        self._dependencies = dependencies
        self._pages: dict[str, _Read] = {}
        self._fresh: dict[str, _Read] = {}
        self._per_site = Counter[str]()
        self._notes: list[str] = []
        self._linkers: dict[str, list[str]] = {}
        self._watched = {site_of(row.seed_url) for row in store.read.sites()}
        self._seeds = [self._keep(one.url, one, ()) for one in examples]
        self._ranking = self._new_ranking(examples)

    def _new_ranking(self, examples: Sequence[PageText]) -> PageRanking:
        rejected = {row.host for row in self._store.discovery.proposals(self._topic.id, "rejected")}
        # The rankers take pages of rejected sites for negatives.
        turned_down = [
            weighted_terms(from_text(row.text))
            for row in self._store.discovery.pages(self._topic.id)
            if site_of(row.url) in rejected and row.text != "{}"
        ]
        return PageRanking(
            self._model_store.background,
            {page.url: weighted_terms(page) for page in examples},
            rejected=turned_down,
        )

    # Runs.

    def run(self, *, rounds: int, pages: int, progress: Progress = lambda *_: None) -> RunRow:
        """Search for at most so many rounds and pages; return the run as it ended.

        Pages that earlier runs read are not fetched again.
        """
        now, topic = self._dependencies.now, self._topic.id
        self._store.discovery.begin(topic, now=now())
        self._recall()
        self._read_seeds()
        exploration = self._exploration()
        why = ""
        while not why:
            why = self._round(exploration, rounds, pages, progress)
        note = "; ".join(dict.fromkeys(self._notes))
        return self._store.discovery.end(topic, why, note, now=now())

    def _recall(self) -> None:
        for row in self._store.discovery.pages(self._topic.id):
            if row.text != "{}":
                self._keep(row.url, from_text(row.text), tuple(map(OutLink, row.links)))
                self._rank_in(row.url)

    def _read_seeds(self) -> None:
        """Learn the links of the examples; a sentence has none."""
        # The stored text of an example lacks its links.
        for url in [seed.url for seed in self._seeds if seed.url]:
            if not self._pages[url].known.links and self._cached(url) is None and self._waited(url):
                reading = self._asked(url)
                if reading is not None:
                    self._taken(url, reading)
        self._seeds = [self._pages[seed.url].known for seed in self._seeds]

    def _exploration(self) -> Exploration:
        search = self._dependencies.search
        if search is not None:
            search = PatientSearch(
                *(search, self._dependencies.now, self._dependencies.pause),
                *(self._notes.append, self._wanted.query_interval_seconds),
            )
        sources = Sources(
            linkers=lambda url, count: self._linkers.get(url, [])[:count],
            read=self._read,
            search=search,
            linkers_query=self._wanted.linkers_query,
        )
        words = list(dict.fromkeys(term for page in self._seeds for term in page.terms[:4]))
        keywords: list[str] = json.loads(self._topic.keywords)
        sentence = self._topic.description
        said = [word for _, word in written_words(sentence, language_of(sentence))]
        description = " ".join(keywords[:3] or said[:SENTENCE_WORDS] or words[:2])
        ways = operators(sources, [*keywords, *words], description)
        known = [page.known for page in self._pages.values()]
        return Exploration(ways, known, read=self._read, rank=self._ranked)

    def _round(self, exploration: Exploration, rounds: int, pages: int, progress: Progress) -> str:
        """Run one round; return why the run ended as a stored text, empty if it has not."""
        if exploration.rounds >= rounds:
            return Text("discovery.end_rounds", n=rounds).stored()
        left = pages - len(exploration.finds)
        if left < 1:
            return Text("discovery.end_pages", n=pages).stored()
        operator = exploration.step(left)
        if operator is None:
            return Text("discovery.end_nothing").stored()
        self._record(operator)
        progress(exploration.rounds, operator, len(exploration.finds))
        return ""

    def _record(self, operator: str) -> None:
        seeds = {seed.url for seed in self._seeds}
        pages = [
            ReadPage(
                url=url,
                canonical_key=canonical_key(url),
                operator=SEED if url in seeds else operator,
                title=read.text.title,
                text=to_text(read.text),
                score=round(self._model.judge(read.text).score, 4),
                links=tuple(link.url for link in read.known.links),
            )
            for url, read in self._fresh.items()
        ]
        self._store.discovery.record(self._topic.id, pages, now=self._dependencies.now())
        self._fresh.clear()
        self._propose()

    def _propose(self) -> None:
        stored, read = self._store.discovery.pages(self._topic.id), self._pages
        found = propose(
            [row for row in stored if row.operator != SEED],
            links=lambda url: read[url].known.links if url in read else (),
            watched=self._watched,
            hub_scores=self._hub_scores,
        )
        self._store.discovery.propose(self._topic.id, found, now=self._dependencies.now())

    def _hub_scores(self, anchors: Mapping[str, str]) -> dict[str, float]:
        evidence = [LinkEvidence(url=url, anchor=anchor or None) for url, anchor in anchors.items()]
        return dict(
            zip(anchors, map(float, self._dependencies.scorer.score(evidence)), strict=True)
        )

    # Pages.

    def _ranked(self, urls: Sequence[str]) -> Sequence[str]:
        wanted = set(urls)
        ranked = self._ranking.ranked()
        return [url for url in ranked if url in wanted]

    def _read(self, urls: Sequence[str]) -> list[KnownPage]:
        found = (self._pages.get(url) or self._fetched(url) for url in urls)
        return [read.known for read in found if read is not None]

    def _fetched(self, address: str) -> _Read | None:
        url = normalize(address)
        if url is None or trap(url) is not None:
            return None
        site = site_of(url)
        # Other sites are wanted, so pages of watched ones come from the cache only.
        if site in self._watched:
            return self._cached(url)
        most = self._wanted.max_pages_per_site
        if self._per_site[site] >= most or not self._waited(url):
            return None
        self._per_site[site] += 1
        reading = self._asked(url)
        if reading is None or reading.page.kind is not PageKind.HTML:
            return None
        return self._taken(url, reading)

    def _asked(self, url: str) -> Reading | None:
        """Fetch and read a page."""
        now = self._dependencies.now()
        response = fetch_once(self._store, self._settings, url, self._dependencies.fetch, now=now)
        if response.status is not FetchStatus.FETCHED:
            return None
        reading = self._dependencies.read(fetched_body(response))
        return None if isinstance(reading, Unread) else reading

    def _waited(self, url: str) -> bool:
        """Wait for the host's politeness delay; False if that is too long."""
        gate = HostGate(self._store, self._settings)
        now = self._dependencies.now()
        wait = gate.allowed_at(url, now) - now
        if wait > LONGEST_WAIT_SECONDS:
            return False
        if wait > 0:
            self._dependencies.pause(wait)
        return True

    def _cached(self, url: str) -> _Read | None:
        for at, body in cached_bodies(self._store, url):
            reading = self._dependencies.read(Body(at, body, want_text=True, for_topics=True))
            return None if isinstance(reading, Unread) else self._taken(url, reading)
        return None

    def _taken(self, url: str, reading: Reading) -> _Read:
        text = reading.text
        assert text is not None
        links = tuple(
            OutLink(target, link.anchor, link.context)
            for link in reading.page.links
            if (target := normalize(link.url)) is not None and target != url
        )
        self._keep(url, replace(text, url=url), links)
        self._rank_in(url)
        self._fresh[url] = self._pages[url]
        return self._pages[url]

    def _keep(self, url: str, text: PageText, links: tuple[OutLink, ...]) -> KnownPage:
        terms = self._model_store.background.vector(weighted_terms(text))
        words = tokens(text.meta, language_of_page(text))
        known = KnownPage(
            url,
            title=text.title,
            keywords=tuple(dict.fromkeys(words))[:TERMS],
            terms=tuple(term for term, _ in top(terms, TERMS)),
            links=links,
            text=" ".join([text.meta, *text.headings, text.body])[:WORDED_CHARS],
        )
        self._pages[url] = _Read(text, known)
        for link in links:
            sources = self._linkers.setdefault(link.url, [])
            if len(sources) < LINKERS_PER_PAGE:
                sources.append(url)
        return known

    def _rank_in(self, url: str) -> None:
        read = self._pages[url]
        targets = [link.url for link in read.known.links]
        self._ranking.add(url, weighted_terms(read.text), targets)
