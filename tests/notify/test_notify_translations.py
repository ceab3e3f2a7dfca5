"""A message names what says the same in another language."""

from __future__ import annotations

from dataclasses import replace

from incremental.features.assistants.quoting import quoted_page
from incremental.interfaces.notify.message import (
    MAX_TRANSLATIONS,
    SAMPLE,
    check_template,
    compose,
    of_page,
)
from store.announced import AnnouncedPage, Translation


def page(*translations: Translation) -> AnnouncedPage:
    return replace(
        SAMPLE, url="https://a.example/en", title="Museum reopens", translations=translations
    )


def other(number: int = 1, title: str = "博物馆重新开放") -> Translation:
    return Translation(number, f"https://a.example/zh/{number}", title, "a.example", "zh", 0.8)


def test_a_message_names_the_same_page_in_another_language() -> None:
    body = compose([of_page(page(other()))], "", "").body
    assert body.splitlines() == [
        "https://a.example/en",
        "example.org",
        "Also in Chinese: 博物馆重新开放",
        "https://a.example/zh/1",
    ]
    assert "Also" not in compose([of_page(page())], "", "").body


def test_titles_are_cleaned_and_their_number_is_bounded() -> None:
    found = [other(number, f"{number}\n\u202eEvil") for number in range(50)]
    body = compose([of_page(page(*found))], "", "").body
    assert "0 Evil\n" in body
    assert body.count("Also in Chinese") == MAX_TRANSLATIONS


def test_a_template_may_use_them() -> None:
    template = "{% for one in pages[0].translations %}{{ one.language }} {{ one.url }}{% endfor %}"
    check_template("notify[0].body", template)
    assert compose([of_page(page(other()))], "", template).body == "Chinese https://a.example/zh/1"


def test_an_assistant_gets_them_as_what_a_site_wrote() -> None:
    quoted = quoted_page(page(other()))["from_site"]
    assert quoted["in_other_languages"] == [
        {"language": "zh", "title": "博物馆重新开放", "url": "https://a.example/zh/1"}
    ]
    assert "in_other_languages" not in quoted_page(page())["from_site"]
