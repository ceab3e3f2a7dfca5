"""How far topics may lead in a day, and to how many sites: also from one process to the next."""

from __future__ import annotations

import math

from stories import DAY, HOUR, START

from incremental.base.urls import canonical_key
from incremental.crawl.topic_fetches import TopicFetches
from incremental.features.discovery.accepting import accept_sites
from store import Store
from store.discovery.values import NewProposal
from store.values import NewExternalCandidate


def lead_to(store: Store, *domains: str) -> int:
    topic = store.topics.add("bridges", ["bridge"], "fused", now=START)
    urls = [f"http://{domain}/bridge" for domain in domains]
    external_candidates = [
        NewExternalCandidate(topic, url, canonical_key(url), domain, 0.9, "http://known.example/")
        for url, domain in zip(urls, domains, strict=True)
    ]
    store.topics.put_external_candidates(external_candidates, now=START)
    return topic


def follow(store: Store, topic_fetches: TopicFetches, now: float) -> None:
    (task,) = topic_fetches.due(now)
    store.topics.close_external_candidate(task.page_id, "off topic")
    topic_fetches.done(task, now)


def test_a_day_of_external_candidates_outlives_the_process(sqlite_store: Store) -> None:
    lead_to(sqlite_store, "a.example", "b.example", "c.example")
    for number in range(2):
        topic_fetches = TopicFetches(sqlite_store, explore=5, requests_per_day=2)
        topic_fetches.load(START + number)
        follow(sqlite_store, topic_fetches, START + number)
    topic_fetches = TopicFetches(sqlite_store, explore=5, requests_per_day=2)
    topic_fetches.load(START + HOUR)
    assert topic_fetches.due(START + HOUR) == []
    assert topic_fetches.next_at() == START + DAY


def test_sites_that_were_accepted_are_not_sites_that_external_candidates_found(
    sqlite_store: Store,
) -> None:
    topic = lead_to(sqlite_store, "a.example")
    sqlite_store.discovery.propose(topic, [NewProposal("d.example", 0.9)], now=START)
    offers = sqlite_store.discovery.proposals(topic)
    accept_sites(sqlite_store, offers, topic="bridges", now=START)
    topic_fetches = TopicFetches(sqlite_store, explore=1, requests_per_day=2)
    topic_fetches.load(START)
    assert topic_fetches.room() == 1
    assert not math.isinf(topic_fetches.next_at())


def test_external_candidates_take_turns_by_host_the_best_of_each_first(sqlite_store: Store) -> None:
    """Paper 004: pages in a row are of different hosts, as far as others wait."""
    topic = sqlite_store.topics.add("bridges", ["bridge"], "fused", now=START)
    external_candidates = [
        NewExternalCandidate(
            topic, url, canonical_key(url), url.split("/")[2], score, "http://known.example/"
        )
        for url, score in (
            ("http://a.example/1", 0.9),
            ("http://a.example/2", 0.8),
            ("http://a.example/3", 0.7),
            ("http://b.example/1", 0.2),
        )
    ]
    sqlite_store.topics.put_external_candidates(external_candidates, now=START)
    topic_fetches = TopicFetches(sqlite_store, explore=9, requests_per_day=9)
    topic_fetches.load(START)
    followed = []
    for _ in range(4):
        (task,) = topic_fetches.due(START)
        followed.append(task.url)
        follow(sqlite_store, topic_fetches, START)
    assert followed == [
        f"http://{path}" for path in ("a.example/1", "b.example/1", "a.example/2", "a.example/3")
    ]
    assert topic_fetches.due(START) == []


def test_an_external_candidate_that_turns_out_better_comes_before_others(
    sqlite_store: Store,
) -> None:
    topic = lead_to(sqlite_store, "a.example", "b.example", "c.example")
    topic_fetches = TopicFetches(sqlite_store, explore=9, requests_per_day=9)
    topic_fetches.load(START)
    url = "http://c.example/bridge"
    better = NewExternalCandidate(
        topic, url, canonical_key(url), "c.example", 0.95, "http://known.example/"
    )
    topic_fetches.offer([better])
    sqlite_store.topics.put_external_candidates([better], now=START)
    follow(sqlite_store, topic_fetches, START)
    (task,) = topic_fetches.due(START)
    assert task.url == url
