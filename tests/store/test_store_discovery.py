"""Discovery in the store: a run goes on after a kill, and what was decided stays decided."""

from __future__ import annotations

import json
from typing import Any

from stories import START

from incremental.base.urls import canonical_key
from store import Store
from store.discovery.values import LinkingPage, NewProposal, ProposalState, RoundRecord, RoundRow


def topic(store: Store, name: str = "bridges") -> int:
    return store.topics.add(name, ["bridge"], "fused", now=START)


def page(url: str, *targets: str, **fields: Any) -> LinkingPage:
    host = url.split("/")[2]
    return LinkingPage(url, canonical_key(url), host, "forward", targets=targets, **fields)


def a_round(number: int = 1, **fields: Any) -> RoundRow:
    base = {"asked": 2, "found": 1, "sites": 1, "reward": 0.5, "note": "", "at": START + number}
    return RoundRow(number, "forward", '{"forward": null}', **{**base, **fields})


def test_a_run_that_was_cut_off_is_found_again(store: Store) -> None:
    wanted = topic(store)
    run = store.discovery.begin(wanted, rounds=5, pages=100, now=START)
    state = json.dumps({"rounds": 1})
    store.discovery.record(RoundRecord(run, wanted, a_round(), state, [page("http://a.org/1")]))
    found = store.discovery.unfinished(wanted)
    assert found is not None
    assert (found.id, found.exploration, found.rounds, found.pages) == (run, state, 5, 100)
    store.discovery.end(run, "done", "all rounds done", now=START + 9)
    assert store.discovery.unfinished(wanted) is None
    last = store.discovery.last_run(wanted)
    assert last is not None
    assert (last.status, last.ended_at) == ("done", START + 9)


def test_a_round_is_recorded_once(store: Store) -> None:
    wanted = topic(store)
    run = store.discovery.begin(wanted, rounds=5, pages=100, now=START)
    record = RoundRecord(run, wanted, a_round(), "{}", [page("http://a.org/1", "http://b.org/")])
    store.discovery.record(record)
    store.discovery.record(record)
    assert store.discovery.rounds(run) == [a_round()]
    assert [one.url for one in store.discovery.pages(wanted)] == ["http://a.org/1"]
    assert store.discovery.links(wanted) == [("http://a.org/1", "http://b.org/")]


def test_an_ended_run_leaves_no_state(store: Store) -> None:
    wanted = topic(store)
    run = store.discovery.begin(wanted, rounds=5, pages=100, now=START)
    store.discovery.record(RoundRecord(run, wanted, a_round(), '{"rounds": 1}', []))
    store.discovery.end(run, "done", "all rounds done", now=START + 9)
    last = store.discovery.last_run(wanted)
    assert last is not None
    assert last.exploration == "{}"


def test_the_oldest_pages_and_runs_give_way_with_their_links(store: Store) -> None:
    wanted, other = topic(store), topic(store, "rivers")
    for number in range(4):
        for of in (wanted, other):
            run = store.discovery.begin(of, rounds=5, pages=100, now=START)
            read = [page(f"http://a.org/{number}", "http://x.org/")]
            store.discovery.record(RoundRecord(run, of, a_round(), "{}", read))
            store.discovery.end(run, "done", "all rounds done", now=START + 9)
    store.discovery.forget(wanted, pages=2, runs=3)
    kept = ["http://a.org/2", "http://a.org/3"]
    assert [one.url for one in store.discovery.pages(wanted)] == kept
    assert sorted(store.discovery.links(wanted)) == [(url, "http://x.org/") for url in kept]
    assert len(store.discovery.pages(other)) == len(store.discovery.links(other)) == 4
    store.discovery.forget(wanted, runs=1)
    assert [one.url for one in store.discovery.pages(wanted)] == kept[1:]


def test_who_links_there(store: Store) -> None:
    wanted = topic(store)
    run = store.discovery.begin(wanted, rounds=5, pages=100, now=START)
    pages = [page(f"http://{name}.org/", "http://x.org/") for name in "cab"]
    store.discovery.record(RoundRecord(run, wanted, a_round(), "{}", pages))
    linkers = store.discovery.linkers(wanted, "http://x.org/", limit=2)
    assert linkers == ["http://a.org/", "http://b.org/"]
    assert store.discovery.linkers(topic(store, "other"), "http://x.org/", limit=2) == []


def test_proposals_come_best_first_and_decisions_stay(store: Store) -> None:
    wanted = topic(store)
    best = ("http://a.org/1", "Bridge <b>", 0.9)
    offer = [NewProposal("b.org", 0.4), NewProposal("a.org", 0.8, [best], [("http://a.org/", 0.9)])]
    store.discovery.propose(wanted, offer, now=START)
    first, second = store.discovery.proposals(wanted)
    assert (first.host, json.loads(first.pages), second.host) == ("a.org", [list(best)], "b.org")
    assert store.discovery.decide([first.id], ProposalState.REJECTED, now=START + 1) == 1
    store.discovery.propose(wanted, [NewProposal("a.org", 0.99)], now=START + 2)
    (rejected,) = store.discovery.proposals(wanted, "rejected")
    assert (rejected.score, rejected.decided_at) == (0.8, START + 1)
    assert store.discovery.proposal_counts() == {wanted: {"proposed": 1, "rejected": 1}}


def test_hostile_texts_are_kept_within_bounds(store: Store) -> None:
    wanted = topic(store)
    run = store.discovery.begin(wanted, rounds=1, pages=1, now=START)
    odd = page("http://a.org/", title="\0\ud800" + "x" * 10_000, text=json.dumps("y" * 100_000))
    store.discovery.record(RoundRecord(run, wanted, a_round(note="\0"), "{}", [odd]))
    (kept,) = store.discovery.pages(wanted)
    assert len(kept.title) <= 500
    assert kept.text == "{}"


def test_with_the_topic_goes_all_that_was_found_for_it(store: Store) -> None:
    wanted = topic(store)
    run = store.discovery.begin(wanted, rounds=1, pages=1, now=START)
    store.discovery.record(RoundRecord(run, wanted, a_round(), "{}", [page("http://a.org/")]))
    store.discovery.propose(wanted, [NewProposal("a.org", 0.4)], now=START)
    store.topics.remove(wanted)
    assert store.discovery.run(run) is None
    assert store.discovery.proposals(wanted, None) == []
    assert store.discovery.pages(wanted) == []


def test_what_a_provider_was_asked_is_remembered(store: Store) -> None:
    assert store.discovery.meter("searxng") == ""
    store.discovery.put_meter("searxng", "[1, 2]")
    store.discovery.put_meter("searxng", "[1, 3]")
    assert store.discovery.meter("searxng") == "[1, 3]"
