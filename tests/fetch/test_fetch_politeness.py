"""How long a host is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.base.errors import SettingsError
from incremental.fetch.politeness import (
    HostState,
    PolitenessSettings,
    after_visit,
    backoff_seconds,
    host_key,
    polite_delay_seconds,
    staggered_start,
)
from incremental.fetch.status import FetchStatus
from incremental.settings import build_settings

NOW = 1_770_000_000.0
SETTINGS = PolitenessSettings()
HOST = HostState("news.example")
DAY = 86_400.0


def wait_after(
    status: FetchStatus, host: HostState = HOST, retry_after_seconds: float | None = None
) -> float:
    return after_visit(host, status, retry_after_seconds, NOW, SETTINGS).next_allowed_at - NOW


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.News.example:8443/a", "news.example"),
        ("http://news.example./", "news.example"),
        ("http://blog.news.example/", "blog.news.example"),
        ("http://[::1]:80/", "::1"),
        ("mailto:x", ""),
        ("http://[", ""),
    ],
)
def test_a_host_is_known_by_its_name(url: str, key: str) -> None:
    assert host_key(url) == key


def test_a_host_that_is_well_waits_the_minimum() -> None:
    assert wait_after(FetchStatus.FETCHED) == 5
    assert wait_after(FetchStatus.GONE) == 5


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "127.9.9.9", "::1", "a.localhost"])
def test_only_loopback_need_not_wait(name: str) -> None:
    assert wait_after(FetchStatus.FETCHED, HostState(name, crawl_delay_seconds=60)) == 0


@pytest.mark.parametrize("name", ["127.example", "localhost.example", "10.0.0.1", "notlocalhost"])
def test_what_only_looks_like_loopback_waits(name: str) -> None:
    assert wait_after(FetchStatus.FETCHED, HostState(name)) == 5


def test_a_minimum_of_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="min_delay_seconds = 0"):
        build_settings({"politeness": {"min_delay_seconds": 0}})
    with pytest.raises(SettingsError, match="max_backoff_seconds"):
        PolitenessSettings(max_backoff_seconds=1)


@pytest.mark.parametrize(("asked", "granted"), [(1, 5), (30, 30), (1e9, DAY), (None, 5)])
def test_a_crawl_delay_slows_but_never_drops_a_host(asked: float | None, granted: float) -> None:
    host = HostState("news.example", crawl_delay_seconds=asked)
    assert polite_delay_seconds(host, SETTINGS) == granted
    assert wait_after(FetchStatus.FETCHED, host) == granted


@pytest.mark.parametrize(("asked", "granted"), [(2, 5), (3600, 3600), (1e9, DAY)])
def test_retry_after_is_honoured_with_a_cap(asked: float, granted: float) -> None:
    assert wait_after(FetchStatus.RATE_LIMITED, retry_after_seconds=asked) == granted


def test_a_retry_after_of_nothing_is_no_leave_to_hammer() -> None:
    assert wait_after(FetchStatus.RATE_LIMITED, retry_after_seconds=0) >= 60


@pytest.mark.parametrize(
    "status",
    [
        FetchStatus.RATE_LIMITED,
        FetchStatus.SERVER_ERROR,
        FetchStatus.TIMED_OUT,
        FetchStatus.DNS_FAILED,
        FetchStatus.CONNECT_FAILED,
        FetchStatus.TLS_FAILED,
        FetchStatus.ROBOTS_UNREACHABLE,
    ],
)
def test_trouble_doubles_the_wait_each_time_up_to_a_day(status: FetchStatus) -> None:
    host, waits = HOST, []
    for _ in range(20):
        before = max(NOW, host.next_allowed_at)
        host = after_visit(host, status, None, before, SETTINGS)
        waits.append(host.next_allowed_at - before)
    assert 60 <= waits[0] <= 72
    assert 120 <= waits[1] <= 144
    assert waits == sorted(waits)
    assert waits[-1] == DAY
    assert after_visit(host, FetchStatus.NOT_MODIFIED, None, NOW, SETTINGS).failures == 0


def test_trouble_of_one_page_is_not_the_hosts() -> None:
    for status in (FetchStatus.BROKEN_RESPONSE, FetchStatus.TOO_LARGE, FetchStatus.BLOCKED):
        assert after_visit(HOST, status, None, NOW, SETTINGS).failures == 0


@pytest.mark.parametrize("status", [FetchStatus.ROBOTS_DENIED, FetchStatus.INVALID_URL])
def test_nothing_is_owed_for_what_was_not_asked(status: FetchStatus) -> None:
    assert after_visit(HOST, status, None, NOW, SETTINGS) is HOST


@given(
    st.sampled_from(FetchStatus),
    st.none() | st.floats(0, 1e12),
    st.floats(0, 2e9),
    st.integers(0, 5_000),
)
def test_the_wait_never_shrinks_and_is_never_endless(
    status: FetchStatus, retry_after: float | None, now: float, failures: int
) -> None:
    host = HostState("news.example", next_allowed_at=now, failures=failures)
    later = after_visit(host, status, retry_after, now, SETTINGS)
    asked = status not in {FetchStatus.ROBOTS_DENIED, FetchStatus.INVALID_URL}
    assert host.next_allowed_at + 4.9 * asked <= later.next_allowed_at <= now + DAY


def test_hosts_that_fail_together_come_back_apart_and_the_same_way_twice() -> None:
    waits = [backoff_seconds(f"{n}.example", 1, SETTINGS) for n in range(50)]
    assert len(set(waits)) == 50
    assert waits == [backoff_seconds(f"{n}.example", 1, SETTINGS) for n in range(50)]


def test_a_start_is_spread_evenly_and_the_first_begins_at_once() -> None:
    starts = staggered_start(["a.example", "b.example", "c.example", "a.example"], NOW, 60)
    assert sorted(starts.values()) == [NOW, NOW + 20, NOW + 40]
    assert starts == staggered_start(["c.example", "b.example", "a.example"], NOW, 60)
    assert staggered_start([], NOW) == {}
