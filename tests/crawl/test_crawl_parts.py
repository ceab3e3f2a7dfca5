"""A crawler visits its part of the sites, and what belongs to no site only if it leads."""

import json
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fake_web import DAY, HOUR, FakeWeb, Watch, page, watch
from topic_web import EXAMPLES, topic_of, two_subjects, watch_topic

from incremental.crawl.part import Part
from incremental.topics.model_store import BACKGROUND

A, B = "https://a.example/", "https://b.example/"
FIRST, SECOND = 1, 2


@dataclass
class Some(Part):
    """A part that changes as a test says."""

    sites: set[int] = field(default_factory=set)
    leaving: set[int] = field(default_factory=set)
    is_leader: bool = False

    def has(self, site_id: int) -> bool:
        return site_id in self.sites

    def gives_up(self, site_id: int) -> bool:
        return site_id in self.leaving


class Later(Executor):
    """Runs what was submitted when a test says so."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, lambda: fn(*args, **kwargs)))
        return future

    def run(self) -> None:
        held, self.held = self.held, []
        for future, work in held:
            future.set_result(work())


def pages() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for home in (A, B):
        found[home] = page("/one.html", "/two.html")
        found |= {
            f"{home}{name}.html": page(title=name, text="Words. " * 90) for name in ("one", "two")
        }
    return found


def asked(crawl: Watch) -> set[str]:
    return {home for home in (A, B) if times(crawl, home)}


def times(crawl: Watch, home: str) -> int:
    return sum(url.startswith(home) for url in crawl.web.urls())


def until_one_is_under_way(crawl: Watch, later: Later) -> None:
    crawl.crawler.step(crawl.clock.now())
    while not later.held:
        crawl.clock.advance_to(crawl.clock.now() + 60)
        crawl.crawler.step(crawl.clock.now())


def load(crawl: Watch) -> None:
    crawl.crawler.load(crawl.clock.now())


def test_only_sites_of_the_part_are_asked(tmp_path: Path) -> None:
    part = Some({FIRST})
    with watch(tmp_path, pages(), A, B, part=part) as crawl:
        crawl.run(DAY / 4)
        assert asked(crawl) == {A}
        part.sites = {SECOND}
        load(crawl)
        before = times(crawl, A)
        crawl.run(DAY)
        assert asked(crawl) == {A, B}
        assert times(crawl, A) == before


def test_what_is_under_way_when_a_site_is_given_up_is_recorded_and_nothing_more_begins(
    tmp_path: Path,
) -> None:
    part, later = Some({FIRST}), Later()
    with watch(tmp_path, pages(), A, part=part, executor=later) as crawl:
        until_one_is_under_way(crawl, later)
        later.run()  # robots.txt
        until_one_is_under_way(crawl, later)
        assert crawl.crawler.engine.sites == {FIRST}
        part.sites, part.leaving = set(), {FIRST}
        load(crawl)
        later.run()
        crawl.clock.advance_to(crawl.clock.now() + HOUR)
        crawl.crawler.step(crawl.clock.now())
        assert crawl.crawler.idle
        assert not later.held
        hub = crawl.hub(A)
        assert hub is not None
        assert hub.visits == 1
        part.leaving = set()
        load(crawl)
        crawl.clock.advance_to(crawl.clock.now() + DAY)
        crawl.crawler.step(crawl.clock.now())
        assert crawl.crawler.idle


def test_examples_of_topics_are_fetched_by_the_leader(tmp_path: Path) -> None:
    part = Some({FIRST})
    with watch_topic(tmp_path, two_subjects(), part=part) as crawl:
        crawl.run(HOUR)
        assert not set(EXAMPLES) & set(crawl.web.urls())
        assert topic_of(crawl).state == "waiting"
        part.is_leader = True
        load(crawl)
        crawl.run(HOUR)
        assert set(EXAMPLES) <= set(crawl.web.urls())
        assert topic_of(crawl).state == "ready"


def kept_counts(crawl: Watch) -> int:
    """How many pages the kept term counts are of."""
    kept = crawl.store.space.noted(BACKGROUND)[1]
    return int(json.loads(kept)["pages"]) if kept else 0


def kept_links(crawl: Watch) -> Any:
    return json.loads(crawl.store.topics.links(topic_of(crawl).id) or "null")


def test_a_daemon_that_comes_to_lead_goes_on_with_what_the_last_leader_kept(tmp_path: Path) -> None:
    leader, other = Some({FIRST}, is_leader=True), Some()
    with watch_topic(tmp_path, two_subjects(), part=leader) as crawl:
        crawl.run(HOUR)
        with Watch(tmp_path, FakeWeb(crawl.clock, two_subjects()), part=other) as second:
            load(second)
            crawl.run(12 * HOUR)
            crawl.crawler.drain(crawl.clock.now())
            counts, links = kept_counts(crawl), kept_links(crawl)
            other.is_leader = True
            load(second)
            second.crawler.topics._learned_more = True
            second.crawler.drain(crawl.clock.now())
            assert kept_counts(second) == counts > 0
            assert kept_links(second) == links


def test_a_daemon_that_does_not_lead_judges_with_what_the_leader_trained(tmp_path: Path) -> None:
    """With its term counts as well, on which the model's threshold rests."""
    leader, other = Some({FIRST}, is_leader=True), Some()
    with watch_topic(tmp_path, two_subjects(), part=leader) as crawl:
        crawl.run(HOUR)
        with Watch(tmp_path, FakeWeb(crawl.clock, two_subjects()), part=other) as second:
            crawl.run(12 * HOUR)
            crawl.crawler.drain(crawl.clock.now())
            own = second.crawler.topics._active_topics[topic_of(crawl).id]
            assert own.model.background.pages == 0
            links = own.links
            models = crawl.crawler.topics._model_store
            assert models is not None
            models.learn(topic_of(crawl))
            assert topic_of(crawl).version != own.row.version
            second.crawler.topics._learned_more = True
            second.crawler.topics.keep(crawl.clock.now())
            own = second.crawler.topics._active_topics[topic_of(crawl).id]
            assert own.row.version == topic_of(crawl).version
            assert own.model.background.pages == kept_counts(crawl) > 0
            assert own.links is links
