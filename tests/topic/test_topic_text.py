"""Cutting text into terms: languages, positions, hub pages, and input that nobody would write."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifier.words.language import language_of
from classifier.words.segmentation import MAX_CHARS, MAX_TERM_CHARS, add_words, tokens
from classifier.words.text import (
    anchor_share,
    is_hub_text,
    weighted_terms,
)
from classifier.words.values import PageText


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("体验2D巅峰 倚天屠龙记十大创新概览", "zh"),
        ("The city council has adopted new rules for the market", "en"),
        ("Die Stadt hat neue Regeln für die Müllabfuhr beschlossen", "de"),
        ("El ayuntamiento de la ciudad ha publicado las nuevas reglas", "es"),
        ("東京都の新しい発表について", "ja"),
        ("서울시는 오늘 새로운 다리를 열었다고 발표했다", "ko"),
        ("서울시 Kubernetes 도입 계획을 발표", "ko"),
        ("\uf900\uf901\uf902 \uf9b4\uf97e\uf967", "zh"),
        ("Новые правила для города", "ru"),
        ("2024 / 17", "en"),
    ],
)
def test_language_is_known_by_script_and_common_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_what_a_page_tells_stands_unless_its_script_contradicts() -> None:
    """Templates of Chinese sites often say en."""
    assert language_of("关于召开会议的通知", "en") == "zh"
    assert language_of("Press", "fr") == "fr"
    assert language_of("Новини міста", "uk-UA") == "uk"
    assert language_of("", "de") == "de"
    vietnamese = "Đây là những tin tức mới nhất của chúng tôi và các bạn"
    assert {language_of(unicodedata.normalize(form, vietnamese)) for form in ("NFC", "NFD")} == {
        "vi"
    }


def test_chinese_is_cut_by_words_and_loses_its_stop_words() -> None:
    assert tokens("我们发布了关于人工智能的通知", "zh") == ["发布", "人工智能", "通知"]


def test_korean_is_no_chinese_and_its_words_meet_whatever_their_endings() -> None:
    """A bridge as subject, as object, and in Unicode's decomposed form is one word."""
    subject, topic = tokens("다리가 놓였다", "ko"), tokens("다리를 건넌다", "ko")
    assert "다리" in subject
    assert "다리" in topic
    assert tokens(unicodedata.normalize("NFD", "다리가 놓였다"), "ko") == subject
    assert "다리" not in tokens("중국어로 된 기사", "ko")


def test_the_scripts_of_east_asia_are_cut_each_by_its_own_rule() -> None:
    assert tokens("北京大桥 서울대교 東京タワー", "zh") == [
        "北京",
        "大桥",
        "서울",
        "울대",
        "대교",
        *tokens("東京タワー", "zh"),
    ]
    assert tokens("東京タワー", "ja") == ["東京", "京タ", "タワ", "ワー"]


def test_a_compatibility_ideograph_is_the_character_that_it_stands_for() -> None:
    assert tokens("\uf9b4土", "zh") == tokens("\u9818土", "zh")


def test_english_is_stemmed_and_loses_its_stop_words() -> None:
    assert tokens("The developers' running systems were tested", "en") == [
        "develop",
        "run",
        "system",
        "test",
    ]


def test_mixed_languages_both_come_out_whole() -> None:
    assert tokens("The 人工智能 committee", "en") == ["人工智能", "committe"]
    assert tokens("使用 Kubernetes clusters 部署", "zh") == ["使用", "kubernet", "cluster", "部署"]


def test_names_with_signs_are_words() -> None:
    assert tokens("C++ and C# but not 2024", "en") == ["c++", "c#"]


def test_japanese_is_cut_into_pairs_of_characters() -> None:
    assert tokens("東京都", "ja") == ["東京", "京都"]


def test_user_words_are_not_taken_apart() -> None:
    assert "量子退相干理论" not in tokens("量子退相干理论研究", "zh")
    add_words(["量子退相干理论", "", "x"])
    assert "量子退相干理论" in tokens("量子退相干理论研究", "zh")


@pytest.mark.parametrize(
    "piece", ["龘", "研究", "ab ", "a", "'", "a'", "\ud800", "é", "١", "ａ", "\x00 "]
)
def test_five_megabytes_of_anything_are_cut_at_a_limit(piece: str) -> None:
    text = piece * (5_000_000 // len(piece))
    found = tokens(text, "zh" if piece > "一" else "en")
    assert sum(map(len, found)) <= MAX_CHARS


@given(st.text(max_size=300), st.sampled_from(["zh", "en", "de", "ja", "xx", ""]))
def test_terms_are_short_words_in_lower_case(text: str, language: str) -> None:
    for term in tokens(text, language):
        assert term
        assert len(term) <= MAX_TERM_CHARS or not term.isascii()
        assert term == term.lower() or not term.isascii()
        assert not any(character.isspace() for character in term)


@given(st.text(max_size=300), st.none() | st.text(max_size=5))
def test_any_text_has_a_language(text: str, likeness: str | None) -> None:
    assert isinstance(language_of(text, likeness), str)


def test_positions_weigh_their_terms() -> None:
    page = PageText("u", title="Galaxy", headings=("Comet",), meta="orbit", body="galaxy telescope")
    assert weighted_terms(page) == {
        "galaxi": 4.0,
        "comet": 2.0,
        "orbit": 1.5,
        "telescop": 1.0,
    }


def test_text_of_a_hub_page_is_its_anchors() -> None:
    """Paper 000: more than 0.6 of the text in anchors makes a hub page."""
    hub = PageText("u", body="menu", anchors=("galaxy news", "comet news"))
    assert is_hub_text(hub)
    assert set(weighted_terms(hub)) == {"galaxi", "news", "comet"}


def test_text_of_a_topic_page_is_its_body_without_the_anchors() -> None:
    page = PageText("u", body="galaxies and telescopes " * 5, anchors=("comet",))
    assert anchor_share(page) < 0.6
    assert set(weighted_terms(page)) == {"galaxi", "telescop"}


def test_an_empty_page_has_no_terms() -> None:
    assert weighted_terms(PageText("u")) == {}
    assert anchor_share(PageText("u")) == 0.0
