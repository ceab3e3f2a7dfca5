"""Pages that say the same in two languages: what is kept, and when it goes; the same on every database."""

from __future__ import annotations

import re
from typing import Any

import pytest
from stories import DAY, HOME, START, announced_pages, news_site, seen, visit_of

from store import Store
from store.models import PageTranslation
from store.retention import Kind
from store.translations import Compared, Found
from store.values import ReadText

TITLES = ("one", "两个", "three")


@pytest.fixture
def library(store: Store) -> Store:
    """Three announced pages with vectors; the first two say the same."""
    announce(store)
    return store


def announce(store: Store) -> None:
    site, home = news_site(store)
    links = [seen(f"{HOME}{n}", anchor=title, fate="announce") for n, title in enumerate(TITLES)]
    store.write.visit(visit_of(site, home, START, *links))
    put(store, Found(page_of(store, 0), page_of(store, 1), "en", "zh", 0.75))


def put(store: Store, *found: Found) -> None:
    space = store.vectors.begin("model 1")
    waiting = store.vectors.waiting(space, limit=10)
    pages = {page for one in found for page in (one.page_id, one.other_id)}
    store.vectors.put(space, [(one, b"\x01\x02") for one in waiting], Compared(tuple(pages), found))


def page_of(store: Store, number: int) -> int:
    (page,) = store.read.find_page(f"{HOME}{number}", "")
    return int(page["id"])


def named(store: Store) -> dict[str, list[tuple[str, str]]]:
    """What each announced page names, by title."""
    return {
        page.anchor: [(one.language, one.title) for one in page.translations]
        for page in announced_pages(store, order="oldest")
    }


def read(store: Store, number: int, text: str) -> None:
    (page,) = store.read.find_page(f"{HOME}{number}", "")
    wanted = ReadText(TITLES[number], text, "0" * 32)
    store.write.visit(visit_of(page["site"], page["id"], START + 1, links=None, text=wanted))


def test_each_of_two_pages_names_the_other_with_its_language(library: Store) -> None:
    assert named(library) == {"one": [("zh", "两个")], "两个": [("en", "one")], "three": []}
    (one,) = announced_pages(library, order="oldest")[0].translations
    assert (one.page_id, one.url, one.site) == (page_of(library, 1), f"{HOME}1", "news.example")
    assert one.likeness == pytest.approx(0.75)


def test_what_is_compared_again_replaces_what_was_known(library: Store) -> None:
    put(library, Found(page_of(library, 2), page_of(library, 1), "en", "zh", 0.9))
    assert named(library) == {"one": [], "两个": [("en", "three")], "three": [("zh", "两个")]}


def test_a_text_that_is_embedded_again_without_being_compared_names_nothing(library: Store) -> None:
    read(library, 0, "another text")
    assert named(library)["one"] == [("zh", "两个")]  # until it has its vector
    put(library)
    assert named(library) == {"one": [], "两个": [], "three": []}


def test_a_text_that_is_forgotten_leaves_the_pair_and_a_page_takes_it_along(library: Store) -> None:
    read(library, 0, "river")
    read(library, 1, "河")
    put(library, Found(page_of(library, 0), page_of(library, 1), "en", "zh", 0.75))
    library.retention.forget(Kind.TEXTS, before=START + DAY, now=START + 2 * DAY)
    assert named(library)["one"] == [("zh", "两个")]
    (site,) = library.read.sites()
    library.write.remove_site(site.id)
    assert PageTranslation.select().count(library.database) == 0


def test_vectors_are_listed_within_a_time_and_a_space_the_latest_first(library: Store) -> None:
    space = library.vectors.begin("model 1")
    recent = library.translations.recent(space.id, since=START, until=START, most=2)
    assert len(recent) == 2
    assert {one.vector for one in recent} == {b"\x01\x02"}
    earlier = library.translations.recent(space.id, since=0, until=START - 1, most=9)
    other = library.translations.recent(space.id + 1, since=0, until=START, most=9)
    assert earlier == other == ()


def test_the_beginning_of_a_text_is_compared_however_long_it_is(library: Store) -> None:
    read(library, 1, "河" * 100_000)
    facts = library.translations.facts([page_of(library, 1), page_of(library, 2), 9_999])
    assert sorted(facts) == [page_of(library, 1), page_of(library, 2)]
    long, short = facts[page_of(library, 1)], facts[page_of(library, 2)]
    assert set(long.lead) == {"河"}
    assert 1_000 < len(long.lead) <= 3_000
    assert (long.title, short.title, short.lead) == ("两个", "three", "")


def test_every_question_about_translations_uses_an_index(sqlite_store: Store) -> None:
    announce(sqlite_store)
    space = sqlite_store.vectors.begin("model 1")
    page, cursor = page_of(sqlite_store, 0), sqlite_store.answers.latest_cursor()
    statements: list[str] = []
    database: Any = sqlite_store.database
    connection = database.connection()
    connection.set_trace_callback(statements.append)
    sqlite_store.translations.recent(space.id, since=START, until=START + DAY, most=10)
    sqlite_store.translations.facts([page])
    sqlite_store.vectors.put(space, [], Compared((page,), ()))
    assert sqlite_store.answers.announced([cursor])
    connection.set_trace_callback(None)
    asked = [text for text in statements if re.match("SELECT|UPDATE|DELETE", text)]
    assert sum("page_translation" in text for text in asked) == len(("delete", "back", "read"))
    for statement in asked:
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        scans = [step for step in steps if re.match(r"SCAN (?!json_each\b)", step)]
        assert not scans, (statement, steps)
