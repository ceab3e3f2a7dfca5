"""A run finds what its operators can find, once, and goes on where it was cut off."""

from __future__ import annotations

import json
from collections.abc import Sequence

from incremental.discovery.bandit import Bandit
from incremental.discovery.exploration import Exploration, ExplorationState
from incremental.discovery.operators import Forward, KnownPage, OutLink, Sources, operators

GRAPH = {
    "http://a/1": ["http://a/2", "http://b/1", "http://c/off"],
    "http://a/2": ["http://a/1", "http://b/2"],
    "http://b/1": ["http://b/2", "http://b/3"],
    "http://b/2": [],
    "http://b/3": ["http://gone/"],
    "http://c/off": ["http://c/more"],
    "http://c/more": [],
}


class World:
    """A small web; pages of host c are off topic."""

    def __init__(self) -> None:
        self.read_urls: list[str] = []

    def read(self, urls: Sequence[str]) -> list[KnownPage]:
        self.read_urls += urls
        return [
            KnownPage(url, links=tuple(map(OutLink, GRAPH[url]))) for url in urls if url in GRAPH
        ]

    def rank(self, urls: Sequence[str]) -> list[str]:
        return sorted(urls, key=lambda url: (url.startswith("http://c"), url))

    def run(self, state: ExplorationState | None = None) -> Exploration:
        ways = operators(
            Sources(lambda _url, _count: [], self.read), [], "", state.asked if state else ASKED
        )
        seeds = self.read(["http://a/1"])
        return Exploration(
            ways,
            state or ExplorationState(Bandit.over(list(ways))),
            seeds,
            read=self.read,
            rank=self.rank,
        )


ASKED = ExplorationState(Bandit.over([])).asked


def test_everything_that_can_be_reached_is_read_once() -> None:
    world = World()
    run = world.run()
    while run.step(20) is not None:
        pass
    assert set(run.ranked()) == set(GRAPH)
    assert len(world.read_urls) == len(set(world.read_urls))


def test_a_round_tells_what_it_did() -> None:
    run = World().run()
    first = run.step(2)
    assert first is not None
    assert (first.number, first.operator, first.asked) == (1, "forward", 2)
    assert [one.via for one in first.found] == ["http://a/1", "http://a/1"]
    assert 0.0 < first.reward <= 1.0


def test_a_run_goes_on_after_a_kill() -> None:
    world = World()
    run = world.run()
    run.step(2)
    stored = json.loads(json.dumps(run.state.to_json()))
    again = World().run(ExplorationState.from_json(stored, ["forward", "backward"]))
    while again.step(20) is not None:
        pass
    assert set(again.ranked()) == set(GRAPH)
    assert again.state.rounds > 1


def test_a_page_that_links_nowhere_ends_the_run() -> None:
    def read(urls: Sequence[str]) -> list[KnownPage]:
        return [KnownPage(url) for url in urls]

    ways = {"forward": Forward([])}
    state = ExplorationState(Bandit.over(list(ways)))
    run = Exploration(ways, state, read(["http://only/"]), read=read, rank=list)
    assert run.step(20) is None
    assert run.ranked() == ["http://only/"]
