"""Vectors that topics' examples lack: made beside the crawl, then the topic learns again.

::

    a topic's model ── texts without a vector of the present space ──> the embedder's thread,
          ^                                                            when no page waits
          │                                                                │ a later step
          └── learn again, with those that came <──────────────────────────┘
                        none came: a pause of a minute; doubling to an hour, if the embedder has
                                   no trouble and so the texts have

They lack some after another model was installed or chosen, and where the model failed or was too slow when
the topic was trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from classifier.embedding.meaning import Meaning
    from classifier.words.values import PageText
    from incremental.topics.active_topic import ActiveTopic
    from incremental.topics.embedding.page_embedder import PageEmbedder
    from incremental.topics.model_store import TopicModelStore

# At once: the embedder's queue holds twice as many.
PORTION: Final = 500
POLL_SECONDS: Final = 1.0
FIRST_PAUSE_SECONDS: Final = 60.0
LONGEST_PAUSE_SECONDS: Final = 3_600.0

Unplaced = Callable[["ActiveTopic"], "dict[int, PageText]"]
"""The texts of a topic's training without a vector, as :meth:`TopicModelStore.unplaced` gives them."""


class ExampleVectors:
    """Gets topics the vectors that they lack. Used by the crawler's thread only; never waits."""

    def __init__(self, model_store: TopicModelStore, embedder: PageEmbedder) -> None:
        self._model_store = model_store
        self._embedder = embedder
        self._asked: dict[int, Future[Meaning | None]] = {}
        self._versions: dict[int, str] = {}
        self._due_at = inf
        self._pause = FIRST_PAUSE_SECONDS

    @property
    def under_way(self) -> bool:
        """Whether vectors are being made."""
        return bool(self._asked)

    def next_at(self, now: float) -> float:
        """Return when a topic may be asked about again; infinite = none lacks anything."""
        return now + POLL_SECONDS if self._asked else self._due_at

    def came(self, topics: Sequence[ActiveTopic], unplaced: Unplaced, now: float) -> set[int]:
        """Go on with the topics that lack some; return the ids of those to learn again."""
        if self._asked:
            return self._taken_in(topics, now)
        # Topics of other versions learned, perhaps from other texts.
        versions = {topic.row.id: topic.row.version for topic in topics}
        # A clock that was ahead has put it further off.
        self._due_at = min(self._due_at, now + LONGEST_PAUSE_SECONDS)
        if versions == self._versions and now < self._due_at:
            return set()
        self._versions, self._due_at = versions, inf
        known = set()
        for topic in topics:
            for key, page in unplaced(topic).items():
                if page.meaning is not None:
                    known.add(topic.row.id)
                elif key not in self._asked and len(self._asked) < PORTION:
                    # Not as pages, which visits wait for.
                    self._asked[key] = self._embedder.start_later(page)
        return known

    def _taken_in(self, topics: Sequence[ActiveTopic], now: float) -> set[int]:
        if not all(answer.done() for answer in self._asked.values()):
            return set()
        found = {key: answer.result() for key, answer in self._asked.items()}
        known = {key: meaning for key, meaning in found.items() if meaning is not None}
        self._asked = {}
        self._model_store.background.meanings.put_all(known.items())
        if known:
            self._due_at, self._pause = now, FIRST_PAUSE_SECONDS
        else:
            self._due_at = now + self._pause
            # The embedder rests by itself: to ask it then costs nothing.
            if self._embedder.trouble() is None:
                self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        return {topic.row.id for topic in topics if topic.lacking & known.keys()}
