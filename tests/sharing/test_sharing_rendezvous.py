"""Sites are divided among daemons: each is one daemon's, evenly, and few move when daemons come and go."""

from hypothesis import given
from hypothesis import strategies as st

from incremental.crawl.sharing import part_of

SITES = range(1, 401)
DAEMONS = st.lists(st.integers(1, 10_000), min_size=1, max_size=9, unique=True)


def divided(daemons: list[int]) -> dict[int, set[int]]:
    return {one: part_of(one, daemons, SITES) for one in daemons}


@given(DAEMONS)
def test_each_site_is_exactly_one_daemons(daemons: list[int]) -> None:
    parts = divided(daemons)
    assert sorted(site for part in parts.values() for site in part) == list(SITES)


@given(DAEMONS, st.integers(10_001, 20_000))
def test_a_newcomer_takes_from_the_others_and_moves_nothing_between_them(
    daemons: list[int], newcomer: int
) -> None:
    before, after = divided(daemons), divided([*daemons, newcomer])
    for one in daemons:
        assert after[one] == before[one] - after[newcomer]


@given(st.lists(st.integers(1, 10_000), min_size=2, max_size=9, unique=True))
def test_when_one_goes_only_its_own_sites_move(daemons: list[int]) -> None:
    gone, *rest = daemons
    before, after = divided(daemons), divided(rest)
    for one in rest:
        assert before[one] <= after[one]
        assert after[one] - before[one] <= before[gone]


def test_the_division_is_even_and_the_same_on_every_machine() -> None:
    parts = divided([1, 2, 3, 4])
    assert all(70 <= len(part) <= 130 for part in parts.values())
    assert sorted(part_of(2, {1, 2}, range(1, 13))) == EXPECTED


EXPECTED = [1, 2, 5, 6, 8, 9, 10, 11]
