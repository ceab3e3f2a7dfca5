"""What stands on most pages of a site says nothing of a topic, from the second page on."""

from dataclasses import replace

import pytest

from classifier.words.background import Background
from classifier.words.errors import TopicModelError
from classifier.words.template import MAX_HOSTS, MAX_PIECES, SiteTemplates, headline_of
from classifier.words.values import PageText

MENU = ("Home", "About", "Contact")


def page(number: int, host: str = "site.example") -> PageText:
    return PageText(
        f"https://{host}/{number}",
        title=f"Story {number} // Some Site",
        headings=("Some Site", f"Story {number}"),
        meta="Learning computer science, and further articles.",
        body=f"The story of number {number}.\nAll rights reserved.",
        anchors=(*MENU, f"tag {number}"),
    )


def seen(*pages: PageText) -> SiteTemplates:
    templates = SiteTemplates()
    for one in pages:
        templates.observe(one)
    return templates


def test_title_suffix_menu_description_and_footer_go_from_the_second_page_on() -> None:
    plain = seen(page(1), page(2)).without(page(3))
    assert plain.title == "Story 3"
    assert plain.headings == ("Story 3",)
    assert plain.meta == ""
    assert plain.body == "The story of number 3."
    assert plain.anchors == ("tag 3",)


def test_the_first_page_of_a_site_is_whole() -> None:
    assert seen(page(1)).without(page(1)) == page(1)


def test_one_site_says_nothing_of_another() -> None:
    other = page(3, "other.example")
    assert seen(page(1), page(2)).without(other) == other


def test_what_a_few_pages_share_stays() -> None:
    shared = [replace(page(number), body="Bridges are old.") for number in (1, 2)]
    plain = seen(*shared, *(page(number) for number in range(3, 9))).without(shared[0])
    assert plain.body == "Bridges are old."


def test_a_page_that_is_nothing_but_template_is_whole() -> None:
    same = replace(page(1), title="Some Site", headings=(), body="")
    assert seen(same, same, same).without(same) == same


def test_what_was_counted_is_kept_with_the_background() -> None:
    background = Background()
    for number in (1, 2):
        background.observe_page(page(number))
    again = Background.from_json(background.to_json())
    assert again.templates.without(page(3)).title == "Story 3"


def test_damaged_counts_are_refused() -> None:
    data = Background().to_json() | {"templates": {"site.example": [3]}}
    with pytest.raises(TopicModelError, match="templates"):
        Background.from_json(data)


def test_memory_is_bounded() -> None:
    templates = SiteTemplates()
    for number in range(MAX_HOSTS + 50):
        templates.observe(page(number, f"s{number}.example"))
    for number in range(200):
        body = "\n".join(f"line {number}.{line}" for line in range(100))
        templates.observe(replace(page(number), body=body))
    kept = templates._counts
    assert len(kept) <= MAX_HOSTS
    assert max(map(len, kept.values())) <= MAX_PIECES


@pytest.mark.parametrize("url", ["", "text:5", "https://[", "mailto:a@b.example"])
def test_a_page_without_a_host_has_no_template(url: str) -> None:
    one = replace(page(1), url=url)
    assert seen(one, one, one).without(one) == one


@pytest.mark.parametrize(
    ("title", "headline"),
    [
        ("CVPR 2015 // Neurohazard", "CVPR 2015"),
        ("TestArticle // Neurohazard", "TestArticle"),
        (
            "Otters are back in the river | Nature | News | The Paper",
            "Otters are back in the river",
        ),
        ("The Paper - Otters are back in the river", "Otters are back in the river"),
        ("新闻中心_水獭重返河流_某某网", "水獭重返河流"),
        ("归档 | Alex_McAvoy", "归档"),
        ("How snake_case names are read", "How snake_case names are read"),
        ("OpenCV-Python教程导读-3 图像基础操作", "OpenCV-Python教程导读-3 图像基础操作"),
        ("图文:斯杯-中国男篮22分胜伊朗", "图文:斯杯-中国男篮22分胜伊朗"),
        (" | ", ""),
        ("", ""),
    ],
)
def test_of_a_title_the_part_of_most_words_is_the_headline(title: str, headline: str) -> None:
    assert headline_of(title) == headline
