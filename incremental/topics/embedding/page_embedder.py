"""Embedding pages off the crawler's thread, in batches.

::

    visits' threads ── pages ──> queue ──> one thread: up to 64 pages at once ──> vectors
    links, topics' examples ────────┘          a failure: a pause of a minute, doubling to an hour,
        when no page waits                     a text on which the model breaks: no vector, and no pause

Links come a few at once, so that a page never waits long for them. Whatever goes wrong, the page comes back
without a vector and is judged by words; ``hubwatch status``, the page and the log say why.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYetError
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from classifier.embedding.embedder import Embedder, EmbeddingError, as_units
from classifier.embedding.meaning import Meaning
from classifier.embedding.packing import packed
from classifier.words.latest import Latest
from classifier.words.values import PageText
from incremental.base.attempts import Bug, attempt
from incremental.sandbox import Body, Read, Reading, Unread
from incremental.topics.embedding.passages import (
    HEADLINE_WEIGHT,
    SLOW_DENSE_LEAD,
    SLOW_LEAD,
    headline_weight,
    passages_of,
)

logger = logging.getLogger("hubwatch.embedding")

_HARMLESS: Final = "Hubwatch"


def space_of(embedder: Embedder) -> str:
    """Return the space of a model's pages: what it reads of them is a part of it."""
    if embedder.quick:
        return embedder.name
    return f"{embedder.name}, lead {SLOW_LEAD}/{SLOW_DENSE_LEAD}, headline {HEADLINE_WEIGHT}"


def meanings_of(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    """Return the meaning of each page, None of one without words; raises EmbeddingError.

    A text on which the model breaks, while it embeds others, costs only its own page the vector.
    """
    try:
        return _meanings(pages, embedder)
    except EmbeddingError:
        embedder.embed([_HARMLESS])
    found: list[Meaning | None] = []
    for page in pages:
        try:
            found += _meanings([page], embedder)
        except EmbeddingError as error:
            logger.warning("no vector for %s: %s", page.url, error)
            found.append(None)
    return found


def _meanings(pages: Sequence[PageText], embedder: Embedder) -> list[Meaning | None]:
    texts = [passages_of(page, slow=not embedder.quick) for page in pages]
    flat = list(dict.fromkeys(text for page in texts for text in page))
    vectors = as_units(embedder.embed(flat), len(flat), embedder.name) if flat else ()
    row_of, space = dict(zip(flat, vectors, strict=True)), space_of(embedder)
    meanings: list[Meaning | None] = []
    for page in texts:
        rows = [row_of[text] for text in page]
        if not embedder.quick and len(rows) > 1:
            rows[1] = rows[1] * headline_weight(*page)
        meanings.append(packed(space, np.sum(rows, axis=0)) if rows else None)
    return meanings


_BATCH = 64
# Links at once: a quarter of a second with the default model.
_LATER_BATCH = 8
# Pages whose vectors are at hand.
_REMEMBERED = 4_000
# How long a visit waits for its vector.
PATIENCE_SECONDS = 30.0
FIRST_PAUSE_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 3_600.0
_QUEUED = 1_000


@dataclass(frozen=True, slots=True)
class _Asked:
    page: PageText
    answer: Future[Meaning | None]
    is_link: bool


class PageEmbedder:
    """Gives pages their vectors. Safe to use from any thread; :meth:`close` it."""

    def __init__(self, embedder: Embedder, now: Callable[[], float]) -> None:
        self.space = space_of(embedder)
        """The one space of all vectors it gives."""
        self._embedder = embedder
        self._now = now
        self._trouble: tuple[str, float] | None = None
        self._resumes_at = 0.0
        self._pause = FIRST_PAUSE_SECONDS
        self._pages: deque[_Asked] = deque()
        self._links: deque[_Asked] = deque()
        self._remembered: Latest[tuple[str, ...], Meaning | None] = Latest(_REMEMBERED)
        # Of all these; notified when something waits, and at the end.
        self._changed = threading.Condition()
        self._closed = False
        self._thread: threading.Thread | None = None

    def with_meaning(self, page: PageText) -> PageText:
        """Return *page* with its vector, or as it is if there is none within half a minute."""
        try:
            meaning = self.start(page).result(timeout=PATIENCE_SECONDS)
        except NotYetError:
            return page
        return page if meaning is None else replace(page, meaning=meaning)

    def start(self, page: PageText) -> Future[Meaning | None]:
        """Queue a page; None comes for one without words or on which the model breaks, and after a failure.

        Also if too many wait, and when this is closed.
        """
        return self._start(page, self._pages)

    def start_later(self, page: PageText) -> Future[Meaning | None]:
        """Queue the text of a link, whose turn comes when no page waits; its vector is not remembered.

        Otherwise as :meth:`start`.
        """
        return self._start(page, self._links)

    def _start(self, page: PageText, waiting: deque[_Asked]) -> Future[Meaning | None]:
        answer: Future[Meaning | None] = Future()
        with self._changed:
            known = self._remembered.get(passages_of(page), answer)
            if not isinstance(known, Future):
                answer.set_result(known)
            elif self._closed or len(self._pages) + len(self._links) >= _QUEUED:
                answer.set_result(None)
            else:
                waiting.append(_Asked(page, answer, is_link=waiting is self._links))
                self._changed.notify()
                if self._thread is None:
                    work = threading.Thread(target=self._work, name="embedding", daemon=True)
                    self._thread = work
                    work.start()
        return answer

    def has_none(self, page: PageText) -> bool:
        """Whether a page that came back never gets a vector: no words, or the model breaks on it."""
        key = passages_of(page)
        with self._changed:
            return not key or (key in self._remembered and self._remembered[key] is None)

    def trouble(self) -> tuple[str, float] | None:
        """Return what goes wrong and since when (unix seconds, UTC); None = nothing does.

        A text on which the model breaks does not count.
        """
        return self._trouble

    def reading(self, read: Read) -> Read:
        """Return *read* with vectors for the texts that topics judge."""

        def read_with_meaning(body: Body) -> Reading | Unread:
            found = read(body)
            if isinstance(found, Unread) or found.text is None:
                return found
            return replace(found, text=self.with_meaning(found.text))

        return read_with_meaning

    def close(self) -> None:
        """End the thread after its batch; what waits gets no vector."""
        with self._changed:
            self._closed = True
            for one in (*self._pages, *self._links):
                one.answer.set_result(None)
            self._pages.clear()
            self._links.clear()
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(timeout=PATIENCE_SECONDS)

    def _work(self) -> None:
        while batch := self._next_batch():
            for one, meaning in zip(batch, self._embedded(batch), strict=True):
                one.answer.set_result(meaning)

    def _next_batch(self) -> list[_Asked]:
        """Wait for pages or links and take some; empty = closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._pages or self._links or self._closed)
            waiting, most = (self._pages, _BATCH) if self._pages else (self._links, _LATER_BATCH)
            return [waiting.popleft() for _ in range(min(most, len(waiting)))]

    def _embedded(self, batch: list[_Asked]) -> list[Meaning | None]:
        if self._now() < self._resumes_at:
            return [None] * len(batch)
        found = attempt(partial(self._meanings_or_problem, [one.page for one in batch]))
        if isinstance(found, Bug | str):
            self._fail(found.error if isinstance(found, Bug) else found)
            return [None] * len(batch)
        self._trouble, self._pause = None, FIRST_PAUSE_SECONDS
        with self._changed:
            for one, meaning in zip(batch, found, strict=True):
                if not one.is_link:
                    self._remembered[passages_of(one.page)] = meaning
        return found

    def _meanings_or_problem(self, pages: list[PageText]) -> list[Meaning | None] | str:
        try:
            return meanings_of(pages, self._embedder)
        except EmbeddingError as error:
            return str(error)

    def _fail(self, problem: str) -> None:
        now = self._now()
        self._trouble = (problem, self._trouble[1] if self._trouble else now)
        self._resumes_at = now + self._pause
        logger.warning("pages are judged by words for %d s: %s", self._pause, problem)
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
