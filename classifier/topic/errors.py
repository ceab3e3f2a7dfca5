"""What the topic models raise; each message names the field, its value and the way out."""

from __future__ import annotations

from hubwatch_errors import HubwatchError


class TopicError(HubwatchError):
    """The root of what this package raises on purpose, and: a topic that cannot be learned."""

    def __init__(self, field: str, value: str, problem: str) -> None:
        self.field = field
        self.value = value
        self.problem = problem
        super().__init__(f"{field} {value!r}: {problem}")


class TopicModelError(TopicError):
    """A stored model or table is damaged, foreign, too large or too new."""
