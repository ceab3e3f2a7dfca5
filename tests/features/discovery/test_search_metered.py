"""A provider is asked no more than it, or the user, allows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from incremental.base.times import DAY
from incremental.features.discovery.providers.metered import Meter, Metered, counted, permitted
from incremental.features.discovery.search_provider import (
    SearchAnswer,
    SearchProvider,
    SearchStatus,
)

FINE = SearchAnswer(SearchStatus.ANSWERED)


class Provider(SearchProvider):
    """Answers as it is announced."""

    name = "fake"

    def __init__(self, *answers: SearchAnswer) -> None:
        super().__init__()
        self.answers = list(answers)
        self.asked = 0

    def search(self, query: str, count: int, page: int = 1, /) -> SearchAnswer:  # noqa: ARG002 - the base's
        self.asked += 1
        return self.answers.pop(0) if self.answers else FINE


class Time:
    now = 10 * DAY


def test_the_daily_quota_begins_again_at_midnight() -> None:
    time, provider = Time(), Provider()
    metered = Metered(provider, lambda: time.now, per_day=2, interval_seconds=0.0)
    said = [metered.search("x", 1).status for _ in range(3)]
    assert said == [SearchStatus.ANSWERED, SearchStatus.ANSWERED, SearchStatus.QUOTA_SPENT]
    time.now += DAY
    assert metered.search("x", 1).status is SearchStatus.ANSWERED
    assert provider.asked == 3


def test_one_question_at_a_time() -> None:
    time, provider = Time(), Provider()
    metered = Metered(provider, lambda: time.now, per_day=9, interval_seconds=2.0)
    metered.search("x", 1)
    early = metered.search("y", 1)
    assert (early.status, early.retry_after_seconds) == (SearchStatus.RATE_LIMITED, 2.0)
    time.now += 2.0
    assert metered.search("y", 1).status is SearchStatus.ANSWERED


def test_what_was_asked_is_kept_before_the_run_ends() -> None:
    kept: list[Meter] = []
    metered = Metered(
        Provider(), lambda: Time.now, per_day=9, interval_seconds=0.0, keep=kept.append
    )
    metered.search("x", 1)
    metered.search("y", 1)
    metered.related("http://a.example/", 1)
    assert [meter.asked for meter in kept] == [1, 2]


def test_a_provider_that_says_wait_is_left_alone() -> None:
    limited = SearchAnswer(SearchStatus.RATE_LIMITED, retry_after_seconds=600.0)
    meter = counted(Meter(), limited, 10 * DAY, 1.0)
    assert permitted(meter, 10 * DAY + 599, 99) is SearchStatus.RATE_LIMITED
    assert permitted(meter, 10 * DAY + 600, 99) is None


def test_an_operator_that_is_off_costs_nothing() -> None:
    metered = Metered(Provider(), lambda: DAY, per_day=1, interval_seconds=0.0)
    metered.related("https://x.org/", 1)
    assert metered.meter == Meter()


@given(st.lists(st.sampled_from(SearchStatus), max_size=60))
def test_the_wait_grows_with_failures_and_has_an_end(statuses: list[SearchStatus]) -> None:
    meter = Meter()
    for status in statuses:
        meter = counted(meter, SearchAnswer(status), 10 * DAY, 1.0)
        assert 0.0 < meter.open_at - 10 * DAY <= DAY
