"""A run finds what its operators can find, once."""

from collections.abc import Sequence

import pytest

from incremental.features.discovery.exploration import (
    CALLS_PER_ROUND,
    Exploration,
)
from incremental.features.discovery.operators import (
    Candidate,
    Forward,
    KnownPage,
    Operator,
    OutLink,
    Sources,
    operators,
)

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

    def run(self) -> Exploration:
        ways = operators(Sources(lambda _url, _count: [], self.read), [], "")
        seeds = self.read(["http://a/1"])
        return Exploration(ways, seeds, read=self.read, rank=self.rank)


def test_everything_that_can_be_reached_is_read_once() -> None:
    world = World()
    run = world.run()
    while run.step(20) is not None:
        pass
    assert set(run.ranked()) == set(GRAPH)
    assert len(world.read_urls) == len(set(world.read_urls))


def test_a_round_tells_what_it_did() -> None:
    run = World().run()
    assert run.step(2) == "forward"
    assert run.rounds == 1
    assert [*run.finds.values()] == ["http://a/1", "http://a/1"]
    assert 0.0 < run.bandit.arms["forward"].mean_reward <= 1.0


def test_a_page_that_links_nowhere_ends_the_run() -> None:
    def read(urls: Sequence[str]) -> list[KnownPage]:
        return [KnownPage(url) for url in urls]

    ways = {"forward": Forward([])}
    run = Exploration(ways, read(["http://only/"]), read=read, rank=list)
    assert run.step(20) is None
    assert run.ranked() == ["http://only/"]


class Scripted(Operator):
    """Returns the candidates that the test says, call by call; keeps the seeds it was given."""

    seeds = 3
    share = 0.5

    def __init__(self, name: str, *answers: int) -> None:
        self.name = name
        self.given: list[Sequence[KnownPage]] = []
        self._answers = list(answers)

    def _found(self, seeds: Sequence[KnownPage]) -> list[Candidate]:
        self.given.append(seeds)
        number = self._answers.pop(0) if self._answers else 0
        urls = [f"http://{self.name}/{len(self.given)}/{place}" for place in range(number)]
        return [Candidate(url, via="why") for url in urls]


def scripted(*operators: Scripted) -> Exploration:
    def read(urls: Sequence[str]) -> list[KnownPage]:
        return [KnownPage(url) for url in urls]

    ways = {one.name: one for one in operators}
    return Exploration(ways, read(["http://seed/"]), read=read, rank=list)


def test_an_operator_that_found_nothing_is_covered_ever_longer() -> None:
    """Nothing is known of it but that it is dry; UCB1 alone would choose it again and again."""
    dry, rich = Scripted("dry"), Scripted("rich", *[20] * 70)
    run = scripted(dry, rich)
    for _ in range(70):
        assert run.step(20) is not None
    rounds_tried = len(dry.given) / CALLS_PER_ROUND
    assert 2 <= rounds_tried <= 6


def test_all_that_rest_are_tried_before_a_run_is_over() -> None:
    """The second finds something only when it is asked again, and wakes the first by that."""
    first, second = Scripted("first"), Scripted("second", *[0] * CALLS_PER_ROUND, 5)
    run = scripted(first, second)
    assert (run.step(20), len(run.finds)) == ("second", 5)
    assert run.step(20) is None


def test_a_round_is_filled_by_further_calls() -> None:
    """Rounds of two pages would be chosen for their bonus, and their rewards tell little."""
    operator = Scripted("few", 2, 3, 4, 20)
    run = scripted(operator)
    assert (run.step(20), len(run.finds)) == ("few", 9)


def test_seeds_tell_what_led_to_them_and_how_far_up_they_stand() -> None:
    operator = Scripted("any", 20, 20)
    run = scripted(operator)
    run.step(20)
    run.step(20)
    seeds = operator.given[-1]
    assert [seed.via for seed in seeds[:2]] == ["", "why"]
    assert (seeds[0].worth, len(seeds)) == (1.0, 10)
    assert seeds[-1].worth == pytest.approx(1 - 9 / 21)
