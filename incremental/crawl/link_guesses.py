"""The meaning of links' texts, in a later step: guesses by words are refined, link orders hear of it.

::

    visit recorded ── offer ──> waiting ── step: 32 texts at most ──> the embedder's thread
                                   │                                        │ a later step
                                   └───── texts whose vector came <─────────┘
                                                    │
            topic: its link order keeps the vector and guesses again; if the text is more than one
                   word, refined score ── store, if the page was not fetched meanwhile

The guess by words is stored with the visit and stays wherever no vector comes. What waits is in memory alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from typing import TYPE_CHECKING, Final

from classifier.links.text import worded
from classifier.words.latest import Latest
from classifier.words.values import LinkContext, PageText
from incremental.topics.judging import LIKELY, from_context

if TYPE_CHECKING:
    from classifier.embedding.meaning import Meaning
    from incremental.topics.embedding.page_embedder import PageEmbedder
    from store.values import VisitRecord

PER_STEP: Final = 32
# About ten seconds of a core with the default model.
PER_MINUTE: Final = 300
# Beyond this the oldest guesses stay as they are.
MAX_WAITING: Final = 2_000
# Vectors at hand, half a kilobyte each: headlines stand on several lists.
REMEMBERED: Final = 10_000
POLL_SECONDS: Final = 1.0
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True)
class WaitingGuess:
    """A stored guess by words whose link has a word."""

    site_id: int
    canonical_key: str
    topic_id: int
    guess: float
    link: LinkContext
    text: str
    visit: int
    """Counts the offers: the greater, the newer."""

    @property
    def rank(self) -> tuple[int, float]:
        """What is embedded first: links of the latest visit, and of these what is least decided."""
        return -self.visit, abs(self.guess - LIKELY)


class LinkGuesses:
    """What waits to be refined. Used by the crawler's thread only; never waits for the embedder."""

    def __init__(self, embedder: PageEmbedder) -> None:
        self._embedder = embedder
        self._waiting: list[WaitingGuess] = []
        self._under_way: dict[bytes, Future[Meaning | None]] = {}
        self._vectors: Latest[bytes, Meaning] = Latest(REMEMBERED)
        self._visits = 0
        # Of the minute that began then.
        self._minute_at, self._started = -inf, 0

    def __len__(self) -> int:
        return len(self._waiting)

    def offer_visit(self, record: VisitRecord) -> None:
        """Let the guesses wait that a visit stored."""
        contexts = {link.canonical_key: link.link_context for link in record.links or ()}
        self.offer(
            (record.site_id, score.canonical_key, score.topic_id, score.score, context)
            for score in record.topic_scores
            if not score.fetched and (context := contexts.get(score.canonical_key))
        )

    def offer(self, guesses: Iterable[tuple[int, str, int, float, str]]) -> None:
        """Let guesses wait: site, canonical key, topic, score and link context of each."""
        self._visits += 1
        for site_id, key, topic_id, score, context in guesses:
            link = from_context(context)
            text = worded(link) if link is not None else ""
            if link is not None and text:
                one = WaitingGuess(site_id, key, topic_id, score, link, text, self._visits)
                self._waiting.append(one)
        if len(self._waiting) > MAX_WAITING:
            self._waiting = sorted(self._waiting, key=lambda one: one.rank)[:MAX_WAITING]

    def step(self, now: float) -> list[tuple[WaitingGuess, Meaning]]:
        """Return the guesses whose vectors are there, and hand over texts of others."""
        if not self._waiting:
            return []
        failed = self._take_in()
        ready: list[tuple[WaitingGuess, Meaning]] = []
        waiting = []
        for one in self._waiting:
            key = _key(one.text)
            found = self._vectors.get(key)
            if found is not None:
                ready.append((one, found))
            elif key not in failed:
                waiting.append(one)
        self._waiting = waiting
        self._hand_over(now)
        return ready

    def next_at(self, now: float) -> float:
        """Return when :meth:`step` has something to do again; infinite = nothing waits."""
        if self._under_way:
            return now + POLL_SECONDS
        return max(now, self._minute_at + _MINUTE) if self._waiting else inf

    def _take_in(self) -> set[bytes]:
        """Remember the vectors that came; return the keys of texts that got none."""
        failed = set()
        for key in [key for key, answer in self._under_way.items() if answer.done()]:
            meaning = self._under_way.pop(key).result()
            if meaning is None:
                failed.add(key)
            else:
                self._vectors[key] = meaning
        return failed

    def _hand_over(self, now: float) -> None:
        if now - self._minute_at >= _MINUTE or now < self._minute_at:
            self._minute_at, self._started = now, 0
        room = min(PER_STEP - len(self._under_way), PER_MINUTE - self._started)
        if room < 1 or not self._waiting:
            return
        texts = dict.fromkeys(one.text for one in sorted(self._waiting, key=lambda one: one.rank))
        for text in texts:
            if room < 1:
                return
            key = _key(text)
            if key not in self._under_way:
                page = PageText("", title=text)
                self._under_way[key] = self._embedder.start_later(page)
                room, self._started = room - 1, self._started + 1


def _key(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
