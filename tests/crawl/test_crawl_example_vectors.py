"""Topics learn again when their examples get vectors of the present model, whatever kept them from it."""

import json
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cli_runner import Run
from fake_web import MINUTE, START, FakeWeb, Watch, page
from lab.clocks import SimulatedClock

from classifier.embedding.embedder import Embedder, EmbeddingError, Vectors
from classifier.words.values import PageText
from incremental.base.lookup import find_topic
from incremental.base.texts import Text, Words
from incremental.crawl.part import Part
from incremental.settings import Settings
from incremental.settings.sections import EmbeddingSettings
from incremental.settings.storage import open_configured_store
from incremental.topics.editing import begin
from incremental.topics.embedding.choice import standing
from incremental.topics.embedding.page_embedder import PageEmbedder
from incremental.topics.judging import to_text, warnings_of
from incremental.topics.model_store import TopicModelStore
from store import Store
from store.enums import ExampleOrigin
from store.topics.values import NewExample

HOME = "https://news.example/"
SENTENCE = "Tenders for bridge maintenance"
SHIPPED = standing(EmbeddingSettings()).provider


class Lengths(Embedder):
    """Places a text by its length; remembers what it was asked, fails and waits when told."""

    quick = True
    name = ""

    def __init__(self, name: str = "lengths 1") -> None:
        self.name = name
        self.asked: list[str] = []
        self.fails = False
        self.fails_after = 10_000
        self.goes_on = threading.Event()
        self.goes_on.set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.goes_on.wait(20)
        if self.fails or len(self.asked) >= self.fails_after:
            raise EmbeddingError("embeddings", self.name, "is away")
        self.asked += texts
        return np.array([[len(text), 1.0, 2.0] for text in texts], dtype=np.float32)


@dataclass
class Some(Part):
    """Every site; a test says whether it leads."""

    is_leader: bool = True


def watch(
    folder: Path, clock: SimulatedClock, pages: PageEmbedder | None, part: Part | None = None
) -> Watch:
    """A crawler that watches one page, with the store in *folder*."""
    web = FakeWeb(clock, {HOME: page(title="News")})
    return Watch(folder, web, embedder=pages, part=part)


def embedding(model: Embedder, clock: SimulatedClock) -> closing[PageEmbedder]:
    return closing(PageEmbedder(model, clock.now))


def spaces(store: Store, name: str = "bridges") -> list[str]:
    """The spaces of the vectors that a topic learned from."""
    model = json.loads(store.topics.model(find_topic(store, name).id))
    return [meaning["space"] for _, meaning in model["evidence"]["meanings"]]


def warnings(store: Store) -> str:
    return "\n".join(warnings_of(find_topic(store, "bridges")))


def steps(crawl: Watch, pages: PageEmbedder, count: int = 4) -> None:
    """Let the crawler go on at one moment, and the embedder embed what it was given."""
    for _ in range(count):
        crawl.crawler.step(crawl.clock.now())
        settle(pages)


def settle(pages: PageEmbedder) -> None:
    """Wait until the texts handed over were embedded."""
    pages.start_later(PageText("", title="the last one")).result(timeout=30)


def describe(store: Store) -> None:
    begin(store, "bridges", examples=(), keywords=(), description=SENTENCE, now=START)


def mark_relevant(store: Store, count: int, *, first: int = 0) -> None:
    """Give the topic pages that were marked relevant."""
    examples = [
        NewExample(url, url, ExampleOrigin.RELEVANT, f"Bridge {number}", to_text(text))
        for number in range(first, first + count)
        for url in [f"https://found.example/{number}"]
        for text in [PageText(url, title=f"Bridge {number}", body=f"number{number} " * 9)]
    ]
    store.topics.put_examples(find_topic(store, "bridges").id, examples, now=START + 1 + first)


def test_after_a_model_is_installed_topics_learn_again_by_meaning(tmp_path: Path) -> None:
    clock = SimulatedClock(START)
    with watch(tmp_path, clock, None) as crawl:
        describe(crawl.store)
        crawl.crawler.load(START)
        assert spaces(crawl.store) == []
        assert "vector" not in warnings(crawl.store)
    with embedding(Lengths(), clock) as pages, watch(tmp_path, clock, pages) as crawl:
        said = "judged by words: its examples have no vector of lengths 1 yet"
        assert warnings(crawl.store).splitlines()[0] == said
        steps(crawl, pages)
        assert spaces(crawl.store) == ["lengths 1"]
        assert "vector" not in warnings(crawl.store)


@pytest.mark.skipif(not SHIPPED, reason="the extra embeddings is missing")
def test_a_single_run_ends_when_topics_have_learned_by_meaning(
    hubwatch: Run, tmp_path: Path
) -> None:
    settings = tmp_path / "hubwatch.toml"
    settings.write_text('[embeddings]\nprovider = "none"\n')
    assert hubwatch("topic", "add", "bridges", "--describe", SENTENCE).code == 0
    settings.write_text("")
    assert hubwatch("run", "--once").code == 0
    with open_configured_store(Settings(), tmp_path) as store:
        (space,) = spaces(store)
    assert space.startswith(SHIPPED)
    assert "vector" not in str(hubwatch("topic", "show", "bridges", "--json").json["warnings"])


def test_after_a_change_of_the_model_topics_learn_again_with_the_new_one(tmp_path: Path) -> None:
    clock = SimulatedClock(START)
    for name in ("lengths 1", "lengths 2"):
        with embedding(Lengths(name), clock) as pages, watch(tmp_path, clock, pages) as crawl:
            if name == "lengths 1":
                describe(crawl.store)
                crawl.crawler.load(START)
            steps(crawl, pages)
            assert spaces(crawl.store) == [name]


def test_a_topic_that_was_made_while_the_model_failed_learns_when_it_answers(
    tmp_path: Path,
) -> None:
    clock, model = SimulatedClock(START), Lengths()
    model.fails = True
    with embedding(model, clock) as pages, watch(tmp_path, clock, pages) as crawl:
        describe(crawl.store)
        TopicModelStore(crawl.store, embedder=pages).learn(find_topic(crawl.store, "bridges"))
        assert "have no vector of lengths 1 yet" in warnings(crawl.store)
        crawl.crawler.load(START)
        steps(crawl, pages)
        model.fails = False
        assert crawl.crawler.topics.refines_at(START) > START
        clock.advance_to(START + 10 * MINUTE)
        steps(crawl, pages)
        assert spaces(crawl.store) == ["lengths 1"]
        assert "vector" not in warnings(crawl.store)


def test_a_slow_model_holds_up_neither_the_crawler_nor_the_topic(tmp_path: Path) -> None:
    clock, model = SimulatedClock(START), Lengths()
    model.goes_on.clear()
    with embedding(model, clock) as pages, watch(tmp_path, clock, pages) as crawl:
        describe(crawl.store)
        crawl.crawler.load(START)
        crawl.crawler.step(START)
        assert find_topic(crawl.store, "bridges").state == "ready"
        assert (spaces(crawl.store), crawl.crawler.topics.awaits_vectors) == ([], True)
        model.goes_on.set()
        settle(pages)
        steps(crawl, pages)
        assert (spaces(crawl.store), crawl.crawler.topics.awaits_vectors) == (["lengths 1"], False)


def test_of_several_daemons_the_leader_lets_topics_learn_again(tmp_path: Path) -> None:
    clock, part = SimulatedClock(START), Some(is_leader=False)
    with watch(tmp_path, clock, None) as crawl:
        describe(crawl.store)
        crawl.crawler.load(START)
    with embedding(Lengths(), clock) as pages, watch(tmp_path, clock, pages, part) as crawl:
        steps(crawl, pages)
        assert spaces(crawl.store) == []
        part.is_leader = True
        crawl.crawler.load(START)
        steps(crawl, pages)
        assert spaces(crawl.store) == ["lengths 1"]


def test_a_text_that_gets_no_vector_is_asked_for_ever_less(tmp_path: Path) -> None:
    class Refusing(Lengths):
        """Knows no word: the vector of a text is 0."""

        def embed(self, texts: Sequence[str]) -> Vectors:
            return 0 * super().embed(texts)

    clock, model = SimulatedClock(START), Refusing()
    with embedding(model, clock) as pages, watch(tmp_path, clock, pages) as crawl:
        describe(crawl.store)
        crawl.crawler.load(START)
        for _ in range(600):
            steps(crawl, pages, count=1)
            clock.advance_to(clock.now() + MINUTE)
        assert 5 < model.asked.count(SENTENCE + "\n") + model.asked.count(SENTENCE) < 20


def test_only_what_has_no_vector_is_embedded(tmp_path: Path) -> None:
    """Each command is a process of its own, which remembers nothing."""
    clock = SimulatedClock(START)
    with watch(tmp_path, clock, None) as crawl:
        describe(crawl.store)
        asked = []
        for first, count in ((0, 20), (20, 1)):
            mark_relevant(crawl.store, count, first=first)
            model = Lengths()
            with embedding(model, clock) as pages:
                models = TopicModelStore(crawl.store, embedder=pages)
                models.learn(find_topic(crawl.store, "bridges"))
            asked.append(sum(f"Bridge {n}\n" in text for text in model.asked for n in range(21)))
        assert asked == [20, 1]
        assert len(spaces(crawl.store)) == 22


def test_a_training_that_did_not_get_all_vectors_is_due_again(tmp_path: Path) -> None:
    clock, model = SimulatedClock(START), Lengths()
    model.fails_after = 60
    with embedding(model, clock) as pages, watch(tmp_path, clock, pages) as crawl:
        describe(crawl.store)
        mark_relevant(crawl.store, 150)
        TopicModelStore(crawl.store, embedder=pages).learn(find_topic(crawl.store, "bridges"))
        some = len(spaces(crawl.store))
        assert 0 < some < 150
        said = f"examples without a vector of lengths 1 yet: {151 - some} of 151"
        assert said in warnings(crawl.store)
        model.fails_after = 10_000
        crawl.crawler.load(START)
        clock.advance_to(START + 10 * MINUTE)
        steps(crawl, pages, count=60)
        assert len(spaces(crawl.store)) == 151
        assert "vector" not in warnings(crawl.store)
        assert len(model.asked) == len(set(model.asked)) + model.asked.count("the last one") - 1


def seen_pages(pages: PageEmbedder, first: int, count: int) -> list[PageText]:
    """Pages of as many words, as visits bring them: with their vectors."""
    texts = [
        PageText(f"https://p{n}.example/", title=f"page{n} about subject{n}" + " x" * (n % 7))
        for n in range(first, first + count)
    ]
    return [pages.with_meaning(text) for text in texts]


def test_after_a_change_of_the_model_topics_learn_again_as_the_sample_fills(
    sqlite_store: Store,
) -> None:
    """They compare pages with the sample's vectors: until there are some, words judge."""
    clock = SimulatedClock(START)
    describe(sqlite_store)
    for name, counts in (("lengths 1", (200,)), ("lengths 2", (29, 1))):
        with embedding(Lengths(name), clock) as pages:
            models = TopicModelStore(sqlite_store, embedder=pages)
            row = find_topic(sqlite_store, "bridges")
            topics = models.active_topics([row if row.version else models.learn(row)])
            for count in counts:
                for one in seen_pages(pages, models.background.pages, count):
                    models.background.observe_page(one)
                assert (models.outgrown(topics.values()) == topics.keys()) == (count != 29)
            models.learn(find_topic(sqlite_store, "bridges"))
            models.keep((), START)
    fit = json.loads(sqlite_store.topics.model(find_topic(sqlite_store, "bridges").id))["fit"]
    assert fit["fused"]["meaning"]["space"] == "lengths 2"


@pytest.mark.parametrize(
    ("warning", "chinese"),
    [
        (
            Text("lacks.no_vector", space="lengths 1"),
            "目前只按词语判断：示例还没有 lengths 1 的向量",
        ),
        (
            Text("lacks.few_vectors", space="lengths 1", missing=3, given=5),
            "5 个示例中有 3 个还没有 lengths 1 的向量",
        ),
    ],
)
def test_what_a_topic_lacks_is_said_in_chinese(warning: Text, chinese: str) -> None:
    assert Words("zh")(warning) == chinese
