"""A site that publishes in English and in Chinese, and a model that knows a few words of both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing

import numpy as np
from stories import HOME, START, news_site, seen, visit_of

from classifier.embedding.embedder import Embedder, Vectors
from incremental.topics.embedding.keeping import FAILED_SECONDS, IDLE_SECONDS, VectorKeeper
from incremental.topics.embedding.page_embedder import PageEmbedder
from store import Store
from store.values import ReadText

MEANINGS = (
    ("tender", "招标"),
    ("road", "道路"),
    ("light", "路灯"),
    ("bridge", "桥"),
    ("museum", "博物馆"),
    ("reopens", "重新开放"),
    ("hospital", "医院"),
)


class Bilingual:
    """Places a text by the meanings of its words, in either language."""

    quick = True

    def __init__(self, name: str = "use for tests") -> None:
        self.name = name

    def embed(self, texts: Sequence[str]) -> Vectors:
        counts = [
            [any(word in text.casefold() for word in words) for words in MEANINGS] for text in texts
        ]
        return np.array(counts, dtype=np.float32)


def announce(store: Store, *pages: tuple[str, str], lead: str = "", at: float = START) -> None:
    """Announce pages, each a path and a title, and read their texts."""
    site, home = news_site(store)
    links = [seen(f"{HOME}{path}", anchor=title, announce=True) for path, title in pages]
    store.write.visit(visit_of(site, home, at, *links))
    for path, title in pages:
        page = page_id(store, path)
        read = ReadText(title, lead or title, "0" * 32)
        store.write.visit(visit_of(site, page, at + 1, links=None, text=read))


def page_id(store: Store, path: str) -> int:
    return int(store.read.find_page(f"{HOME}{path}", "")[0]["id"])


def embed(store: Store, embedder: Embedder, *, translations: bool = True) -> None:
    """Run the job until it has nothing to do."""
    with closing(PageEmbedder(embedder, lambda: START)) as pages:
        keeper = VectorKeeper(store, pages, translations=translations)
        for _ in range(6_000):
            wait = keeper.step(START) - START
            if wait == IDLE_SECONDS:
                return
            if wait == FAILED_SECONDS:
                break
            time.sleep(0.01)  # the embedder's thread is at work
    raise AssertionError("the job did not end")


def translations(store: Store, path: str) -> list[tuple[str, str]]:
    """Language and path of what the entry of a page names."""
    page = store.answers.page(page_id(store, path))
    assert page is not None
    assert page.news is not None
    return [(one.language, one.url.removeprefix(HOME)) for one in page.news.translations]
