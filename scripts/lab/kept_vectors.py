"""Vectors for benchmarks: made as the daemon makes them, and kept in a file for the next run."""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import md5
from pathlib import Path

import numpy as np

from classifier.embedding.embedder import Embedder, Vectors
from classifier.embedding.meaning import Meaning
from classifier.links.learned_order import is_left_to_words
from classifier.links.text import has_dense, worded
from classifier.words.values import LinkContext, PageText
from incremental.topics.embedding.page_embedder import meanings_of


class KeptVectors(Embedder):
    """Asks *embedder* only for texts that the npz file *path* does not know; None = for all."""

    def __init__(self, embedder: Embedder, path: Path | None) -> None:
        self._embedder = embedder
        self._path = path
        self._known: dict[str, Vectors] = {}
        if path is not None and path.is_file():
            with np.load(path, allow_pickle=False) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["vectors"], strict=True))

    @property
    def name(self) -> str:
        """The embedder's."""
        return self._embedder.name

    @property
    def quick(self) -> bool:
        """The embedder's."""
        return self._embedder.quick

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed what is not known."""
        keys = [self._key(text) for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if fresh:
            vectors = self._embedder.embed(list(fresh.values()))
            self._known.update(zip(fresh, vectors, strict=True))
        return np.stack([self._known[key] for key in keys])

    def keep(self) -> None:
        """Write the file, if there is anything to keep."""
        if self._path is not None and self._known:
            keys, vectors = np.array(list(self._known)), np.stack(list(self._known.values()))
            np.savez(self._path, keys=keys, vectors=vectors)

    def _key(self, text: str) -> str:
        return md5(f"{self.name}\0{text}".encode()).hexdigest()


class Meanings:
    """Each text is embedded once, when a crawl meets it."""

    def __init__(self, embedder: KeptVectors) -> None:
        self._embedder = embedder
        self._pages: dict[str, Meaning | None] = {}
        self._anchors: dict[str, Meaning | None] = {}

    def with_meaning(self, page: PageText) -> PageText:
        """Return *page* with its vector, if the order uses that."""
        if is_left_to_words(page):
            return page
        if page.url not in self._pages:
            (self._pages[page.url],) = meanings_of([page], self._embedder)
        return replace(page, meaning=self._pages[page.url])

    def of_anchors(self, links: Sequence[LinkContext]) -> dict[str, Meaning]:
        """Return the vectors of links' anchors, by their text."""
        spoken = dict.fromkeys(text for link in links if (text := worded(link)))
        texts = [text for text in spoken if not has_dense(text)]
        fresh = [text for text in texts if text not in self._anchors]
        pages = [PageText("", title=text) for text in fresh]
        self._anchors.update(zip(fresh, meanings_of(pages, self._embedder), strict=True))
        return {text: found for text in texts if (found := self._anchors[text]) is not None}
