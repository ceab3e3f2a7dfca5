"""Sites are divided among daemons: each is one daemon's, evenly, and few move when daemons come and go."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.base.errors import InputError
from incremental.crawl.sharing.rendezvous import MOST_SHARDS, Shard, part_of, read_shard

SITES = range(1, 401)
DAEMONS = st.lists(st.integers(1, 10_000), min_size=1, max_size=9, unique=True)


def divided(daemons: list[int], keys: dict[int, str] | None = None) -> dict[int, set[int]]:
    names = keys or {one: str(one) for one in daemons}
    return {one: part_of(one, names, SITES) for one in daemons}


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
    assert sorted(part_of(2, {1: "1", 2: "2"}, range(1, 13))) == EXPECTED


EXPECTED = [1, 2, 5, 6, 8, 9, 10, 11]


def test_a_numbered_shard_gets_its_sites_again_after_a_restart() -> None:
    before = divided([7, 8], {7: "1/2", 8: "2/2"})
    after = divided([7, 31], {7: "1/2", 31: "2/2"})
    assert after[31] == before[8]


@given(st.lists(st.sampled_from(["1/2", "x"]), min_size=2, max_size=5))
def test_daemons_with_one_name_still_divide_every_site(names: list[str]) -> None:
    parts = divided(list(range(len(names))), dict(enumerate(names)))
    assert sorted(site for part in parts.values() for site in part) == list(SITES)


def test_a_shard_is_read_as_people_write_it() -> None:
    assert read_shard(" 2/8 ") == Shard(2, 8)
    assert str(Shard(2, 8)) == "2/8"


@given(st.text(max_size=12))
def test_whatever_is_typed_is_a_shard_or_refused(text: str) -> None:
    with suppress(InputError):
        shard = read_shard(text)
        assert 1 <= shard.number <= shard.of <= MOST_SHARDS


@pytest.mark.parametrize("text", ["0/8", "9/8", "1/0", "1/1001", "2", "a/b", "-1/4", "1/2/3"])
def test_a_shard_that_cannot_be_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="2/8"):
        read_shard(text)
