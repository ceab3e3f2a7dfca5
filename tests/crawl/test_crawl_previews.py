"""What a preview counts is what the list has once the topic is changed, with and without vectors."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fake_web import DAY, MINUTE, SPARING, START, FakeWeb, Watch
from lab.clocks import SimulatedClock
from topic_web import HOME, LATER, OLD, WORDS, address, shown, story

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import installed
from classifier.words.values import PageText
from incremental.base.lookup import find_topic
from incremental.interfaces.results.topics import preview_of_edit, preview_of_new
from incremental.sandbox import read_body
from incremental.settings import Settings
from incremental.settings.sections import EmbeddingSettings
from incremental.topics.editing import begin, edit_topic, forget_example, give_feedback
from incremental.topics.embedding.keeping import VectorKeeper
from incremental.topics.embedding.page_embedder import PageEmbedder
from incremental.topics.latest import latest_pages
from incremental.topics.previewing import Preview
from incremental.visit import page_texts
from incremental.visit.page_texts import text_again
from store.answers import NewQuery

NEWS = [*(("bridge", number) for number in range(10, 22)), *(("soup", n) for n in range(10, 34))]
SENTENCE = "Bridges: how they are planned, built and inspected"
CHANGES: list[dict[str, Any]] = [
    {"description": "Recipes for soup, and how cooks season it"},
    {"description": "", "keywords": WORDS["bridge"][:4]},
    {"keywords": ["soup", "kitchen"], "exclude": ["garlic"]},
    {"description": SENTENCE, "keywords": [], "exclude": []},
]


@pytest.fixture(params=["none", "auto"])
def provider(request: pytest.FixtureRequest) -> str:
    if request.param == "auto" and installed("auto") is None:
        pytest.skip("the extra embeddings is missing")
    return str(request.param)


@pytest.fixture
def embedder(provider: str) -> Iterator[PageEmbedder | None]:
    if provider == "none":
        yield None
        return
    with closing(PageEmbedder(LocalEmbedder(provider), lambda: START)) as model:
        yield model


@pytest.fixture
def crawl(tmp_path: Path, embedder: PageEmbedder | None) -> Iterator[Watch]:
    """A crawler that has read new pages, with their vectors if there is a model; there is no topic yet."""
    pages: dict[str, Any] = {
        HOME: [(0, shown(*OLD)), (LATER, shown(*NEWS, *OLD))],
        **{address(*one): story(*one) for one in [*OLD, *NEWS]},
    }
    with Watch(tmp_path, FakeWeb(SimulatedClock(START), pages), HOME, embedder=embedder) as crawl:
        crawl.run(3 * DAY)
        if embedder is not None:
            VectorKeeper(crawl.store, embedder).finish(lambda: START)
        yield crawl


@pytest.fixture
def judged(crawl: Watch, embedder: PageEmbedder | None) -> Watch:
    """The same with a topic, which has judged those pages."""
    begin(crawl.store, "one", examples=(), keywords=(), description=SENTENCE, now=START)
    judge_again(crawl, embedder)
    return crawl


def judge_again(crawl: Watch, embedder: PageEmbedder | None) -> None:
    """Let the topic learn what changed, and judge again what a former model judged."""
    crawl.crawler.load(crawl.clock.now())
    for _ in range(3):
        crawl.crawler.step(crawl.clock.now())
        if embedder is not None:
            embedder.start_later(PageText("", title="the last one")).result(timeout=30)
    while crawl.crawler.topics.catch_up(crawl.clock.now()):
        pass


def settings(provider: str) -> Settings:
    return msgspec.structs.replace(
        SPARING, embeddings=msgspec.convert({"provider": provider}, EmbeddingSettings)
    )


def tried(crawl: Watch, provider: str, **changes: Any) -> Preview:
    """Try a change as the web page does, which knows what is stored."""
    crawl.crawler.topics.keep(crawl.clock.now(), at_once=True)
    row = find_topic(crawl.store, "one")
    return preview_of_edit(crawl.store, settings(provider), crawl.clock, row, changes)


def listed(crawl: Watch) -> list[str]:
    """The topic's list, newest first."""
    row = find_topic(crawl.store, "one")
    include, exclude = (tuple(msgspec.json.decode(text)) for text in (row.include, row.exclude))
    query = NewQuery(
        topic=row.id, hidden_verdict="irrelevant", include=include, exclude=exclude, limit=500
    )
    return [one.url for one in crawl.store.answers.new(query).rows]


def test_the_list_becomes_what_the_preview_showed(
    judged: Watch, provider: str, embedder: PageEmbedder | None
) -> None:
    sizes = set()
    for changes in CHANGES:
        found, before = tried(judged, provider, **changes), listed(judged)
        would = [one.url for one in found.shown]
        assert found.read == len(NEWS)
        edit_topic(judged.store, find_topic(judged.store, "one"), now=judged.clock.now(), **changes)
        judge_again(judged, embedder)
        assert listed(judged) == would
        assert {one.url for one in found.added} == set(would) - set(before)
        assert {one.url for one in found.removed} == set(before) - set(would)
        sizes.add(len(would))
        judged.clock.advance_to(judged.clock.now() + MINUTE)
    assert len(sizes) > 1


def test_an_unchanged_topic_shows_what_it_lists(judged: Watch, provider: str) -> None:
    found = tried(judged, provider)
    assert found.added == found.removed == []
    assert [one.url for one in found.shown] == listed(judged)
    assert found.shown


def test_a_change_that_was_made_while_nothing_ran_reaches_the_list(
    judged: Watch, provider: str, embedder: PageEmbedder | None, tmp_path: Path
) -> None:
    would = [one.url for one in tried(judged, provider, **CHANGES[0]).shown]
    assert would != listed(judged)
    edit_topic(judged.store, find_topic(judged.store, "one"), now=judged.clock.now(), **CHANGES[0])
    with Watch(tmp_path, judged.web, embedder=embedder) as later:
        judge_again(later, embedder)
        assert listed(later) == would


def test_a_page_whose_mark_is_undone_is_judged_again(
    judged: Watch, embedder: PageEmbedder | None
) -> None:
    store, now, before = judged.store, judged.clock.now(), listed(judged)
    give_feedback(store, "one", [before[0]], relevant=False, now=now)
    judge_again(judged, embedder)
    assert before[0] not in listed(judged)
    row = find_topic(store, "one")
    (mark,) = (one for one in store.topics.examples(row.id) if one.url == before[0])
    forget_example(store, row, mark.id, now=now + MINUTE)
    judge_again(judged, embedder)
    assert listed(judged) == before


class _Slow(SimulatedClock):
    """A clock that goes on by a second whenever it is read."""

    read = 0.0

    def monotonic(self) -> float:
        self.read += 1.0
        return self.read


def test_a_preview_reads_new_pages_for_a_few_seconds_and_the_next_one_goes_on(
    judged: Watch, provider: str
) -> None:
    """A hostile page takes seconds to read, and whoever clicked waits."""
    row = find_topic(judged.store, "one")
    page_texts._AGAIN.clear()
    counts = [
        preview_of_edit(judged.store, settings(provider), _Slow(START), row, {}).read
        for _ in range(4)
    ]
    assert counts == sorted(counts)
    assert 0 < counts[0] < counts[1] < counts[2] < len(NEWS)


def test_a_new_topic_lists_what_its_preview_showed(
    crawl: Watch, provider: str, embedder: PageEmbedder | None
) -> None:
    """Its pages were read before there was any topic."""
    store, clock = crawl.store, crawl.clock
    found = preview_of_new(
        store, settings(provider), clock, keywords=(), description=SENTENCE, urls=()
    )
    begin(store, "one", examples=(), keywords=(), description=SENTENCE, now=clock.now())
    judge_again(crawl, embedder)
    assert listed(crawl) == [one.url for one in found.shown]
    assert found.shown


def test_a_page_that_is_read_again_has_the_text_that_it_had(crawl: Watch) -> None:
    """Whether its main text is looked for again, as by the daemon, or taken from the store."""
    pages = latest_pages(crawl.store)
    again = [text_again(crawl.store, page) for page in pages]
    assert again == [text_again(crawl.store, page, read_body) for page in pages]
    assert len(again) == len(NEWS)
    assert all(text is not None and len(text.body) > 100 for text in again)
