"""Links are ordered by the meaning of their anchors, as far as these have vectors."""

import json
from collections.abc import Sequence
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from classifier.embedding.embedder import Embedder, Vectors
from classifier.embedding.meaning import Meaning
from classifier.links.learned_order import LearnedOrder, LinkWeights
from classifier.links.vectors import MAX_BYTES, MAX_LED, MAX_PAGES, LinkVectors, MeaningOpinion
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.errors import TopicModelError
from classifier.words.values import LinkContext, PageText
from incremental.topics.embedding.page_embedder import meanings_of, space_of

BRIDGES = ("bridge", "viaduct", "crossing", "span")
SOUPS = ("soup", "broth", "stew", "ladle")
SUBJECTS = dict.fromkeys(BRIDGES, 0) | dict.fromkeys(SOUPS, 1)
_SIZE = 24


class Subjects(Embedder):
    """Places a text by the subjects of its words; words of one subject share no letters."""

    name = "subjects 1"
    quick = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([_vector(text) for text in texts])


class OtherSubjects(Subjects):
    """Another space."""

    name = "subjects 2"


def _vector(text: str) -> Vectors:
    vector = np.full(_SIZE, 0.2, dtype=np.float32)
    for word in text.lower().split():
        subject = SUBJECTS.get(word)
        vector[2 + crc32(word.encode()) % (_SIZE - 2) if subject is None else subject] += (
            0.3 if subject is None else 2.0
        )
    return vector


def embedded(page: PageText, embedder: Embedder) -> PageText:
    return replace(page, meaning=meanings_of([page], embedder)[0])


def anchors(embedder: Embedder, *texts: str) -> dict[str, Meaning]:
    found = meanings_of([PageText("", title=text) for text in texts], embedder)
    return {text: one for text, one in zip(texts, found, strict=True) if one is not None}


def story(number: int, word: str) -> PageText:
    return PageText(
        f"https://a.example/{number}", title=f"Note {number}", body=f"{word} item{number} today"
    )


def crawled(embedder: Embedder | None, *, pages: int = 40) -> tuple[LearnedOrder, TopicModel]:
    """A crawl of which every second page is on topic by a word that no example has."""
    example = PageText("https://a.example/example", title="Bridge", body="bridge bridge")
    read = [story(number, ("crossing", "stew")[number % 2]) for number in range(pages)]
    if embedder is not None:
        example, read = embedded(example, embedder), [embedded(page, embedder) for page in read]
    background = Background()
    if embedder is not None:
        background.meanings.use(space_of(embedder))
    model = TopicModel.learn([example], [], background=background)
    order = LearnedOrder()
    for page in read:
        led = LinkContext(page.url, page.body.split()[0] + " news", parent_url=example.url)
        if embedder is not None:
            order.learn_anchors(anchors(embedder, led.anchor))
        order.expect([led], model)
        order.observe(page, [led], (), model.judge(page).score, model)
    return order, model


LINKS = [
    LinkContext("https://b.example/1", "ladle soon"),
    LinkContext("https://b.example/2", "span soon"),
]


def test_an_anchor_that_means_the_topic_comes_first() -> None:
    order, model = crawled(Subjects())
    before = order.expect(LINKS, model)
    order.learn_anchors(anchors(Subjects(), "ladle soon", "span soon"))
    soup, bridge = order.expect(LINKS, model)
    assert before[0] == pytest.approx(before[1])
    assert soup < before[0] < bridge


def test_without_vectors_nothing_changes() -> None:
    order, model = crawled(None)
    before = order.expect(LINKS, model)
    order.learn_anchors(anchors(Subjects(), "ladle soon", "span soon"))
    assert order.expect(LINKS, model) == before


def test_what_a_page_is_by_meaning_counts_for_its_links() -> None:
    """By words no page is like the example."""
    shown = [
        LinkContext(f"https://c.example/{number}", parent_url=story(number, "").url)
        for number in (0, 1)
    ]
    order, model = crawled(Subjects())
    crossing, stew = order.expect(shown, model)
    assert crossing > stew
    plain, model = crawled(None)
    assert plain.expect(shown, model)[0] == pytest.approx(plain.expect(shown, model)[1], abs=0.05)


def test_chinese_pages_and_anchors_are_ordered_by_words() -> None:
    """Measured: there vectors made the harvest worse."""
    order = LearnedOrder()
    model = crawled(None)[1]
    page = PageText("https://zh.example/1", title="大桥", body="新的大桥今天通车，车辆可以通行。")
    order.observe(embedded(page, Subjects()), (), (), 0.9, model)
    order.learn_anchors(anchors(Subjects(), "大桥今天通车", "span soon"))
    kept = order.to_json()["vectors"]
    assert kept["pages"] == []
    order.observe(
        embedded(story(1, "crossing"), Subjects()),
        [LinkContext(story(1, "").url, text) for text in ("大桥今天通车", "span soon")],
        (),
        0.9,
        model,
    )
    kept = order.to_json()["vectors"]
    assert (len(kept["pages"]), len(kept["anchors"])) == (1, 1)


def test_vectors_survive_a_restart() -> None:
    order, model = crawled(Subjects())
    again = LearnedOrder.from_json(json.loads(json.dumps(order.to_json())))
    for one in (order, again):
        one.learn_anchors(anchors(Subjects(), "ladle soon", "span soon"))
        page = embedded(story(99, "crossing"), Subjects())
        one.observe(page, (), (), 0.9, model)
    gaps = [np.diff(one.expect(LINKS, model))[0] for one in (order, again)]
    assert gaps[1] == pytest.approx(gaps[0], abs=0.1)
    assert gaps[1] > 0


def test_features_that_do_not_fit_are_refused() -> None:
    kept = LinkWeights().to_json()
    kept["weights"] = kept["weights"][:7]
    with pytest.raises(TopicModelError):
        LinkWeights.from_json(kept)


def test_after_a_change_of_model_the_vectors_are_forgotten() -> None:
    order, model = crawled(Subjects())
    model.background.meanings.use(space_of(OtherSubjects()))
    order.learn_anchors(anchors(OtherSubjects(), "ladle soon", "span soon"))
    soup, bridge = order.expect(LINKS, model)
    assert soup == pytest.approx(bridge)
    vectors = order.to_json()["vectors"]
    assert vectors["space"] == space_of(OtherSubjects())
    assert vectors["pages"] == []
    assert all(page[-1] is None for page in order.to_json()["memory"]["pages"])


def test_vectors_of_another_space_are_left_out() -> None:
    vectors = LinkVectors()
    vectors.add_anchors(anchors(Subjects(), "span soon"))
    vectors.add_anchors(anchors(OtherSubjects(), "ladle soon"))
    vectors.add_anchors({"short": Meaning(Subjects.name, b"\x01\x02")})
    vectors.add_page("page", None, ["span soon", "ladle soon", "short"])
    assert len(vectors.to_json()["anchors"]) == 1


def test_what_is_stored_is_bounded() -> None:
    vectors = LinkVectors()
    wide = 4_000
    for number in range(MAX_PAGES + 50):
        packed = bytes([1 + number % 100]) * wide
        vectors.add_anchors({f"anchor {number}": Meaning("wide 1", packed)})
        vectors.add_page(str(number), Meaning("wide 1", packed), [f"anchor {number}"])
    kept = vectors.to_json()
    assert len(kept["pages"]) == MAX_BYTES // wide
    assert len(kept["led"]) == MAX_LED
    assert len(json.dumps(kept)) < 3 * MAX_BYTES


@pytest.mark.parametrize("field", ["pages", "anchors"])
def test_damaged_vectors_are_refused(field: str) -> None:
    order, _ = crawled(Subjects())
    kept = order.to_json()
    kept["vectors"][field] = [[1, "AAAA"]]
    with pytest.raises(TopicModelError):
        LearnedOrder.from_json(kept)


def test_a_model_without_everyday_pages_is_used_all_the_same() -> None:
    """Few pages, no examples among them, no negatives."""
    example = np.eye(3, dtype=np.float32)[:1]
    none = np.zeros((0, 3), dtype=np.float32)
    opinion = MeaningOpinion.fit(example, none, none, none)
    assert np.isfinite(opinion.score(np.eye(3, dtype=np.float32)[1]))
