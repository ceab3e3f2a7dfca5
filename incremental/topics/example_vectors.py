"""Vectors that topics' examples lack: made beside the crawl, then the topic learns again.

::

    a topic's model ── texts without a vector of the present space ── 64 ──> the embedder's thread,
          ^                                                                  when no page waits
          │                                                                      │ a later step
          └── learn again, with those that came <────────────────────────────────┘
                                      none came: a pause of a minute; doubling to an hour, if the
                                      embedder has no trouble and so the texts have

They lack some after another model was installed or chosen, and where the model failed or was too slow when
the topic was trained.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from classifier.embedding.meaning import Meaning
    from incremental.topics.active_topic import ActiveTopic
    from incremental.topics.embedding.page_embedder import PageEmbedder
    from incremental.topics.model_store import TopicModelStore

# At once for a topic, which learns after each: 15 seconds of a core with the default model.
PORTION: Final = 64
POLL_SECONDS: Final = 1.0
FIRST_PAUSE_SECONDS: Final = 60.0
LONGEST_PAUSE_SECONDS: Final = 3_600.0


@dataclass(slots=True)
class _Owed:
    """What one topic lacks."""

    version: str = ""
    """Of its model when it was last looked at; another one is looked at once more."""
    asked: dict[int, Future[Meaning | None]] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    """Asked last, so that they keep no other from its turn."""
    learned: set[int] = field(default_factory=set)
    """Already embedded; skipped so they are not retried forever."""
    due_at: float = -inf
    pause: float = FIRST_PAUSE_SECONDS


class ExampleVectors:
    """Gets topics the vectors that they lack. Used by the crawler's thread only; never waits."""

    def __init__(self, model_store: TopicModelStore, embedder: PageEmbedder) -> None:
        self._model_store = model_store
        self._embedder = embedder
        self._owed: dict[int, _Owed] = {}

    @property
    def under_way(self) -> bool:
        """Whether vectors are being made."""
        return any(owed.asked for owed in self._owed.values())

    def next_at(self, now: float) -> float:
        """Return when a topic may be asked about again; infinite = none lacks anything."""
        if self.under_way:
            return now + POLL_SECONDS
        return min((owed.due_at for owed in self._owed.values()), default=inf)

    def keep_to(self, topic_ids: Container[int]) -> None:
        """Forget topics that lack nothing, or are no longer active."""
        self._owed = {number: owed for number, owed in self._owed.items() if number in topic_ids}

    def came(self, topic: ActiveTopic, now: float) -> bool:
        """Go on with a topic that lacks some; return whether it is to learn again, with those that came."""
        owed = self._owed.setdefault(topic.row.id, _Owed())
        set_back = now + LONGEST_PAUSE_SECONDS < owed.due_at < inf
        if owed.version != topic.row.version or set_back:
            # It learned, perhaps from other texts.
            owed.version, owed.due_at = topic.row.version, now
        if not owed.asked and owed.due_at <= now and self._ask(owed, topic):
            return True
        return bool(owed.asked) and self._taken_in(owed, now)

    def _ask(self, owed: _Owed, topic: ActiveTopic) -> bool:
        """Hand texts over to the embedder; return whether vectors of some are known already."""
        unplaced = self._model_store.unplaced(topic)
        known = {one.key for one in unplaced if one.known}
        if not known <= owed.learned:
            owed.learned |= known
            return True
        waiting = [one for one in unplaced if not one.known]
        waiting = sorted(waiting, key=lambda one: one.key in owed.failed)[:PORTION]
        # Not as pages, which visits wait for.
        owed.asked = {one.key: self._embedder.start_later(one.page) for one in waiting}
        if not waiting:
            owed.due_at = inf
        return False

    def _taken_in(self, owed: _Owed, now: float) -> bool:
        if not all(answer.done() for answer in owed.asked.values()):
            return False
        found = {key: answer.result() for key, answer in owed.asked.items()}
        owed.asked = {}
        owed.failed |= {key for key, meaning in found.items() if meaning is None}
        if self._model_store.know(_known(found)):
            owed.due_at, owed.pause = now, FIRST_PAUSE_SECONDS
            return True
        owed.due_at = now + owed.pause
        # The embedder rests by itself: to ask it then costs nothing.
        if self._embedder.trouble() is None:
            owed.pause = min(2 * owed.pause, LONGEST_PAUSE_SECONDS)
        return False


def _known(found: dict[int, Meaning | None]) -> Iterable[tuple[int, Meaning]]:
    return ((key, meaning) for key, meaning in found.items() if meaning is not None)
