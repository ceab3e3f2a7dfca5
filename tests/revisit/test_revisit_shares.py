"""One budget for all sites: nobody is forgotten, nobody gets more than asked for."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incremental.schedule.allocation import Demand, shares

demands = st.dictionaries(
    st.integers(1, 500),
    st.builds(Demand, st.floats(0, 1e4), st.floats(0, 1e3)),
    min_size=1,
    max_size=30,
)


@settings(deadline=None)
@given(whole=st.floats(0, 1e5), wanted=demands, floor=st.floats(0, 1))
def test_the_whole_is_dealt_out_and_no_more(
    whole: float, wanted: dict[int, Demand], floor: float
) -> None:
    given_ = shares(whole, wanted, floor)
    asked = sum(demand.requests_per_day for demand in wanted.values())
    assert sum(given_.values()) == pytest.approx(min(whole, asked), rel=1e-6, abs=1e-5)
    for site, demand in wanted.items():
        assert 0 <= given_[site] <= demand.requests_per_day * (1 + 1e-9) + 1e-9


def test_every_site_keeps_what_it_asked_for_while_that_is_possible() -> None:
    assert shares(100, {1: Demand(48, 3.0), 2: Demand(48, 0.0)}, 0.2) == {1: 48, 2: 48}


def test_what_is_short_goes_where_it_pays_and_a_part_of_it_to_everybody() -> None:
    given_ = shares(100, {1: Demand(1000, 3.0), 2: Demand(1000, 1.0)}, 0.2)
    assert given_ == pytest.approx({1: 10 + 60, 2: 10 + 20})


def test_what_one_site_does_not_want_goes_to_the_others() -> None:
    assert shares(100, {1: Demand(10, 99.0), 2: Demand(1000, 1.0)}, 0.2) == pytest.approx(
        {1: 10, 2: 90}
    )


def test_with_more_sites_than_requests_each_gets_less_than_one_a_day() -> None:
    given_ = shares(10, {site: Demand(48, 0.0) for site in range(100)}, 0.5)
    assert given_ == pytest.approx(dict.fromkeys(range(100), 0.1))
    assert math.fsum(shares(0, {1: Demand(48, 1.0)}, 0.2).values()) == 0
