"""Vectors of announced pages: who waits, what is kept, and what goes; the same on every database."""

import re
from typing import Any

import pytest
from stories import DAY, HOME, START, news_site, seen, visit_of

from store import Store
from store.maintenance.retention import Kind
from store.models import PageVector
from store.search.vectors import VectorCounts
from store.values import ReadText

TITLES = ("one", "two", "three")


@pytest.fixture
def library(store: Store) -> Store:
    """Three announced pages, and one that was there before."""
    site, home = news_site(store)
    links = [seen(f"{HOME}{title}", anchor=title, fate="announce") for title in TITLES]
    store.write.visit(visit_of(site, home, START, *links, seen(f"{HOME}old", anchor="old")))
    return store


def page_of(store: Store, title: str) -> int:
    (page,) = store.read.find_page(f"{HOME}{title}", "")
    return int(page["id"])


def read(store: Store, title: str, text: str) -> None:
    (page,) = store.read.find_page(f"{HOME}{title}", "")
    wanted = ReadText(title, text, "0" * 32)
    store.write.visit(visit_of(page["site"], page["id"], START + 1, links=None, text=wanted))


def embed(store: Store, name: str = "model 1", vector: bytes = b"\x01\x02") -> int:
    space = store.vectors.begin(name)
    waiting = store.vectors.waiting(space, limit=100)
    return store.vectors.put(space, [(one, vector) for one in waiting])


def ids(store: Store) -> list[int]:
    space = store.vectors.present()
    return [] if space is None else [p for pages, _ in store.vectors.blocks(space) for p in pages]


def test_announced_pages_wait_newest_first_and_others_do_not(library: Store) -> None:
    waiting = library.vectors.waiting(library.vectors.begin("model 1"), limit=10)
    assert [one.title for one in waiting] == ["three", "two", "one"]
    assert library.vectors.counts() == VectorCounts(3, 0, 3)


def test_what_is_put_is_found_and_waits_no_longer(library: Store) -> None:
    assert embed(library) == len(TITLES)
    assert library.vectors.counts() == VectorCounts(3, 3, 0)
    space = library.vectors.begin("model 1")
    assert library.vectors.waiting(space, limit=10) == []
    assert library.vectors.vector(space, page_of(library, "two")) == b"\x01\x02"
    assert library.vectors.vector(space, page_of(library, "old")) is None
    blocks = list(library.vectors.blocks(space, rows=2))
    assert [len(pages) for pages, _ in blocks] == [2, 1]


def test_a_new_text_waits_and_the_same_text_does_not(library: Store) -> None:
    read(library, "one", "river")
    embed(library)
    read(library, "one", "river")
    assert library.vectors.counts().waiting == 0
    read(library, "one", "bridge")
    (waiting,) = library.vectors.waiting(library.vectors.begin("model 1"), limit=10)
    assert (waiting.title, waiting.text) == ("one", "bridge")
    assert page_of(library, "one") not in ids(library)


def test_a_text_that_changed_while_it_was_embedded_waits_on(library: Store) -> None:
    space = library.vectors.begin("model 1")
    waiting = library.vectors.waiting(space, limit=10)
    read(library, "one", "river")
    assert library.vectors.put(space, [(one, b"\x01\x02") for one in waiting]) == 2
    assert [one.text for one in library.vectors.waiting(space, limit=10)] == ["river"]


def test_another_model_embeds_everything_again_and_never_mixes(library: Store) -> None:
    embed(library)
    space = library.vectors.begin("model 2")
    assert ids(library) == []
    assert library.vectors.counts() == VectorCounts(3, 0, 3)
    first, *_ = library.vectors.waiting(space, limit=1)
    library.vectors.put(space, [(first, b"\x05\x06\x07")])
    assert ids(library) == [page_of(library, "three")]
    # The first model again is a new space: its old vectors are of old texts, perhaps.
    library.vectors.begin("model 1")
    assert ids(library) == []


def test_a_page_without_a_word_is_done_but_not_found(library: Store) -> None:
    space = library.vectors.begin("model 1")
    waiting = library.vectors.waiting(space, limit=10)
    library.vectors.put(space, [(one, None) for one in waiting])
    assert library.vectors.waiting(space, limit=10) == []
    assert ids(library) == []


def test_a_vector_goes_with_the_text_and_with_the_page(library: Store) -> None:
    read(library, "one", "river")
    embed(library)
    library.retention.forget(Kind.TEXTS, before=START + DAY, now=START + 2 * DAY)
    assert page_of(library, "one") not in ids(library)
    assert library.vectors.counts().waiting == 0
    (site,) = library.read.sites()
    library.write.remove_site(site.id)
    assert PageVector.select().count(library.database) == 0


def test_every_question_about_vectors_uses_an_index(sqlite_store: Store) -> None:
    site, home = news_site(sqlite_store)
    sqlite_store.write.visit(visit_of(site, home, START, seen(f"{HOME}a", fate="announce")))
    space = sqlite_store.vectors.begin("model 1")
    statements: list[str] = []
    database: Any = sqlite_store.database
    connection = database.connection()
    connection.set_trace_callback(statements.append)
    (waiting,) = sqlite_store.vectors.waiting(space, limit=10)
    sqlite_store.vectors.put(space, [(waiting, b"\x01\x02")])
    sqlite_store.vectors.vector(space, waiting.page_id)
    assert list(sqlite_store.vectors.blocks(space)) == [([waiting.page_id], [b"\x01\x02"])]
    connection.set_trace_callback(None)
    asked = [text for text in statements if re.match("SELECT|UPDATE", text)]
    assert len(asked) > len(("waiting", "put", "vector", "blocks"))
    for statement in asked:
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert not [step for step in steps if re.match(r"SCAN|.*TEMP B-TREE", step)], statement
