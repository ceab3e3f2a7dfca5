"""What a hostile site may write into a store: it is cut and cleaned, and nothing breaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stories import HOME, START, announced_pages, new_hub, news_site, seen, visit_of

from store import Store
from store.database.texts import MAX_TEXT, columns, storable, to_json
from store.enums import ChangeKind, SiteEventKind
from store.values import HostRow, PageChange, SiteChange, VisitPlan

HOSTILE = {
    "NUL": "a\0b",
    "half a surrogate pair": "a\ud800b\udfff",
    "a megabyte": "x" * 1_000_000,
    "a megabyte of four bytes each": "\U0001f600" * 250_000,
    "control characters": "\x01\x1b[31m\x7f\u202e\ufeff",
    "quotes": "'; DROP TABLE page; --",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_any_text_can_be_recorded(store: Store, text: str) -> None:
    site, home = news_site(store)
    link = seen(
        HOME + "a", anchor=text, tag_path=text, fate="announce", hub=new_hub(why=text, due_at=START)
    )
    record = visit_of(
        site,
        home,
        START,
        link,
        detail=text,
        hub_fields={"etag": text, "last_modified": text, "next_url": text},
        page_fields={"title": text, "language": text},
        site_fields={"path_aliases": to_json({"/a": [text]})},
        site_change=SiteChange(SiteEventKind.URL_MIGRATION, text),
        page_change=PageChange(ChangeKind.CHANGED, text),
    )
    host = HostRow("news.example", START, 0, None, to_json({"robots": text}))
    (page,) = store.write.visit(record, VisitPlan(host=host))
    assert store.read.known_anchors(site, [text]) == {text: page}
    row = store.read.page(home)
    assert row is not None
    assert 0 < len(row.title) <= MAX_TEXT
    assert [p.anchor for p in announced_pages(store)] == [storable(text)]


def test_what_a_user_types_never_breaks_a_question(store: Store) -> None:
    news_site(store)
    for text in HOSTILE.values():
        assert store.read.find_page(text, text) == []


@given(text=st.text(st.characters(), max_size=50), most=st.integers(0, 60))
def test_a_storable_text_is_bounded_clean_and_stays_as_it_is(text: str, most: int) -> None:
    once = storable(text, most)
    assert len(once) <= most
    assert "\0" not in once
    assert once.encode().decode() == once
    assert storable(once, most) == once


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=99))
def test_a_harmless_text_is_stored_as_it_came(text: str) -> None:
    assert storable(text) == text


def test_columns_that_hold_json_are_not_cut() -> None:
    long = "x" * 10_000
    kept = columns(
        {"path_aliases": long, "title": long, "etag": long, "due_at": 1.0, "language": None}
    )
    assert {name: len(value) for name, value in kept.items() if isinstance(value, str)} == {
        "path_aliases": 10_000,
        "title": 500,
        "etag": 2_000,
    }
    assert (kept["due_at"], kept["language"]) == (1.0, None)
