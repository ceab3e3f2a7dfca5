"""How far topics may lead in a day, and to how many sites: also from one process to the next."""

from __future__ import annotations

import math

from stories import DAY, HOUR, START

from incremental.crawl.topic_errands import TopicErrands
from incremental.learning.proposals import accept_sites
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
