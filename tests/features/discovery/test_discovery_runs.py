"""A run from a topic's pages proposes the right other sites, goes on after a kill, and stays polite."""

from itertools import pairwise
from typing import Any

import pytest
from stories import START

from classifier.hub import LinkEvidence
from classifier.words.segmentation import tokens
from classifier.words.values import PageText
from incremental.base.errors import InputError
from incremental.base.texts import read_text
from incremental.base.urls import canonical_key
from incremental.features.discovery.discoverer import Dependencies, Discoverer
from incremental.features.discovery.facts import accept_sites
from incremental.features.discovery.search_provider import Search, SearchAnswer
from incremental.fetch.status import FetchStatus, Request, Response
from incremental.settings import Settings, build_settings
from incremental.topics.editing import begin
from incremental.topics.judging import to_text
from incremental.topics.model_store import TopicModelStore
from store import Store
from store.discovery.values import ProposalState
from store.enums import ExampleOrigin
from store.topics.values import NewExample
from store.values import SeenLink

BRIDGE = (
    "The steel bridge over the river has new cables, a longer span and a wider deck for trains. "
)
GOAL = "The team won the match with a late goal, and the coach praised the keeper in the stadium. "


def page(title: str, text: str, *links: str) -> bytes:
    anchors = "".join(f'<p><a href="{url}">{url.rsplit("/", 1)[-1]}</a></p>' for url in links)
    return f"<title>{title}</title><article><p>{text * 6}</p></article>{anchors}".encode()


PAGES = {
    "http://known.example/bridge": page(
        "A bridge", BRIDGE, "http://spans.example/list", "http://sport.example/goal"
    ),
    "http://spans.example/list": page(
        "Bridges", BRIDGE, *(f"http://spans.example/bridge-{n}" for n in range(3)),
        "http://cables.example/bridge",
    ),
    **{f"http://spans.example/bridge-{n}": page(f"Bridge {n}", BRIDGE) for n in range(3)},
    "http://cables.example/bridge": page("Cables of a bridge", BRIDGE),
    "http://sport.example/goal": page("A goal", GOAL, "http://sport.example/match"),
    "http://sport.example/match": page("A match", GOAL),
    "http://found.example/bridge": page("Bridge found by words", BRIDGE),
}  # fmt: skip


class World:
    """A small web with a clock; counts what is asked, and when."""

    def __init__(self) -> None:
        self.time = START
        self.asked: list[tuple[str, float]] = []

    def fetch(self, request: Request) -> Response:
        self.asked.append((request.url, self.time))
        body = PAGES.get(request.url)
        if body is None:
            return Response(request.url, FetchStatus.GONE, http_code=404)
        headers = {"content-type": "text/html; charset=utf-8"}
        return Response(request.url, FetchStatus.FETCHED, http_code=200, headers=headers, body=body)

    def pause(self, seconds: float) -> None:
        self.time += seconds

    def pages(self) -> list[str]:
        return [url for url, _ in self.asked if not url.endswith("robots.txt")]


class Lists:
    """Takes addresses that end in "list" for hubs."""

    version = "test"

    def score(self, links: list[LinkEvidence]) -> list[float]:
        return [0.9 if link.url.endswith("list") else 0.1 for link in links]

    def score_page(self, *_: object) -> Any:
        raise NotImplementedError


class Words:
    """A search provider that knows one page, and fails when told."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem
        self.queries: list[str] = []

    def __call__(self, query: str, _count: int, _page: int, /) -> SearchAnswer:
        self.queries.append(query)
        found = ("http://found.example/bridge", "http://10.0.0.1/")
        return SearchAnswer(() if self.problem else found, self.problem)


@pytest.fixture
def bridges(sqlite_store: Store) -> Store:
    """A store that watches known.example, and a topic with its page as the example."""
    sqlite_store.write.add_site("http://known.example/", "known.example", now=START)
    topic = sqlite_store.topics.add("bridges", [], "fused", now=START)
    url = "http://known.example/bridge"
    sqlite_store.cache.put(url, PAGES[url])
    text = PageText(url, title="A bridge", body=BRIDGE * 6)
    example = NewExample(url, canonical_key(url), ExampleOrigin.EXAMPLE, text=to_text(text))
    sqlite_store.topics.put_examples(topic, [example], now=START)
    row = sqlite_store.topics.topic("bridges")
    assert row is not None
    TopicModelStore(sqlite_store).learn(row)
    return sqlite_store


def discoverer(
    store: Store,
    world: World,
    search: Search | None,
    settings: Settings | None = None,
) -> Discoverer:
    topic = store.topics.topic("bridges")
    assert topic is not None
    dependencies = Dependencies(
        fetch=world.fetch,
        scorer=Lists(),  # type: ignore[arg-type] # scores lists
        search=search,
        now=lambda: world.time,
        pause=world.pause,
    )
    return Discoverer(store, settings or Settings(), topic, TopicModelStore(store), dependencies)


def proposed(store: Store) -> list[str]:
    topic = store.topics.topic("bridges")
    assert topic is not None
    return [one.host for one in store.discovery.proposals(topic.id)]


def test_words_lead_to_a_site_and_links_to_others(bridges: Store) -> None:
    world = World()
    run = discoverer(bridges, world, Words()).run(rounds=20, pages=50)
    assert run.ended_at is not None
    assert "found.example" in proposed(bridges)
    assert "known.example" not in proposed(bridges)
    assert "http://found.example/bridge" in world.pages()


def test_questions_are_of_words_as_pages_write_them(bridges: Store) -> None:
    """No search engine knows the stems that pages are compared by ("bridg", "prais")."""
    words = Words()
    discoverer(bridges, World(), words).run(rounds=20, pages=50)
    asked = {word for query in words.queries for word in query.split()}
    written = {word.strip(".,").lower() for word in (BRIDGE + GOAL).split()}
    stems = set(tokens(BRIDGE + GOAL, "en")) - written
    assert asked & (written - stems)
    assert "bridg" in stems
    assert not asked & stems


def test_links_alone_lead_from_site_to_site(bridges: Store) -> None:
    """What an example links to is read from the cache: its site is watched, and not asked."""
    site = bridges.read.sites()[0].id
    url = "http://known.example/bridge"
    ids = bridges.write.add_pages(site, [SeenLink(canonical_key(url), url)], now=START)
    digest = bridges.cache.put(url, PAGES[url])
    bridges.write.update_page(ids[canonical_key(url)], body_md5=digest)
    world = World()
    discoverer(bridges, world, None).run(rounds=30, pages=50)
    found = proposed(bridges)
    assert url not in world.pages()
    assert found[0] == "spans.example"
    assert "cables.example" in found
    assert "sport.example" not in found


def test_the_next_run_goes_on_where_the_last_one_ended(
    bridges: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pages of earlier runs do not count against its own bounds."""
    chain = [f"http://s{n}.example/bridge-0" for n in range(20)]
    for n, url in enumerate(chain):
        monkeypatch.setitem(PAGES, url, page(f"Bridge {n}", BRIDGE, *chain[n + 1 : n + 4]))
    start = page("A bridge", BRIDGE, *chain[:3])
    monkeypatch.setitem(PAGES, "http://known.example/bridge", start)
    world = World()
    read = []
    for _ in range(3):
        discoverer(bridges, world, None).run(rounds=20, pages=6)
        read.append(len(world.pages()))
    assert read[0] < read[1] < read[2]
    assert len(set(world.pages())) == len(world.pages())


def test_after_a_kill_the_next_run_fetches_nothing_twice(bridges: Store) -> None:
    class KilledError(Exception):
        pass

    def killed(*_: object) -> None:
        raise KilledError

    world = World()
    with pytest.raises(KilledError):
        discoverer(bridges, world, Words()).run(rounds=9, pages=50, progress=killed)
    (topic,) = bridges.topics.topics()
    cut_off = bridges.discovery.last_run(topic.id)
    assert cut_off is not None
    assert cut_off.ended_at is None
    assert world.pages()
    run = discoverer(bridges, world, Words()).run(rounds=9, pages=50)
    assert run.ended_at is not None
    assert len(set(world.pages())) == len(world.pages())


def test_one_host_is_asked_with_its_pause(bridges: Store) -> None:
    world = World()
    discoverer(bridges, world, Words()).run(rounds=20, pages=50)
    by_host: dict[str, list[float]] = {}
    for url, at in world.asked:
        if not url.endswith("robots.txt"):
            by_host.setdefault(url.split("/")[2], []).append(at)
    for times in by_host.values():
        assert all(later > before for before, later in pairwise(times))


def test_a_site_is_read_a_few_times_only(bridges: Store) -> None:
    settings = build_settings({"discovery": {"max_pages_per_site": 1}})
    world = World()
    discoverer(bridges, world, Words(), settings).run(rounds=20, pages=50)
    hosts = [url.split("/")[2] for url in world.pages()]
    assert len(hosts) == len(set(hosts))


def test_a_provider_in_trouble_ends_no_run(bridges: Store) -> None:
    run = discoverer(bridges, World(), Words("it is down")).run(rounds=10, pages=50)
    assert read_text(run.why) == "no operator found anything more"
    assert run.note == "the search provider: it is down"


def test_a_topic_without_pages_says_what_it_needs(sqlite_store: Store) -> None:
    sqlite_store.topics.add("bridges", ["bridge"], "fused", now=START)
    row = sqlite_store.topics.topic("bridges")
    assert row is not None
    TopicModelStore(sqlite_store).learn(row)
    with pytest.raises(InputError, match="at least one example page"):
        discoverer(sqlite_store, World(), Words())


@pytest.fixture
def described(sqlite_store: Store) -> Store:
    """A store with a topic of one sentence."""
    sentence = "Steel bridges over the rivers with new cables"
    row, _ = begin(
        sqlite_store, "bridges", examples=(), keywords=(), description=sentence, now=START
    )
    TopicModelStore(sqlite_store).learn(row)
    return sqlite_store


def test_a_sentence_is_enough_to_search_with_its_words(described: Store) -> None:
    words = Words()
    world = World()
    settings = build_settings({"discovery": {"linkers_query": "link:{url}"}})
    run = discoverer(described, world, words, settings).run(rounds=20, pages=50)
    assert run.ended_at is not None
    assert proposed(described) == ["found.example"]
    assert words.queries[0] == "steel bridges rivers cables"
    assert all(query.strip() for query in words.queries)
    assert "link:" not in words.queries
    assert "" not in world.pages()


def test_a_sentence_without_a_search_provider_says_what_it_needs(described: Store) -> None:
    with pytest.raises(InputError, match=r"set \[discovery\] url"):
        discoverer(described, World(), None)


def test_accepted_sites_are_watched_from_their_hubs(bridges: Store) -> None:
    world = World()
    discoverer(bridges, world, Words()).run(rounds=20, pages=50)
    topic = bridges.topics.topic("bridges")
    assert topic is not None
    offers = bridges.discovery.proposals(topic.id)
    accept_sites(bridges, offers, topic="bridges", now=START)
    seeds = {row.seed_url for row in bridges.read.sites()}
    assert {f"http://{one.host}/" for one in offers} <= seeds
    assert proposed(bridges) == []
    discoverer(bridges, world, Words()).run(rounds=5, pages=50)
    assert not {one.host for one in offers} & set(proposed(bridges))


def test_rejected_sites_are_not_proposed_again(bridges: Store) -> None:
    world = World()
    discoverer(bridges, world, Words()).run(rounds=20, pages=50)
    topic = bridges.topics.topic("bridges")
    assert topic is not None
    (first, *_) = bridges.discovery.proposals(topic.id)
    bridges.discovery.decide([first.id], ProposalState.REJECTED)
    discoverer(bridges, world, Words()).run(rounds=20, pages=50)
    assert first.host not in proposed(bridges)
    assert first.pages
