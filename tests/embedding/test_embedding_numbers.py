"""Numbers and names of titles: the same in two languages, and different for the next of a series."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.topics.embedding.numbers import is_named, names_of, numbers_of

SAME = [
    ("1,200 jobs", "1200个岗位"),
    ("30,000 runners", "3万名跑者"),
    ("1.2 billion dollars", "12亿美元"),
    ("2.6 million containers", "260万标箱"),
    ("15 Millionen Euro", "1500万欧元"),
    ("Tender 2026-014", "招标公告２０２６－０１４"),
    ("Redwood 8.4.2", "红杉 8.4.2 发布"),
    ("rate of 2.25%", "利率2.25%"),
    ("parcel 7-B", "7-B地块"),
    ("flight NW203", "NW203航班"),
    ("12th award", "第十二届奖"),
    ("statistics for March", "三月份统计"),
    ("on 3 May", "5月3日"),
    ("until November", "至11月"),
    ("section 23", "第二十三节"),
]
DIFFERENT = [
    ("Tender 2026-014", "招标公告 2026-015"),
    ("parcel 7-B", "7-C地块"),
    ("flight NW203", "NW307航班"),
    ("Redwood 8.4.2", "红杉 8.4.3 发布"),
    ("statistics for March", "四月份统计"),
    ("12th award", "第十三届奖"),
    ("sales in Q1", "第二季度销售额"),
    ("magnitude 5.4", "4.7级"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_number_is_the_same_however_a_language_writes_it(one: str, other: str) -> None:
    assert numbers_of(one).written == numbers_of(other).written


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_the_next_of_a_series_has_another_number(one: str, other: str) -> None:
    assert not numbers_of(one).written <= numbers_of(other).all


@pytest.mark.parametrize(
    ("text", "words"),
    [("Two killed", {"2"}), ("两人死亡", {"2"}), ("forty artists", {"40"}), ("一名男子", set())],
)
def test_numbers_in_words_are_apart_and_one_says_nothing(text: str, words: set[str]) -> None:
    found = numbers_of(text)
    assert (set(found.written), set(found.worded)) == (set(), words)


@pytest.mark.parametrize("text", ["Students may march on parliament", "3D printing", "5G网络", ""])
def test_words_and_names_are_no_numbers(text: str) -> None:
    assert numbers_of(text).written == frozenset()


def test_a_third_quarter_is_a_quarter() -> None:
    quarters = [numbers_of(text).written for text in ("third-quarter sales", "Q3", "第三季度")]
    assert all("quarter 3" in one for one in quarters)


def test_latin_names_stand_in_the_other_text_or_their_initials_do() -> None:
    assert names_of("Vue 与 NASA 合作, kg") == {"vue", "nasa"}
    assert is_named("nasa", "A report by NASA's office")
    assert is_named("ai", "Artificial intelligence in schools")
    assert not is_named("linux", "A report by NASA's office")


@given(st.text(max_size=300))
def test_any_text_has_a_bounded_answer(text: str) -> None:
    found = numbers_of(text)
    assert all(0 < len(one) < 100 for one in found.all if one.isdigit())
    assert names_of(text) == names_of(text)


def test_long_texts_and_numbers_cost_little() -> None:
    assert len(numbers_of("9" * 1_000_000).written) <= 1
    assert len(numbers_of("第" + "一二三" * 100_000).written) <= 1
