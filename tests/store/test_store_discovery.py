"""Discovery in the store: what was read stays, and what was decided stays decided."""

import json
from typing import Any

from stories import START

from incremental.base.urls import canonical_key
from store import Store
from store.discovery.values import (
    NewProposal,
    ProposalState,
    ProposedHub,
    ProposedPage,
    ReadPage,
)


def topic(store: Store, name: str = "bridges") -> int:
    return store.topics.add(name, ["bridge"], "fused", now=START)


def page(url: str, *targets: str, **fields: Any) -> ReadPage:
    return ReadPage(url, canonical_key(url), "forward", links=targets, **fields)


def offer(host: str, score: float) -> NewProposal:
    return NewProposal(host, score, "", (), ())


def test_a_topic_has_its_last_run(store: Store) -> None:
    wanted = topic(store)
    assert store.discovery.last_run(wanted) is None
    store.discovery.begin(wanted, now=START)
    ended = store.discovery.end(wanted, "all rounds done", "slow", now=START + 9)
    assert (ended.why, ended.note, ended.ended_at) == ("all rounds done", "slow", START + 9)
    store.discovery.begin(wanted, now=START + 20)
    last = store.discovery.last_run(wanted)
    assert last is not None
    assert (last.why, last.note, last.started_at, last.ended_at) == ("", "", START + 20, None)


def test_pages_of_a_round_are_recorded_once(store: Store) -> None:
    wanted = topic(store)
    for _ in range(2):
        store.discovery.record(wanted, [page("http://a.org/1", "http://b.org/")], now=START)
    assert store.discovery.pages(wanted) == [page("http://a.org/1", "http://b.org/")]


def test_the_oldest_pages_give_way(store: Store) -> None:
    wanted, other = topic(store), topic(store, "rivers")
    for number in range(4):
        for of in (wanted, other):
            store.discovery.record(of, [page(f"http://a.org/{number}", "http://x.org/")], now=START)
    store.discovery.begin(wanted, now=START, keep=2)
    kept = ["http://a.org/2", "http://a.org/3"]
    assert [one.url for one in store.discovery.pages(wanted)] == kept
    assert len(store.discovery.pages(other)) == 4


def test_proposals_come_best_first_and_decisions_stay(store: Store) -> None:
    wanted = topic(store)
    best = (ProposedPage("http://a.org/1", "Bridge <b>", 0.9),)
    hubs = (ProposedHub("http://a.org/", 0.9),)
    offers = [offer("b.org", 0.4), NewProposal("a.org", 0.8, "", best, hubs)]
    store.discovery.propose(wanted, offers, now=START)
    first, second = store.discovery.proposals(wanted)
    assert (first.host, first.pages, first.hubs, second.host) == ("a.org", best, hubs, "b.org")
    assert store.discovery.decide([first.id], ProposalState.REJECTED) == 1
    store.discovery.propose(wanted, [offer("a.org", 0.99)], now=START + 2)
    (rejected,) = store.discovery.proposals(wanted, "rejected")
    assert rejected.score == 0.8
    assert store.discovery.proposal_counts() == {wanted: {"proposed": 1, "rejected": 1}}


def test_hostile_texts_are_kept_within_bounds(store: Store) -> None:
    wanted = topic(store)
    odd = page("http://a.org/", title="\0\ud800" + "x" * 10_000, text=json.dumps("y" * 100_000))
    store.discovery.record(wanted, [odd], now=START)
    (kept,) = store.discovery.pages(wanted)
    assert len(kept.title) <= 500
    assert kept.text == "{}"


def test_with_the_topic_goes_all_that_was_found_for_it(store: Store) -> None:
    wanted = topic(store)
    store.discovery.begin(wanted, now=START)
    store.discovery.record(wanted, [page("http://a.org/")], now=START)
    store.discovery.propose(wanted, [offer("a.org", 0.4)], now=START)
    store.topics.remove(wanted)
    assert store.discovery.last_run(wanted) is None
    assert store.discovery.proposals(wanted, None) == []
    assert store.discovery.pages(wanted) == []
