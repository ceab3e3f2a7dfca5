"""The topical queue: best first, then oldest; bounded; hosts taken in turn (paper 004)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.papers.best_first import BestFirstQueue


def _drained(queue: BestFirstQueue) -> list[str]:
    return list(iter(queue.take, None))


def test_the_best_comes_first_and_of_equals_the_oldest() -> None:
    queue = BestFirstQueue()
    for url, promise in [("http://a/1", 0.1), ("http://a/2", 0.9), ("http://a/3", 0.9)]:
        queue.offer(url, promise)
    assert _drained(queue) == ["http://a/2", "http://a/3", "http://a/1"]


def test_equal_promises_make_it_breadth_first() -> None:
    queue = BestFirstQueue()
    urls = [f"http://a/{number}" for number in range(20)]
    for url in urls:
        queue.offer(url, 0.0)
    assert _drained(queue) == urls


def test_a_new_promise_moves_a_url_and_keeps_its_age() -> None:
    queue = BestFirstQueue()
    for url in ("http://a/1", "http://a/2", "http://a/3"):
        queue.offer(url, 0.5)
    queue.offer("http://a/3", 0.8)
    queue.offer("http://a/1", 0.2)
    queue.offer("http://a/1", 0.5)
    assert _drained(queue) == ["http://a/3", "http://a/1", "http://a/2"]


def test_a_full_queue_drops_the_least_promising() -> None:
    queue = BestFirstQueue(limit=2)
    assert queue.offer("http://a/1", 0.5)
    assert queue.offer("http://a/2", 0.7)
    assert not queue.offer("http://a/3", 0.1)
    assert queue.offer("http://a/4", 0.6)
    assert _drained(queue) == ["http://a/2", "http://a/4"]
    assert queue.dropped == 2


def test_pages_in_a_row_are_of_different_hosts() -> None:
    queue = BestFirstQueue(distinct_hosts=3)
    for host in "abc":
        for number in range(3):
            queue.offer(f"http://{host}/{number}", 1.0 if host == "a" else 0.5)
    hosts = [url.split("/")[2] for url in _drained(queue)]
    assert all(len(set(hosts[at : at + 3])) == 3 for at in range(len(hosts) - 2))


def test_with_too_few_hosts_the_one_left_alone_longest_is_next() -> None:
    queue = BestFirstQueue(distinct_hosts=5)
    for url in ("http://a/1", "http://a/2", "http://b/1", "http://b/2"):
        queue.offer(url, 0.5)
    hosts = [url.split("/")[2] for url in _drained(queue)]
    assert hosts == ["a", "b", "a", "b"]


def test_a_url_that_was_discarded_waits_no_more() -> None:
    queue = BestFirstQueue()
    for url in ("http://a/1", "http://a/2"):
        queue.offer(url, 0.5)
    queue.discard("http://a/1")
    assert len(queue) == 1
    assert _drained(queue) == ["http://a/2"]


def test_limits_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        BestFirstQueue(0)


_OFFERS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 5)), max_size=60)


@given(_OFFERS, st.integers(1, 4), st.integers(1, 15))
def test_every_url_comes_out_once_and_within_the_limit(
    offers: list[tuple[int, int]], hosts: int, limit: int
) -> None:
    queue = BestFirstQueue(limit, distinct_hosts=hosts)
    for number, promise in offers:
        queue.offer(f"http://{number % 3}/{number}", promise)
        assert len(queue) <= limit
    taken = _drained(queue)
    assert len(taken) == len(set(taken)) == min(limit, len(taken))
    assert len(queue) == 0


@given(_OFFERS)
def test_without_host_turns_it_is_a_sorted_list(offers: list[tuple[int, int]]) -> None:
    queue = BestFirstQueue()
    promises: dict[str, int] = {}
    for number, promise in offers:
        queue.offer(f"http://a/{number}", promise)
        promises[f"http://a/{number}"] = promise
    assert _drained(queue) == sorted(promises, key=lambda url: -promises[url])
