"""When a list overflowed: what may have scrolled by unseen."""

from stories import (
    DAY,
    HOUR,
    START,
    hub,
    known_page,
    target,
    unread_hub,
    view,
)

from incremental.decide.arrivals import MAX_OLD_SHARE, MIN_LINKS, all_new, overflowed
from store.rules import Rule
from store.values import HubRow

LIST = "html/body/main/ul/li/a"
MENU = "html/body/nav/a"
NOW = START + DAY


def overflow(row: HubRow, *links: tuple[str, Rule]) -> bool:
    """Judge lists of links that nobody had seen, or that were always known."""
    shown = [target(str(n), tag_path=path) for n, (path, _) in enumerate(links)]
    rules = {t.canonical_key: s for t, (_, s) in zip(shown, links, strict=True)}
    return overflowed(view(row, *shown), rules)


def turned(  # noqa: PLR0913 - the parts of a list, and when it is read
    row: HubRow,
    *,
    new: int = 0,
    since: int = 0,
    old: int = 0,
    seen_at: float = NOW - 60,
    overflow: tuple[float, float] = (0.0, 0.0),
    resumed_at: float = 0.0,
) -> bool:
    """Judge one list: links nobody had seen, links another hub showed at *seen_at*, and old ones."""
    shown = [target(str(n), tag_path=LIST) for n in range(new + since + old)]
    times = [seen_at] * since + [START] * old
    known = {
        t.canonical_key: known_page(n, str(new + n), first_seen_at=at)
        for n, (t, at) in enumerate(zip(shown[new:], times, strict=True))
    }
    kinds = [Rule.NEW_LINK] * new + [Rule.KNOWN] * (since + old)
    rules = {t.canonical_key: kind for t, kind in zip(shown, kinds, strict=True)}
    visible = frozenset(range(since, since + old))
    return overflowed(
        view(
            row,
            *shown,
            known=known,
            visible=visible,
            overflow_at=overflow[0],
            overflow_since=overflow[1],
            resumed_at=resumed_at,
        ),
        rules,
    )


def watched(**fields: object) -> HubRow:
    """A hub that was read an hour ago and is read hourly."""
    return hub(**{"visited_at": NOW - HOUR, "interval_seconds": HOUR, **fields})


def test_a_list_that_turned_over_is_a_gap_although_the_menu_stayed() -> None:
    new = [(LIST, Rule.NEW_LINK)] * 4
    menu = [(MENU, Rule.KNOWN)] * 3
    assert overflow(hub(), *new, *menu)
    assert overflow(hub(kind="feed"), *new)
    assert not overflow(hub(), *new[:3], *menu)
    assert overflow(hub(), *new, (LIST, Rule.KNOWN))  # dated back a little, it need not be on top
    assert not overflow(hub(), *new, *[(LIST, Rule.KNOWN)] * 3)


def test_no_gap_where_nothing_can_scroll_by() -> None:
    new = [(LIST, Rule.NEW_LINK)] * 9
    assert not overflow(unread_hub(), *new)
    assert not overflow(hub(kind="sitemap"), *new)
    assert not overflow(hub(shown_links=0), *new)


def test_list_items_that_are_numbered_in_the_markup_stand_at_one_place() -> None:
    items = [(f"html/body/ul/li.item-{n}/a", Rule.NEW_LINK) for n in range(4)]
    assert overflow(hub(), *items)
    assert not overflow(hub(), *items, *[("html/body/ul/li.item-9/a", Rule.KNOWN)] * 3)


def test_what_another_hub_showed_first_fills_a_list_as_well() -> None:
    """Sections were read first after a pause: half of the feed is known, and nothing of it is old."""
    assert turned(watched(), new=MIN_LINKS, since=16)
    assert not turned(watched(), new=MIN_LINKS, since=16, seen_at=NOW - 2 * HOUR)


def test_lists_that_are_read_in_turn_turn_over_together() -> None:
    """Nothing scrolled by between two visits of a feed that were an hour apart."""
    assert not turned(watched(), new=MIN_LINKS - 1, since=20)


def test_at_most_so_much_of_a_list_may_be_old() -> None:
    most = int(MAX_OLD_SHARE * 20)
    assert turned(watched(), new=20 - most, old=most)
    assert not turned(watched(), new=20 - most - 1, old=most + 1)


def test_after_another_list_overflowed_nothing_here_need_be_unseen() -> None:
    at, since = NOW - 60, NOW - 6 * HOUR
    assert turned(watched(), since=20, seen_at=at, overflow=(at, since))
    # Read since then, it is judged by its own visits again.
    assert not turned(watched(visited_at=NOW - 30), since=20, seen_at=at, overflow=(at, since))


def test_what_was_known_before_the_pages_that_scrolled_by_came_is_old() -> None:
    """A hub behind another was last read days ago: all on it came since, but not in the hour that counts."""
    row, at = watched(visited_at=NOW - 5 * DAY, interval_seconds=7 * DAY), NOW - 60
    assert not turned(row, since=20, seen_at=NOW - 2 * DAY, overflow=(at, NOW - HOUR))
    assert turned(row, since=20, seen_at=NOW - 2 * DAY, overflow=(at, NOW - 3 * DAY))


def test_a_later_page_of_a_list_goes_on_only_with_what_is_new_since_the_list_overflowed() -> None:
    row = watched(role="page", visited_at=NOW - 30 * DAY)
    assert not turned(row, new=3, since=17)
    assert turned(row, new=MIN_LINKS)
    assert turned(row, since=20, overflow=(NOW - 1, NOW - DAY))
    never = hub(role="list", visited_at=None, baseline_at=START)
    assert not turned(never, since=20)


def test_after_a_pause_a_list_that_turned_over_may_have_lost_some() -> None:
    """Whoever was read first after the pause has shown what is here; what scrolled by was on no list."""
    assert turned(watched(), since=20, resumed_at=NOW - 60)
    assert not turned(watched(visited_at=NOW - 30), since=20, seen_at=NOW - 10, resumed_at=NOW - 60)


def test_after_a_pause_a_short_list_without_one_old_article_may_have_lost_some() -> None:
    assert turned(watched(), new=2, resumed_at=NOW - 60)
    assert turned(watched(), new=2, old=1, resumed_at=NOW - 60)
    assert not turned(watched(), new=2, old=2, resumed_at=NOW - 60)
    assert not turned(watched(), old=2, resumed_at=NOW - 60)
    assert not turned(watched(), new=2)


def test_only_what_nobody_had_seen_says_that_more_came_than_was_counted() -> None:
    shown = [target(str(n), tag_path=LIST) for n in range(10)]
    known = {t.canonical_key: known_page(n, str(n), first_seen_at=NOW) for n, t in enumerate(shown)}
    seen = view(watched(), *shown, known=known)
    assert all_new(seen, dict.fromkeys(known, Rule.NEW_LINK))
    half = {name: Rule.NEW_LINK if n % 2 else Rule.KNOWN for n, name in enumerate(known)}
    assert overflowed(seen, half)
    assert not all_new(seen, half)


def test_a_hub_on_the_list_is_no_article_that_came() -> None:
    shown = [target(str(n), tag_path=LIST) for n in range(8)]
    known = {
        t.canonical_key: known_page(n, str(n), first_seen_at=NOW - 60, is_hub=True)
        for n, t in enumerate(shown)
    }
    rules = dict.fromkeys(known, Rule.KNOWN)
    seen = view(watched(), *shown, known=known, overflow_at=NOW - 60, overflow_since=NOW - DAY)
    assert not overflowed(seen, rules)
