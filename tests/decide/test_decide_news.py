"""Which links are news: tables of single decisions, and whole visits as stories."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import (
    DAY,
    HOME,
    HOUR,
    START,
    brought,
    by_canonical_key,
    html,
    hub,
    known_page,
    outcome,
    read_hub,
    target,
    unread_hub,
    view,
)

from incremental.decide.decision import Decision
from incremental.decide.furniture import is_soft_404
from incremental.decide.hub_facts import Since
from incremental.decide.news import link_rule
from incremental.decide.url_dates import date_in_url
from incremental.fetch.status import FetchStatus
from store.rules import Fate
from store.values import HubRow, KnownPage, SeenLink

NOW = START + HOUR


def alone(link: SeenLink, row: HubRow, known: KnownPage | None = None, **more: Any) -> Fate:
    pages = by_canonical_key(known) if known is not None else {}
    return link_rule(link, view(row, link, known=pages, **more)).fate


@pytest.mark.parametrize(
    ("link", "row", "expected"),
    [
        (target("a"), hub(), Fate.ANNOUNCE),
        (target("a"), unread_hub(), Fate.KNOWN),
        (target("a"), hub(kind="sitemap"), Fate.ANNOUNCE),
        (target("2023/11/14/a"), hub(), Fate.ANNOUNCE),
        (target("2023/10/20/a"), hub(), Fate.ANNOUNCE),
        (target("2023/09/a"), hub(), Fate.BACKDATED),
        (target("2019-05-01-a"), hub(), Fate.BACKDATED),
        (target("news?page=3"), hub(), Fate.HUB),
        (target("?p=3"), hub(kind="feed"), Fate.ANNOUNCE),
        (target("a", published_at=START - 99 * DAY), hub(kind="feed"), Fate.BACKDATED),
        (target("a", published_at=START - 9 * DAY), hub(kind="feed"), Fate.ANNOUNCE),
        (target("2019/05/01/a", published_at=START), hub(kind="feed"), Fate.ANNOUNCE),
        (target("a", published_at=START - 99 * DAY), hub(kind="sitemap"), Fate.ANNOUNCE),
        (target("a", published_at=START + 1), unread_hub(kind="feed"), Fate.ANNOUNCE),
        (target("a", published_at=START - 1), unread_hub(kind="feed"), Fate.KNOWN),
        (target("a", published_at=NOW + DAY), unread_hub(kind="feed"), Fate.KNOWN),
        (target("a"), unread_hub(kind="feed"), Fate.KNOWN),
        (target("a", published_at=START + 1), unread_hub(kind="sitemap"), Fate.KNOWN),
        (target("a", published_at=START + 1), unread_hub(), Fate.KNOWN),
    ],
)
def test_an_unknown_link(link: SeenLink, row: HubRow, expected: Fate) -> None:
    assert alone(link, row) is expected


@pytest.mark.parametrize("path", ["posts/page/17/", "tags/linux", "category/tips/", "tags/"])
def test_lists_are_no_news_whoever_shows_them_first(path: str) -> None:
    """Pages of a pager that two hubs showed in either order, and tags that a feed of tags lists."""
    assert alone(target(path), hub()) in (Fate.HUB, Fate.KNOWN)
    shown_later = known_page(9, path, first_seen_at=START + 61)
    assert alone(target(path), LATER, shown_later) is Fate.KNOWN
    if "page/" not in path:
        assert alone(target(path), hub(kind="feed")) is Fate.KNOWN


def test_what_looks_like_a_hub_is_no_news() -> None:
    scores = {target("a").canonical_key: 0.9}
    assert alone(target("a"), hub(), scores=scores) is Fate.HUB
    assert alone(target("a"), unread_hub(), scores=scores) is Fate.HUB


LATER = hub(visited_at=START + 60)


@pytest.mark.parametrize(
    ("known", "row", "expected"),
    [
        (known_page(9, "a", first_seen_at=START + 61), LATER, Fate.ANNOUNCE),
        (known_page(9, "a", first_seen_at=START + 60), LATER, Fate.KNOWN),
        (known_page(9, "a", first_seen_at=START + 61, is_hub=True), LATER, Fate.KNOWN),
        (known_page(9, "a", first_seen_at=START + 61, announced_at=START), LATER, Fate.KNOWN),
        (known_page(9, "a", first_seen_at=START + 61, state="gone"), LATER, Fate.KNOWN),
        (known_page(9, "a", first_seen_at=START + 61, state="backdated"), LATER, Fate.KNOWN),
        (known_page(9, "a", first_seen_at=START + 61, state="migrated"), LATER, Fate.KNOWN),
        (known_page(9, "a", first_seen_at=START + 61), unread_hub(), Fate.KNOWN),
    ],
)
def test_a_known_page_was_overlooked_or_not(known: KnownPage, row: HubRow, expected: Fate) -> None:
    """Found on another hub's baseline since this hub was read: new all the same."""
    assert alone(target("a"), row, known) is expected


def test_a_hub_not_read_since_a_url_migration_has_overlooked_nothing() -> None:
    known = known_page(9, "a", first_seen_at=START + 120)
    for migrated_at, expected in ((START + 90, Fate.KNOWN), (START + 30, Fate.ANNOUNCE)):
        since = Since(NOW, START, 30.0, migrated_at)
        assert alone(target("a"), LATER, known, since=since) is expected


def test_an_item_of_a_far_future_is_announced_without_its_date() -> None:
    decision = judged(hub(kind="feed"), target("a", published_at=NOW + 400 * DAY))
    assert announced(decision) == [HOME + "a"]
    assert [link.published_at for link in decision.record.links or ()] == [None]


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("2024/05/17/title", "2024-05-18"),
        ("2024-05-17-title", "2024-05-18"),
        ("t20240517_123456.html", "2024-05-18"),
        ("202405/t1.html", "2024-06-01"),
        ("2024/05/", "2024-06-01"),
        ("2024/05/17.html", "2024-06-01"),
        ("2024/05/4.html", "2024-06-01"),
        ("202405/17.shtml?page=2", "2024-06-01"),
        ("2024/05/17", "2024-05-18"),
        ("2024-05-17.html", "2024-05-18"),
        ("20240517.html", "2024-05-18"),
        ("2024/02/29/x", "2024-03-01"),
        ("2019/01/01/about-2024-05-17", "2024-05-18"),
        ("2018/01/05/2017-01-05-written-in-january", "2018-01-06"),
        ("2024/02/31/x", None),
        ("2024/13/01/x", None),
        ("article/120240517", None),
        ("article/202405171", None),
        ("1824/05/17/x", None),
        ("news", None),
    ],
)
def test_the_date_that_a_url_names(path: str, day: str | None) -> None:
    expected = day and datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    assert date_in_url(HOME + path) == expected


@given(text=st.text(alphabet="0123456789/-_ab", max_size=40))
def test_any_url_names_a_date_or_none(text: str) -> None:
    moment = date_in_url(HOME + text)
    assert moment is None or -3e9 < moment < 5e9


def judged(row: HubRow, *found: SeenLink, **fields: Any) -> Decision:
    return read_hub(outcome(page=html()), view(row, *found, **fields))


def announced(decision: Decision) -> list[str]:
    return [link.url for link in decision.record.links or () if link.fate is Fate.ANNOUNCE]


def test_the_first_visit_is_the_baseline() -> None:
    decision = judged(unread_hub(), target("a"), target("b"))
    assert announced(decision) == []
    assert brought(decision).baseline
    assert decision.record.hub_fields["baseline_at"] == NOW
    assert len(decision.record.links or ()) == 2


def test_the_second_visit_announces_what_is_new_and_plans_its_verification() -> None:
    known = by_canonical_key(known_page(5, "a"))
    decision = judged(hub(), target("a"), target("b"), known=known, visible=frozenset({5}))
    assert announced(decision) == [HOME + "b"]
    fates = {link.url: link.fate for link in decision.record.links or ()}
    assert fates == {HOME + "a": "known", HOME + "b": "announce"}
    assert (brought(decision).novel, brought(decision).shown) == (1, 2)
    assert decision.record.hub_fields["new_pages"] == 1


def test_what_can_be_verified_first_waits_for_that() -> None:
    """Verified before told, as far as looks are granted; the rest is announced at once."""
    decision = judged(hub(), target("a"), target("b"), verifications=1)
    states = {link.url: link.fate for link in decision.record.links or ()}
    assert states == {HOME + "a": "verify", HOME + "b": "announce"}
    assert brought(decision).novel == 2


def test_old_pages_that_turn_up_are_recorded_as_backdated() -> None:
    decision = judged(hub(), target("2019/05/01/a"), target("b"))
    states = {link.url: link.fate for link in decision.record.links or ()}
    assert states == {HOME + "2019/05/01/a": "backdated", HOME + "b": "announce"}
    assert announced(decision) == [HOME + "b"]


def test_feed_dates_are_kept_for_the_policy_and_the_page() -> None:
    links = [target(str(n), published_at=START + n) for n in (1, 2)]
    decision = judged(hub(kind="feed"), *links, target("z", published_at=NOW + DAY))
    assert brought(decision).published == (START + 1, START + 2)
    assert next(link.published_at for link in decision.record.links or ()) == START + 1


OLD_URLS = [f"{HOME}article.php?id={n}" for n in range(20)]
HEADLINES = {f"The headline of story {n}": 100 + n for n in range(20)}


def new_form(count: int, *, anchors: bool) -> list[SeenLink]:
    names = list(HEADLINES) if anchors else ["more"] * count
    return [target(f"stories/{n}-a-slug/", names[n]) for n in range(count)]


def test_a_url_migration_is_one_event_and_announces_nothing() -> None:
    decision = judged(hub(), *new_form(20, anchors=False), lost_urls=OLD_URLS)
    record = decision.record
    assert announced(decision) == []
    assert record.site_change is not None
    assert record.site_change.kind == "url_migration"
    assert record.rebaseline
    assert record.site_fields == {"migrated_at": NOW}
    assert not record.overflow
    assert {link.fate for link in record.links or ()} == {"event"}


def test_known_headlines_under_new_addresses_are_moved_pages() -> None:
    found = [target(f"article.php?id={50 + n}", name) for n, name in enumerate(HEADLINES)]
    decision = judged(hub(), *found, lost_urls=OLD_URLS, anchors=HEADLINES)
    assert announced(decision) == []
    moves = [link.moved_from for link in decision.record.links or ()]
    assert moves == list(HEADLINES.values())


def test_a_busy_day_is_no_url_migration() -> None:
    """Everything went and everything is new, but of the form that it always had: an overflow."""
    found = [target(f"article.php?id={50 + n}", f"Another story {n}") for n in range(20)]
    decision = judged(hub(), *found, lost_urls=OLD_URLS, anchors={})
    assert len(announced(decision)) == 20
    assert decision.record.overflow
    assert brought(decision).all_new
    assert decision.record.site_change is None


@pytest.mark.parametrize(("lost", "came", "kept"), [(7, 20, 0), (20, 7, 0), (20, 20, 6)])
def test_few_links_or_many_that_stayed_are_no_url_migration(
    lost: int, came: int, kept: int
) -> None:
    stayed = [target(f"kept/{n}") for n in range(kept)]
    known = by_canonical_key(*(known_page(500 + n, f"kept/{n}") for n in range(kept)))
    decision = judged(
        hub(),
        *stayed,
        *new_form(came, anchors=False),
        known=known,
        visible=frozenset(page.id for page in known.values()),
        lost_urls=OLD_URLS[:lost],
    )
    assert len(announced(decision)) == came
    assert decision.record.site_change is None


def test_short_anchors_say_nothing_of_a_url_migration() -> None:
    found = [target(f"article.php?id={50 + n}", "more") for n in range(20)]
    decision = judged(hub(), *found, lost_urls=OLD_URLS, anchors={"more": 7})
    assert len(announced(decision)) == 20


NOT_THERE = """404|404 Not Found|404 - Example|404: Page|Error 404|404 error|Page not found | Example
Not Found|Not found - Example|Example - 404|Example | Not Found|Seite nicht gefunden|Page introuvable
404 页面不存在|404错误|页面未找到_示例|抱歉，您访问的页面不存在
您所访问的页面已删除|找不到网页|無法找到該頁|网页已删除
HTTP 404|404页面|Oops! Page not found"""
STILL_THERE = """Flight 404 lands safely|Peugeot 404 turns 60|Lost ship not found after a week|News
关于页面设计的通知|Section 4040|不存在的骑士|Room 404 opens in museum|What "error" means|4041"""


@pytest.mark.parametrize("title", NOT_THERE.replace(" | ", " - ").replace("\n", "|").split("|"))
def test_a_title_that_says_the_page_is_not_there(title: str) -> None:
    assert is_soft_404(title, "Sorry.")
    assert not is_soft_404(title, "An article about error pages. " * 50)


@pytest.mark.parametrize("title", STILL_THERE.replace("\n", "|").split("|"))
def test_a_title_that_only_sounds_like_it(title: str) -> None:
    assert not is_soft_404(title, "A short notice.")


def test_pages_that_another_hub_showed_first_are_shared_with_it() -> None:
    known = by_canonical_key(
        known_page(5, "a", first_hub_id=7, announced_at=START),
        known_page(6, "b", first_hub_id=1, announced_at=START),
        known_page(8, "c", first_hub_id=7, announced_at=START),
    )
    links = [target(path) for path in "abc"]
    decision = judged(hub(), *links, known=known, visible=frozenset({8}))
    assert brought(decision).shared == {"7": 1}
    assert brought(judged(unread_hub(), *links, known=known)).shared == {}


def test_a_page_cut_short_keeps_what_it_does_not_show() -> None:
    cut = read_hub(outcome(page=html(truncated=True)), view(hub(), target("a")))
    assert cut.record.keep_missing
    assert cut.record.status == FetchStatus.FETCHED.value
