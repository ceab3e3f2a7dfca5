"""Which older pages a list gained: lists grow, widgets swap. Tables of places, and whole visits."""

from dataclasses import replace
from typing import Any

import pytest
from stories import (
    DAY,
    HOME,
    HOUR,
    START,
    brought,
    by_canonical_key,
    hub,
    known_page,
    outcome,
    read_hub,
    target,
    unread_hub,
    view,
)

from incremental.decide.decision import Decision
from incremental.parse import Page, PageKind
from store.answers.naming import folder_of, widened
from store.enums import PageState
from store.rules import Fate
from store.values import HubRow, KnownPage, SeenLink, Sight

PLACE = "html/body/ul/li/a"


def old(name: str, **fields: Any) -> SeenLink:
    return target(f"/2007/03/04/{name}", **{"tag_path": PLACE, **fields})


def link(name: str, **fields: Any) -> SeenLink:
    return target(name, **{"tag_path": PLACE, **fields})


def judge(  # noqa: PLR0913 - each is what some story is about
    links: list[SeenLink],
    kept: list[str],
    *,
    lost: int = 0,
    row: HubRow | None = None,
    sights: tuple[Sight, ...] = (),
    known: tuple[KnownPage, ...] = (),
    **fields: Any,
) -> Decision:
    """Judge a visit on which *kept* of the *links* stood there before, and *lost* others went."""
    pages = [known_page(n, name) for n, name in enumerate(kept, 10)]
    went = [Sight(500 + n, f"What went: {n}", PLACE, START, None) for n in range(lost)]
    stood = [Sight(page.id, "", PLACE, START, None) for page in pages]
    visible = frozenset([*(page.id for page in pages), *(one.page_id for one in went)])
    seen = view(
        row or hub(),
        *links,
        known=by_canonical_key(*pages, *known),
        sights=(*stood, *went, *sights),
        **{"visible": visible, **fields},
    )
    return read_hub(outcome(page=Page(url=HOME, kind=PageKind(row.kind if row else "html"))), seen)


def gained(decision: Decision) -> list[str]:
    """The names of the pages of the backfill."""
    return [
        one.url.rsplit("/", 1)[1]
        for one in decision.record.links or ()
        if one.fate is Fate.BACKFILL
    ]


STAYED = ["a", "b", "c", "d", "e"]
OLDER = [f"/2006/01/0{n}/x" for n in range(9, 2, -1)]


def around(*fresh: SeenLink, names: list[str] = STAYED, at: int = 2) -> list[SeenLink]:
    """The links of *names* with others among them."""
    links = [link(name) for name in names]
    return [*links[:at], *fresh, *links[at:]]


def test_old_pages_that_a_list_gains_are_one_backfill_and_no_news() -> None:
    judged = judge(around(old("x"), old("y")), STAYED)
    assert gained(judged) == ["x", "y"]
    record = judged.record
    assert (record.backfill_folder, brought(judged).novel, record.overflow) == (
        "/2007/03/04/",
        1,
        False,
    )
    links = {one.url: one for one in record.links or ()}
    new = links[HOME + "2007/03/04/x"]
    assert new.fate is Fate.BACKFILL


def test_what_was_never_seen_on_a_list_that_is_read_first_is_its_baseline() -> None:
    for row in (unread_hub(), hub(visited_at=None)):
        assert gained(judge(around(old("x")), STAYED, row=row)) == []


@pytest.mark.parametrize(
    ("links", "kept", "lost", "expected"),
    [
        pytest.param(around(old("x")), STAYED, 1, [], id="one came, one went: it swaps"),
        pytest.param(around(old("x"), at=0), STAYED, 1, ["x"], id="latest additions"),
        pytest.param([old("x"), old("y"), old("z")], [], 3, [], id="random posts"),
        pytest.param([old("x"), link("a")], ["a"], 0, [], id="too little to be known"),
        pytest.param([old("x"), link("a", tag_path="nav/a")], ["a"], 0, [], id="a new block"),
        pytest.param(around(old("x"), old("y"), old("z")), STAYED, 1, ["x", "y", "z"], id="grows"),
        pytest.param(around(old("x"), at=5), STAYED, 0, ["x"], id="at the end of a whole list"),
        pytest.param(around(old("x"), at=5), STAYED, 1, [], id="moved up when another went"),
    ],
)
def test_a_list_grows_and_a_widget_swaps(
    links: list[SeenLink], kept: list[str], lost: int, expected: list[str]
) -> None:
    assert gained(judge(links, kept, lost=lost)) == expected


def test_a_list_by_date_gains_in_its_midst_whatever_scrolls_off() -> None:
    links = [link(name) for name in OLDER]
    inside = link("/2006/01/06/in")
    judged = judge([*links[:4], inside, *links[4:]], OLDER, lost=3)
    assert gained(judged) == ["in"]
    below = link("/2005/05/05/below")
    assert gained(judge([*links, below], OLDER, lost=3)) == []


def test_a_longer_list_than_before_shows_more_of_its_past() -> None:
    """A list that lost pages as it gained others is cut off: what comes below its end was there."""
    window = (
        Sight(600, "", PLACE, START + 60, None),
        *(Sight(700 + n, "", PLACE, START, START + 60) for n in range(3)),
    )
    links = [link(name) for name in OLDER]
    below = [link(f"/2005/05/0{n}/y") for n in range(5, 1, -1)]
    later = hub(visits=9)
    assert gained(judge([*links, *below], OLDER, row=later, sights=window)) == []
    first = 10 + len(OLDER)
    grown = tuple(Sight(first + n, "", PLACE, START + 60, None) for n in range(20))
    kept = [*OLDER, *(f"k{n}" for n in range(20))]
    whole = [link(name) for name in kept]
    assert len(gained(judge([*whole, *below], kept, row=later, sights=grown))) == len(below)


def test_a_feed_does_not_swap() -> None:
    links = [link("a"), old("x"), link("b")]
    assert gained(judge(links, ["a", "b"], lost=2, row=hub(kind="feed", role="feed"))) == ["x"]


@pytest.mark.parametrize(("lost", "expected"), [(0, 24), (12, 24), (24, 0)])
def test_a_sitemap_in_which_as_many_went_as_came_names_other_addresses(
    lost: int, expected: int
) -> None:
    """240 of 387 posts of a weblog got other addresses on one day: 2016-9-1-x became 2016-09-01-x."""
    fresh = [old(f"x{n}", tag_path="") for n in range(24)]
    links = [link(name, tag_path="") for name in STAYED]
    row = hub(kind="sitemap", role="sitemap")
    went = tuple(Sight(500 + n, "", "", START, None) for n in range(lost))
    visible = frozenset([*range(10, 15), *(one.page_id for one in went)])
    judged = judge([*links, *fresh], STAYED, row=row, sights=went, visible=visible)
    assert len(gained(judged)) == expected


def test_monitored_articles_are_no_lists() -> None:
    assert gained(judge(around(old("x")), STAYED, row=hub(role="article"))) == []


def test_a_headline_that_stood_there_has_moved() -> None:
    went = Sight(900, "A headline that tells", PLACE, START, None)
    fresh = [
        old("x", anchor="A headline that tells"),
        old("y", anchor="Another of these"),
        old("z"),
    ]
    assert gained(judge(around(*fresh), STAYED, sights=(went,))) == ["y", "z"]


def test_a_list_not_read_since_a_url_migration_gained_nothing() -> None:
    base = view(hub())
    since = replace(base.since, migrated_at=START + 60)
    assert gained(judge(around(old("x")), STAYED, since=since)) == []


def test_a_url_migration_is_no_backfill() -> None:
    """Two hundred old posts under new addresses: one event of another kind."""
    names = [f"/2007/03/04/new-{n}" for n in range(12)]
    fresh = [link(name, anchor=f"A headline of old {n}") for n, name in enumerate(names)]
    judged = judge([*fresh, *(link(n) for n in STAYED)], STAYED, lost=200)
    assert gained(judged) == []


def test_the_daily_limit_of_news_does_not_bind_old_pages() -> None:
    fresh = [old(f"x{n}") for n in range(50)]
    judged = judge(around(*fresh), STAYED, quota=10)
    assert judged.record.site_change is None
    assert len(gained(judged)) == 50


def test_what_another_hub_showed_first_a_moment_ago_is_gained_all_the_same() -> None:
    known = known_page(99, "/2007/03/04/x", first_seen_at=START + 120)
    for state, expected in (("known", ["x"]), ("backdated", ["x"]), ("backfill", [])):
        other = replace(known, state=PageState(state))
        assert gained(judge(around(old("x")), STAYED, known=(other,))) == expected


def test_an_old_article_that_looks_like_a_hub_waits_for_its_first_reading() -> None:
    fresh = old("Index")
    scores = {fresh.canonical_key: 0.9}
    (found,) = [
        one
        for one in judge(around(fresh), STAYED, scores=scores).record.links or ()
        if one.url == fresh.url
    ]
    assert (found.fate, found.hub is not None) == (Fate.HUB_AND_BACKFILL, True)
    (swapped,) = [
        one
        for one in judge(around(fresh), STAYED, lost=1, scores=scores).record.links or ()
        if one.url == fresh.url
    ]
    assert swapped.fate is Fate.HUB


NOW = START + 400 * DAY
RECENT = [f"/2024/11/{n:02}/x" for n in range(30, 20, -1)]


def test_what_comes_far_behind_the_latest_is_old_whenever_the_site_was_added() -> None:
    """The list shows November; a page of March 2024 is set in, months after we began to watch."""
    links = [link(name) for name in RECENT]
    late = hub(visited_at=NOW - HOUR)
    march, fresh = link("/2024/03/01/m"), link("/2024/12/01/n")
    judged = judge([fresh, *links, march], RECENT, row=late, now=NOW)
    assert gained(judged) == ["m"]
    assert [one.url for one in judged.record.links or () if one.fate is Fate.ANNOUNCE] == [
        fresh.url
    ]


def test_a_late_page_above_all_others_is_news_whatever_its_date() -> None:
    links = [link(name) for name in RECENT]
    late = hub(visited_at=NOW - HOUR)
    judged = judge([link("/2024/03/01/m"), *links], RECENT, row=late, now=NOW)
    assert (gained(judged), brought(judged).novel) == ([], 1)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["blog/2007/01/a", "blog/2007/12/b"], "/blog/2007/"),
        (["blog/2007/a", "blog/2008/b"], "/blog/"),
        (["a", "blog/b"], "/"),
        (["%E6%96%B0%E9%97%BB/a"], "/新闻/"),
        ([], ""),
    ],
)
def test_the_folder_that_pages_share(paths: list[str], expected: str) -> None:
    assert folder_of([HOME + path for path in paths]) == expected


@pytest.mark.parametrize(
    ("folder", "other", "expected"),
    [
        ("/blog/2007/03/", "/blog/2007/05/", "/blog/2007/"),
        ("/blog/2007/", "/blog/2007/", "/blog/2007/"),
        ("/blog/", "/news/", "/"),
        ("/blog/2007/", "/blog/20/", "/blog/"),
        ("/", "/news/", "/"),
        ("", "/news/", "/news/"),
        ("/新闻/2007/", "/新闻/2008/", "/新闻/"),
    ],
)
def test_a_folder_is_widened_by_another(folder: str, other: str, expected: str) -> None:
    assert widened(folder, other) == expected
