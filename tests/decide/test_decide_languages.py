"""The language of a page that was read."""

import pytest

from incremental.parse import Link, Page, PageKind
from incremental.parse.main_text import language_of_page

ENGLISH = "The council has opened the old bridge again, and the mayor was the first to cross it."
GERMAN = (
    "Der Rat hat die alte Brücke wieder geöffnet, und der Bürgermeister ging als erster hinüber."
)
CHINESE = "国务院办公厅今日发布通知，要求各地区各部门认真贯彻落实会议精神。"


@pytest.mark.parametrize(
    ("announced", "text", "expected"),
    [
        (None, ENGLISH, "en"),
        (None, GERMAN, "de"),
        (None, CHINESE, "zh"),
        (None, "首相は本日、記者会見を開き、新しい対策を説明しました。", "ja"),
        ("fr", GERMAN, "fr"),
        ("en", CHINESE, "zh"),
        ("zh", ENGLISH, "en"),
        # Too little to tell.
        (None, "Win 10", None),
        (None, "通知", None),
        (None, "2024-05-06 10:20:30 " * 9, None),
        ("de", "OK", "de"),
    ],
)
def test_what_a_page_says_stands_unless_its_text_is_plainly_in_another_language(
    announced: str | None, text: str, expected: str | None
) -> None:
    page = Page("https://e.org/", PageKind.HTML, language=announced, text=text)
    assert language_of_page(page) == expected


def test_a_list_has_the_language_of_its_links() -> None:
    links = tuple(Link(f"https://e.org/{n}", anchor=CHINESE[n:]) for n in range(3))
    assert language_of_page(Page("https://e.org/", PageKind.FEED, links=links)) == "zh"
