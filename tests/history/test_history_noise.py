"""What counts as noise, and what must never count as noise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incremental.parse.history.noise import FURNITURE_LINES, MAX_LINES, lines_of, prose_of


@pytest.mark.parametrize(
    "line",
    [
        "Updated 3 hours ago · 1,204 views",
        "Published on Monday, 8 May 2026 10:00 UTC",
        "Last modified: 2026-05-08T10:00:00Z",
        "8 May 2026",
        "May 8, 2026 at 10:30 am",
        "2026年5月8日 星期五",
        "今天是2026年5月8日 星期五",
        "发布时间：2026-05-08 10:20 浏览次数：120次",
        "阅读(1,024)",
        "刚刚",
        "5分钟前",
        "12 条评论",
        "1,000 visitors",
        "Comments (12)",
        "5 min read",
        "Share on Facebook",
        "Tweet",
        "分享到：微信 微博 QQ空间",
        "【打印】【关闭】",
        "字号：大 中 小",
        "Advertisement",
        "广告",
        "Story continues below",
    ],
)
def test_a_line_of_furniture_is_noise(line: str) -> None:
    (read,) = lines_of(line)
    assert read.key == ""
    assert read.noise


@pytest.mark.parametrize(
    "line",
    [
        "Deadline: 8 May 2026",
        "The deadline is 8 May 2026.",
        "投标截止时间为2026年5月8日9时30分。",
        "第一条 本办法自2026年5月1日起施行。",
        "Museum welcomes 1,000 visitors",
        "Price: 5 m",
        "3 days left",
        "500,000",
        "| Total | 12 |",
        "Sharing data is caring, says the minister",
        "Advertising tax to rise",
        "中国",
        "A " + "long line of prose that was updated 3 hours ago, " * 8,
    ],
)
def test_what_a_page_says_is_no_noise(line: str) -> None:
    (read,) = lines_of(line)
    assert read.key
    assert not read.noise


def test_a_date_alone_counts_where_the_line_before_asks_for_it() -> None:
    deadline, date, author, stamp = lines_of("Deadline\n8 May 2026\nAnn Lee\n9 May 2026")
    assert date.key == "8 May 2026"
    assert (stamp.key, stamp.noise) == ("", ("date",))
    assert deadline.key
    assert author.key


def test_only_the_noise_of_a_line_is_taken() -> None:
    (line,) = lines_of("By Ann Lee · Updated 3 hours ago · 17 comments")
    assert line.key == "By Ann Lee"
    assert line.noise == ("relative time", "counter")
    (chinese,) = lines_of("来源：新华社 发布时间：2026-05-08 10:20 浏览次数：120次")
    assert chinese.key == "来源:新华社"


def test_writing_a_quote_or_a_space_otherwise_is_no_difference() -> None:
    assert prose_of("“It’s” — fine") == prose_of('"It\'s"   -\u00a0fine')


def test_furniture_stands_at_the_ends_of_a_text() -> None:
    middle = "\n".join(["Advertisement", *["prose"] * FURNITURE_LINES])
    lines = lines_of("\n".join(["prose"] * FURNITURE_LINES) + "\n" + middle)
    assert lines[FURNITURE_LINES].key == "Advertisement"


def test_the_ends_of_a_text_are_four_hundred_lines_each() -> None:
    before, after = ["prose"] * 400, ["prose"] * 400
    lines = lines_of(
        "\n".join([*before[1:], "Tweet", "Advertisement", "Share on Facebook", *after[1:]])
    )
    assert [line.key for line in lines[399:402]] == ["", "Advertisement", ""]


def test_a_text_of_very_many_lines_is_bounded() -> None:
    lines = lines_of("a line\n" * 50_000)
    assert len(lines) == MAX_LINES
    assert lines[-1].text.count("a line") == 50_000 - MAX_LINES + 1


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    for line in lines_of(text):
        assert line.text
        assert bool(line.key) or line.noise
