"""Full-text search and copies: the same pages are found on every database."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import HOME, START, news_site, seen, visit_of

from store import Store
from store.answers import NewQuery
from store.answers.excerpts import excerpt
from store.near_duplicates import agreement
from store.search.words import MAX_WORDS, folded, index_words, read_query
from store.values import ReadText

CHINESE = "国务院办公厅关于印发中国人民银行金融改革方案的通知"
TEXTS = {
    1: ("Budget approved", "The city council approved the budget for new bicycle lanes."),
    2: ("通知", CHINESE),
    3: ("Neues aus München", "Die Brücke über die Isar wird gebaut."),
    4: ('O\'Reilly "quotes" AND NOT', "col:umn NEAR(a b) wild* (parens) it's -minus"),
    5: ("日本語", "東京都の新しい予算について。カタカナも。"),
    6: ("한국어", "한국은행이 금리를 발표했다"),
}


@pytest.fixture
def library(store: Store) -> Store:
    """A store in which the pages of TEXTS were announced and read."""
    site, home = news_site(store)
    links = [seen(f"{HOME}{number}", anchor="link", fate="announce") for number in TEXTS]
    store.write.visit(visit_of(site, home, START, *links))
    for number, (title, text) in TEXTS.items():
        put(store, number, ReadText(title, text, "0" * 32))
    return store


def put(store: Store, number: int, read: ReadText) -> int:
    (page,) = store.read.find_page(f"{HOME}{number}", "")
    record = visit_of(page["site"], page["id"], START + number, links=None, text=read)
    store.write.visit(record)
    return int(page["id"])


def found(store: Store, words: str, **query: object) -> list[int]:
    rows = store.answers.new(NewQuery(text=words, **query)).rows  # type: ignore[arg-type]  # as given
    return sorted(int(row.url.removeprefix(HOME)) for row in rows)


@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=60))
def test_plain_english_is_cut_as_beside_another_script(text: str) -> None:
    beside = " ".join(f"{line} жж" for line in text.split("\n"))
    assert [word for word in index_words(beside) if word != "жж"] == index_words(text)


FOUND: list[tuple[str, list[int]]] = [
    ("budget", [1]),
    ("BUDGET council", [1]),
    ("budget unheard-of", []),
    ('"bicycle lanes"', [1]),
    ('"lanes bicycle"', []),
    ("bicyc*", [1]),
    ("bicyc", []),
    ("中国", [2]),
    ("银行", [2]),
    ("民", [2]),
    ("中国人民银行", [2]),
    ("中国银行", []),
    ("munchen brucke", [3]),
    ("MÜNCHEN", [3]),
    ("東京", [5]),
    ("カタカナ", [5]),
    ("한국", [6]),
    ("금리를", [6]),
    ("approved -council", []),
    ("approved -unheard", [1]),
    ("link", []),
]


def test_words_are_found_in_titles_and_texts(library: Store) -> None:
    assert [(words, found(library, words)) for words, _ in FOUND] == FOUND


HOSTILE = [
    'AND OR NOT NEAR "',
    '"""',
    "title:budget",
    "^budget",
    "budget)",
    "(((",
    "a' OR 1=1 --",
    "{title body}: x",
    "wild*card",
    "+x -",
    "\0",
    "\ud800",
    "x" * 5_000,
    "中" * 5_000,
    '"' * 999,
    "!!! & | <->",
    "'budget':*",
    "\\' \\",
]


TAIWAN = "教育部宣布各級學校應加強資訊安全教育，頭髮與發展皆乾淨"
MAINLAND = "教育部宣布各级学校应加强资讯安全教育，头发与发展皆干净"


@pytest.mark.parametrize("text", [TAIWAN, MAINLAND])
def test_traditional_and_simplified_chinese_meet(library: Store, text: str) -> None:
    put(library, 2, ReadText("標題", text, "1" * 32))
    for asked in (
        "資訊安全",
        "资讯安全",
        "學校",
        "学校",
        "頭髮",
        "头发",
        '"發展"',
        "发展",
        "校",
        "标题",
    ):
        assert found(library, asked) == [2], asked
    (row,) = library.answers.new(NewQuery(text="资讯")).rows
    assert text[:10] in (row.excerpt or "")


def test_what_a_user_types_is_never_syntax(library: Store) -> None:
    """It finds something or nothing, and breaks nothing."""
    for words in HOSTILE:
        assert set(found(library, words)) <= set(TEXTS)


def test_operators_are_words_like_others(library: Store) -> None:
    assert found(library, "AND NOT quotes") == found(library, "o'reilly") == [4]


def test_without_a_word_to_look_for_nothing_is_found(library: Store) -> None:
    assert [found(library, words) for words in ("...", "-budget", '"" -x', "!?")] == [[]] * 4
    # Only no text at all narrows nothing.
    assert found(library, "  ") == sorted(TEXTS)


def test_other_filters_hold_together_with_words(library: Store) -> None:
    (row,) = library.answers.new(NewQuery(text="budget")).rows
    assert "council" in row.excerpt
    library.answers.mark([row.page_id], now=START, read=True)
    assert found(library, "budget", read=False) == []
    assert found(library, "budget", since=START, sites=(row.site_id,)) == [1]


def test_an_excerpt_holds_whole_words_and_says_where_it_was_cut() -> None:
    words = [f"word{n}" for n in range(100)]
    kept = excerpt(" ".join(words), read_query("word50"))
    assert (kept[0], kept[-1]) == ("…", "…")
    assert set(kept.strip("…").split()) < set(words)
    assert "word50" in kept
    assert excerpt("A short text.", read_query("text")) == "A short text."


@given(before=st.text(max_size=300), after=st.text(max_size=300))
def test_an_excerpt_never_loses_the_word_that_was_found(before: str, after: str) -> None:
    assert "budget" in excerpt(f"{folded(before)} budget {after}", read_query("budget"))


def pairs(text: str) -> list[str]:
    return [*(text[at : at + 2] for at in range(len(text) - 1)), text[-1]]


@pytest.mark.parametrize("narrow", [0, 300])
def test_common_words_are_found_by_other_plans_with_the_same_answer(
    library: Store, monkeypatch: pytest.MonkeyPatch, narrow: int
) -> None:
    """Where many pages have the words, the index is read piece by piece, or each row is asked."""
    monkeypatch.setattr("store.answers.news.FEW_ROWS", 0)
    monkeypatch.setattr("store.answers.news.NARROW_ROWS", narrow)
    assert [(words, found(library, words)) for words, _ in FOUND] == FOUND
    assert found(library, "budget", since=START) == [1]
    answer = library.answers.new(NewQuery(text="budget", after=1, order="oldest", read=True))
    assert (answer.rows, answer.cursor) == ((), 1)


def test_a_new_text_takes_the_place_of_the_old_one(library: Store) -> None:
    put(library, 1, ReadText("Budget rejected", "Nothing is built.", "1" * 32))
    assert found(library, "approved") == []
    assert found(library, "rejected") == [1]
    put(library, 1, ReadText("", "", "2" * 32))
    assert found(library, "rejected") == []


def test_a_page_that_was_not_read_is_found_by_its_anchor(store: Store) -> None:
    site, home = news_site(store)
    store.write.visit(
        visit_of(site, home, START, seen(f"{HOME}1", anchor="采购公告", fate="announce"))
    )
    assert found(store, "采购") == [1]


def test_hostile_titles_and_texts_are_kept_as_text(library: Store) -> None:
    for title in ("<script>alert(1)</script>", "\u202eabc", "a\0b\ud800", "x" * 1_000_000):
        page_id = put(library, 1, ReadText(title, f"needle {title}", "3" * 32))
        assert found(library, "needle") == [1]
        stored = library.answers.text(page_id)
        assert stored is not None
        assert len(stored.title) <= 500
        assert "\0" not in stored.text


@given(st.text(max_size=300))
def test_any_text_becomes_words_without_spaces_or_quotes(text: str) -> None:
    words = index_words(text)
    assert all(word and not set(word) & set(" \t\n'\"\\*:&|!()<>-") for word in words)
    assert [word.casefold() for word in words] == words or folded(text) != text.casefold()


@given(st.text(alphabet="中国人民银行ab 1", min_size=1, max_size=40), st.data())
def test_every_piece_of_a_text_without_spaces_is_found_in_it(
    text: str, data: st.DataObject
) -> None:
    """A search for a substring of a run is a row of its words; a single character begins one."""
    start = data.draw(st.integers(0, len(text) - 1))
    piece = text[start : data.draw(st.integers(start + 1, len(text)))]
    words = index_words(text)
    for phrase in read_query(piece):
        if not all(c >= "\u4e00" for word in phrase.words for c in word):
            continue
        places = range(len(words) - len(phrase.words) + 1)
        rows = (words[n : n + len(phrase.words)] for n in places)
        assert any(
            tuple(row) == phrase.words or (phrase.prefix and row[-1].startswith(phrase.words[-1]))
            for row in rows
        )


def test_a_long_text_is_cut() -> None:
    assert len(index_words("word " * 100_000)) == MAX_WORDS


# Copies.


def signature(*values: int) -> bytes:
    import struct

    return struct.pack("<60H", *values, *range(1_000, 1_060 - len(values)))


def test_nearly_equal_texts_are_one_cluster_whichever_site_they_are_on(library: Store) -> None:
    first = ReadText("a", "text", "0" * 32, signature=signature(1, 2, 3))
    near = ReadText("b", "text!", "1" * 32, signature=signature(9, 2, 3))
    far = ReadText("c", "other", "2" * 32, signature=bytes(120))
    pages = [put(library, number, read) for number, read in ((1, first), (2, near), (3, far))]
    copies = library.near_duplicates.of(pages[1])
    assert [copy.page_id for copy in copies] == pages[:1]
    assert copies[0].alike == pytest.approx(59 / 60)
    assert library.near_duplicates.of(pages[2]) == []
    assert library.near_duplicates.of(put(library, 4, ReadText("d", "short", "3" * 32))) == []
    rows = library.answers.new(NewQuery()).rows
    assert {row.url: row.copies for row in rows}[f"{HOME}1"] == 1


def test_a_cluster_is_known_by_its_first_page_even_when_that_changes(library: Store) -> None:
    read = ReadText("a", "text", "0" * 32, signature=signature())
    first, second, third = (put(library, number, read) for number in (1, 2, 3))
    put(library, 1, ReadText("new", "other", "9" * 32, signature=bytes(120)))
    assert [copy.page_id for copy in library.near_duplicates.of(third)] == [first, second]
    assert put(library, 4, read) in [copy.page_id for copy in library.near_duplicates.of(second)]


@given(st.lists(st.integers(0, 65_535), min_size=1, max_size=60))
def test_agreement_is_a_share(values: list[int]) -> None:
    import struct

    one = struct.pack(f"<{len(values)}H", *values)
    assert agreement(one, one) == 1.0
    assert agreement(one, bytes(len(one))) == values.count(0) / len(values)
    assert agreement(one, b"") == 0.0
