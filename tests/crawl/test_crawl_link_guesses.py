"""Links are guessed by words at once and by meaning in a later step, before anything is fetched."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from zlib import crc32

import msgspec
import numpy as np
import pytest
from fake_web import HOUR, SPARING, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock
from topic_web import (
    COMMON,
    EXAMPLES,
    HOME,
    LATER,
    LIBRARY,
    OLD,
    WORDS,
    address,
    begun,
    judged,
    prose,
    story,
    topic_of,
)

from classifier.embedding.embedder import Embedder, Vectors
from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import installed
from classifier.words.background import Background
from classifier.words.values import PageText
from incremental.base.urls import canonical_key
from incremental.interfaces.explain.topic import stored_verdicts
from incremental.topics.embedding.page_embedder import PageEmbedder
from incremental.topics.judging import BY_MEANING, BY_WORDS
from incremental.topics.model_store import BACKGROUND
from store.topics.values import PageScore
from store.values import TopicScore

NO_VERIFICATIONS = msgspec.structs.replace(
    SPARING, news=msgspec.structs.replace(SPARING.news, verify_share=0.0)
)
LIKE = HOME + "a/71.html"
UNLIKE = HOME + "a/72.html"
MORE = HOME + "a/73.html"
ON_TOPIC, OFF_TOPIC = "Flyover reopens today", "Sofa and cushion for city people"
SYNONYMS = {"flyover": "bridge", "reopens": "bridge", "sofa": "soup", "cushion": "soup"}
SUBJECTS = {word: subject for subject, words in WORDS.items() for word in words} | SYNONYMS
_SIZE = 24
# What a model of real texts knows to be of one subject.
REAL = (
    "The old bridge across the river is closed while engineers replace its cables. " * 4,
    "A new viaduct of steel carries the motorway over the valley. " * 5,
    "Traffic crosses the suspension bridge again after its deck was strengthened. " * 4,
)


class Subjects(Embedder):
    """Places a text by the subjects of its words; knows synonyms, which share no letter."""

    name = "subjects 1"
    quick = True

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.goes_on = threading.Event()
        self.goes_on.set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any(text in {ON_TOPIC, OFF_TOPIC} for text in texts):
            self.goes_on.wait(30)
        self.texts += texts
        return np.stack([_vector(text) for text in texts])


def _vector(text: str) -> Vectors:
    vector = np.full(_SIZE, 0.2, dtype=np.float32)
    for word in text.lower().replace(".", " ").split():
        subject = SUBJECTS.get(word)
        place = list(WORDS).index(subject) if subject else 2 + crc32(word.encode()) % (_SIZE - 2)
        vector[place] += 3.0 if subject else 0.3
    return vector


@pytest.fixture
def subjects() -> Iterator[tuple[Subjects, PageEmbedder]]:
    model = Subjects()
    with closing(PageEmbedder(model, lambda: 0.0)) as pages:
        yield model, pages


def links(*, late: bool) -> str:
    shown = [f"{address(s, n)}|{' '.join(WORDS[s][n : n + 4])}" for s, n in OLD]
    fresh = [f"{UNLIKE}|{OFF_TOPIC}", f"{LIKE}|{ON_TOPIC}", f"{MORE}|more"] if late else []
    return page(*fresh, *shown, title="News", text="What is new.")


def pages_of_the_web(*, real: bool) -> dict[str, object]:
    examples = {
        url: page(title="A bridge", text=text) for url, text in zip(EXAMPLES, REAL, strict=True)
    }
    stories = {url: story("bridge", 90 + n) for n, url in enumerate(EXAMPLES)}
    return {
        HOME: [(0, links(late=False)), (LATER, links(late=True))],
        LIBRARY: page("/bridge-0"),
        **{address(s, n): story(s, n) for s, n in OLD},
        **(examples if real else stories),
        LIKE: page(title=ON_TOPIC, text=prose("bridge", 71)),
        UNLIKE: page(title=OFF_TOPIC, text="Sofa and cushion. " * 20),
        MORE: page(title="More", text=prose("soup", 73)),
    }


def known_pages(embedder: PageEmbedder | None) -> Background:
    """A background of pages read before, with their vectors."""
    background = Background()
    bodies = [prose("soup", 200 + number) for number in range(20)]
    bodies += [f"Chess: {' '.join(Random(n).sample(COMMON, 6))}. " * 4 for n in range(20)]
    texts = [
        PageText(f"https://other.example/{number}", title=f"Note {number}", body=body)
        for number, body in enumerate(bodies)
    ]
    for text in texts:
        background.observe_page(embedder.with_meaning(text) if embedder else text)
    return background


def watch(
    folder: Path,
    embedder: PageEmbedder | None,
    clock: SimulatedClock | None = None,
    *,
    real: bool = False,
) -> Watch:
    first = clock is None
    web = FakeWeb(clock or SimulatedClock(START), pages_of_the_web(real=real))
    seeds = (HOME,) if first else ()
    crawl = Watch(folder, web, *seeds, settings=NO_VERIFICATIONS, embedder=embedder)
    if first:
        kept = json.dumps(known_pages(embedder).to_json())
        crawl.store.space.note(BACKGROUND, kept, now=START)
        begun(crawl.store, START)
        crawl.crawler.load(START)
    return crawl


def score(crawl: Watch, url: str) -> PageScore:
    found = judged(crawl, url)
    assert found is not None
    assert not found.fetched
    return found


def as_score(guess: PageScore, url: str) -> TopicScore:
    """A stored score, as visits bring it."""
    fields = (guess.score, guess.verdict.value, guess.fetched, guess.method, guess.version)
    return TopicScore(canonical_key(url), guess.topic_id, *fields)


def guess_links(crawl: Watch) -> None:
    """Go on until the visit that finds the new links, and no further."""
    while judged(crawl, LIKE) is None:
        assert crawl.clock.now() < START + 24 * HOUR
        crawl.clock.advance_to(crawl.crawler.step(crawl.clock.now()))


def take_up(crawl: Watch, pages: PageEmbedder) -> None:
    """Let the crawler hand over what waits, and take what comes of it, at one moment."""
    for _ in range(2):
        crawl.crawler.step(crawl.clock.now())
        settle(pages)
    crawl.crawler.step(crawl.clock.now())


def settle(pages: PageEmbedder) -> None:
    """Wait until the texts handed over were embedded."""
    pages.start_later(PageText("", title="the last one")).result(timeout=30)


def verify_score(crawl: Watch, url: str) -> float:
    (row,) = crawl.store.read.find_page(url, "")
    return float(row["verify_score"])


def test_a_paraphrase_ranks_above_another_link_before_anything_is_fetched(
    tmp_path: Path, subjects: tuple[Subjects, PageEmbedder]
) -> None:
    model, pages = subjects
    model.goes_on.clear()
    with watch(tmp_path, pages) as crawl:
        guess_links(crawl)
        # The model is slow: nothing waited for it, and words decide.
        by_words = score(crawl, LIKE)
        assert (by_words.method, score(crawl, UNLIKE).method) == (BY_WORDS, BY_WORDS)
        assert by_words.score <= score(crawl, UNLIKE).score
        model.goes_on.set()
        take_up(crawl, pages)
        like, unlike = score(crawl, LIKE), score(crawl, UNLIKE)
        assert (like.method, unlike.method) == (BY_MEANING, BY_MEANING)
        assert like.score > by_words.score + 0.05
        assert like.score > unlike.score
        assert stored_verdicts(crawl.store, UNLIKE)[0]["like_example"] is None
        assert verify_score(crawl, LIKE) > verify_score(crawl, UNLIKE)
        assert {LIKE, UNLIKE}.isdisjoint(crawl.web.urls())
        (said,) = stored_verdicts(crawl.store, LIKE)
        assert (said["verdict"], said["like_example"] in EXAMPLES) == ("guess", True)
        assert said["terms"] == []


def test_an_anchor_that_says_nothing_keeps_its_guess_by_words(
    tmp_path: Path, subjects: tuple[Subjects, PageEmbedder]
) -> None:
    _, pages = subjects
    with watch(tmp_path, pages) as crawl:
        guess_links(crawl)
        take_up(crawl, pages)
        assert score(crawl, MORE).method == BY_WORDS


def test_every_anchor_with_a_word_is_embedded(
    tmp_path: Path, subjects: tuple[Subjects, PageEmbedder]
) -> None:
    model, pages = subjects
    with watch(tmp_path, pages) as crawl:
        guess_links(crawl)
        take_up(crawl, pages)
        assert {"more", ON_TOPIC, OFF_TOPIC} <= set(model.texts)


def test_a_topic_removed_meanwhile_is_not_scored(
    tmp_path: Path, subjects: tuple[Subjects, PageEmbedder]
) -> None:
    model, pages = subjects
    model.goes_on.clear()
    with watch(tmp_path, pages) as crawl:
        guess_links(crawl)
        (row,) = crawl.store.read.find_page(LIKE, "")
        crawl.store.topics.remove(topic_of(crawl).id)
        model.goes_on.set()
        take_up(crawl, pages)
        crawl.crawler.load(crawl.clock.now())
        crawl.crawler.step(crawl.clock.now())
        assert crawl.store.topics.scores([row["id"]]) == []


def test_a_page_fetched_meanwhile_keeps_its_judgement(
    tmp_path: Path, subjects: tuple[Subjects, PageEmbedder]
) -> None:
    model, pages = subjects
    model.goes_on.clear()
    with watch(tmp_path, pages) as crawl:
        guess_links(crawl)
        (site,) = crawl.store.read.sites()
        judgement = replace(
            as_score(score(crawl, LIKE), LIKE), fetched=True, score=0.9, method="fused"
        )
        crawl.store.topics.put_scores(site.id, [judgement], now=crawl.clock.now())
        model.goes_on.set()
        take_up(crawl, pages)
        found = judged(crawl, LIKE)
        assert found is not None
        assert (found.fetched, found.score, found.method) == (True, 0.9, "fused")
        assert score(crawl, UNLIKE).method == BY_MEANING


def test_without_a_model_words_decide(tmp_path: Path) -> None:
    with watch(tmp_path, None) as crawl:
        guess_links(crawl)
        assert {score(crawl, url).method for url in (LIKE, UNLIKE, MORE)} == {BY_WORDS}


@pytest.mark.skipif(installed("auto") is None, reason="the extra embeddings is missing")
def test_the_installed_model_moves_the_paraphrase_up(tmp_path: Path) -> None:
    with closing(PageEmbedder(LocalEmbedder("auto"), lambda: 0.0)) as pages:
        pages.with_meaning(PageText("", title="loads the model"))
        with watch(tmp_path, pages, real=True) as crawl:
            guess_links(crawl)
            before = [score(crawl, url) for url in (LIKE, UNLIKE)]
            take_up(crawl, pages)
            after = [score(crawl, url) for url in (LIKE, UNLIKE)]
            assert {one.method for one in before} == {BY_WORDS}
            assert {one.method for one in after} == {BY_MEANING}
            like, unlike = (b.score - a.score for a, b in zip(before, after, strict=True))
            assert like > max(unlike, 0.0)
