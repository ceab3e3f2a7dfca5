"""The bound of ``replay.py --bound``: what a reader would need who knew where each page comes first."""

from pathlib import Path

import pytest
from fake_web import DAY, HOUR, MINUTE, START, page
from replay_bound import bound_minutes
from replay_file import HOST, T0, recorded, small_site
from replay_site import ReplaySite


def bound(replay: Path, linked: dict[str, float], per_day: float = 24) -> float:
    return bound_minutes(ReplaySite(replay), linked, T0, per_day)


def test_two_pages_of_one_list_cost_one_request_and_two_of_two_lists_two(tmp_path: Path) -> None:
    at = T0 + 10 * MINUTE
    lists = {place: [(START, at, page()), (at, None, page("/one.html"))] for place in ("/", "/b/")}
    lists["/"][1] = (at, None, page("/one.html", "/two.html"))
    together = recorded(tmp_path / "together.sqlite", lists)
    both = {f"{HOST}/one.html": at, f"{HOST}/two.html": at}
    assert bound(together, both) == pytest.approx(50)
    lists["/"][1] = (at, None, page("/two.html"))
    apart = recorded(tmp_path / "apart.sqlite", lists)
    assert bound(apart, both) == pytest.approx((50 + 110) / 2)


def test_a_page_to_which_older_pages_linked_before_it_came_is_asked_for_itself(
    tmp_path: Path,
) -> None:
    replay = recorded(tmp_path / "a.sqlite", {"/": [(START, None, page("/late.html"))]})
    assert bound(replay, {f"{HOST}/late.html": T0 + DAY + HOUR / 4}) == pytest.approx(45)


def test_with_more_requests_a_day_the_bound_is_lower(tmp_path: Path) -> None:
    replay, _ = small_site(tmp_path)
    linked = {f"{HOST}/story-of-the-day-number-{n}.html": START + n * DAY + HOUR for n in (4, 5)}
    assert bound(replay, linked, 5) > bound(replay, linked, 30)
