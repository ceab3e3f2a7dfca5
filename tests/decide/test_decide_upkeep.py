"""What changes of hubs besides their visits, and what a fate sets."""

from stories import DAY, HOUR, START, hub, target, unread_hub

from incremental.decide import upkeep
from incremental.schedule.state import HubState
from store.enums import HubKind, HubRole
from store.rules import COLUMNS, Fate, Rule
from store.values import NewHub

NOW = START + HOUR


def test_candidates_of_a_form_that_turned_out_to_be_lists_are_due_at_once() -> None:
    late, failed, due = (
        unread_hub(page_id=1, due_at=NOW + HOUR),
        unread_hub(page_id=2, due_at=NOW + HOUR, failures=1),
        unread_hub(page_id=3, due_at=NOW - HOUR),
    )
    changes = upkeep.candidates([late, failed, due], None, 0.5, NOW)
    assert changes.updated == {1: {"due_at": NOW}}
    assert changes.withdrawn == {}


def test_candidates_that_no_longer_look_like_lists_go() -> None:
    changes = upkeep.candidates([], {1: 0.4, 2: 0.6}, 0.5, NOW)
    assert (changes.withdrawn, changes.updated) == ({1: Rule.LIKE_ARTICLES}, {})


def test_a_covered_hub_is_dormant_and_due_again_when_it_no_longer_is() -> None:
    hubs = [
        hub(page_id=1),
        hub(page_id=2, state="dormant"),
        hub(page_id=3, failures=1),
        hub(page_id=4),
    ]
    changes = upkeep.covered(hubs, before={2}, now_covered={1, 3}, due_at=lambda _: NOW)
    # One that fails keeps the state that its failures gave it.
    assert changes.updated == {1: {"state": "dormant"}, 2: {"state": "active", "due_at": NOW}}


def test_after_the_price_has_fallen_only_what_is_due_much_sooner_is_planned_again() -> None:
    hubs = [
        hub(page_id=1, due_at=NOW + HOUR),
        hub(page_id=2, due_at=NOW + 60),
        hub(page_id=3, due_at=NOW + HOUR, role="article"),
        unread_hub(page_id=4, due_at=NOW + HOUR),
        hub(page_id=5, due_at=NOW + HOUR),
    ]
    changes = upkeep.replanned(hubs, lambda row: row.page_id == 5, lambda _: NOW)
    assert changes.updated == {1: {"due_at": NOW}}


def test_every_fate_says_what_it_sets() -> None:
    assert set(COLUMNS) == set(Fate)


def test_after_an_overflow_the_next_page_is_owed_a_visit_that_announces() -> None:
    new = NewHub(HubKind.HTML, HubRole.LIST, 0.9, "", NOW, baseline_at=START)
    fresh, listed = target("page/2/", hub=new), target("page/3/", hub=new)
    unread, covered = unread_hub(page_id=3, due_at=NOW + HOUR), hub(page_id=4, due_at=NOW + DAY)
    overflows = [
        upkeep.Overflow(fresh, None, ()),
        upkeep.Overflow(listed, unread, ()),
        upkeep.Overflow(None, None, [covered, hub(page_id=5, visited_at=NOW)]),
    ]
    changes = upkeep.followed(overflows, lambda _: HubState(), NOW, recent_seconds=60)
    assert changes.added == (fresh,)
    assert {page: fields["due_at"] for page, fields in changes.updated.items()} == {3: NOW, 4: NOW}
    assert [page for page, fields in changes.updated.items() if "baseline_at" in fields] == [3]
