"""The door for people: announced pages by what they want to see, on every database alike."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stories import HOME, START, news_site, seen, visit_of

from store import Store, open_store
from store.answers import NewQuery, NewsAnswer
from store.answers.values import Counts
from store.enums import PageState
from store.models import PageTopic, Topic
from store.values import ReadText


def announce(store: Store, site: int, hub: int, *numbers: int, at: float | None = None) -> None:
    """Tell pages ``/1``, ``/2``, ..., each a second after the one before unless *at* is given."""
    for number in numbers:
        link = seen(f"{HOME}{number}", anchor=f"Story {number}", fate="announce")
        moment = START + number if at is None else at
        store.write.visit(visit_of(site, hub, moment, link, keep_missing=True))


def read_page(store: Store, site: int, number: int, text: str, **fields: Any) -> int:
    """Record a look at an announced page that found *text*; return the page's id."""
    page_id = int(store.read.find_page(f"{HOME}{number}", "")[0]["id"])
    title = fields.pop("title", f"Story {number}")
    page_fields = {"title": title, "language": fields.pop("language", None)}
    read = ReadText(title, text, "0" * 32, **fields)
    record = visit_of(site, page_id, START + number + 0.5, links=None, text=read)
    store.write.visit(dataclass_replace(record, page_fields=page_fields))
    return page_id


def dataclass_replace(record: Any, **fields: Any) -> Any:
    from dataclasses import replace

    return replace(record, **fields)


def numbers(answer: NewsAnswer) -> list[int]:
    return [int(row.url.removeprefix(HOME)) for row in answer.rows]


def listed(store: Store, **query: Any) -> list[int]:
    return numbers(store.answers.new(NewQuery(**query)))


@pytest.fixture
def announced(store: Store) -> tuple[Store, int, int]:
    """A store in which six pages were announced."""
    site, home = news_site(store)
    announce(store, site, home, 1, 2, 3, 4, 5, 6)
    return store, site, home


Announced = tuple[Store, int, int]


def test_announced_pages_come_newest_first_or_oldest_first(announced: Announced) -> None:
    store, _, _ = announced
    assert listed(store) == [6, 5, 4, 3, 2, 1]
    assert listed(store, order="oldest", limit=2) == [1, 2]


def test_time_bounds_are_half_open(announced: Announced) -> None:
    store, _, _ = announced
    assert listed(store, since=START + 2, until=START + 5) == [4, 3, 2]
    assert listed(store, since=START + 9) == []
    assert listed(store, until=START) == []


def test_a_page_that_was_found_while_the_clock_stood_wrong_is_still_within_its_bounds(
    announced: Announced,
) -> None:
    store, site, home = announced
    announce(store, site, home, 7, at=START + 3)
    assert listed(store, since=START + 3, until=START + 4) == [7, 3]


def test_sites_narrow_and_several_are_merged_in_order(announced: Announced) -> None:
    store, site, home = announced
    other, other_home = news_site(store, home="https://other.example/")
    announce(store, other, other_home, 10, 11)
    announce(store, site, home, 12)
    assert listed(store, sites=(other,)) == [11, 10]
    assert listed(store, sites=(other, site), limit=3) == [12, 11, 10]
    assert listed(store, sites=()) == []


def test_a_language_is_its_primary_subtag(announced: Announced) -> None:
    store, site, _ = announced
    read_page(store, site, 2, "text", language="zh-Hans-CN")
    read_page(store, site, 3, "text", language="EN_us")
    assert listed(store, language="zh") == [2]
    assert listed(store, language="en-GB") == [3]
    assert listed(store, language="??") == []


def test_marks_are_set_and_taken_back(announced: Announced) -> None:
    store, _, _ = announced
    ids = {row.url: row.page_id for row in store.answers.new(NewQuery()).rows}
    second, third = ids[f"{HOME}2"], ids[f"{HOME}3"]
    assert store.answers.mark([second, third, 999], now=START, read=True) == [second, third]
    store.answers.mark([third], now=START + 9, read=True, starred=True)
    assert listed(store, read=True) == [3, 2]
    assert listed(store, read=False) == [6, 5, 4, 1]
    assert listed(store, starred=True) == [3]
    (row,) = store.answers.new(NewQuery(starred=True)).rows
    assert (row.read_at, row.starred_at) == (START, START + 9)
    store.answers.mark([third], now=START, read=False, starred=False)
    assert listed(store, read=True) == [2]


def test_marks_are_counted_by_site(announced: Announced) -> None:
    store, site, _ = announced
    pages = [row.page_id for row in store.answers.new(NewQuery(order="oldest", limit=4)).rows]
    store.answers.mark(pages, now=START, read=True)
    assert store.answers.counts() == {0: Counts(6, 2, 0), site: Counts(6, 2, 0)}


def test_topics_narrow_by_verdict_and_score(announced: Announced) -> None:
    store, _, _ = announced
    pages = {row.url: row.page_id for row in store.answers.new(NewQuery()).rows}
    topic = Topic.insert(name="t", created_at=START, changed_at=START).execute(store.database)
    for number, verdict, score in (
        (1, "relevant", 0.9),
        (2, "doubtful", 0.5),
        (4, "relevant", 0.7),
    ):
        PageTopic.insert(
            page=pages[f"{HOME}{number}"],
            topic=topic,
            score=score,
            verdict=verdict,
            fetched=True,
            method="m",
            version="v",
            at=START,
        ).execute(store.database)
    assert listed(store, topic=topic) == [4, 2, 1]
    assert listed(store, topic=topic, verdict="relevant") == [4, 1]
    assert listed(store, min_score=0.8) == [1]
    assert listed(store, topic=topic + 1) == []
    (row,) = store.answers.new(NewQuery(min_score=0.8)).rows
    assert [(mark.topic, mark.score, mark.verdict) for mark in row.topics] == [
        ("t", 0.9, "relevant")
    ]


@pytest.mark.parametrize("limit", [1, 2, 5])
@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_pages_of_an_answer_follow_one_another(
    announced: Announced, limit: int, order: str
) -> None:
    store, _, _ = announced
    read: list[int] = []
    answer = store.answers.new(NewQuery(limit=limit, order=order))
    read += numbers(answer)
    while answer.more:
        answer = store.answers.new(NewQuery(limit=limit, order=order, after=answer.cursor))
        read += numbers(answer)
    assert read == sorted(read, reverse=order == "newest")
    assert len(read) == 6


Step = Callable[[Store, int, int, int], None]
STEPS = ("tell", "page", "follow", "move", "mark", "back")


def check_paging(store: Store, steps: list[str], limit: int) -> None:
    """Browse down and follow up at once, while pages are announced, moved and marked in between."""
    site, home = news_site(store)
    announce(store, site, home, 1, 2, 3)
    down: list[int] = []
    up: list[int] = []
    below: int | None = None
    above = 0
    clock = START + 100
    for number, step in enumerate(steps, 10):
        clock += -50 if step == "back" else 1
        if step in ("tell", "back"):
            announce(store, site, home, number, at=clock)
        elif step == "page":
            answer = store.answers.new(NewQuery(limit=limit, after=below))
            below = answer.cursor
            down += numbers(answer)
        elif step == "follow":
            answer = store.answers.new(NewQuery(limit=limit, after=above, order="oldest"))
            above = answer.cursor or 0
            up += numbers(answer)
        else:
            rows = store.answers.new(NewQuery(limit=1)).rows
            store.answers.mark([row.page_id for row in rows], now=clock, read=True)
    while (answer := store.answers.new(NewQuery(limit=limit, after=above, order="oldest"))).rows:
        above = answer.cursor or 0
        up += numbers(answer)
    assert up == [1, 2, 3, *(n for n, s in enumerate(steps, 10) if s in ("tell", "back"))]
    assert down == sorted(down, reverse=True)
    assert len(down) == len(set(down))
    if down and len(down) >= 3:
        top = down[0]
        assert down == sorted((n for n in up if n <= top), reverse=True)[: len(down)]


@settings(max_examples=25)
@given(steps=st.lists(st.sampled_from(STEPS), max_size=20), limit=st.integers(1, 4))
def test_paging_never_skips_or_repeats_while_others_write(
    steps: list[str], limit: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("paging")
    with open_store(str(folder / "s.sqlite"), cache_folder=folder) as store:
        check_paging(store, steps, limit)


@pytest.mark.parametrize("limit", [1, 3])
def test_paging_never_skips_or_repeats_on_either_database(store: Store, limit: int) -> None:
    check_paging(store, ["page", "tell", "back", "page", "follow", "mark", "tell", "page"], limit)


def test_a_page_that_became_another_is_passed_over_and_the_rest_still_comes(
    announced: Announced,
) -> None:
    store, site, home = announced
    (newest, *_) = store.answers.new(NewQuery(limit=1)).rows
    store.write.update_page(newest.page_id, state=PageState.MOVED)
    assert listed(store, limit=2) == [5, 4]
    old = store.read.find_page(f"{HOME}5", "")[0]["id"]
    store.write.visit(visit_of(site, home, START + 9, seen(f"{HOME}50", moved_from=old)))
    assert listed(store, limit=2) == [50, 4]


def test_a_cursor_of_nonsense_finds_nothing_or_all(announced: Announced) -> None:
    store, _, _ = announced
    assert listed(store, after=10**30) == [6, 5, 4, 3, 2, 1]
    assert listed(store, after=-(10**30)) == []
    assert listed(store, after=10**30, order="oldest") == []
    assert len(listed(store, limit=10**30)) == 6


def test_a_removed_site_takes_its_news_texts_and_words_along(announced: Announced) -> None:
    store, site, _ = announced
    page_id = read_page(store, site, 1, "unmistakable words")
    store.write.remove_site(site)
    assert listed(store) == []
    assert store.answers.text(page_id) is None
    assert store.answers.counts() == {0: Counts()}
    news_site(store)
    assert listed(store, text="unmistakable") == []


def test_saved_searches_are_kept_by_name(store: Store) -> None:
    store.answers.save_search("b", "{}", now=START)
    store.answers.save_search("a", "{}", now=START)
    store.answers.save_search("b", '{"text": "x"}', now=START + 1)
    assert [row.name for row in store.answers.searches()] == ["a", "b"]
    found = store.answers.search("b")
    assert found is not None
    assert (found.query, found.created_at, found.changed_at) == ('{"text": "x"}', START, START + 1)
    assert store.answers.remove_search("b")
    assert not store.answers.remove_search("b")
    assert store.answers.search("b") is None
