"""How far topics may lead in a day, and to how many sites: also from one process to the next."""

from __future__ import annotations

import math

from stories import DAY, HOUR, START

from incremental.crawl.topic_errands import TopicErrands
from incremental.discovery.accepting import accept_sites
from incremental.urls import identity
from store import Store
from store.discovery import NewProposal
from store.values import NewLead


def lead_to(store: Store, *domains: str) -> int:
    topic = store.topics.add("bridges", ["bridge"], "fused", now=START)
    urls = [f"http://{domain}/bridge" for domain in domains]
    leads = [
        NewLead(topic, url, identity(url), domain, 0.9, "http://known.example/")
        for url, domain in zip(urls, domains, strict=True)
    ]
    store.topics.put_leads(leads, now=START)
    return topic


def follow(store: Store, errands: TopicErrands, now: float) -> None:
    (task,) = errands.due(now)
    store.topics.close_lead(task.page_id, "off topic")
    errands.done(task, now)


def test_a_day_of_leads_outlives_the_process(sqlite_store: Store) -> None:
    lead_to(sqlite_store, "a.example", "b.example", "c.example")
    for number in range(2):
        errands = TopicErrands(sqlite_store, explore=5, requests_per_day=2)
        errands.load(START + number)
        follow(sqlite_store, errands, START + number)
    errands = TopicErrands(sqlite_store, explore=5, requests_per_day=2)
    errands.load(START + HOUR)
    assert errands.due(START + HOUR) == []
    assert errands.next_at() == START + DAY


def test_sites_that_were_accepted_are_not_sites_that_leads_found(sqlite_store: Store) -> None:
    topic = lead_to(sqlite_store, "a.example")
    sqlite_store.discovery.propose(topic, [NewProposal("d.example", 0.9)], now=START)
    offers = sqlite_store.discovery.proposals(topic)
    accept_sites(sqlite_store, offers, topic="bridges", now=START)
    errands = TopicErrands(sqlite_store, explore=1, requests_per_day=2)
    errands.load(START)
    assert errands.room() == 1
    assert not math.isinf(errands.next_at())


def test_leads_take_turns_by_host_the_best_of_each_first(sqlite_store: Store) -> None:
    """Paper 004: pages in a row are of different hosts, as far as others wait."""
    topic = sqlite_store.topics.add("bridges", ["bridge"], "fused", now=START)
    leads = [
        NewLead(topic, url, identity(url), url.split("/")[2], score, "http://known.example/")
        for url, score in (
            ("http://a.example/1", 0.9),
            ("http://a.example/2", 0.8),
            ("http://a.example/3", 0.7),
            ("http://b.example/1", 0.2),
        )
    ]
    sqlite_store.topics.put_leads(leads, now=START)
    errands = TopicErrands(sqlite_store, explore=9, requests_per_day=9)
    errands.load(START)
    followed = []
    for _ in range(4):
        (task,) = errands.due(START)
        followed.append(task.url)
        follow(sqlite_store, errands, START)
    assert followed == [
        f"http://{path}" for path in ("a.example/1", "b.example/1", "a.example/2", "a.example/3")
    ]
    assert errands.due(START) == []


def test_a_lead_that_turns_out_better_comes_before_others(sqlite_store: Store) -> None:
    topic = lead_to(sqlite_store, "a.example", "b.example", "c.example")
    errands = TopicErrands(sqlite_store, explore=9, requests_per_day=9)
    errands.load(START)
    url = "http://c.example/bridge"
    better = NewLead(topic, url, identity(url), "c.example", 0.95, "http://known.example/")
    errands.offer([better])
    sqlite_store.topics.put_leads([better], now=START)
    follow(sqlite_store, errands, START)
    (task,) = errands.due(START)
    assert task.url == url
