"""Keeping a vector of each announced page, in small batches beside the crawler.

::

    store: pages that wait ── 32 ──> the embedder's thread ──> store, at the next step

The crawler's thread only hands texts over and writes what came back. A page that a topic just judged is
often embedded already, and its vector at hand.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from typing import Final

from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import packed, squeezed, unsqueezed
from classifier.words.values import PageText
from incremental.base.threads import pause
from incremental.topics.embedding.page_embedder import PageEmbedder
from store import Store
from store.search.vectors import Space, WaitingText

_BATCH: Final = 32
BUSY_SECONDS: Final = 0.5
IDLE_SECONDS: Final = 10.0
# After a failure; the embedder itself pauses for up to an hour.
FAILED_SECONDS: Final = 60.0
FINISH_SECONDS: Final = 60.0
_POLL_SECONDS: Final = 0.05
_Started = list[tuple[WaitingText, PageText, Future[Meaning | None]]]


class VectorKeeper:
    """Embeds what waits; a job of the daemon."""

    def __init__(self, store: Store, embedder: PageEmbedder) -> None:
        self._store = store
        self._embedder = embedder
        self._space: Space | None = None
        self._started: _Started = []

    def step(self, now: float) -> float:
        """Keep what was embedded, hand over what waits; return when to go on."""
        if not all(answer.done() for _, _, answer in self._started):
            return now + BUSY_SECONDS
        self._space = self._space or self._store.vectors.begin(kept_space(self._embedder.space))
        failed = self._keep(self._space)
        if failed:
            return now + FAILED_SECONDS
        waiting = self._store.vectors.waiting(self._space, limit=_BATCH)
        for one in waiting:
            page = PageText(one.url, title=one.title, body=one.text)
            self._started.append((one, page, self._embedder.start(page)))
        return now + (BUSY_SECONDS if waiting else IDLE_SECONDS)

    def finish(self, now: Callable[[], float]) -> None:
        """Embed what waits, within a minute: for a single run."""
        ends = now() + FINISH_SECONDS
        while (at := now()) < ends and self.step(at) - at < 2 * BUSY_SECONDS:
            pause(_POLL_SECONDS)

    def _keep(self, space: Space) -> bool:
        """Write what came back; return whether a page that may have a vector has none."""
        started, self._started = self._started, []
        kept: list[tuple[WaitingText, bytes | None]] = []
        for waiting, page, answer in started:
            meaning = answer.result()
            if meaning is not None:
                kept.append((waiting, squeezed(meaning.packed)))
            elif self._embedder.has_none(page):
                kept.append((waiting, None))
        if kept:
            self._store.vectors.put(space, kept)
        return len(kept) < len(started)


def kept_space(model: str) -> str:
    """Return the name of the space in which a model's vectors are kept: the form is a part of it."""
    return f"{model}, 7 bits"


def kept_meanings(
    store: Store, space: str, pages: Iterable[int], dimension: int = 0
) -> dict[int, Meaning]:
    """Return the vectors that are kept of announced pages, by id, if they are of this space of a model.

    *dimension* is that of the model, 0 = unknown. Then nothing comes of vectors that end with zeros, which
    may have been filled up.
    """
    present, known = store.vectors.present(), dict[int, bytes]()
    if present is not None and present.name == kept_space(space):
        found = ((page, store.vectors.vector(present, page)) for page in pages)
        known = {page: vector for page, vector in found if vector is not None}
    if not known:
        return {}
    rows = unsqueezed([*known.values()])
    if not dimension and not rows[:, -1].any():
        return {}
    meanings = (packed(space, row[: dimension or len(row)]) for row in rows)
    return {page: one for page, one in zip(known, meanings, strict=True) if one is not None}
